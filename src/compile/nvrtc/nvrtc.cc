#include "compile/nvrtc/nvrtc.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/system/dynamic_library.h"
#include "compile/required_symbol.h"

namespace baton::compiler {
namespace {

constexpr std::string_view kNeededNvrtc = "NVRTC of CUDA 12.0";

// NVRTC asks the loader for its builtins by name alone, and the loader does not look beside NVRTC:
// in the folder of a wheel it finds them only where they are loaded already.
void load_builtins(const Nvrtc& nvrtc) {
  const std::filesystem::path beside = std::filesystem::path(nvrtc.path).parent_path();
  const std::array<std::string, 1> names = {beside /
                                            ("libnvrtc-builtins.so." + nvrtc.version_text())};
  if (auto builtins = DynamicLibrary::open(names)) builtins->leak();
}

std::unique_ptr<const Nvrtc> open_nvrtc(const std::filesystem::path& path) {
  const std::array<std::string, 1> names = {path.string()};
  std::string why;
  auto library = DynamicLibrary::open(names, &why);
  if (!library) throw error(ErrorCode::kNotFound, "NVRTC does not load: {}", why);
  auto table = std::make_unique<Nvrtc>();
  table->path = library->path();
  require_symbol(*library, table->error_string, "nvrtcGetErrorString", kNeededNvrtc);
  require_symbol(*library, table->version, "nvrtcVersion", kNeededNvrtc);
  require_symbol(*library, table->supported_archs_count, "nvrtcGetNumSupportedArchs", kNeededNvrtc);
  require_symbol(*library, table->supported_archs, "nvrtcGetSupportedArchs", kNeededNvrtc);
  require_symbol(*library, table->create, "nvrtcCreateProgram", kNeededNvrtc);
  require_symbol(*library, table->destroy, "nvrtcDestroyProgram", kNeededNvrtc);
  require_symbol(*library, table->compile, "nvrtcCompileProgram", kNeededNvrtc);
  require_symbol(*library, table->ptx_size, "nvrtcGetPTXSize", kNeededNvrtc);
  require_symbol(*library, table->ptx, "nvrtcGetPTX", kNeededNvrtc);
  require_symbol(*library, table->cubin_size, "nvrtcGetCUBINSize", kNeededNvrtc);
  require_symbol(*library, table->cubin, "nvrtcGetCUBIN", kNeededNvrtc);
  require_symbol(*library, table->lto_size, "nvrtcGetLTOIRSize", kNeededNvrtc);
  require_symbol(*library, table->lto, "nvrtcGetLTOIR", kNeededNvrtc);
  require_symbol(*library, table->log_size, "nvrtcGetProgramLogSize", kNeededNvrtc);
  require_symbol(*library, table->log, "nvrtcGetProgramLog", kNeededNvrtc);
  require_symbol(*library, table->add_name, "nvrtcAddNameExpression", kNeededNvrtc);
  require_symbol(*library, table->lowered_name, "nvrtcGetLoweredName", kNeededNvrtc);
  table->install_headers = reinterpret_cast<decltype(table->install_headers)>(
      library->symbol("nvrtcInstallBundledHeaders"));
  // It keeps state for the life of the process; unloading it is not supported.
  library->leak();
  load_builtins(*table);
  return table;
}

}  // namespace

const Nvrtc& Nvrtc::load(const std::filesystem::path& library) {
  static std::mutex mutex;
  // Never destroyed: compiles may run while the process ends.
  static auto& loaded = *new std::map<std::filesystem::path, std::unique_ptr<const Nvrtc>>;
  const std::lock_guard lock(mutex);
  auto& entry = loaded[library];
  if (entry == nullptr) entry = open_nvrtc(library);
  return *entry;
}

std::string Nvrtc::version_text() const {
  int major = 0;
  int minor = 0;
  check(version(&major, &minor), "nvrtcVersion");
  return fmt::format("{}.{}", major, minor);
}

std::vector<int> Nvrtc::archs() const {
  int count = 0;
  check(supported_archs_count(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> numbers(static_cast<std::size_t>(std::max(count, 0)));
  if (!numbers.empty()) check(supported_archs(numbers.data()), "nvrtcGetSupportedArchs");
  return numbers;
}

void Nvrtc::check(Result result, const char* call) const {
  if (result == kSuccess) return;
  Error failed = error(ErrorCode::kInternal, "{} of {} gives {} ({})", call, path,
                       error_string(result), result);
  constexpr Result kBuiltinOperationFailure = 7;
  if (result == kBuiltinOperationFailure) {
    failed.note("libnvrtc-builtins.so." + version_text() +
                " must be in its folder or in the loader's path, in NVRTC's own version");
  }
  throw failed;
}

}  // namespace baton::compiler
