#include "sim/engine/isa/spec.h"

namespace baton::sim {

namespace portable {
OpTable make_table(const char* name);
}
#if defined(BATON_SIM_HAS_V3)
namespace v3 {
OpTable make_table(const char* name);
}
#endif

const OpTable& op_table() {
  static const OpTable table = [] {
#if defined(BATON_SIM_HAS_V3)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
      return v3::make_table("x86-64-v3");
    }
#endif
    return portable::make_table("portable");
  }();
  return table;
}

}  // namespace baton::sim
