#include "image/cubin/kernel_registers.h"

#include "image/cubin/cubin.h"
#include "image/cubin/nv_info.h"

namespace baton::image {

std::unordered_map<std::string, std::uint32_t> kernel_registers(std::string_view bytes,
                                                                int architecture) {
  const Cubin cubin(bytes, "<cubin>");
  std::unordered_map<std::string, std::uint32_t> registers;
  const std::optional<int> sm = cubin.sm();
  const bool runs = sm && *sm <= architecture && *sm / 10 == architecture / 10;
  const Cubin::Section* const info = cubin.section(".nv.info", Cubin::kInfo);
  if (!runs || info == nullptr) return registers;
  const NvFileInfo file = read_file_info(info->bytes);
  for (std::size_t k = 0; k < cubin.symbols().size(); ++k) {
    const Cubin::Symbol& symbol = cubin.symbols()[k];
    if (!symbol.is_kernel()) continue;
    const NvSymbolInfo* const counts = file.find(static_cast<std::uint32_t>(k));
    if (counts != nullptr && counts->registers) registers.emplace(symbol.name, *counts->registers);
  }
  return registers;
}

}  // namespace baton::image
