#include "capi/call.h"

#include "base/error.h"

namespace baton::capi {
namespace {

// No struct of the interface comes near it: a larger size was never set.
constexpr std::size_t kGreatestStruct = 4096;

}  // namespace

std::size_t Call::checked_size(std::size_t size, const char* argument) const {
  // The members of a struct fill it without a gap, so an earlier release's ends at a multiple of 8.
  const bool plausible =
      size >= sizeof(std::size_t) && size <= kGreatestStruct && size % sizeof(std::size_t) == 0;
  if (!plausible) {
    throw error(ErrorCode::kInvalidInput,
                "{}: {}->size is {}, which no release has; initialise the struct with its "
                "BATON_..._INIT macro",
                function_, argument, size);
  }
  return size;
}

std::size_t Call::struct_size(const void* given, std::size_t known, const char* argument) const {
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  checked_size(size, argument);
  const auto* bytes = static_cast<const std::byte*>(given);
  for (std::size_t i = known; i < size; ++i) {
    if (bytes[i] == std::byte{}) continue;
    throw error(ErrorCode::kInvalidInput,
                "{}: {}->size is {}, this library knows {} bytes, and byte {} is not zero; the "
                "caller was built with a later release and uses what this one lacks",
                function_, argument, size, known, i);
  }
  return size;
}

void Call::refuse_null(const char* argument) const {
  throw error(ErrorCode::kInvalidInput, "{}: {} is a null pointer", function_, argument);
}

void Call::refuse_size(std::size_t size, const char* argument) const {
  throw error(ErrorCode::kInvalidInput, "{}: {} has {} bytes, and no memory is so large", function_,
              argument, size);
}

void Call::refuse_handle(const char* argument, std::string_view kind, bool same_kind) const {
  if (same_kind) {
    throw error(ErrorCode::kInvalidInput, "{}: {} is a {} that was released", function_, argument,
                kind);
  }
  throw error(ErrorCode::kInvalidInput, "{}: {} is not a {}", function_, argument, kind);
}

void Call::refuse_index(std::size_t index, std::size_t count, const char* what) const {
  throw error(ErrorCode::kInvalidInput, "{}: index {} is out of range, there are {} {}", function_,
              index, count, what);
}

void Call::refuse_flag(std::int32_t value, const char* member) const {
  throw error(ErrorCode::kInvalidInput, "{}: {} is {}, it takes 0 or 1", function_, member, value);
}

void Call::refuse_constant(std::int32_t number, std::int32_t least, std::int32_t greatest,
                           const char* member) const {
  throw error(ErrorCode::kInvalidInput,
              "{}: {} is {}, it takes a constant of baton.h from {} to {}", function_, member,
              number, least, greatest);
}

void Call::refuse_reserved(std::int64_t value, const char* member) const {
  throw error(ErrorCode::kInvalidInput, "{}: {} is {}, it must be 0 in this release", function_,
              member, value);
}

void Call::refuse_second_thread(std::string_view kind) const {
  throw error(ErrorCode::kInvalidInput,
              "{}: another thread is in a call for this {}, which takes one thread at a time; give "
              "each thread its own",
              function_, kind);
}

}  // namespace baton::capi
