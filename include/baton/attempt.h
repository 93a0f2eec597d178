#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "baton/error.h"

namespace baton {

// The outcome of a call: its value, or the Error that it threw. A plain value.
template <typename T>
class Attempted {
 public:
  Attempted(T value) : content_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit
  Attempted(Error error)
      : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  // Null where there is none.
  const Error* error() const noexcept { return std::get_if<1>(&content_); }
  // Throws the error if there is no value.
  T& value() & { return require(); }
  const T& value() const& { return const_cast<Attempted*>(this)->require(); }
  T&& value() && { return std::move(require()); }
  T* operator->() { return &require(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return require(); }
  T&& operator*() && { return std::move(require()); }
  const T& operator*() const& { return value(); }

 private:
  T& require() {
    if (const Error* failure = error()) throw *failure;
    return *std::get_if<0>(&content_);
  }

  std::variant<T, Error> content_;
};

template <>
class Attempted<void> {
 public:
  Attempted() = default;
  Attempted(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const noexcept { return !std::holds_alternative<Error>(error_); }
  explicit operator bool() const noexcept { return ok(); }
  const Error* error() const noexcept { return std::get_if<Error>(&error_); }

 private:
  std::variant<std::monostate, Error> error_;
};

// Calls `work` and returns what it returns, or the Error that it throws, for code that handles
// errors as values: `auto device = attempt([] { return Device::open("cuda:1"); });`. Other
// exceptions pass.
template <typename Work>
auto attempt(Work&& work) -> Attempted<std::decay_t<decltype(std::forward<Work>(work)())>> {
  using Value = std::decay_t<decltype(std::forward<Work>(work)())>;
  try {
    if constexpr (std::is_void_v<Value>) {
      std::forward<Work>(work)();
      return {};
    } else {
      return std::forward<Work>(work)();
    }
  } catch (const Error& failure) {
    return failure;
  }
}

}  // namespace baton
