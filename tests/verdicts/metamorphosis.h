#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace baton::verdicts {

// How a kernel is changed without a change of what it does.
struct Metamorphosis {
  std::uint64_t seed = 0;
  // Statements in braces, with registers of their own, that may be put anywhere.
  std::string dead = "";
};

// The module with other kernels of the same meaning: registers have other names, blocks are split
// and stand in another order, independent neighbours change places, and dead statements are added.
// `of` gives the metamorphosis of a kernel by its name, or nothing to keep it.
std::string metamorphosed(
    const std::string& module,
    const std::function<std::optional<Metamorphosis>(std::string_view kernel)>& of);

}  // namespace baton::verdicts
