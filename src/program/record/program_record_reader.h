#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/file/byte_reader.h"
#include "base/text/text.h"
#include "launch/tensor_map_limits.h"
#include "program/names.h"
#include "program/record/program_fields.h"
#include "program/steps/collective_facts.h"

namespace baton {

// How many values an enumeration has: all numbers below are values of it.
inline std::size_t count_of(DType) {
  return dtype_names().size();
}
inline std::size_t count_of(BufferRole) {
  return kRoleNames.size();
}
inline std::size_t count_of(BufferInit) {
  return kInitNames.size();
}
inline std::size_t count_of(KernelOrigin) {
  return kOriginNames.size();
}
inline std::size_t count_of(PdlMode) {
  return kPdlNames.size();
}
inline std::size_t count_of(RewriteMode) {
  return kRewriteNames.size();
}
inline std::size_t count_of(BlockPlacement) {
  return kPlacementNames.size();
}
inline std::size_t count_of(Relation) {
  return kRelationNames.size();
}
inline std::size_t count_of(ReduceOp) {
  return kReduceNames.size();
}
inline std::size_t count_of(CollectiveKind) {
  return all_collectives().size();
}
inline std::size_t count_of(CollectiveExecutor) {
  return kExecutorNames.size() + 1;
}
inline std::size_t count_of(TensorMapType) {
  return launch::tensor_map_types().size();
}
inline std::size_t count_of(TensorMapInterleave) {
  return launch::tensor_map_interleaves().size();
}
inline std::size_t count_of(TensorMapSwizzle) {
  return launch::tensor_map_swizzles().size();
}
inline std::size_t count_of(TensorMapL2Promotion) {
  return launch::tensor_map_l2_promotions().size();
}
inline std::size_t count_of(TensorMapFill) {
  return launch::tensor_map_fills().size();
}

// Reads the fields of a definition from any bytes. Throws kInvalidInput with the place of what is
// wrong. What it returns has the types that a definition has, and nothing else is sure: names and
// values are for Program to check.
class ProgramRecordReader {
 public:
  // Reads the table of texts. `bytes` must outlive the reader. Relative paths start from
  // `directory`.
  ProgramRecordReader(ByteReader& bytes, FileName document, const std::filesystem::path& directory)
      : bytes_(bytes), files_{{}, std::move(document)}, folder_((directory / "").native()) {
    const std::uint64_t texts = count("the number of texts");
    texts_.reserve(std::min(texts, kMostReserved));
    for (std::uint64_t i = 0; i < texts; ++i) texts_.push_back(bytes_.bytes(number(), "a text"));
  }

  template <typename T>
  void field(const char*, T& value) {
    read(value);
  }
  template <typename T>
  void in_memory(const char*, T&) {}

 private:
  // A count that lies gets no more memory than this before the bytes behind it end.
  static constexpr std::uint64_t kMostReserved = 1024;
  // No text nests as deep: groups have a limit of their own, and tables in TOML too.
  static constexpr int kMostLevels = 512;
  // No text has more lines, or a longer one.
  static constexpr std::uint64_t kMostLines = 1 << 30;

  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw error(ErrorCode::kInvalidInput, "{} is wrong before byte {}: {}", bytes_.name(),
                bytes_.place(), fmt::format(format, std::forward<Args>(args)...));
  }

