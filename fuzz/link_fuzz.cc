#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "baton/error.h"
#include "image/ptx/link_ptx.h"

// Links two PTX modules, which a NUL separates: they are refused, or joined into one that parses.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using baton::ptx::ParsedModule;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t first = std::min(all.find('\0'), size);
  const std::string_view second = all.substr(std::min(first + 1, size));
  std::string linked;
  try {
    const std::array<std::shared_ptr<const ParsedModule>, 2> modules = {
        ParsedModule::parse(std::string(all.substr(0, first)), "first"),
        ParsedModule::parse(std::string(second), "second")};
    linked = baton::image::link_ptx(modules);
  } catch (const baton::Error& error) {
    const bool is_refusal = error.code() == baton::ErrorCode::kInvalidInput ||
                            error.code() == baton::ErrorCode::kCompile;
    if (!is_refusal) std::abort();
    return 0;
  }
  // What it gives is PTX; an Error here ends the fuzzer.
  ParsedModule::parse(linked, "linked");
  return 0;
}
