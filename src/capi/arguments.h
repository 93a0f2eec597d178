#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "baton.h"
#include "baton/module.h"

namespace baton::capi {

// The values of a launch, each converted to its parameter's type. Refers to the bytes of the values
// that are passed as bytes. Up to 64 values need no memory of the heap.
class ConvertedArguments {
 public:
  // `on` is the launch's device. Throws kInvalidInput for a value that its parameter does not take,
  // with the argument's number, the value and the parameter's type.
  ConvertedArguments(const Kernel& kernel, std::span<const baton_value> values, const Device& on);
  ConvertedArguments(const ConvertedArguments&) = delete;
  ConvertedArguments& operator=(const ConvertedArguments&) = delete;

  std::span<const Argument> all() const { return arguments_; }

 private:
  static constexpr std::size_t kFew = 64;

  std::array<std::byte, kFew*(sizeof(std::uint64_t) + sizeof(Argument))> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  std::pmr::vector<std::uint64_t> slots_{&memory_};
  std::pmr::vector<Argument> arguments_{&memory_};
};

// One of them: `index` counts parameters, and `slot` receives its bits.
Argument convert_argument(const Kernel& kernel, std::size_t index, const baton_value& value,
                          const Device& on, std::uint64_t& slot);

}  // namespace baton::capi
