#include "compile/link/nvjitlink.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "base/system/dynamic_library.h"
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
  require_symbol(*library, table->ptx_size, "nvJitLinkGetLinkedPtxSize", kNeededNvJitLink);
  require_symbol(*library, table->ptx, "nvJitLinkGetLinkedPtx", kNeededNvJitLink);
  require_symbol(*library, table->log_size, "nvJitLinkGetErrorLogSize", kNeededNvJitLink);
  require_symbol(*library, table->log, "nvJitLinkGetErrorLog", kNeededNvJitLink);
  // A C++ runtime is linked into it, whose memory does not come back at a close.
  library->leak();
  return table;
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

}  // namespace baton::compiler
