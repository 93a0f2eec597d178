// Hooks of the functions in record/recorded_calls.inc: each notes its arguments as words.

#include <cuda.h>

#include <array>
#include <cstdint>
#include <type_traits>

#include "record/call_meaning.h"
#include "record/copy_shape.h"
#include "shim/record/contents.h"
#include "shim/record/functions.h"
#include "shim/record/graph_nodes.h"
#include "shim/record/journal.h"
#include "shim/record/real_driver.h"

namespace baton::recorder {
namespace {

enum Row : unsigned {
#define BATON_RECORDED_CALL(function, meaning, outputs, stream) kRow_##function,
#include "record/recorded_calls.inc"
#undef BATON_RECORDED_CALL
  kRows
};

struct CallHook {
  void* real = nullptr;
  unsigned number = 0;
};
CallHook g_hooked[2][kRows];  // legacy default streams, and the threads' own

template <typename T>
std::uint64_t word_of(T value) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<std::uintptr_t>(value);
  if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);
  }
  return 0;  // a struct by value
}

template <unsigned kRow, bool kOwnStream, typename Function>
struct Call;

template <unsigned kRow, bool kOwnStream, typename... Args>
struct Call<kRow, kOwnStream, CUresult(Args...)> {
  static CUresult call(Args... args) {
    const CallHook& hooked = g_hooked[kOwnStream][kRow];
    const auto function = reinterpret_cast<CUresult (*)(Args...)>(hooked.real);
    if (InsideCall::is_on()) return function(args...);
    const InsideCall inside;
    static const record::RecordedCall& row = record::recorded_calls()[kRow];
    std::array<std::uint64_t, sizeof...(Args)> words = {word_of(args)...};
    // An empty array has a size, too.
    const std::uint32_t size = sizeof...(Args) * sizeof(std::uint64_t);
    if (row.meaning == record::CallMeaning::kUnload) forget_functions(words[0]);
    if (row.meaning == record::CallMeaning::kCopy) {
      static const record::CopyShape shape = record::copy_shape(row.function);
      note_copy(shape, words);
    }
    static const NodeCall node = node_call(row.function);
    note_node(node, words);
    if (row.outputs == 0) {
      // Before the call: memory that is freed may be another thread's when the call returns.
      record::EventHeader* const event = note(record::EventKind::kCall, hooked.number, next_order(),
                                              record::kNotReturned, {{words.data(), size}});
      const CUresult result = function(args...);
      if (event != nullptr) event->result = result;
      return result;
    }
    const CUresult result = function(args...);
    for (std::size_t k = 0; k < words.size(); ++k) {
      if ((row.outputs >> k & 1) == 0) continue;
      const auto* const out = reinterpret_cast<const std::uint64_t*>(words[k]);
      words[k] = out == nullptr || result != CUDA_SUCCESS ? 0 : *out;
    }
    note(record::EventKind::kCall, hooked.number, next_order(), result, {{words.data(), size}});
    return result;
  }
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
template <bool kOwnStream>
void* hook_of(unsigned row) {
  static void* const hooks[] = {
#define BATON_RECORDED_CALL(function, meaning, outputs, stream) \
  reinterpret_cast<void*>(Call<kRow_##function, kOwnStream, decltype(::function)>::call),
#include "record/recorded_calls.inc"
#undef BATON_RECORDED_CALL
  };
  return hooks[row];
}
#pragma GCC diagnostic pop

}  // namespace

void* call_hook(std::string_view symbol, void* real) {
  const record::RecordedCall* const row = record::find_call(symbol);
  if (row == nullptr) return nullptr;
  const auto number = static_cast<unsigned>(row - record::recorded_calls().data());
  const bool own = record::is_per_thread(symbol);
  g_hooked[own ? 1 : 0][number] = {real, name_number(symbol)};
  return own ? hook_of<true>(number) : hook_of<false>(number);
}

}  // namespace baton::recorder
