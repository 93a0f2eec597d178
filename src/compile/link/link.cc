#include "baton/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>

#include "base/error.h"
#include "base/file/file.h"
#include "base/hash/hash.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "base/text/text.h"
#include "compile/cache/cache.h"
#include "compile/cache/cache_entry.h"
#include "compile/cache/cache_key.h"
#include "compile/cache/path_table.h"
#include "compile/library_identity.h"
#include "compile/link/device_linker.h"
#include "compile/link/linker_options.h"
#include "compile/make_result.h"
#include "compile/nvrtc/toolkit.h"
#include "compile/request.h"
#include "compile/source/words.h"
#include "image/container/elf.h"
#include "image/container/fatbin.h"
#include "image/container/sniff.h"
#include "image/cubin/cubin.h"
#include "image/image_content.h"
#include "image/ptx/link_ptx.h"

namespace baton {
namespace compiler {
namespace {

namespace fs = std::filesystem;

const std::string& name_of(const LinkInput& input) {
  return std::visit(
      Overloaded{[](const Source& source) -> const std::string& { return source.name; },
                 [](const Image& image) -> const std::string& { return image.name(); }},
      input);
}

// Whether a source may have what an entry names: its text does, or a header of the user's may.
bool may_have(const Request& request, const std::string& entry) {
  std::string_view name = std::string_view(entry).substr(0, entry.find('<'));
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) {
    name.remove_prefix(colon + 1);
  }
  const auto is_users = [](const IncludedFile& file) {
    return !file.is_cuda && !file.path.empty();
  };
  return contains_word(request.text, trim(name)) ||
         std::ranges::any_of(request.scan.files, is_users);
}

// The PTX of a fatbin that comes nearest to an architecture.
std::optional<std::string> ptx_of(const image::Fatbin& fatbin, int number) {
  const image::FatbinMember* best = nullptr;
  for (const image::FatbinMember& member : fatbin.members()) {
    if (member.facts.kind != MemberFacts::Kind::kPtx || member.sm > number) continue;
    if (best == nullptr || member.sm > best->sm) best = &member;
  }
  return best == nullptr ? std::nullopt : std::optional(fatbin.unpack(*best));
}

// One input on its way into a link.
struct LinkPart {
  const LinkInput* input = nullptr;
  // Of a source.
  CompileOptions options;
  std::unique_ptr<const Request> request;
  // Of both.
  int kind = NvJitLink::kPtxInput;
  std::string code;                // what nvJitLink reads
  std::optional<std::string> ptx;  // nothing where there is none
  bool is_lto = false;
};

class DeviceLink {
 public:
  DeviceLink(const std::vector<LinkInput>& inputs, const CompileOptions& options)
      : options_(options), arch_(parse_arch(options.arch)), name_(link_name(inputs)) {
    if (inputs.empty()) throw error(ErrorCode::kInvalidInput, "there is nothing to link");
    for (const LinkInput& input : inputs) {
      LinkPart& part = parts_.emplace_back();
      part.input = &input;
      if (const auto* source = std::get_if<Source>(&input)) begin(part, *source);
    }
  }

  Linked run() {
    const std::optional<Cache> cache = options_.use_cache ? Cache::open_default() : std::nullopt;
    std::string obstacle;
    const auto key = cache ? cache_key_of_link(&obstacle) : std::nullopt;
    if (!key) {
      if (cache) log(LogLevel::kInfo, "{} is not cached: {}", name_, obstacle);
      return finished({make(), false});
    }
    return finished(cache->get(*key, [&] {
      Cache::Made made{make(), true};
      // An included file, or the linker, may have changed meanwhile.
      for (LinkPart& part : parts_) {
        if (const auto* source = std::get_if<Source>(part.input)) request(part, *source);
      }
      made.keep = cache_key_of_link(&obstacle) == key;
      return made;
    }));
  }

 private:
  void begin(LinkPart& part, const Source& source) {
    part.options.arch = options_.arch;
    part.options.use_cache = options_.use_cache;
    request(part, source);
    for (const std::string& entry : options_.entries) {
      if (may_have(*part.request, entry)) part.options.entries.push_back(entry);
    }
    linker_options_.add(part.request->parsed.others);
    part.is_lto = part.request->parsed.has_lto;
  }

  static void request(LinkPart& part, const Source& source) {
    part.request = std::make_unique<const Request>(make_request(source, part.options, true));
  }

