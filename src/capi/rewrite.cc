#include "baton/rewrite.h"

#include "capi/call.h"
#include "capi/rewrite_modes.h"

using baton::KernelRewrite;
using baton::capi::Call;

namespace baton::capi {
namespace {

const KernelRewrite& kernel_at(const Call& call, const baton_rewrite* rewrite, std::size_t index) {
  const RewrittenPtx& done = call.get(rewrite, "rewrite");
  call.require_index(index, done.kernels.size(), "kernels");
  return done.kernels[index];
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_rewrite_ptx(const char* ptx, const char* name, std::int32_t mode,
                               baton_rewrite** rewrite) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_rewrite*& result = call.result(rewrite, "rewrite");
    const std::string_view text = call.text(ptx, "ptx");
    const baton::RewriteMode chosen = call.constant(mode, baton::capi::kRewriteModes, "mode");
    result = baton::capi::make_handle<baton_rewrite>(
        baton::rewrite(baton::Image::from_bytes(text, name == nullptr ? "<ptx>" : name), chosen));
  });
}

baton_error* baton_rewrite_text(const baton_rewrite* rewrite, const char** ptx) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const char*& result = call.result(ptx, "ptx");
    result = call.get(rewrite, "rewrite").image.bytes().data();  // a NUL follows PTX
  });
}

baton_error* baton_rewrite_count(const baton_rewrite* rewrite, std::size_t* count) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(count, "count") = call.get(rewrite, "rewrite").kernels.size();
  });
}

baton_error* baton_rewrite_kernel(const baton_rewrite* rewrite, std::size_t index,
                                  baton_rewritten_kernel* kernel) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const KernelRewrite& from = baton::capi::kernel_at(call, rewrite, index);
    baton_rewritten_kernel value = BATON_REWRITTEN_KERNEL_INIT;
    value.symbol = from.kernel.c_str();
    value.obstacle = from.obstacle.c_str();
    value.own = from.own.c_str();
    value.change_count = from.changes.size();
    call.write(kernel, value, "kernel");
  });
}

baton_error* baton_rewrite_get_change(const baton_rewrite* rewrite, std::size_t kernel,
                                      std::size_t index, baton_rewrite_change* change) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const KernelRewrite& from = baton::capi::kernel_at(call, rewrite, kernel);
    call.require_index(index, from.changes.size(), "changes");
    const KernelRewrite::Change& made = from.changes[index];
    baton_rewrite_change value = BATON_REWRITE_CHANGE_INIT;
    value.kind = to_string(made.kind).data();
    value.where = made.where.c_str();
    value.reason = made.reason.c_str();
    call.write(change, value, "change");
  });
}

void baton_rewrite_retain(baton_rewrite* rewrite) {
  baton::capi::retain(rewrite);
}

void baton_rewrite_release(baton_rewrite* rewrite) {
  baton::capi::release(rewrite);
}
