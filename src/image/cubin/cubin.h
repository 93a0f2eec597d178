#pragma once

// What is special to cubins among ELF files: their symbols, and what their header and notes say.
// Formats as measured on CUDA 13.0 (ABI version 8) and on files of CUDA 12 (ABI version 7).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"
#include "image/container/elf.h"

namespace baton::image {

class Cubin {
 public:
  using Section = ElfSection;
  struct Symbol {
    std::string_view name;
    std::uint8_t type = 0;
    std::uint8_t other = 0;
    std::uint16_t section = 0;  // 0: undefined; may be out of range
    std::uint64_t value = 0;
    std::uint64_t size = 0;

    // An entry point: a function with the bit 0x10 of st_other. Binding says nothing.
    bool is_kernel() const { return type == kFunction && (other & kEntry) != 0; }
  };

  static constexpr std::uint32_t kInfo = 0x70000000;       // .nv.info
  static constexpr std::uint32_t kCallGraph = 0x70000001;  // .nv.callgraph
  static constexpr std::uint32_t kCompat = 0x70000086;     // .nv.compat
  static constexpr std::uint64_t kMercury = 0x10000000;    // flag: a second copy, for re-finalising
  static constexpr std::uint8_t kObject = 1;
  static constexpr std::uint8_t kFunction = 2;
  static constexpr std::uint8_t kRelocatableObject = 13;  // data in files that are not linked
  static constexpr std::uint8_t kEntry = 0x10;

  // `bytes` must outlive it. Throws kInvalidInput naming the image where the headers, the section
  // table or its names cannot be read. No section or symbol table is not an error.
  Cubin(std::string_view bytes, std::string_view name);

  const std::vector<Section>& sections() const { return elf_.sections(); }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  // The section of that index, or null.
  const Section* section(std::size_t index) const { return elf_.section(index); }
  // The one section of that name and type, or null where there is none, or several.
  const Section* section(std::string_view name, std::uint32_t type) const {
    return elf_.section(name, type);
  }

  int abi() const { return elf_.abi(); }
  // Linked, as opposed to an object that waits for a device link.
  bool is_linked() const { return elf_.type() == ElfFile::kLinked; }
  // The real architecture's number, 90; nothing where the ABI version is not known.
  std::optional<int> sm() const { return sm_; }
  // 130 for CUDA 13.0; nothing where the file as a whole does not say it.
  std::optional<std::uint32_t> toolkit() const;
  DebugInfo debug() const;
  // "sm_90a": with the suffix, where the file says it.
  std::string arch() const;
  // "ptxas, Cuda compilation tools, release 13.0, V13.0.88"; empty where the file does not say.
  std::string producer() const;

 private:
  struct ToolInfo {
    std::string_view tool;
    std::string_view version;
    std::string_view arguments;
  };
  ToolInfo tool_info() const;
  void read_symbols();
  bool is_accelerated() const;

  ElfFile elf_;
  std::vector<Symbol> symbols_;
  std::optional<int> sm_;
};

}  // namespace baton::image