  std::optional<std::string> cache_key_of_link(std::string* obstacle) const {
    Sha256 hash;
    hash.update_field("link").update_field(options_.arch);
    const Toolkit toolkit = find_toolkit();
    if (!toolkit.nvjitlink) {
      hash.update_field("without nvJitLink");
    } else if (const auto identity = library_identity(*toolkit.nvjitlink)) {
      hash.update_field(*identity);
    } else {
      *obstacle = "nvJitLink cannot be read";
      return std::nullopt;
    }
    hash.update_field(fmt::format("Baton {} format {}", BATON_VERSION, kCacheFormat));
    for (const LinkPart& part : parts_) {
      hash.update_field(name_of(*part.input));
      if (part.request != nullptr) {
        const auto key = cache_key(*part.request, obstacle);
        if (!key) return std::nullopt;
        hash.update_field("source").update_field(*key);
      } else {
        hash.update_field("image").update_field(std::get<Image>(*part.input).bytes());
      }
    }
    return to_hex(hash.finish());
  }

  Result make() {
    const auto start = std::chrono::steady_clock::now();
    Result out;
    out.name = name_;
    out.arch = arch_.text;
    out.entries = options_.entries;
    for (LinkPart& part : parts_) {
      if (part.request != nullptr) {
        compile(part, out);
      } else {
        read(part, std::get<Image>(*part.input));
      }
    }
    const bool is_lto = std::ranges::any_of(parts_, &LinkPart::is_lto);
    if (is_lto) {
      link_lto(out);
    } else {
      link_ptx(out);
      link_code({}, out);
    }
    if (out.ptx.empty() && out.cubin.empty()) refuse_virtual();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    out.seconds = spent.count();
    return out;
  }

  void compile(LinkPart& part, Result& out) {
    const PathTable paths(*part.request);
    Result made = obtain_result(*part.request, paths).result;
    out.compiler = made.compiler;
    out.log += paths.decode(made.log);
    out.symbols.insert(out.symbols.end(), made.symbols.begin(), made.symbols.end());
    if (!made.ptx.empty()) part.ptx = paths.decode(made.ptx);
    if (part.is_lto) {
      part.kind = NvJitLink::kLtoInput;
    } else if (!made.cubin.empty()) {
      part.kind = NvJitLink::kCubinInput;
    }
    part.code = made.cubin.empty() ? *part.ptx : std::move(made.cubin);
  }

  void read(LinkPart& part, const Image& image) {
    switch (image.kind()) {
      case ImageKind::kPtx:
        part.ptx = image.bytes();
        part.code = *part.ptx;
        return;
      case ImageKind::kCubin:
        part.kind = NvJitLink::kCubinInput;
        part.code = image.bytes();
        if (image::Cubin(image.bytes(), image.name()).is_linked()) refuse_linked(image);
        return;
      case ImageKind::kFatbin:
        return read_fatbin(part, image);
    }
  }

  void read_fatbin(LinkPart& part, const Image& image) const {
    using Kind = MemberFacts::Kind;
    part.kind = NvJitLink::kFatbinInput;
    part.code = image.bytes();
    const image::Fatbin fatbin(image.bytes(), image.name());
    part.ptx = ptx_of(fatbin, arch_.number);
    for (const image::FatbinMember& member : fatbin.members()) {
      part.is_lto |= member.facts.kind == Kind::kLto;
      if (member.facts.kind != Kind::kCubin) continue;
      const std::string code = fatbin.unpack(member);
      if (!image::Cubin(code, image.name()).is_linked()) continue;
      if (!part.ptx) refuse_linked(image);
      part.kind = NvJitLink::kPtxInput;
      part.code = *part.ptx;
    }
  }

  // nvJitLink leaves such code out, and says nothing.
  [[noreturn]] static void refuse_linked(const Image& image) {
    throw error(ErrorCode::kInvalidInput,
                "{} is linked already; compile machine code for a link with -rdc=true (nvcc -dc)",
                image.name());
  }

  // The PTX of all inputs as one module, if each has some.
  void link_ptx(Result& out) const {
    std::vector<std::shared_ptr<const ptx::ParsedModule>> modules;
    for (const LinkPart& part : parts_) {
      if (part.ptx) {
        modules.push_back(ptx::ParsedModule::parse(*part.ptx, name_of(*part.input)));
        continue;
      }
      log(LogLevel::kInfo, "{} has no PTX, because {} has none", name_, name_of(*part.input));
      return;
    }
    out.ptx = image::link_ptx(modules);
  }

