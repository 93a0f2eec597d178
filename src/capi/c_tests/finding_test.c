// What the simulated GPU finds.

#include "c_test.h"

static const char kPtx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry _Z5storeIiEvPT_(.param .u64 store_param_0) {\n"
    "  .reg .b64 %rd<3>;\n"
    "  .reg .b32 %r<2>;\n"
    "  ld.param.u64 %rd1, [store_param_0];\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  mov.u32 %r1, 7;\n"
    "  st.global.u32 [%rd2+8], %r1;\n"
    "  ret;\n"
    "}\n";

static baton_kernel* load_store(const baton_device* device) {
  baton_module* module = NULL;
  baton_kernel* kernel = NULL;
  REQUIRE_OK(baton_module_load(device, kPtx, sizeof(kPtx) - 1, &module));
  REQUIRE_OK(baton_kernel_get(module, NULL, &kernel));
  baton_module_release(module);
  return kernel;
}

static void store_outside(const baton_device* device, const baton_memory* memory) {
  baton_kernel* kernel = load_store(device);
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_value value;
  void* address = NULL;
  OK(baton_memory_address(memory, &address));
  value = BATON_POINTER(address);
  OK(baton_kernel_launch(kernel, &config, &value, 1));
  baton_kernel_release(kernel);
}

int main(void) {
  baton_device* device = NULL;
  baton_memory* memory = NULL;
  baton_findings* findings = NULL;
  baton_finding finding = BATON_FINDING_INIT;
  baton_device_options options = BATON_DEVICE_OPTIONS_INIT;
  baton_error* error = NULL;
  size_t count = 0;
  const char* chosen = getenv("BATON_TEST_DEVICE");
  if (chosen != NULL && strcmp(chosen, "cuda") == 0) return SKIPPED;  // a GPU finds nothing
  options.findings = BATON_FINDINGS_COLLECT;
  REQUIRE_OK(baton_device_open("sim", &options, &device));
  REQUIRE_OK(baton_memory_alloc(device, 8, &memory));
  OK(baton_memory_set_name(memory, "small"));
  store_outside(device, memory);
  error = baton_device_synchronize(device);
  CHECK(error != NULL);  // the kernel faulted
  CHECK(baton_error_code(error) == BATON_ERROR_FAULT);
  CHECK(baton_error_driver_result(error) != 0);
  CHECK_TEXT(baton_error_message(error), "kernel store<int>, block");
  baton_error_release(error);
  REQUIRE_OK(baton_device_findings(device, &findings));
  OK(baton_findings_count(findings, &count));
  CHECK(count == 1);
  OK(baton_findings_get(findings, 0, &finding));
  CHECK_TEXT(finding.kind, "out_of_bounds");
  CHECK_TEXT(finding.kernel, "_Z5storeIiEvPT_");
  CHECK_TEXT(finding.message, "small");
  CHECK(finding.is_error == 1 && finding.count == 1);
  CHECK(finding.thread[0] == 0 && finding.block[0] == 0);
  REFUSED(baton_findings_get(findings, 1, &finding),
          "index 1 is out of range, there are 1 findings");
  baton_findings_release(findings);
  // They were taken.
  OK(baton_device_findings(device, &findings));
  OK(baton_findings_count(findings, &count));
  CHECK(count == 0);
  baton_findings_release(findings);
  // The fault stays, until the device recovers.
  error = baton_device_synchronize(device);
  CHECK(baton_error_code(error) == BATON_ERROR_FAULT);
  baton_error_release(error);
  OK(baton_device_recover(device));
  OK(baton_device_synchronize(device));
  baton_memory_release(memory);
  baton_device_release(device);
  return finish_test();
}
