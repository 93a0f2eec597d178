#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "baton/compile.h"
#include "baton/expression.h"
#include "baton/image.h"
#include "baton/launch_argument.h"

namespace baton {

enum class KernelOrigin : std::uint8_t {
  kSource,
  kText,
  kPtx,
  kCubin,
  kFatbin,
  kLink,      // several sources and images, linked
  kImage,     // an image in memory: program files cannot name one
  kCompiled,  // the result of a compile, in memory: program files cannot name one
};
enum class PdlMode : std::uint8_t { kAuto, kOn, kOff, kForce };
// Adds PDL to kernels (pdl-rewrite.md). A kernel without a wait gets one. In a kernel that waits,
// loads that the wait does not order become plain loads. kLoads, kExit and kTop also add a trigger
// at that place to a kernel without one.
enum class RewriteMode : std::uint8_t {
  kOff,
  kAuto,   // if a launch may then start early
  kWait,   // no trigger: the next launch may start when the blocks end
  kLoads,  // after the last load of global memory
  kExit,   // at every exit of the kernel
  kTop,    // as its first instruction
};
// The distribution of the blocks of an early launch over the multiprocessors.
enum class BlockPlacement : std::uint8_t {
  kAny,
  kEven,  // pads dynamic shared memory so that each one holds only its share
};

BATON_API std::string_view to_string(KernelOrigin origin) noexcept;
BATON_API std::string_view to_string(PdlMode mode) noexcept;
BATON_API std::string_view to_string(RewriteMode mode) noexcept;
BATON_API std::string_view to_string(BlockPlacement placement) noexcept;

// One number of a launch attribute. A text is an expression, a choice ("spread") or a place in a
// buffer ("w + 2*N"); the attribute's row decides. `field` names the number in an attribute with
// several ("remote"). Empty means the next one in order.
struct BATON_API AttributeValue {
  std::string field;
  std::variant<std::string, Expression, double, bool, BufferOffset> value;
  SourceLocation where;

  template <typename T>
  AttributeValue(T given, SourceLocation place = {})  // NOLINT: implicit by design
      : AttributeValue(std::string(), std::move(given), std::move(place)) {}
  template <typename T>
  AttributeValue(std::string name, T given, SourceLocation place = {})
      : field(std::move(name)), value(stored(std::move(given))), where(std::move(place)) {}

  BATON_API friend bool operator==(const AttributeValue& a, const AttributeValue& b);

 private:
  template <typename T>
  static auto stored(T given) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Expression> ||
                  std::is_same_v<T, BufferOffset>) {
      return given;
    } else if constexpr (std::is_integral_v<T>) {
      return Expression(given);
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(given);
    } else {
      return std::string(std::move(given));
    }
  }
};

// A launch attribute by its name, as in `baton/attributes.h` and program files:
//   {"cluster", {2, 1}}, {"cooperative", {true}}, {"priority", {"-P"}},
//   {"mem_sync_domain_map", {{"default", 0}, {"remote", 1}}},
//   {"access_policy_window", {{"buffer", "w"}, {"num_bytes", "4*N"}, {"hit_ratio", 0.6}, …}}.
struct ProgramAttribute {
  std::string name = {};
  std::vector<AttributeValue> values = {};
  SourceLocation where = {};

  friend bool operator==(const ProgramAttribute& a, const ProgramAttribute& b) {
    return a.name == b.name && a.values == b.values;
  }
};

// The settings of a launch besides its grid and block. An empty setting takes the kernel's default;
// without a default it is not sent. A Program has `list` in the order of the attributes' numbers.
struct ProgramAttributes {
  std::optional<Expression> shared = {};  // dynamic shared memory, in bytes
  std::optional<PdlMode> pdl = {};        // for the edge from the step before
  std::optional<BlockPlacement> placement = {};
  // The SMs of the part that the launch runs on, over symbols alone. Launches of one branch with
  // equal expressions share a part; parts are disjoint. 0: all of the device.
  std::optional<Expression> sms = {};
  // The floating-point operations of one launch, over symbols alone. Only `baton bench` uses it.
  std::optional<Expression> flops = {};
  std::vector<ProgramAttribute> list = {};
  SourceLocation pdl_where = {};

  // Null where there is none of that name.
  BATON_API const ProgramAttribute* find(std::string_view name) const;

  friend bool operator==(const ProgramAttributes& a, const ProgramAttributes& b) {
    return a.shared == b.shared && a.pdl == b.pdl && a.placement == b.placement && a.sms == b.sms &&
           a.flops == b.flops && a.list == b.list;
  }
};

struct ProgramKernel {
  std::string name = {};  // its name in steps
  KernelOrigin origin = KernelOrigin::kText;
  std::filesystem::path file = {};               // the source or the image
  std::string text = {};                         // kText: CUDA source
  std::vector<std::filesystem::path> link = {};  // kLink: sources and images
  std::optional<Image> image = {};               // kImage
  std::optional<Compiled> compiled = {};         // kCompiled
  std::string entry = {};  // empty: of the name `name`, or the image's only kernel
  std::string prelude = {};
  std::vector<std::filesystem::path> include = {};
  std::vector<std::string> options = {};
  ProgramAttributes launch = {};  // defaults, which a step overrides
  // Empty: the value of PrepareOptions. A mode other than off and auto is a requirement.
  std::optional<RewriteMode> rewrite = {};
  SourceLocation where = {};
};

BATON_API bool operator==(const ProgramKernel& a, const ProgramKernel& b);

}  // namespace baton
