#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton.h"

namespace baton::tvm_ffi {

// What a bundle's program is made of. Immutable.
struct ProgramParts {
  struct Buffer {
    std::string name;
    std::int32_t role;  // BATON_ROLE_...
    std::string type;   // "f32[N, 4]"
    bool is_written() const;
  };
  struct Symbol {
    std::string name;
    std::int64_t value;  // the default
  };

  std::string name;
  std::vector<std::string> kernels;
  std::vector<Buffer> buffers;
  std::vector<Symbol> symbols;
  // The buffers that a call gives by their position, as indexes: inputs, then inouts, then outputs,
  // each in the program's order. Symbols follow them.
  std::vector<std::size_t> positional;

  // Throws Failure.
  static ProgramParts read(const baton_bundle* bundle);

  bool has_kernel(std::string_view kernel) const;
  // Null where there is none of that name.
  const Buffer* buffer(std::string_view wanted) const;
  const Symbol* symbol(std::string_view wanted) const;
  // "main(x: f32[N], y: f32[N], N = 1024)".
  std::string signature(std::string_view function) const;
  // The type of `main` in tvm-ffi's JSON, for tools that generate code.
  std::string type_schema() const;
};

}  // namespace baton::tvm_ffi