  // Most are below 128. A record has hundreds for each launch, so that these are inline.
  [[gnu::always_inline]] std::uint64_t number() {
    const std::uint8_t first = bytes_.byte("a number");
    return first < 0x80 ? first : longer_number(first & 0x7f);
  }
  std::uint64_t longer_number(std::uint64_t value) {
    for (int shift = 7; shift < 64; shift += 7) {
      const std::uint8_t byte = bytes_.byte("a number");
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    refuse("a number of more than 64 bits");
  }
  [[gnu::always_inline]] std::uint64_t number_below(std::uint64_t end, const char* what) {
    const std::uint64_t value = number();
    if (value >= end) refuse_number(value, end, what);
    return value;
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_number(std::uint64_t value, std::uint64_t end,
                                                            const char* what) const {
    refuse("{} is {}, it must be below {}", what, value, end);
  }
  // Every item takes a byte or more.
  std::uint64_t count(const char* what) { return number_below(bytes_.remaining() + 1, what); }
  std::string_view text() { return texts_[number_below(texts_.size(), "the number of a text")]; }

  // Made at its first place, and shared by the others.
  const FileName& file(std::uint64_t number) {
    if (number >= files_.size()) files_.resize(number + 1);
    FileName& name = files_[number];
    if (number > 1 && name.empty()) name = texts_[number - 2];
    return name;
  }

  void read(bool& value) { value = number_below(2, "a truth value") != 0; }
  void read(std::size_t& value) { value = number(); }
  void read(std::int64_t& value) {
    const std::uint64_t bits = number();
    value = static_cast<std::int64_t>((bits >> 1) ^ (0 - (bits & 1)));
  }
  void read(double& value) { value = std::bit_cast<double>(__builtin_bswap64(number())); }
  // Most are empty, as they were before.
  void read(std::string& value) {
    if (const std::string_view found = text(); !found.empty()) value = found;
  }
  void read(std::filesystem::path& value) {
    const std::string_view found = text();
    if (found.find('\0') != std::string_view::npos)
      refuse("\"{}\" is not a path", printable(found));
    if (found.empty()) return;
    // As directory / found, which takes both apart.
    std::string whole = found[0] == '/' ? std::string() : folder_;
    value = std::move(whole.append(found));
  }
  void read(SourceLocation& where) {
    where.file = file(number_below(texts_.size() + 2, "the number of a file"));
    where.line = static_cast<int>(number_below(kMostLines, "a line"));
    where.column = static_cast<int>(number_below(kMostLines, "a column"));
  }
  template <typename T>
  requires std::is_enum_v<T>
  void read(T& value) { value = static_cast<T>(number_below(count_of(T()), "a choice")); }
  void read(Expression& value) { value = made<Expression>(); }

  // These have no value of their own to be read into.
  template <typename T>
  static constexpr bool kIsMade =
      std::is_same_v<T, Expression> || std::is_same_v<T, FloatExpression>;
  template <typename T>
  requires kIsMade<T> T made() {
    const std::string_view found = text();
    SourceLocation where;
    read(where);
    return T(found, std::move(where));
  }
  // Nor have these a default: what stands in for it.
  template <typename T>
  static auto blank() {
    if constexpr (std::is_same_v<T, Requirement>) {
      return "0 == 0";
    } else {
      return 0.0;
    }
  }

  template <typename T>
  void read(std::optional<T>& value) {
    if (number_below(2, "a truth value") == 0) return;
    if constexpr (kIsMade<T>) {
      value = made<T>();
    } else {
      read(value.emplace());
    }
  }
  template <typename T>
  void read(std::vector<T>& list) {
    const std::uint64_t items = count("the length of a list");
    list.reserve(std::min(items, kMostReserved));
    for (std::uint64_t i = 0; i < items; ++i) {
      if constexpr (kIsMade<T>) {
        list.push_back(made<T>());
      } else if constexpr (std::is_default_constructible_v<T>) {
        read(list.emplace_back());
      } else {
        read(list.emplace_back(blank<T>()));
      }
    }
  }
  template <typename... Kinds>
  void read(std::variant<Kinds...>& value) {
    read_kind<0>(number_below(sizeof...(Kinds), "a kind"), value);
  }
  template <std::size_t kKind, typename Variant>
  void read_kind(std::uint64_t kind, Variant& value) {
    if constexpr (kKind < std::variant_size_v<Variant>) {
      if (kind != kKind) return read_kind<kKind + 1>(kind, value);
      using Alternative = std::variant_alternative_t<kKind, Variant>;
      if constexpr (kIsMade<Alternative>) {
        value.template emplace<kKind>(made<Alternative>());
      } else {
        read(value.template emplace<kKind>());
      }
    }
  }
  template <PartWithFields Part>
  void read(Part& part) {
    if (++levels_ > kMostLevels) refuse("parts are nested deeper than {} levels", kMostLevels);
    fields(*this, part);
    --levels_;
  }

  ByteReader& bytes_;
  std::vector<FileName> files_;  // none, the document, then the texts that are names of files
  std::string folder_;           // where relative paths begin: empty, or it ends with a slash
  std::vector<std::string_view> texts_;
  int levels_ = 0;
};

}  // namespace baton
