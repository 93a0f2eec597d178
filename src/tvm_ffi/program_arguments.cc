#include "tvm_ffi/failure.h"
#include "tvm_ffi/program_call.h"

namespace baton::tvm_ffi {
namespace {

// Reads the arguments of one call.
class CallArguments {
 public:
  explicit CallArguments(const ProgramParts& parts) : parts_(parts) {}

  GivenValues read(std::span<const Any> arguments) {
    std::size_t next = 0;
    while (next < arguments.size() && !text_of(arguments[next])) {
      by_position(next, arguments[next]);
      ++next;
    }
    for (; next < arguments.size(); next += 2) {
      const auto name = text_of(arguments[next]);
      if (!name) {
        fail("TypeError", "argument {} is {}; behind the first name, names and values alternate",
             next, type_name(arguments[next]));
      }
      if (next + 1 == arguments.size()) {
        fail("TypeError", "the last argument is the name \"{}\"; its value is missing", *name);
      }
      by_name(*name, arguments[next + 1]);
    }
    require_all();
    return std::move(values_);
  }

 private:
  void by_position(std::size_t index, const Any& value) {
    const std::size_t tensors = parts_.positional.size();
    if (index < tensors) return buffer(parts_.buffers[parts_.positional[index]], value);
    if (index < tensors + parts_.symbols.size()) {
      return symbol(parts_.symbols[index - tensors], value);
    }
    fail("TypeError", "more than {} values were given by position: {}",
         tensors + parts_.symbols.size(), parts_.signature(parts_.name));
  }

  void by_name(std::string_view name, const Any& value) {
    if (const auto* const known = parts_.buffer(name)) return buffer(*known, value);
    if (const auto* const known = parts_.symbol(name)) return symbol(*known, value);
    fail("TypeError", "the program has no buffer and no symbol \"{}\": {}", name,
         parts_.signature(parts_.name));
  }

  void buffer(const ProgramParts::Buffer& known, const Any& value) {
    seen(known.name);
    if (value.type == kNone) return;
    const baton_tensor* const tensor = tensor_of(value);
    if (tensor == nullptr) {
      fail("TypeError", "{} is {}; it takes a tensor {}", known.name, type_name(value), known.type);
    }
    values_.emplace(known.name, tensor);
  }

  void symbol(const ProgramParts::Symbol& known, const Any& value) {
    seen(known.name);
    if (value.type == kNone) return;
    values_.emplace(known.name, int_of(value, known.name));
  }

  void seen(const std::string& name) {
    if (!seen_.emplace(name, true).second) {
      fail("TypeError", "{} was given twice: {}", name, parts_.signature(parts_.name));
    }
  }

  void require_all() const {
    for (const std::size_t index : parts_.positional) {
      const auto& buffer = parts_.buffers[index];
      if (seen_.count(buffer.name) != 0) continue;
      fail("TypeError", "the tensor {}: {} was not given: {}", buffer.name, buffer.type,
           parts_.signature(parts_.name));
    }
  }

  const ProgramParts& parts_;
  GivenValues values_;
  std::map<std::string_view, bool> seen_;
};

}  // namespace

GivenValues read_arguments(const ProgramParts& parts, std::span<const Any> arguments) {
  return CallArguments(parts).read(arguments);
}

}  // namespace baton::tvm_ffi
