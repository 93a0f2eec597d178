#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace baton::shim {

// Which stream a function takes for the default one.
enum class DefaultStream : unsigned char { legacy, thread };

// A symbol that libcuda.so exports: a row of symbols.inc.
struct Symbol {
  std::string_view symbol;  // "cuMemcpyHtoD_v2_ptds"
  std::string_view name;    // "cuMemcpyHtoD", as cuGetProcAddress is asked for it
  int version = 0;          // at which its signature appeared
  DefaultStream stream = DefaultStream::legacy;

  // "cuMemcpyHtoD_v2": without what says that the default stream is the thread's.
  std::string_view plain() const;
};

// All of them, in the order of symbols.inc: their numbers are their places.
std::span<const Symbol> symbols();

// What cuGetProcAddress gives: the newest symbol of the name whose version is at most the asked
// one.
struct Lookup {
  const Symbol* symbol = nullptr;  // null: there is none
  bool is_known = false;           // some version of the name is there
};
Lookup look_up(std::string_view name, int version, DefaultStream stream);

}  // namespace baton::shim
