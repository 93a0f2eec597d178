#include "outlined_chain.h"

#include <fmt/format.h>

#include <random>
#include <regex>

namespace baton::verdicts {
namespace {

// A predicate, the register of a load, its address; the address of a store, its value.
const std::regex kAccess(
    "(@!?%p[0-9]+ )?(?:ld(?:\\.global)?\\.u32 (%r[0-9]+), \\[(%\\w+)\\];"
    "|st(?:\\.global)?\\.u32 \\[(%\\w+)\\], (%?\\w+);)");

std::string call_of(const std::smatch& access) {
  if (access[2].matched) {
    return fmt::format(
        "{{ .param .b64 q0; .param .b32 q1; st.param.b64 [q0], {};\n"
        "call.uni (q1), reads, (q0); ld.param.b32 {}, [q1]; }}",
        access[3].str(), access[2].str());
  }
  return fmt::format(
      "{{ .param .b64 q0; .param .b32 q1; st.param.b64 [q0], {};\n"
      "st.param.b32 [q1], {}; call.uni stores, (q0, q1); }}",
      access[4].str(), access[5].str());
}

}  // namespace

GeneratedChain outlined(GeneratedChain chain, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (GeneratedLaunch& launch : chain.launches) {
    std::string body;
    std::string rest = launch.body;
    for (std::smatch access; std::regex_search(rest, access, kAccess);) {
      const bool moves = !access[1].matched && random() % 2 == 0;
      body += access.prefix().str() + (moves ? call_of(access) : access.str());
      rest = access.suffix().str();
    }
    launch.body = body + rest;
  }
  return chain;
}

}  // namespace baton::verdicts
