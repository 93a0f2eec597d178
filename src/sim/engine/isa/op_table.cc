#include "base/error.h"
#include "sim/engine/isa/matrix_kernel.h"
#include "sim/engine/isa/processor.h"
#include "sim/engine/isa/spec.h"

namespace baton::sim {

#if defined(BATON_SIM_HAS_PORTABLE)
namespace portable {
OpTable make_table(const char* name);
MatrixKernel make_matrix_kernel();
}  // namespace portable
#endif
#if defined(BATON_SIM_HAS_V3)
namespace v3 {
OpTable make_table(const char* name);
MatrixKernel make_matrix_kernel();
}  // namespace v3
#endif

const OpTable& op_table() {
  static const OpTable table = []() -> OpTable {
#if defined(BATON_SIM_HAS_V3)
    if (is_x86_64_v3()) return v3::make_table("x86-64-v3");
#endif
#if defined(BATON_SIM_HAS_PORTABLE)
    return portable::make_table("portable");
#else
    throw error(
        ErrorCode::kUnsupported,
        "this build has the simulated GPU's instructions for processors with AVX2, FMA and BMI2 "
        "only, and this processor lacks one of them; build with -DBATON_SIM_LEVELS=all");
#endif
  }();
  return table;
}

const MatrixKernel& matrix_kernel() {
  static const MatrixKernel kernel = [] {
    op_table();  // which tells where this build has none for the processor
#if defined(BATON_SIM_HAS_V3) && defined(BATON_SIM_HAS_PORTABLE)
    return is_x86_64_v3() ? v3::make_matrix_kernel() : portable::make_matrix_kernel();
#elif defined(BATON_SIM_HAS_V3)
    return v3::make_matrix_kernel();
#else
    return portable::make_matrix_kernel();
#endif
  }();
  return kernel;
}

}  // namespace baton::sim
