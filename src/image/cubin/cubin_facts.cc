#include "image/cubin/cubin_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "chip/chip.h"
#include "image/cubin/cubin.h"
#include "image/cubin/debug_params.h"
#include "image/cubin/machine_code.h"
#include "image/cubin/nv_info.h"
#include "image/names/param_types.h"

namespace baton::image {
namespace {

constexpr std::size_t kMaxParams = 4096;

std::string toolkit_text(std::uint32_t number) {
  return fmt::format("{}.{}", number / 10, number % 10);
}

class CubinReader {
 public:
  CubinReader(const Cubin& cubin, ImageFacts& out) : cubin_(cubin), out_(out), code_(cubin) {
    for (const Cubin::Section& section : cubin.sections()) {
      if ((section.flags & Cubin::kMercury) != 0) continue;
      if (section.type == Cubin::kInfo && section.name == ".nv.info") {
        file_ = read_file_info(section.bytes);
        if (!file_.is_whole) out_.remarks.emplace_back(".nv.info was read in part");
      } else if (section.type == Cubin::kInfo) {
        keep(info_, section);
      } else if (section.type == ElfFile::kNobits && section.name.starts_with(".nv.shared.")) {
        keep(shared_, section);
      }
    }
  }

  void read() {
    if (!cubin_.is_linked()) {
      out_.remarks.emplace_back("not linked: its kernels need a device link before a launch");
    }
    // Names may share bytes; all real ones together fit into the file.
    std::uint64_t names_left = file_size();
    std::unordered_map<std::string_view, std::size_t> known;
    for (std::uint32_t i = 0; i < cubin_.symbols().size(); ++i) {
      const Cubin::Symbol& symbol = cubin_.symbols()[i];
      const bool is_kernel = symbol.is_kernel();
      if (symbol.name.empty() || (!is_kernel && !is_data(symbol))) continue;
      if (symbol.name.size() > names_left) {
        out_.remarks.emplace_back(
            "the symbols' names are larger than the file: some were left out");
        return;
      }
      names_left -= symbol.name.size();
      if (!is_kernel) {
        add_variable(symbol);
      } else if (known.emplace(symbol.name, i).second) {
        out_.kernels.push_back(kernel(i, symbol));
      } else {
        out_.remarks.push_back(fmt::format("two kernels are called {}: the first is taken",
                                           symbol.name.substr(0, 120)));
      }
    }
  }

 private:
  using ByCode = std::unordered_map<std::uint32_t, const Cubin::Section*>;

  // sh_info is the index of the code the section is about; two for the same code are ambiguous.
  static void keep(ByCode& into, const Cubin::Section& section) {
    const auto [entry, is_new] = into.emplace(section.info, &section);
    if (!is_new) entry->second = nullptr;
  }

  static const Cubin::Section* look_up(const ByCode& in, std::uint32_t code) {
    const auto found = in.find(code);
    return found == in.end() ? nullptr : found->second;
  }

  std::uint64_t file_size() const {
    std::uint64_t size = 0;
    for (const Cubin::Section& section : cubin_.sections()) size += section.bytes.size();
    return size;
  }

  bool is_data(const Cubin::Symbol& symbol) const {
    return (symbol.type == Cubin::kObject || symbol.type == Cubin::kRelocatableObject) &&
           cubin_.section(symbol.section) != nullptr && !symbol.name.starts_with('$');
  }

  void add_variable(const Cubin::Symbol& symbol) {
    const std::string_view space = cubin_.section(symbol.section)->name;
    const bool constant = space == ".nv.constant3";
    if (!constant && space != ".nv.global" && space != ".nv.global.init") return;
    out_.variables.push_back({std::string(symbol.name), symbol.size, constant});
  }

  KernelFacts kernel(std::uint32_t index, const Cubin::Symbol& symbol) {
    KernelFacts facts;
    facts.name = symbol.name;
    facts.demangled = facts.name;
    facts.arch = out_.arch;
    if (!cubin_.sm()) return facts;  // attributes of an unknown ABI mean nothing
    if (const NvSymbolInfo* counts = file_.find(index)) {
      facts.registers = counts->registers;
      // With callees; recursion makes that 0, and what is known is the frame of the kernel itself.
      facts.local_bytes = counts->min_stack ? counts->min_stack : counts->frame;
      if (facts.local_bytes && counts->frame) {
        facts.local_bytes = std::max(*facts.local_bytes, *counts->frame);
      }
    }
    if (const Cubin::Section* info = look_up(info_, symbol.section)) {
      apply(read_function_info(info->bytes), symbol, facts);
    } else {
      remark(facts.name, "its attributes (.nv.info) are missing or ambiguous");
    }
    facts.static_shared = static_shared(symbol.section);
    const MachineCode::Found found = code_.from(index);
    facts.waits = found.waits;
    facts.triggers = found.triggers;
    apply_name(facts);
    return facts;
  }

