#include "sim/engine/run/builtin.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

#include "sim/engine/run/lane_reader.h"

namespace baton::sim {
namespace {

// The arguments of vprintf lie one after another, each aligned to its size.
class Arguments {
 public:
  Arguments(LaneReader* reader, std::uint64_t address) : reader_(reader), at_(address) {}
  template <class T>
  bool next(T* value) {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    const bool read = reader_->value(at_, value);
    at_ += sizeof(T);
    return read;
  }

 private:
  LaneReader* reader_;
  std::uint64_t at_;
};

template <class T>
void append(std::string* out, const std::string& specification, T value) {
  char buffer[512];
  const int count = std::snprintf(buffer, sizeof(buffer), specification.c_str(), value);
  out->append(buffer, static_cast<std::size_t>(std::clamp(count, 0, int{sizeof(buffer)} - 1)));
}

// One conversion, from after the "%". False after a fault.
bool convert(LaneReader* reader, Arguments* arguments, const std::string& format, std::size_t* at,
             std::string* out) {
  std::string flags = "%";
  const auto number = [&] {
    if (*at < format.size() && format[*at] == '*') {
      ++*at;
      std::int32_t width = 0;
      if (!arguments->next(&width)) return false;
      flags += std::to_string(std::clamp(width, -256, 256));
      return true;
    }
    int digits = 0;
    for (; *at < format.size() && format[*at] >= '0' && format[*at] <= '9'; ++*at) {
      if (++digits <= 3) flags += format[*at];  // no wider than the buffer
    }
    return true;
  };
  while (*at < format.size() && std::strchr("-+ #0", format[*at]) != nullptr) {
    if (flags.size() < 8) flags += format[*at];
    ++*at;
  }
  if (!number()) return false;
  if (*at < format.size() && format[*at] == '.') {
    flags += '.';
    ++*at;
    if (!number()) return false;
  }
  bool wide = false;
  int halvings = 0;  // of the 32 bits that count: "h", "hh"
  while (*at < format.size() && std::strchr("hljztL", format[*at]) != nullptr) {
    wide = wide || std::strchr("ljzt", format[*at]) != nullptr;
    halvings = std::min(halvings + (format[*at] == 'h' ? 1 : 0), 2);
    ++*at;
  }
  if (*at >= format.size()) return true;
  const char kind = format[(*at)++];
  switch (kind) {
    case '%':
      *out += '%';
      return true;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      std::uint64_t value = 0;
      if (wide) {
        if (!arguments->next(&value)) return false;
      } else {
        std::uint32_t word = 0;
        if (!arguments->next(&word)) return false;
        const bool is_signed = kind == 'd' || kind == 'i';
        const int above = 32 - (32 >> halvings);
        word <<= above;
        value =
            is_signed
                ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(word) >> above})
                : word >> above;
      }
      append(out, flags + "ll" + kind, static_cast<long long>(value));
      return true;
    }
    case 'c': {
      std::int32_t value = 0;
      if (!arguments->next(&value)) return false;
      append(out, flags + kind, value);
      return true;
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      double value = 0;
      if (!arguments->next(&value)) return false;
      append(out, flags + kind, value);
      return true;
    }
    case 'p': {
      std::uint64_t value = 0;
      if (!arguments->next(&value)) return false;
      append(out, flags + kind, reinterpret_cast<void*>(value));
      return true;
    }
    case 's': {
      std::uint64_t address = 0;
      std::string text;
      if (!arguments->next(&address) || !reader->text(address, &text)) return false;
      if (flags == "%") {
        *out += text;
      } else {
        append(out, flags + kind, text.c_str());
      }
      return true;
    }
    default:
      *out += flags + kind;
      return true;
  }
}

}  // namespace

const Builtin* find_builtin(std::string_view name) {
  static const std::vector<Builtin> kAll = {
      {"vprintf", op_vprintf, {8, 8}, {4}, false},
      {"__assertfail", op_assertfail, {8, 8, 4, 8, 8}, {}, false},
      {"cudaGraphSetConditional", op_set_condition, {8, 4}, {}, false},
      {"malloc", op_malloc, {8}, {8}, true},
      {"free", op_free, {8}, {}, true},
      {"__cuda_syscall_aligned_malloc", op_aligned_malloc, {8, 8}, {8}, true},
  };
  const auto found = std::find_if(kAll.begin(), kAll.end(),
                                  [&](const Builtin& builtin) { return builtin.name == name; });
  return found == kAll.end() ? nullptr : &*found;
}

const Insn* op_vprintf(Exec* x, const Insn* i) {
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    LaneReader reader(x, i, lane);
    std::uint64_t format_at = 0;
    std::uint64_t arguments_at = 0;
    std::string format;
    if (!reader.param(0, &format_at) || !reader.param(1, &arguments_at)) return nullptr;
    if (!reader.text(format_at, &format)) return nullptr;
    Arguments arguments(&reader, arguments_at);
    std::string out;
    std::int32_t conversions = 0;
    for (std::size_t at = 0; at < format.size();) {
      const char c = format[at++];
      if (c != '%') {
        out += c;
        continue;
      }
      const bool percent = at < format.size() && format[at] == '%';
      if (!convert(&reader, &arguments, format, &at, &out)) return nullptr;
      conversions += percent ? 0 : 1;
    }
    x->grid->output.add(x->block->number,
                        x->warp->index * kLanes + static_cast<std::uint32_t>(lane), std::move(out));
    if (!reader.result(conversions)) return nullptr;
  }
  return i + 1;
}

// __assertfail(message, file, line, function, size of a character)
const Insn* op_assertfail(Exec* x, const Insn* i) {
  const int lane = std::countr_zero(x->mask);
  LaneReader reader(x, i, lane);
  std::uint64_t message_at = 0;
  std::uint64_t file_at = 0;
  std::uint64_t function_at = 0;
  std::uint32_t line = 0;
  std::string message, file, function;
  const bool read = reader.param(0, &message_at) && reader.param(1, &file_at) &&
                    reader.param(2, &line) && reader.param(3, &function_at) &&
                    reader.text(message_at, &message) && reader.text(file_at, &file) &&
                    (function_at == 0 || reader.text(function_at, &function));
  if (!read) return nullptr;
  return fault(x, i, lane, CUDA_ERROR_ASSERT, driver::FindingKind::kAssertion,
               fmt::format("{}:{}: {}: assertion `{}' failed", file, line, function, message));
}

// cudaGraphSetConditional(handle, value)
const Insn* op_set_condition(Exec* x, const Insn* i) {
  const auto& set = x->grid->config->set_condition;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    LaneReader reader(x, i, lane);
    std::uint64_t handle = 0;
    std::uint32_t value = 0;
    if (!reader.param(0, &handle) || !reader.param(1, &value)) return nullptr;
    if (set && set(handle, value)) continue;
    return fault(x, i, lane, CUDA_ERROR_INVALID_VALUE, driver::FindingKind::kUnsupported,
                 fmt::format("sets the condition {:#x}, which no conditional node has", handle));
  }
  return i + 1;
}

}  // namespace baton::sim
