#pragma once

// What is said of one kernel, whatever its launches are.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/recorded_program.h"
#include "pdl/footprint/address_binder.h"
#include "pdl/footprint/footprint.h"
#include "pdl/order/order.h"

namespace baton::record {

// "b1", "a0": the numbers of memory that variables of modules get.
overlap::MemoryId variable_number(std::string_view name, bool constant);

std::string text_of_origin(const overlap::Origin& origin);
char letter_of(overlap::Order order);

// The operations with their operands.
std::string code_text(const overlap::Code& code);
// The order of operations after the wait, for blocks of that extent.
std::string order_text(const overlap::Code& code, const std::array<std::uint32_t, 3>& block);
std::string footprint_text(const overlap::Footprint& footprint);
// What registers may hold, and where threads come, for several threads of the launch.
std::string values_text(const overlap::Footprint& footprint, const RecordedLaunch& launch);
// The places of waits and triggers, and the text with them.
std::string rewriting_text(const std::shared_ptr<const ptx::ParsedModule>& module,
                           const overlap::Footprint& footprint, const ptx::Function& kernel);
// The text with all of the kernels rewritten.
std::string rewriting_text_of_all(const std::shared_ptr<const ptx::ParsedModule>& module,
                                  std::vector<const ptx::Function*> kernels);

}  // namespace baton::record
