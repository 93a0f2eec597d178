#include "baton/check.h"

#include "capi/program_call.h"

using baton::capi::Call;
using baton::capi::ProgramInstance;

namespace baton::capi {
namespace {

std::int32_t verdict_of(EdgeVerdict verdict) {
  switch (verdict) {
    case EdgeVerdict::kProven:
      return BATON_VERDICT_PROVEN;
    case EdgeVerdict::kUnknown:
      return BATON_VERDICT_UNKNOWN;
    case EdgeVerdict::kUnsafe:
      return BATON_VERDICT_UNSAFE;
  }
  return BATON_VERDICT_UNKNOWN;
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_program_check(baton_program* program, baton_check** check) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_check*& result = call.result(check, "check");
    baton::capi::with_program(call, program, [&](ProgramInstance& instance) {
      result = baton::capi::make_handle<baton_check>(instance.check());
    });
  });
}

baton_error* baton_check_get_info(const baton_check* check, baton_check_info* info) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const baton::CheckReport& from = call.get(check, "check");
    baton_check_info value = BATON_CHECK_INFO_INIT;
    value.steps = from.steps;
    value.launch_count = from.launches.size();
    value.edge_count = from.edges.size();
    value.warning_count = from.warnings.size();
    call.write(info, value, "info");
  });
}

baton_error* baton_check_edge(const baton_check* check, std::size_t index, baton_edge* edge) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const auto& edges = call.get(check, "check").edges;
    call.require_index(index, edges.size(), "edges");
    const baton::EdgeReport& from = edges[index];
    baton_edge value = BATON_EDGE_INIT;
    // The names are literals, which end in a NUL.
    value.cause = baton::to_string(from.cause).data();
    value.reason = from.reason.c_str();
    value.decision = baton::to_string(from.decision).data();
    value.decision_reason = from.decision_reason.c_str();
    value.from = from.from;
    value.to = from.to;
    value.verdict = baton::capi::verdict_of(from.verdict);
    value.is_programmatic = from.programmatic ? 1 : 0;
    call.write(edge, value, "edge");
  });
}

baton_error* baton_check_advice_count(const baton_check* check, std::size_t edge,
                                      std::size_t* count) {
  return baton::capi::call(__func__, [&](const Call& call) {
    std::size_t& result = call.result(count, "count");
    const auto& edges = call.get(check, "check").edges;
    call.require_index(edge, edges.size(), "edges");
    result = edges[edge].advice.size();
  });
}

baton_error* baton_check_advice(const baton_check* check, std::size_t edge, std::size_t index,
                                baton_advice* advice) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const auto& edges = call.get(check, "check").edges;
    call.require_index(edge, edges.size(), "edges");
    const auto& all = edges[edge].advice;
    call.require_index(index, all.size(), "pieces of advice about the edge");
    baton_advice value = BATON_ADVICE_INIT;
    value.text = all[index].text.c_str();
    value.seconds = all[index].seconds;
    call.write(advice, value, "advice");
  });
}

baton_error* baton_check_warning(const baton_check* check, std::size_t index,
                                 const char** warning) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const char*& result = call.result(warning, "warning");
    const auto& warnings = call.get(check, "check").warnings;
    call.require_index(index, warnings.size(), "warnings");
    result = warnings[index].c_str();
  });
}

baton_error* baton_check_part_count(const baton_check* check, std::size_t* count) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(count, "count") = call.get(check, "check").parts.size();
  });
}

baton_error* baton_check_part(const baton_check* check, std::size_t index, std::uint32_t* asked,
                              std::uint32_t* given, const std::uint32_t** launches,
                              std::size_t* launch_count) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const auto& parts = call.get(check, "check").parts;
    call.require_index(index, parts.size(), "parts");
    const baton::SmPartReport& part = parts[index];
    if (launches != nullptr) call.result(launch_count, "launch_count") = part.launches.size();
    if (launches != nullptr) *launches = part.launches.data();
    if (asked != nullptr) *asked = part.asked;
    if (given != nullptr) *given = part.given;
  });
}

baton_error* baton_check_objection(const baton_check* check) {
  return baton::capi::call(__func__, [&](const Call& call) {
    if (const auto& objection = call.get(check, "check").objection) throw *objection;
  });
}

void baton_check_retain(baton_check* check) {
  baton::capi::retain(check);
}

void baton_check_release(baton_check* check) {
  baton::capi::release(check);
}
