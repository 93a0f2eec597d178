#include "base/array/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/text/text.h"

namespace baton {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// The header is a Python dictionary literal in one fixed form:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// Keys come in any order; anything else that Python would take is refused.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  void read(NpyHeader& header) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string("a key");
      expect(':');
      if (key == "descr") {
        once(seen_type_, key);
        read_type(header);
      } else if (key == "fortran_order") {
        once(seen_order_, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(seen_shape_, key);
        read_shape(header.shape);
      } else {
        fail(fmt::format("has the unknown key '{}'", printable(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!trim(rest_).empty()) fail(fmt::format("goes on after its end: {}", shown_rest()));
    if (!seen_type_) fail("lacks the key 'descr'");
    if (!seen_order_) fail("lacks the key 'fortran_order'");
    if (!seen_shape_) fail("lacks the key 'shape'");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw error(ErrorCode::kInvalidInput, "{}: the .npy header {}", name_, what);
  }

  std::string shown_rest() const {
    return rest_.empty() ? "its end" : fmt::format("\"{}\"", printable(rest_, 24));
  }

  void skip_space() {
    while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_[0]) != std::string_view::npos) {
      rest_.remove_prefix(1);
    }
  }

  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_[0];
  }

  bool accept(char wanted) {
    if (peek() != wanted || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool accept(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("has {} where '{}' belongs", shown_rest(), wanted));
  }

  void once(bool& seen, std::string_view key) const {
    if (seen) fail(fmt::format("has the key '{}' twice", key));
    seen = true;
  }

  // Escapes are left as they are: no name that is looked for here contains one.
  std::string_view string(const char* what) {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      fail(fmt::format("has {} where {} belongs", shown_rest(), what));
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail(fmt::format("has no end of {}", shown_rest()));
    const std::string_view content = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return content;
  }

  bool boolean() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    fail(fmt::format("has {} where True or False belongs", shown_rest()));
  }

  void read_type(NpyHeader& header) {
    if (peek() == '[') {
      fail("names a structured type; store each field as an array of its own");
    }
    const std::string_view text = string("a type");
    std::string_view code = text;
    header.big_endian = code.starts_with('>');
    if (!code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos) {
      code.remove_prefix(1);
    }
    header.kind = code.empty() ? '\0' : code[0];
    if (header.kind == 'O') fail("names an array of Python objects; only numbers can be read");
    const std::string_view digits = code.empty() ? code : code.substr(1);
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), header.size);
    if (problem != std::errc() || end != digits.data() + digits.size() || !known(header)) {
      fail(
          fmt::format("names the type '{}'; known: f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 u8, b1, and V1 "
                      "and V2 for raw elements",
                      printable(text, 24)));
    }
    // The bytes of a raw element have no order.
    if (header.kind == 'V') header.big_endian = false;
  }

  static bool known(const NpyHeader& header) {
    const std::size_t size = header.size;
    switch (header.kind) {
      case 'f':
        return size == 2 || size == 4 || size == 8;
      case 'i':
      case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
      case 'b':
        return size == 1;
      case 'V':
        return size == 1 || size == 2;
      default:
        return false;
    }
  }

  void read_shape(std::vector<std::int64_t>& shape) {
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMaxNpyDimensions) {
        fail(fmt::format("has more than {} dimensions", kMaxNpyDimensions));
      }
      shape.push_back(dimension());
      // One dimension needs its comma: Python takes "(3)" for a number.
      if (!accept(',')) {
        if (shape.size() == 1) expect(',');
        expect(')');
        break;
      }
    }
  }

  std::int64_t dimension() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (problem == std::errc::result_out_of_range) {
      fail(fmt::format("has a dimension beyond 64 bits at {}", shown_rest()));
    }
    if (problem != std::errc()) fail(fmt::format("has {} where a dimension belongs", shown_rest()));
    if (value < 0) fail(fmt::format("has the negative dimension {}", value));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept("L");  // Python 2 wrote long integers so.
    return value;
  }

  std::string_view rest_;
  const std::string& name_;
  bool seen_type_ = false;
  bool seen_order_ = false;
  bool seen_shape_ = false;
};

// The bytes of all elements. Dimensions of zero are left out of the check, so that the product of
// the others never overflows either, in whatever order they are multiplied.
std::optional<std::uint64_t> bytes_of(const std::vector<std::int64_t>& shape, std::size_t size) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::uint64_t product = size;
  bool empty = false;
  for (const std::int64_t dimension : shape) {
    const auto extent = static_cast<std::uint64_t>(dimension);
    if (extent == 0) {
      empty = true;
    } else if (product > kMax / extent) {
      return std::nullopt;
    } else {
      product *= extent;
    }
  }
  return empty ? 0 : product;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

std::string format_shape(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace

std::string NpyHeader::type() const {
  const char order = size == 1 || kind == 'V' ? '|' : big_endian ? '>' : '<';
  return fmt::format("{}{}{}", order, kind, size);
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(kMagic)) {
    throw error(ErrorCode::kInvalidInput,
                "{}: no .npy file: it starts with \"{}\" instead of \"{}\"", name,
                printable(bytes.substr(0, kMagic.size())), printable(kMagic));
  }
  const std::size_t version_end = kMagic.size() + 2;
  if (bytes.size() < version_end) {
    throw error(ErrorCode::kInvalidInput, "{}: the .npy file ends within its version", name);
  }
  const int major = static_cast<unsigned char>(bytes[kMagic.size()]);
  const int minor = static_cast<unsigned char>(bytes[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the .npy format {}.{} is unknown; expected 1.0, 2.0 or 3.0", name, major,
                minor);
  }
  const std::size_t text_start = version_end + (major == 1 ? 2 : 4);
  if (bytes.size() < text_start) {
    throw error(ErrorCode::kInvalidInput, "{}: the .npy file ends within its header's length",
                name);
  }
  const std::uint64_t text_length =
      little_endian(bytes.substr(version_end, text_start - version_end));
  if (text_length > bytes.size() - text_start) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the .npy header is said to be {} bytes long, but only {} follow; the file is "
                "cut short or damaged",
                name, text_length, bytes.size() - text_start);
  }

  NpyHeader header;
  HeaderReader(bytes.substr(text_start, text_length), name).read(header);
  header.data_offset = text_start + text_length;
  const std::optional<std::uint64_t> data_bytes = bytes_of(header.shape, header.size);
  if (!data_bytes) {
    throw error(ErrorCode::kInvalidInput, "{}: the shape {} of {} is larger than any memory", name,
                format_shape(header.shape), header.type());
  }
  header.data_bytes = *data_bytes;
  return header;
}

std::string format_npy_header(std::string_view type, const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kAlignment = 64;
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type,
                                 format_shape(shape));
  const std::size_t start = kMagic.size() + 4;
  while ((start + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace baton
