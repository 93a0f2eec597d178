#include "record/call_meaning.h"

#include <algorithm>

namespace baton::record {
namespace {

constexpr RecordedCall kCalls[] = {
#define BATON_RECORDED_CALL(function, meaning, outputs, stream) \
  {#function, CallMeaning::meaning, outputs, stream},
#include "record/recorded_calls.inc"
#undef BATON_RECORDED_CALL
};

constexpr std::size_t kSuffix = 5;  // _ptsz, _ptds

}  // namespace

std::span<const RecordedCall> recorded_calls() {
  return kCalls;
}

bool is_per_thread(std::string_view symbol) {
  return symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
}

const RecordedCall* find_call(std::string_view symbol) {
  if (is_per_thread(symbol)) symbol.remove_suffix(kSuffix);
  const auto* found = std::ranges::find(kCalls, symbol, &RecordedCall::function);
  return found == std::end(kCalls) ? nullptr : found;
}

}  // namespace baton::record
