#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "baton/error.h"
#include "image/trace_parameter.h"
#include "ptx/flat.h"
#include "trace/instrument.h"

// Whatever the PTX is, a kernel is left as it is, or has one parameter more and all instructions
// that it had; and it is instrumented once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace baton;
  try {
    const auto module =
        ptx::ParsedModule::parse(std::string(reinterpret_cast<const char*>(data), size), "input");
    const trace::Instrumented done = trace::instrument(module);
    if (done.kernels.size() != module->entries().size()) std::abort();
    for (const trace::InstrumentedKernel& kernel : done.kernels) {
      if (!kernel.obstacle.empty()) continue;
      if (done.module == nullptr) std::abort();
      const ptx::Function& was = *module->function(kernel.kernel);
      const ptx::Function& is = *done.module->function(kernel.kernel);
      if (is.params.size() != was.params.size() + 1) std::abort();
      if (is.params.back().name != image::kTraceParameter) std::abort();
      const std::size_t before = ptx::FlatFunction(was).instructions().size();
      if (ptx::FlatFunction(is).instructions().size() <= before) std::abort();
    }
    if (done.module == nullptr) return 0;
    if (trace::instrument(done.module).module != nullptr) std::abort();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidInput) std::abort();
  }
  return 0;
}
