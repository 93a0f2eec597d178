#include "compile/link/nvjitlink.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dynamic_library.h"
#include "base/error.h"
#include "base/text.h"
#include "compile/nvrtc/nvrtc.h"
#include "compile/nvrtc/toolkit.h"
#include "compile/required_symbol.h"

namespace baton::compiler {
namespace {

constexpr std::string_view kNeededNvJitLink = "nvJitLink of CUDA 12.4";

std::unique_ptr<const NvJitLink> open_nvjitlink(const std::filesystem::path& path) {
  const std::array<std::string, 1> names = {path.string()};
  std::string why;
  auto library = DynamicLibrary::open(names, &why);
  if (!library) throw error(ErrorCode::kNotFound, "nvJitLink does not load: {}", why);
  auto table = std::make_unique<NvJitLink>();
  require_symbol(*library, table->version, "nvJitLinkVersion", kNeededNvJitLink);
  require_symbol(*library, table->create, "nvJitLinkCreate", kNeededNvJitLink);
  require_symbol(*library, table->destroy, "nvJitLinkDestroy", kNeededNvJitLink);
  require_symbol(*library, table->add_data, "nvJitLinkAddData", kNeededNvJitLink);
  require_symbol(*library, table->complete, "nvJitLinkComplete", kNeededNvJitLink);
  require_symbol(*library, table->cubin_size, "nvJitLinkGetLinkedCubinSize", kNeededNvJitLink);
  require_symbol(*library, table->cubin, "nvJitLinkGetLinkedCubin", kNeededNvJitLink);
  require_symbol(*library, table->log_size, "nvJitLinkGetErrorLogSize", kNeededNvJitLink);
  require_symbol(*library, table->log, "nvJitLinkGetErrorLog", kNeededNvJitLink);
  // A C++ runtime is linked into it, whose memory does not come back at a close.
  library->leak();
  return table;
}

// One link. What a call refuses throws kCompile with the linker's log.
class Link {
 public:
  Link(const NvJitLink& table, const std::string& arch) : table_(table) {
    const std::string option = "-arch=" + arch;
    const char* options[] = {option.c_str()};
    check(table_.create(&handle_, 1, options), "nvJitLinkCreate");
  }
  ~Link() {
    if (handle_ != nullptr) table_.destroy(&handle_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  std::string machine_code(std::string_view ptx, const std::string& name) {
    // The size counts a NUL at the end.
    const std::string text(ptx.substr(0, ptx.find('\0')));
    check(
        table_.add_data(handle_, NvJitLink::kPtxInput, text.c_str(), text.size() + 1, name.c_str()),
        "nvJitLinkAddData");
    check(table_.complete(handle_), "nvJitLinkComplete");
    std::size_t size = 0;
    check(table_.cubin_size(handle_, &size), "nvJitLinkGetLinkedCubinSize");
    std::string bytes(size, '\0');
    check(table_.cubin(handle_, bytes.data()), "nvJitLinkGetLinkedCubin");
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
// that it knows. NVRTC does; an nvJitLink that is no older knows them too.
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

const NvJitLink& NvJitLink::load(const std::filesystem::path& library) {
  static std::mutex mutex;
  // Never destroyed: links may run while the process ends.
  static auto& loaded = *new std::map<std::filesystem::path, std::unique_ptr<const NvJitLink>>;
  const std::lock_guard lock(mutex);
  auto& entry = loaded[library];
  if (entry == nullptr) entry = open_nvjitlink(library);
  return *entry;
}

std::string NvJitLink::version_text() const {
  unsigned major = 0;
  unsigned minor = 0;
  if (version(&major, &minor) != kSuccess) return "unknown version";
  return fmt::format("{}.{}", major, minor);
}

std::optional<Image> assemble(const Image& ptx, const std::string& arch, std::string* why) {
  try {
    const Toolkit toolkit = find_toolkit();
    if (!toolkit.nvjitlink) throw Error(ErrorCode::kNotFound, "nvJitLink is not installed");
    const NvJitLink& linker = NvJitLink::load(*toolkit.nvjitlink);
    require_architecture(toolkit, linker, arch);
    Link link(linker, arch);
    return Image::from_bytes(link.machine_code(ptx.bytes(), ptx.name()), ptx.name());
  } catch (const Error& refusal) {
    if (why != nullptr) *why = refusal.message();
    return std::nullopt;
  }
}

}  // namespace baton::compiler
