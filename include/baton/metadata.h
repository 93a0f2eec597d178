#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "baton/buffer.h"
#include "baton/forward.h"
#include "baton/image.h"
#include "baton/launch.h"
#include "baton/module.h"
#include "baton/span.h"

namespace baton {

// Function metadata: a compiler's description of the kernels of an image, so that a runtime
// launches them with one flat list of values. docs/metadata.md describes every format.

// The type of a kernel parameter: DLPack's code, bits and lanes, with names as TVM writes them
// ("handle", "int32", "float16x2"). A plain value.
struct MetadataType {
  enum class Code : std::uint8_t {
    kInt = 0,
    kUint = 1,
    kFloat = 2,
    kHandle = 3,
    kBfloat = 4,
    kBool = 6,
    kFloat8E3M4 = 7,
    kFloat8E4M3 = 8,
    kFloat8E4M3B11Fnuz = 9,
    kFloat8E4M3Fn = 10,
    kFloat8E4M3Fnuz = 11,
    kFloat8E5M2 = 12,
    kFloat8E5M2Fnuz = 13,
    kFloat8E8M0Fnu = 14,
    kFloat6E2M3Fn = 15,
    kFloat6E3M2Fn = 16,
    kFloat4E2M1Fn = 17,
  };
  Code code = Code::kHandle;
  std::uint8_t bits = 64;
  std::uint16_t lanes = 1;

  // Returns the type with that name, including shorthands (i32, u8, f16, bf16, fp8_e4m3fn). Empty
  // for an unknown name.
  BATON_API static std::optional<MetadataType> parse(std::string_view name);
  BATON_API std::string name() const;
  // The bytes of all lanes.
  std::size_t size() const { return (std::size_t{bits} * lanes + 7) / 8; }
  // The same type of Baton, if there is one.
  BATON_API std::optional<DType> dtype() const;
  // The type with that dtype.
  BATON_API static MetadataType of(DType dtype);

  friend bool operator==(const MetadataType& a, const MetadataType& b) {
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
  }
};

// One value of a packed call. A plain value.
class Operand {
 public:
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Operand(T value)  // NOLINT: implicit by design
      : value_(integer(value)) {}
  template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  Operand(T value)  // NOLINT: implicit by design
      : value_(static_cast<double>(value)) {}
  // An address: a device pointer from a foreign allocator, or a stream's handle. For a tensor map
  // it is the host address of its 128 bytes.
  Operand(const void* handle) : value_(handle) {}  // NOLINT: implicit by design
  Operand(std::nullptr_t) : value_(static_cast<const void*>(nullptr)) {}  // NOLINT: likewise
  template <typename T>
  Operand(DevicePointer<T> pointer)  // NOLINT: implicit by design
      : value_(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(pointer.address))) {}
  template <typename T>
  Operand(const Buffer<T>& buffer) : Operand(buffer.data()) {}  // NOLINT: implicit by design
  Operand(const Memory& memory)                                 // NOLINT: implicit by design
      : Operand(DevicePointer<std::byte>{memory.address()}) {}

  const std::variant<std::int64_t, double, bool, const void*>& value() const { return value_; }

 private:
  using Value = std::variant<std::int64_t, double, bool, const void*>;
  template <typename T>
  static Value integer(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value;
    } else {
      if constexpr (sizeof(T) >= 8 && std::is_unsigned_v<T>) {
        if (static_cast<std::int64_t>(value) < 0) refuse(value);
      }
      return static_cast<std::int64_t>(value);
    }
  }
  [[noreturn]] BATON_API static void refuse(unsigned long long value);

  Value value_;
};

// One number of a launch configuration by its name: "grid.x", "dynamic_smem_bytes", "cluster.x",
// "mem_sync_domain_map.default".
struct LaunchValue {
  std::string_view field;  // lives as long as the program
  std::variant<std::int64_t, double> value;

  friend bool operator==(const LaunchValue& a, const LaunchValue& b) {
    return a.field == b.field && a.value == b.value;
  }
};

// The converted form of a packed call. Movable. It refers to its own memory and to that of the
// operands, and must not outlive the operands' memory.
class PackedLaunch {
 public:
  PackedLaunch() = default;
  PackedLaunch(PackedLaunch&&) = default;
  PackedLaunch& operator=(PackedLaunch&&) = default;

  // The kernel's arguments in its parameter order.
  Span<const Argument> arguments() const { return arguments_; }
  // The launch values in the order of the operands, then the flags.
  Span<const LaunchValue> values() const { return values_; }

 private:
  friend class FunctionMetadata;
  std::vector<std::byte> bytes_;
  std::vector<Argument> arguments_;
  std::vector<LaunchValue> values_;
};

// The meaning of special launch values.
enum class OperandRules : std::uint8_t {
  kStrict,    // every value is sent unchanged; an extent of 0 is an error
  kTags,      // launch-parameter tags: an extent of 0 is 1, a preferred cluster of 1 is not sent
  kForkTags,  // the tags of tile-ai/tvm (tir.cluster_dim_x): an extent of 0 is an error
};
BATON_API std::string_view to_string(OperandRules rules) noexcept;

// The call of one kernel. Immutable. Thread-safe.
class BATON_API FunctionMetadata {
 public:
  struct Parameter {
    MetadataType type{};
    bool tensor_map = false;  // 128 bytes by value, which the operand points to

