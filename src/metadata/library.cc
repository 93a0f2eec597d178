#include "metadata/library.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/file/byte_reader.h"
#include "base/text/text.h"
#include "image/container/bytes.h"
#include "image/container/elf.h"
#include "metadata/remarks.h"
#include "metadata/tvm_binary.h"

namespace baton::metadata {
namespace {

using image::ElfFile;
using image::ElfSection;
using image::ElfStrings;
using image::load_or_zero;
using image::slice;

constexpr std::string_view kLibrarySymbol = "__tvm_ffi__library_bin";
constexpr std::string_view kCubinPrefix = "__tvm_ffi__cubin_";
constexpr std::string_view kCubinEnd = "_end";

constexpr std::uint32_t kDynamicSymbols = 11;  // section type SHT_DYNSYM
constexpr std::size_t kSymbolBytes = 24;
constexpr std::size_t kSegmentBytes = 56;
constexpr std::uint32_t kLoaded = 1;  // segment type PT_LOAD
// A file has two; the sections of a hostile one may be the same bytes over and over.
constexpr int kMaxSymbolTables = 4;
constexpr std::size_t kMaxSymbolName = 256;

struct Segment {
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // in the file
};

// Where a symbol's bytes lie in the file.
class LibraryParts {
 public:
  LibraryParts(std::string_view bytes, const ElfFile& file)
      : file_(file), file_bytes_(bytes.size()) {
    const auto table = load_or_zero<std::uint64_t>(bytes, 32);
    const auto size = load_or_zero<std::uint16_t>(bytes, 54);
    const auto count = load_or_zero<std::uint16_t>(bytes, 56);
    if (size != kSegmentBytes) return;
    const auto rows = slice(bytes, table, std::uint64_t{count} * kSegmentBytes);
    if (!rows) return;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view row = rows->substr(i * kSegmentBytes, kSegmentBytes);
      if (load_or_zero<std::uint32_t>(row, 0) != kLoaded) continue;
      segments_.push_back({load_or_zero<std::uint64_t>(row, 16),
                           load_or_zero<std::uint64_t>(row, 8),
                           load_or_zero<std::uint64_t>(row, 32)});
    }
    std::sort(segments_.begin(), segments_.end(),
              [](const Segment& a, const Segment& b) { return a.address < b.address; });
  }

  std::optional<std::uint64_t> of(std::uint64_t value, std::uint16_t section_index) const {
    if (file_.type() == ElfFile::kRelocatable) {
      const ElfSection* section = file_.section(section_index);
      if (section == nullptr || !section->is_readable || value > section->size) return std::nullopt;
      return section->offset + value;
    }
    const auto after =
        std::upper_bound(segments_.begin(), segments_.end(), value,
                         [](std::uint64_t wanted, const Segment& s) { return wanted < s.address; });
    if (after == segments_.begin()) return std::nullopt;
    const Segment& segment = *std::prev(after);
    if (value - segment.address >= segment.size) return std::nullopt;
    const std::uint64_t place = segment.offset + (value - segment.address);
    // Also where the sum is beyond all numbers.
    return place < segment.offset || place > file_bytes_ ? std::nullopt : std::optional(place);
  }

 private:
  const ElfFile& file_;
  std::uint64_t file_bytes_;
  std::vector<Segment> segments_;
};

// The symbols that matter, by name, with the place of their bytes. Both symbol tables of a file
// name those that it exports.
std::map<std::string, std::uint64_t> find_symbols(std::string_view bytes, const ElfFile& file) {
  std::map<std::string, std::uint64_t> symbols;
  const LibraryParts places(bytes, file);
  int tables = 0;
  for (const ElfSection& section : file.sections()) {
    if (section.type != kDynamicSymbols && section.type != ElfFile::kSymbolTable) continue;
    const ElfSection* names = file.section(section.link);
    if (names == nullptr || ++tables > kMaxSymbolTables) continue;
    const ElfStrings strings(names->bytes);
    for (std::size_t at = 0; at + kSymbolBytes <= section.bytes.size(); at += kSymbolBytes) {
      const std::string_view row = section.bytes.substr(at, kSymbolBytes);
      const auto symbol = strings.at(load_or_zero<std::uint32_t>(row, 0));
      const auto index = load_or_zero<std::uint16_t>(row, 6);
      if (!symbol || symbol->size() > kMaxSymbolName || index == 0) continue;
      // A library of the system may put a prefix of its own in front.
      if (!symbol->ends_with(kLibrarySymbol) && !symbol->starts_with(kCubinPrefix)) continue;
      const auto place = places.of(load_or_zero<std::uint64_t>(row, 8), index);
      if (place) symbols.try_emplace(std::string(*symbol), *place);
    }
  }
  return symbols;
}

void read_cubin(std::string_view bytes, const std::string& label, const std::string& name,
                FoundMetadata& found) {
  try {
    ModuleMetadata::Parts parts;
    parts.name = fmt::format("{} ({})", name, printable(label));
    parts.code = bytes;
    ModuleMetadata module(std::move(parts));
    if (module.image()) {
      found.modules.push_back(std::move(module));
      return;
    }
    remark(found.remarks, fmt::format("{}: {} does not name an image", name, printable(label)));
  } catch (const Error& unreadable) {
    remark(found.remarks, unreadable.message());
  }
}

}  // namespace

