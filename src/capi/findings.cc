#include <algorithm>
#include <iterator>

#include "capi/call.h"

using baton::capi::Call;

baton_error* baton_findings_count(const baton_findings* findings, std::size_t* count) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(count, "count") = call.get(findings, "findings").size();
  });
}

baton_error* baton_findings_get(const baton_findings* findings, std::size_t index,
                                baton_finding* finding) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const auto& list = call.get(findings, "findings");
    call.require_index(index, list.size(), "findings");
    const baton::FindingReport& from = list[index];
    baton_finding value = BATON_FINDING_INIT;
    value.kind = from.kind.c_str();
    value.kernel = from.kernel.c_str();
    value.where = from.where.c_str();
    value.message = from.message.c_str();
    value.launch = from.launch.c_str();
    value.count = from.count;
    std::copy(from.block.begin(), from.block.end(), std::begin(value.block));
    std::copy(from.thread.begin(), from.thread.end(), std::begin(value.thread));
    value.is_error = from.error ? 1 : 0;
    call.write(finding, value, "finding");
  });
}

void baton_findings_retain(baton_findings* findings) {
  baton::capi::retain(findings);
}

void baton_findings_release(baton_findings* findings) {
  baton::capi::release(findings);
}
