#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_ranges)
#include <ranges>
#endif

namespace baton {

template <typename T>
class Span;

namespace detail {

// Containers of T, and of what becomes a const T, that lie in one piece.
template <typename Container, typename T, typename = void>
inline constexpr bool kIsContiguous = false;
template <typename Container, typename T>
inline constexpr bool kIsContiguous<Container, T,
                                    std::void_t<decltype(std::data(std::declval<Container&>()),
                                                         std::size(std::declval<Container&>()))>> =
    std::is_convertible_v<
        std::remove_pointer_t<decltype(std::data(std::declval<Container&>()))> (*)[], T (*)[]>;
template <typename T>
inline constexpr bool kIsSpan = false;
template <typename T>
inline constexpr bool kIsSpan<Span<T>> = true;

}  // namespace detail

// A view of elements that lie one after another: std::span for C++17. Owns nothing. Arrays, vectors
// and other contiguous containers convert to it, and in C++20 std::span does, both ways.
template <typename T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = T*;

  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr Span(T* first, T* last) noexcept
      : data_(first), size_(static_cast<std::size_t>(last - first)) {}
  // A temporary container lives to the end of the call that it is passed to.
  template <typename Container,
            typename = std::enable_if_t<
                !detail::kIsSpan<std::remove_cv_t<std::remove_reference_t<Container>>> &&
                detail::kIsContiguous<std::remove_reference_t<Container>, T>>>
  constexpr Span(Container&& container) noexcept  // NOLINT: implicit by design
      : data_(std::data(container)), size_(std::size(container)) {}
  // Adds const.
  template <typename U, typename = std::enable_if_t<std::is_same_v<const U, T>>>
  constexpr Span(Span<U> other) noexcept  // NOLINT: implicit by design
      : data_(other.data()), size_(other.size()) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  // As for an array, the caller keeps to the size.
  constexpr T& operator[](std::size_t index) const { return data_[index]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }
  constexpr Span first(std::size_t count) const { return {data_, count}; }
  constexpr Span subspan(std::size_t offset) const { return {data_ + offset, size_ - offset}; }
  constexpr Span subspan(std::size_t offset, std::size_t count) const {
    return {data_ + offset, count};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace baton

#if defined(__cpp_lib_ranges)
// Its elements outlive it.
template <typename T>
inline constexpr bool std::ranges::enable_borrowed_range<baton::Span<T>> = true;
#endif
