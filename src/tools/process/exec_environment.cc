#include "tools/process/exec_environment.h"

#include "base/error.h"
#include "base/system/environment.h"

namespace baton::tools {
namespace {

constexpr const char* kDriver = "libcuda.so.1";
constexpr const char* kPreload = "libbaton_preload.so";

std::filesystem::path folder_of_this_program() {
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) {
    throw error(ErrorCode::kNotFound, "this program's own place is not known: {}",
                failure.message());
  }
  return program.parent_path();
}

// The folder in front of what the user has there.
std::string before(const std::filesystem::path& folder, const char* variable) {
  const auto old = read_environment(variable);
  return old ? folder.string() + ":" + *old : folder.string();
}

}  // namespace

std::filesystem::path driver_folder() {
  const std::filesystem::path here = folder_of_this_program();
  // A build has the folder below the program; an installed program is in bin, beside lib.
  const std::filesystem::path places[] = {here / "lib" / "baton",
                                          here.parent_path() / BATON_LIBDIR / "baton"};
  std::string text;
  for (const std::filesystem::path& place : places) {
    if (std::filesystem::exists(place / kDriver)) return std::filesystem::canonical(place);
    text += (text.empty() ? "" : ", ") + (place / kDriver).string();
  }
  throw error(
      ErrorCode::kNotFound,
      "the driver library of the simulated GPU is not installed (looked for {}); the "
      "Debian package and a build have it in lib/baton, the wheel and the tarball have none",
      text);
}

Environment exec_environment(const ExecSettings& settings, const std::filesystem::path& libraries,
                             const std::filesystem::path& report) {
  Environment added;
  added["BATON_DEVICE"] = settings.device;
  added["BATON_EXEC_REPORT"] = report.string();
  if (settings.schedule) added["BATON_EXEC_SCHEDULE"] = to_string(*settings.schedule);
  if (settings.memory) added["BATON_EXEC_MEMORY"] = std::to_string(*settings.memory);
  if (settings.races != Races::kUsual) added["BATON_EXEC_RACES"] = to_string(settings.races);
  if (settings.launch_skip != 0 || settings.launch_count != 0) {
    added["BATON_EXEC_LAUNCH_SKIP"] = std::to_string(settings.launch_skip);
    added["BATON_EXEC_LAUNCH_COUNT"] = std::to_string(settings.launch_count);
    if (settings.kernels) added["BATON_EXEC_KERNELS"] = *settings.kernels;
    if (settings.excluded_kernels)
      added["BATON_EXEC_KERNELS_EXCLUDED"] = *settings.excluded_kernels;
  }
  if (settings.gdb_port != 0) added["BATON_EXEC_GDB"] = std::to_string(settings.gdb_port);
  if (settings.keep_going) added["BATON_EXEC_KEEP_GOING"] = "1";
  if (settings.api_errors != "no") added["BATON_EXEC_API_ERRORS"] = settings.api_errors;
  if (settings.finds_leaks) added["BATON_EXEC_LEAKS"] = "1";
  // The simulated driver shows one device whatever is chosen; torch counts the chosen ones itself.
  added["CUDA_VISIBLE_DEVICES"] = "0";
  added["LD_LIBRARY_PATH"] = before(libraries, "LD_LIBRARY_PATH");
  added["LD_PRELOAD"] = before(libraries / kPreload, "LD_PRELOAD");
  // Torch's operators, which are machine code, have others there.
  added["PYTHONPATH"] = before(libraries / "python", "PYTHONPATH");
  // Triton links what it compiles for the host against this one.
  added["TRITON_LIBCUDA_PATH"] = libraries.string();
  // Cubins that Triton made without the wrapped ptxas have no PTX.
  if (!read_environment("TRITON_CACHE_DIR")) {
    if (const auto home = read_environment("HOME")) {
      added["TRITON_CACHE_DIR"] = *home + "/.cache/baton/triton";
    }
  }
  // CuPy otherwise hands machine code over.
  added["CUPY_COMPILE_WITH_PTX"] = "1";
  return added;
}

}  // namespace baton::tools