  void apply(const NvFunctionInfo& info, const Cubin::Symbol& symbol, KernelFacts& facts) {
    if (info.toolkit && out_.toolkit.empty()) out_.toolkit = toolkit_text(*info.toolkit);
    facts.max_cluster = info.max_cluster_rank;
    if (info.is_whole || info.grid_in_clusters) facts.grid_in_clusters = info.grid_in_clusters;
    facts.barriers = barriers(info, symbol);
    facts.max_registers = info.max_registers;
    facts.required_block = info.required_threads;
    const auto& bound = info.required_threads ? info.required_threads : info.max_threads;
    if (bound) {
      const std::uint64_t area = std::uint64_t{(*bound)[0]} * (*bound)[1];
      if (area <= UINT32_MAX && area * (*bound)[2] <= UINT32_MAX) {
        facts.max_threads = static_cast<std::uint32_t>(area * (*bound)[2]);
      }
    }
    // Written for __block_size__ too, with 1,1,1 and without the other: that asks for no cluster.
    const bool is_one = info.cluster == std::array<std::uint32_t, 3>{1, 1, 1};
    if (info.cluster && (info.has_explicit_cluster || !is_one)) {
      facts.required_cluster = info.cluster;
    }
    facts.params = params(info);
    if (!facts.params) remark(facts.name, "its parameter table is broken");
    if (!info.is_whole) remark(facts.name, "its attributes were read in part");
  }

  // ABI 8 writes an attribute where there are barriers, ABI 7 into the code's own section flags.
  std::optional<std::uint32_t> barriers(const NvFunctionInfo& info,
                                        const Cubin::Symbol& symbol) const {
    if (cubin_.abi() == 8) {
      if (!info.is_whole) return info.barriers;
      return info.barriers.value_or(0);
    }
    const Cubin::Section* code = cubin_.section(symbol.section);
    if (code == nullptr) return std::nullopt;
    return static_cast<std::uint32_t>(code->flags >> 20 & 0x7f);
  }

  // Nothing where ordinals are missing or doubled, or a parameter lies outside the block.
  static std::optional<std::vector<ParamFacts>> params(const NvFunctionInfo& info) {
    const std::size_t count = info.params.size();
    if (!info.is_whole || count > kMaxParams) return std::nullopt;
    std::vector<NvParam> ordered = info.params;
    std::sort(ordered.begin(), ordered.end(),
              [](const NvParam& a, const NvParam& b) { return a.ordinal < b.ordinal; });
    std::vector<ParamFacts> out;
    for (std::size_t i = 0; i < count; ++i) {
      const NvParam& param = ordered[i];
      if (param.ordinal != i || param.size == 0) return std::nullopt;
      if (info.params_size && param.offset + param.size > *info.params_size) return std::nullopt;
      ParamFacts facts;
      facts.offset = param.offset;
      facts.size = param.size;
      if (param.pointee_space != 0 && param.size == 8) {
        facts.kind = ParamKind::kPointer;
      } else if (param.size > 8) {
        facts.kind = ParamKind::kBytes;
      }
      facts.type = describe_type(facts);
      out.push_back(std::move(facts));
    }
    return out;
  }

  std::optional<std::uint32_t> static_shared(std::uint32_t code) const {
    // In objects the callees' shared memory is still to come.
    if (!cubin_.is_linked()) return std::nullopt;
    const auto found = shared_.find(code);
    // Kernels that use none have no section of their own where no kernel of the file uses any,
    // after a device link, and with -G.
    if (found == shared_.end()) return 0;
    if (found->second == nullptr) return std::nullopt;
    std::uint64_t size = found->second->size;
    if (*cubin_.sm() >= chip::kFirstWithReservedInCubin) {
      const std::uint32_t reserved = chip::nearest(*cubin_.sm()).multiprocessor.reserved_shared;
      if (size < reserved) return std::nullopt;
      size -= reserved;
    }
    if (size > UINT32_MAX) return std::nullopt;
    return static_cast<std::uint32_t>(size);
  }

  void remark(const std::string& name, std::string_view what) {
    out_.remarks.push_back(fmt::format("kernel {}: {}", name.substr(0, 120), what));
  }

  const Cubin& cubin_;
  ImageFacts& out_;
  MachineCode code_;
  NvFileInfo file_;
  ByCode info_;    // .nv.info.K by the index of .text.K
  ByCode shared_;  // .nv.shared.K by the index of .text.K
};

}  // namespace

ImageFacts read_cubin_facts(const Image& image) {
  const Cubin cubin(image.bytes(), image.name());
  ImageFacts facts;
  facts.kind = ImageKind::kCubin;
  facts.arch = cubin.arch();
  facts.producer = cubin.producer();
  facts.abi = cubin.abi();
  facts.linked = cubin.is_linked();
  facts.debug = cubin.debug();
  if (const auto toolkit = cubin.toolkit()) facts.toolkit = toolkit_text(*toolkit);
  if (!cubin.sm()) {
    facts.remarks.push_back(
        fmt::format("ABI version {} is not known: kernels are listed by name only", cubin.abi()));
  }
  CubinReader(cubin, facts).read();
  if (facts.debug == DebugInfo::kFull) take_params(facts, debug_params(cubin.sections()));
  return facts;
}

}  // namespace baton::image
