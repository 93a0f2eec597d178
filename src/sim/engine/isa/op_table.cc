#include "base/error.h"
#include "sim/engine/isa/spec.h"

namespace baton::sim {

#if defined(BATON_SIM_HAS_PORTABLE)
namespace portable {
OpTable make_table(const char* name);
}
#endif
#if defined(BATON_SIM_HAS_V3)
namespace v3 {
OpTable make_table(const char* name);
}
#endif

const OpTable& op_table() {
  static const OpTable table = []() -> OpTable {
#if defined(BATON_SIM_HAS_V3)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
      return v3::make_table("x86-64-v3");
    }
#endif
#if defined(BATON_SIM_HAS_PORTABLE)
    return portable::make_table("portable");
#else
    throw error(ErrorCode::kUnsupported,
                "this build has the simulated GPU's instructions for processors with AVX2, FMA and BMI2 "
                "only, and this processor lacks one of them; build with -DBATON_SIM_LEVELS=all");
#endif
  }();
  return table;
}

}  // namespace baton::sim
