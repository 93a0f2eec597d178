#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "baton.h"
#include "capi/kinds.h"

namespace baton::capi {

// Returns the error for the exception that is being handled. To be called in a handler
// (`catch (...)`). Never null: without memory it is a shared error, which `release` leaves alone.
baton_error* error_of_exception() noexcept;

// What an error of the caller's says. Not null; a handle that is none is an error itself.
Error error_of(const baton_error* error);
// Throws what a function of the caller's returned, and releases that. Null is success.
void throw_returned(baton_error* error);

// One call of the C interface: checks what it was given. Its functions throw kInvalidInput with the
// names of the function and of the argument.
class Call {
 public:
  explicit Call(const char* function) : function_(function) {}

  // What a handle refers to.
  template <typename Kind>
  auto& get(Kind* handle, const char* argument) const {
    if (handle == nullptr) refuse_null(argument);
    const bool same_kind = handle->is_of(handle_mark(Kind::kName));
    if (!same_kind || !handle->alive()) refuse_handle(argument, Kind::kName, same_kind);
    return handle->content();
  }

  // Where a result is stored. A pointer is set to null at once, for the case of an error.
  template <typename T>
  T& result(T* place, const char* argument) const {
    if (place == nullptr) refuse_null(argument);
    if constexpr (std::is_pointer_v<T>) *place = nullptr;
    return *place;
  }

  // Text of the caller. `optional_text` is empty for null.
  std::string_view text(const char* given, const char* argument) const {
    if (given == nullptr) refuse_null(argument);
    return given;
  }
  static std::string_view optional_text(const char* given) {
    return given == nullptr ? std::string_view() : std::string_view(given);
  }

  // An array of the caller, which may be null where it is empty.
  template <typename T>
  std::span<const T> array(const T* first, std::size_t count, const char* argument) const {
    if (first == nullptr && count != 0) refuse_null(argument);
    return {first, count};
  }
  // Bytes of the caller, likewise.
  void require_bytes(const void* bytes, std::size_t count, const char* argument) const {
    if (bytes == nullptr && count != 0) refuse_null(argument);
    if (count > PTRDIFF_MAX) refuse_size(count, argument);
  }

  // A pointer of the caller that is not null: of the driver, of a struct, or to a function.
  void require_handle(const void* given, const char* argument) const {
    if (given == nullptr) refuse_null(argument);
  }
  template <typename Function>
  void require_function(Function* given, const char* argument) const {
    if (given == nullptr) refuse_null(argument);
  }

  void require_index(std::size_t index, std::size_t count, const char* what) const {
    if (index >= count) refuse_index(index, count, what);
  }

  // 0 or 1.
  bool flag(std::int32_t value, const char* member) const {
    if (value != 0 && value != 1) refuse_flag(value, member);
    return value == 1;
  }

  // A constant of the header and what it is in C++.
  template <typename T>
  struct Constant {
    std::int32_t number;
    T value;
  };
  template <typename T, std::size_t kCount>
  T constant(std::int32_t number, const Constant<T> (&known)[kCount], const char* member) const {
    for (const Constant<T>& one : known) {
      if (one.number == number) return one.value;
    }
    refuse_constant(number, known[0].number, known[kCount - 1].number, member);
  }

  // A struct that the caller fills: its members as far as its size goes, and the defaults for the
  // rest. Null gives the defaults.
  template <typename T>
  T read(const T* given, const T& defaults, const char* argument) const {
    T value = defaults;
    if (given == nullptr) return value;
    const std::size_t size = struct_size(given, sizeof(T), argument);
    std::memcpy(static_cast<void*>(&value), given, std::min(size, sizeof(T)));
    value.size = sizeof(T);
    return value;
  }
  // The same; null is an error.
  template <typename T>
  T read_required(const T* given, const T& defaults, const char* argument) const {
    if (given == nullptr) refuse_null(argument);
    return read(given, defaults, argument);
  }
  // Members without a meaning yet are zero.
  void require_zero(std::int64_t reserved, const char* member) const {
    if (reserved != 0) refuse_reserved(reserved, member);
  }

  // The size of a struct that the library fills. To be called before what may fail for another
  // reason.
  template <typename T>
  std::size_t room(const T* target, const char* argument) const {
    if (target == nullptr) refuse_null(argument);
    return checked_size(*reinterpret_cast<const std::size_t*>(target), argument);
  }
  // Fills it as far as its size goes. The size itself stays.
  template <typename T>
  void write(T* target, const T& value, const char* argument) const {
    const std::size_t size = std::min(room(target, argument), sizeof(T));
    constexpr std::size_t kFirst = sizeof(std::size_t);
    std::memcpy(reinterpret_cast<std::byte*>(target) + kFirst,
                reinterpret_cast<const std::byte*>(&value) + kFirst, size - kFirst);
  }

  // Admits one thread at a time to an object, for a scope.
  class Turn {
   public:
    Turn(const Call& call, ThreadGate& gate, std::string_view kind) : gate_(gate) {
      if (!gate_.enter()) call.refuse_second_thread(kind);
    }
    ~Turn() { gate_.leave(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    ThreadGate& gate_;
  };

  const char* function() const { return function_; }

 private:
  // Returns the size that a struct of the caller has, where it is one that may be read: members
  // that this release does not know are zero.
  std::size_t struct_size(const void* given, std::size_t known, const char* argument) const;
  std::size_t checked_size(std::size_t size, const char* argument) const;

  [[noreturn]] void refuse_size(std::size_t size, const char* argument) const;
  [[noreturn]] void refuse_null(const char* argument) const;
  [[noreturn]] void refuse_handle(const char* argument, std::string_view kind,
                                  bool same_kind) const;
  [[noreturn]] void refuse_index(std::size_t index, std::size_t count, const char* what) const;
  [[noreturn]] void refuse_flag(std::int32_t value, const char* member) const;
  [[noreturn]] void refuse_constant(std::int32_t number, std::int32_t least, std::int32_t greatest,
                                    const char* member) const;
  [[noreturn]] void refuse_reserved(std::int64_t value, const char* member) const;
  [[noreturn]] void refuse_second_thread(std::string_view kind) const;

  const char* function_;
};

// Runs the body of a function of the C interface: whatever it throws becomes the error that the
// function returns.
template <typename Body>
baton_error* call(const char* function, Body&& body) noexcept {
  try {
    body(Call(function));
    return nullptr;
  } catch (...) {
    return error_of_exception();
  }
}

}  // namespace baton::capi