    friend bool operator==(const Parameter& a, const Parameter& b) {
      return a.type == b.type && a.tensor_map == b.tensor_map;
    }
  };
  struct Parts {
    std::string symbol{};
    std::vector<Parameter> parameters{};
    // The launch values that a call passes after the kernel's arguments, by name, in order.
    std::vector<std::string> operands{};
    // The flags of every launch: "programmatic_stream_serialization", "cooperative",
    // "required_block_size".
    std::vector<std::string> flags{};
    OperandRules rules = OperandRules::kStrict;
    // The attributes that the kernel was compiled with, by name: "max_registers_per_thread",
    // "required_block_x".
    std::map<std::string, std::int64_t> kernel_attributes{};
  };
  // Throws kInvalidInput with the function's name for invalid parts: an unknown or repeated name, a
  // tensor map that is not a handle, an impossible symbol.
  explicit FunctionMetadata(Parts parts);

  const std::string& symbol() const { return symbol_; }
  Span<const Parameter> parameters() const { return parameters_; }
  Span<const std::string_view> operands() const { return operands_; }
  Span<const std::string_view> flags() const { return flags_; }
  OperandRules rules() const { return rules_; }
  const std::map<std::string, std::int64_t>& kernel_attributes() const {
    return kernel_attributes_;
  }

  // Whether launches are programmatic dependent, cooperative, or in clusters, by a flag or by their
  // operands.
  bool pdl() const;
  bool cooperative() const;
  bool cluster() const;

  // Converts a packed call: first the kernel's arguments, then the launch values in their order.
  // Throws kInvalidInput for a wrong count or kind, or for a value outside the declared type's
  // range. The error names the argument, the value and the range.
  PackedLaunch pack(Span<const Operand> operands) const;

  // Returns the configuration for launch values. A stream among them belongs to `device`. Throws
  // kInvalidInput for a value out of range, or for a stream in addition to a given one.
  LaunchConfig config(Span<const LaunchValue> values, LaunchConfig::StreamRef stream,
                      const Device& device) const;

  // Launches the kernel of this symbol. Throws the errors of `pack`, `config` and `Kernel::launch`.
  // Throws kInvalidInput for a kernel with another name, or for a block other than the one that it
  // was compiled for.
  LaunchResult launch(const Kernel& kernel, LaunchConfig::StreamRef stream,
                      Span<const Operand> operands) const;

  BATON_API friend bool operator==(const FunctionMetadata& a, const FunctionMetadata& b);

 private:
  bool names(std::string_view field) const;
  void check_block(const Dim3& block, const Kernel& kernel) const;

  std::string symbol_;
  std::vector<Parameter> parameters_;
  std::vector<std::string_view> operands_;
  std::vector<std::string_view> flags_;
  OperandRules rules_;
  std::map<std::string, std::int64_t> kernel_attributes_;
};

// The functions of one image, and the image. Immutable. Thread-safe.
class BATON_API ModuleMetadata {
 public:
  struct Parts {
    std::string name{};  // its name in messages
    std::vector<FunctionMetadata> functions{};
    std::string label{};  // the writer's label of the code: "ptx", "cubin", "cuda"; never trusted
    // PTX, a cubin or a fatbin, by its bytes; other text becomes the source "cuda".
    std::string code{};
    std::map<std::string, std::string> sources{};  // by language
  };
  // Throws kInvalidInput for two functions with one symbol, or for code that is neither an image
  // nor text.
  explicit ModuleMetadata(Parts parts);

  const std::string& name() const { return name_; }
  // Sorted by symbol.
  Span<const FunctionMetadata> functions() const { return functions_; }
  // Throws kNotFound with the nearest name.
  const FunctionMetadata& function(std::string_view symbol) const;
  const std::string& label() const { return label_; }
  // Empty for metadata without an image, or with source only.
  const std::optional<Image>& image() const { return image_; }
  const std::map<std::string, std::string>& sources() const { return sources_; }

 private:
  std::string name_;
  std::vector<FunctionMetadata> functions_;
  std::string label_;
  std::optional<Image> image_;
  std::map<std::string, std::string> sources_;
};

// The contents of a file.
struct FoundMetadata {
  std::string format;  // "TVM sidecar JSON", "shared library", …
  std::vector<ModuleMetadata> modules;
  std::vector<std::string> remarks;  // the ignored parts, and why
};

// Reads metadata of every known format, detected from the bytes: Baton's own (JSON and binary),
// TVM's sidecar JSON, its binary function infos and module containers, and shared libraries and
// objects that TVM or tvm-ffi wrote. Time and memory are linear in the size.
//
// Throws kNotFound if the file cannot be read or is a library without metadata. Throws
// kInvalidInput for another kind of file, a truncated one, or one that needs a later version.
// Throws kDamaged if a checksum fails.
BATON_API FoundMetadata read_metadata(const std::filesystem::path& path);
BATON_API FoundMetadata read_metadata(std::string_view bytes, const std::string& name);

// Return Baton's canonical form. The same module gives the same bytes.
BATON_API std::string metadata_json(const ModuleMetadata& module);
BATON_API std::string metadata_binary(const ModuleMetadata& module);

// Return TVM's forms, with the prefix that its version reads: "tirx." from 0.24 on, "tir." before.
// They throw kInvalidInput with its name if the form has no place for something.
enum class TagPrefix : std::uint8_t { kTirx, kTir };
BATON_API std::string tvm_metadata_json(const ModuleMetadata& module,
                                        TagPrefix prefix = TagPrefix::kTirx);
// One function with four fields (TVM 0.21 and later).
BATON_API std::string tvm_function_info(const FunctionMetadata& function,
                                        TagPrefix prefix = TagPrefix::kTirx);
// A whole module: label, functions, code. A module with sources is written as version 1, which only
// newer TVM reads.
BATON_API std::string tvm_module(const ModuleMetadata& module, TagPrefix prefix = TagPrefix::kTirx);

}  // namespace baton