void read_library_bytes(std::string_view bytes, const std::string& name, FoundMetadata& found) {
  ByteReader counted(bytes, name);
  ByteReader reader(counted.counted_bytes("the library's modules"), name, sizeof(std::uint64_t));
  // The tree of imports in rows: where each module's children begin, then the children.
  std::uint64_t modules = 0;
  std::uint64_t last = 0;
  for (std::uint64_t left = reader.count(8, "the import tree's rows"); left > 0;
       --left, ++modules) {
    const auto start = reader.number<std::uint64_t>("a row of the import tree");
    if (start < last || (modules == 0 && start != 0)) {
      throw error(ErrorCode::kInvalidInput,
                  "{}: row {} of the import tree begins at {}, the row before at {}", name, modules,
                  start, last);
    }
    last = start;
  }
  if (modules > 0) --modules;  // one row more than modules ends the last
  const std::uint64_t children = reader.count(8, "the import tree's children");
  if (children != last) {
    throw error(ErrorCode::kInvalidInput, "{}: the import tree has {} children, its rows end at {}",
                name, children, last);
  }
  for (std::uint64_t i = 0; i < children; ++i) {
    const auto child = reader.number<std::uint64_t>("a child of the import tree");
    if (child >= modules) {
      throw error(ErrorCode::kInvalidInput, "{}: the import tree names module {}, there are {}",
                  name, child, modules);
    }
  }
  for (std::uint64_t i = 0; i < modules; ++i) {
    const std::string_view kind = reader.counted_bytes("a module's kind");
    if (kind == "_lib") continue;  // the library's own code
    const std::string_view payload = reader.counted_bytes("a module");
    const std::string label = fmt::format("{} (module {})", name, i);
    if (kind == "cuda") {
      found.modules.push_back(read_tvm_module(payload, label, found));
    } else {
      remark(found.remarks, fmt::format("{} is of the kind \"{}\", which holds no CUDA kernels",
                                        label, printable(kind)));
    }
  }
  reader.expect_end("the last module");
}

void read_library(std::string_view bytes, const std::string& name, FoundMetadata& found) {
  const ElfFile file(bytes, name, "library");
  const auto symbols = find_symbols(bytes, file);
  // Symbols of a broken file may name the same bytes over and over: all together take no more than
  // the file has.
  std::uint64_t budget = bytes.size();
  const auto take = [&](std::uint64_t size) {
    if (size > budget) {
      throw error(ErrorCode::kInvalidInput, "{}: its symbols name more bytes than it has", name);
    }
    budget -= size;
  };
  for (const auto& [symbol, place] : symbols) {
    if (symbol.ends_with(kLibrarySymbol)) {
      const std::string_view rest = bytes.substr(place);
      take(std::min<std::uint64_t>(load_or_zero<std::uint64_t>(rest, 0), rest.size()));
      read_library_bytes(rest, name, found);
      continue;
    }
    const auto end = symbols.find(symbol + std::string(kCubinEnd));
    if (end == symbols.end() || end->second < place) continue;
    if (const auto image = slice(bytes, place, end->second - place)) {
      take(image->size());
      read_cubin(*image, symbol.substr(kCubinPrefix.size()), name, found);
    }
  }
  found.format = file.type() == ElfFile::kRelocatable ? "object file" : "shared library";
  if (found.modules.empty()) {
    throw error(
        ErrorCode::kNotFound,
        "{} holds no launch metadata: no symbol {} with a CUDA module, no {}NAME (a stripped "
        "file has lost these){}",
        name, kLibrarySymbol, kCubinPrefix,
        found.remarks.empty() ? "" : "; " + found.remarks.front());
  }
}

}  // namespace baton::metadata
