#include "compile/nvrtc/nvrtc.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "base/dynamic_library.h"
#include "base/error.h"

namespace baton::compiler {
namespace {

template <typename Function>
void resolve(const DynamicLibrary& library, Function& function, const char* symbol) {
  function = reinterpret_cast<Function>(library.symbol(symbol));
  if (function == nullptr) {
    throw error(ErrorCode::kNotFound, "{} has no {}: NVRTC of CUDA 12.0 or later is needed",
                library.path(), symbol);
  }
}

// NVRTC asks the loader for its builtins by name alone, and the loader does not look beside NVRTC:
// in the folder of a wheel it finds them only where they are loaded already.
void load_builtins(const Nvrtc& nvrtc) {
  const std::filesystem::path beside = std::filesystem::path(nvrtc.path).parent_path();
  const std::array<std::string, 1> names = {beside /
                                            ("libnvrtc-builtins.so." + nvrtc.version_text())};
  if (auto builtins = DynamicLibrary::open(names)) builtins->leak();
}

std::unique_ptr<const Nvrtc> open(const std::filesystem::path& path) {
  const std::array<std::string, 1> names = {path.string()};
  std::string why;
  auto library = DynamicLibrary::open(names, &why);
  if (!library) throw error(ErrorCode::kNotFound, "NVRTC does not load: {}", why);
  auto table = std::make_unique<Nvrtc>();
  table->path = library->path();
  resolve(*library, table->error_string, "nvrtcGetErrorString");
  resolve(*library, table->version, "nvrtcVersion");
  resolve(*library, table->supported_archs_count, "nvrtcGetNumSupportedArchs");
  resolve(*library, table->supported_archs, "nvrtcGetSupportedArchs");
  resolve(*library, table->create, "nvrtcCreateProgram");
  resolve(*library, table->destroy, "nvrtcDestroyProgram");
  resolve(*library, table->compile, "nvrtcCompileProgram");
  resolve(*library, table->ptx_size, "nvrtcGetPTXSize");
  resolve(*library, table->ptx, "nvrtcGetPTX");
  resolve(*library, table->cubin_size, "nvrtcGetCUBINSize");
  resolve(*library, table->cubin, "nvrtcGetCUBIN");
  resolve(*library, table->log_size, "nvrtcGetProgramLogSize");
  resolve(*library, table->log, "nvrtcGetProgramLog");
  resolve(*library, table->add_name, "nvrtcAddNameExpression");
  resolve(*library, table->lowered_name, "nvrtcGetLoweredName");
  // It keeps state for the life of the process; nobody supports unloading it.
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
  if (entry == nullptr) entry = open(library);
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
