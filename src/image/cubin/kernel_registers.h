#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace baton::image {

// Registers of a thread, by kernel, of a cubin for that architecture: what a driver needs of
// machine code at each load, so no instruction and no name is read for it. Empty where the cubin is
// for another architecture. Throws kInvalidInput as Cubin does.
std::unordered_map<std::string, std::uint32_t> kernel_registers(std::string_view cubin,
                                                                int architecture);

}  // namespace baton::image
