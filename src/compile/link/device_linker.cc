#include "compile/link/device_linker.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "compile/compiler_call.h"
#include "compile/nvrtc/nvrtc.h"
#include "compile/nvrtc/toolkit.h"

namespace baton::compiler {
namespace {

// One link. What a call refuses throws kCompile with the linker's log.
class LinkCall {
 public:
  LinkCall(const NvJitLink& table, const std::vector<std::string>& options) : table_(table) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    check(table_.create(&handle_, static_cast<std::uint32_t>(pointers.size()), pointers.data()),
          "nvJitLinkCreate");
  }
  ~LinkCall() {
    if (handle_ != nullptr) table_.destroy(&handle_);
  }
  LinkCall(const LinkCall&) = delete;
  LinkCall& operator=(const LinkCall&) = delete;

  void add(const DeviceLinkInput& input) {
    // The size of PTX counts a NUL at the end.
    const std::string text(input.kind == NvJitLink::kPtxInput ? input.bytes : "");
    const void* data = text.empty() ? input.bytes.data() : text.c_str();
    const std::size_t size = text.empty() ? input.bytes.size() : text.size() + 1;
    check(table_.add_data(handle_, input.kind, data, size, input.name.c_str()), "nvJitLinkAddData");
  }

  std::string finish(bool is_ptx) {
    check(table_.complete(handle_), "nvJitLinkComplete");
    std::size_t size = 0;
    check((is_ptx ? table_.ptx_size : table_.cubin_size)(handle_, &size), "the linker's result");
    std::string bytes(size, '\0');
    if (is_ptx) {
      check(table_.ptx(handle_, bytes.data()), "nvJitLinkGetLinkedPtx");
      bytes.resize(std::min(bytes.find('\0'), bytes.size()));
    } else {
      check(table_.cubin(handle_, bytes.data()), "nvJitLinkGetLinkedCubin");
    }
    return bytes;
  }

 private:
  void check(NvJitLink::Result result, const char* call) const {
    if (result == NvJitLink::kSuccess) return;
    throw error(ErrorCode::kCompile, "{} gives {}: {}", call, result, log());
  }

  std::string log() const {
    std::size_t size = 0;
    if (handle_ == nullptr || table_.log_size(handle_, &size) != NvJitLink::kSuccess) return {};
    std::string text(size, '\0');
    if (size == 0 || table_.log(handle_, text.data()) != NvJitLink::kSuccess) return {};
    return std::string(trim(text.substr(0, text.find('\0'))));
  }

  const NvJitLink& table_;
  NvJitLink::Handle handle_ = nullptr;
};

// nvJitLink ends the process for an architecture that it does not know, and does not list those
// that it knows. NVRTC does; an nvJitLink of this age or later knows them too.
void require_architecture(const Toolkit& toolkit, const NvJitLink& linker,
                          const std::string& arch) {
  const Nvrtc& nvrtc = Nvrtc::load(require_nvrtc(toolkit));
  std::pair<int, int> compiler;
  std::pair<unsigned, unsigned> own;
  nvrtc.check(nvrtc.version(&compiler.first, &compiler.second), "nvrtcVersion");
  const bool is_known = linker.version(&own.first, &own.second) == NvJitLink::kSuccess &&
                        std::pair<int, int>(own) >= compiler;
  const std::vector<int> known = nvrtc.archs();
  const int number = std::atoi(arch.c_str() + std::min(arch.find('_') + 1, arch.size()));
  if (is_known && std::find(known.begin(), known.end(), number) != known.end()) return;
  throw error(ErrorCode::kUnsupported, "nvJitLink {} is not known to assemble for {}",
              linker.version_text(), arch);
}

}  // namespace

DeviceLinker::DeviceLinker(const std::string& arch) : arch_(arch) {
  const Toolkit toolkit = find_toolkit();
  if (!toolkit.nvjitlink) throw Error(ErrorCode::kNotFound, "nvJitLink is not installed");
  table_ = &NvJitLink::load(*toolkit.nvjitlink);
  require_architecture(toolkit, *table_, arch);
}

std::string DeviceLinker::link(const std::vector<DeviceLinkInput>& inputs,
                               const std::vector<std::string>& options) const {
  std::vector<std::string> all = {"-arch=" + arch_};
  all.insert(all.end(), options.begin(), options.end());
  const bool is_ptx = std::ranges::count(options, "-ptx") != 0;
  // The linker may go on when the bytes of the inputs are gone.
  std::vector<std::string> bytes;
  for (const DeviceLinkInput& input : inputs) bytes.emplace_back(input.bytes);
  return call_compiler([table = table_, all, bytes, own = inputs, is_ptx]() mutable {
    LinkCall call(*table, all);
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i].bytes = bytes[i];
      call.add(own[i]);
    }
    return call.finish(is_ptx);
  });
}

std::optional<Image> assemble(const Image& ptx, const std::string& arch, std::string* why) {
  try {
    const DeviceLinker linker(arch);
    return Image::from_bytes(linker.link({{NvJitLink::kPtxInput, ptx.bytes(), ptx.name()}}, {}),
                             ptx.name());
  } catch (const Error& refusal) {
    if (why != nullptr) *why = refusal.message();
    return std::nullopt;
  }
}

}  // namespace baton::compiler