  // Machine code of what is optimised together is made from its PTX, so that what is found out from
  // that is true of it. Without LTO-IR of all inputs there is no PTX.
  void link_lto(Result& out) {
    std::vector<std::string> options = linker_options_.codegen;
    options.emplace_back("-lto");
    if (!std::ranges::all_of(parts_, &LinkPart::is_lto)) return link_code(options, out);
    options.emplace_back("-ptx");
    options.emplace_back("-lineinfo");
    std::string text = link(DeviceLinker(arch_.text), inputs_of(parts_), options);
    // What no file defines remains there as a declaration.
    const auto module = ptx::ParsedModule::parse(text, name_);
    image::link_ptx({&module, 1});
    out.ptx = std::move(text);
    if (!arch_.is_real) return;
    out.cubin = link(DeviceLinker(arch_.text), {{NvJitLink::kPtxInput, out.ptx, name_}},
                     linker_options_.assembler);
  }

  void link_code(std::vector<std::string> options, Result& out) const {
    if (!arch_.is_real) return;
    options.insert(options.end(), linker_options_.assembler.begin(),
                   linker_options_.assembler.end());
    std::optional<DeviceLinker> linker;
    try {
      linker.emplace(arch_.text);
    } catch (Error& missing) {
      if (out.ptx.empty()) {
        throw error(missing.code(), "{} needs nvJitLink, as {} has no PTX: {}", name_,
                    without_ptx(), missing.message());
      }
      log(LogLevel::kInfo, "{} has PTX alone: {}", name_, missing.message());
      return;
    }
    out.compiler += (out.compiler.empty() ? "nvJitLink " : ", nvJitLink ") + linker->version_text();
    out.cubin = link(*linker, inputs_of(parts_), options);
  }

  static std::vector<DeviceLinkInput> inputs_of(const std::deque<LinkPart>& parts) {
    std::vector<DeviceLinkInput> inputs;
    for (const LinkPart& part : parts)
      inputs.push_back({part.kind, part.code, name_of(*part.input)});
    return inputs;
  }

  // The first input without PTX.
  const std::string& without_ptx() const {
    const auto found = std::ranges::find_if(parts_, [](const auto& part) { return !part.ptx; });
    return found == parts_.end() ? name_ : name_of(*found->input);
  }

  std::string link(const DeviceLinker& linker, const std::vector<DeviceLinkInput>& inputs,
                   const std::vector<std::string>& options) const {
    try {
      return linker.link(inputs, options);
    } catch (const Error& refusal) {
      if (refusal.code() != ErrorCode::kCompile) throw;
      throw error(ErrorCode::kCompile, "{} does not link: {}", name_, refusal.message());
    }
  }

  [[noreturn]] void refuse_virtual() const {
    throw error(
        ErrorCode::kInvalidInput,
        "{} is PTX alone, and {} has none to link; choose an architecture with machine code, "
        "such as sm_{}",
        arch_.text, without_ptx(), arch_.text.substr(arch_.text.find('_') + 1));
  }

  Linked finished(Cache::Outcome outcome) const {
    Result& result = outcome.result;
    Linked out;
    if (!result.ptx.empty()) out.ptx = Image::from_bytes(result.ptx, "the PTX of " + name_);
    if (!result.cubin.empty()) out.cubin = Image::from_bytes(result.cubin, "the cubin of " + name_);
    out.symbols = std::move(result.symbols);
    out.log = std::move(result.log);
    out.cache_hit = outcome.hit;
    out.seconds = result.seconds;
    return out;
  }

  const CompileOptions& options_;
  const Arch arch_;
  const std::string name_;
  std::deque<LinkPart> parts_;  // requests refer to their options
  LinkerOptions linker_options_;
};

bool is_called_image(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".ptx" || extension == ".cubin" || extension == ".fatbin";
}

}  // namespace
}  // namespace compiler

LinkInput read_link_input(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  constexpr std::uint64_t kMaxLinkFile = std::uint64_t{2} << 30;
  const std::string bytes = read_file(path, kMaxLinkFile);
  // An ELF file of another machine is not a source either.
  const bool is_image = compiler::is_called_image(path) || image::kind_of(bytes).has_value() ||
                        image::ElfFile::has_magic(bytes);
  if (is_image) return Image::from_bytes(bytes, path.string());
  Source source = Source::from_text(bytes, path.string());
  source.directory = fs::absolute(path).parent_path();
  return source;
}

std::string link_name(const std::vector<LinkInput>& inputs) {
  constexpr std::size_t kMostNames = 4;
  std::string name;
  for (std::size_t i = 0; i < std::min(inputs.size(), kMostNames); ++i) {
    name += (i == 0 ? "" : " + ") + compiler::name_of(inputs[i]);
  }
  if (inputs.size() > kMostNames) name += fmt::format(" + {} more", inputs.size() - kMostNames);
  return name;
}

Linked link(const std::vector<LinkInput>& inputs, const CompileOptions& options) {
  return compiler::DeviceLink(inputs, options).run();
}

}  // namespace baton
