#include "shim/symbols.h"

namespace baton::shim {
namespace {

constexpr Symbol kSymbols[] = {
#define BATON_SYMBOL(symbol, name, version, stream) \
  {#symbol, #name, version, DefaultStream::stream},
#include "shim/symbols.inc"
};

}  // namespace

std::string_view Symbol::plain() const {
  constexpr std::size_t kSuffix = sizeof "_ptsz" - 1;
  return stream == DefaultStream::thread ? symbol.substr(0, symbol.size() - kSuffix) : symbol;
}

std::span<const Symbol> symbols() {
  return kSymbols;
}

Lookup look_up(std::string_view name, int version, DefaultStream stream) {
  Lookup found;
  for (const Symbol& each : kSymbols) {
    if (each.name != name) continue;
    found.is_known = true;
    // Functions without a default stream have no variant for that of the thread.
    if (each.version > version) continue;
    if (each.stream == DefaultStream::thread && stream == DefaultStream::legacy) continue;
    const bool is_better =
        found.symbol == nullptr || (each.stream == stream && found.symbol->stream != stream) ||
        (each.stream == found.symbol->stream && each.version > found.symbol->version);
    if (is_better) found.symbol = &each;
  }
  return found;
}

}  // namespace baton::shim
