// Rewriting of PTX, and programs whose kernels are rewritten.

#include "c_test.h"

static const char kPtx[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry copy(.param .u64 y, .param .u64 x) {\n"
    "  .reg .b64 %rd<3>;\n"
    "  .reg .b32 %r<2>;\n"
    "  ld.param.u64 %rd1, [y];\n"
    "  ld.param.u64 %rd2, [x];\n"
    "  ld.global.u32 %r1, [%rd2];\n"
    "  st.global.u32 [%rd1], %r1;\n"
    "  ret;\n"
    "}\n";

int main(void) {
  baton_rewrite* rewrite = NULL;
  baton_rewritten_kernel kernel = BATON_REWRITTEN_KERNEL_INIT;
  baton_rewrite_change change = BATON_REWRITE_CHANGE_INIT;
  const char* text = NULL;
  size_t count = 0;
  REQUIRE_OK(baton_rewrite_ptx(kPtx, "copy.ptx", BATON_REWRITE_LOADS, &rewrite));
  OK(baton_rewrite_text(rewrite, &text));
  CHECK_TEXT(text, "griddepcontrol.wait");
  CHECK_TEXT(text, "griddepcontrol.launch_dependents");
  OK(baton_rewrite_count(rewrite, &count));
  CHECK(count == 1);
  OK(baton_rewrite_kernel(rewrite, 0, &kernel));
  CHECK_TEXT(kernel.symbol, "copy");
  CHECK(kernel.obstacle[0] == '\0');
  CHECK(kernel.change_count == 2);
  OK(baton_rewrite_get_change(rewrite, 0, 0, &change));
  CHECK_TEXT(change.kind, "wait");
  CHECK(change.reason != NULL && change.where != NULL);
  REFUSED(baton_rewrite_get_change(rewrite, 0, 2, &change), "2");
  REFUSED(baton_rewrite_kernel(rewrite, 1, &kernel), "1");
  baton_rewrite_release(rewrite);

  REFUSED(baton_rewrite_ptx(kPtx, NULL, BATON_REWRITE_OFF, &rewrite), "");
  REFUSED(baton_rewrite_ptx(kPtx, NULL, BATON_REWRITE_AUTO, &rewrite), "");
  REFUSED(baton_rewrite_ptx(kPtx, NULL, 6, &rewrite), "mode is 6");
  REFUSED(baton_rewrite_ptx("not PTX", "text", BATON_REWRITE_WAIT, &rewrite), "text");
  REFUSED(baton_rewrite_ptx(NULL, NULL, BATON_REWRITE_WAIT, &rewrite), "ptx is a null");
  REFUSED(baton_rewrite_ptx(kPtx, NULL, BATON_REWRITE_WAIT, NULL), "rewrite is a null");
  REFUSED(baton_rewrite_text(NULL, &text), "rewrite is a null");
  REFUSED(baton_rewrite_count(NULL, &count), "rewrite is a null");
  CHECK(rewrite == NULL);
  return finish_test();
}
