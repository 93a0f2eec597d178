#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::compiler {

// Where CUDA's compiler lives on this machine. Found by looking at files alone: nothing is loaded.
struct Toolkit {
  std::optional<std::filesystem::path> nvrtc;
  std::optional<std::filesystem::path> nvjitlink;
  // CUDA's own headers, in the order to search; the first holds cuda_fp16.h. Empty: not found.
  // A complete set where one was found.
  std::vector<std::filesystem::path> include;
  // How NVRTC and the headers were found, for messages: "CUDA_HOME". Empty: not found.
  std::string nvrtc_origin;
  std::string include_origin;
  std::vector<std::string> searched;  // what was looked at, for messages
};

// NVIDIA's Python wheels that hold what compiling needs.
inline constexpr std::string_view kWheels =
    "nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl";

// Looks, in this order: BATON_NVRTC (a file, for NVRTC alone) and BATON_NVJITLINK (likewise),
// BATON_CUDA_ROOT; NVRTC that is loaded in this process; NVIDIA's wheels among the Python packages
// beside Baton, in those of set_site_packages, and in those of BATON_SITE_PACKAGES; the loader's
// path; CUDA_HOME, CUDA_PATH, /usr/local/cuda and its versions, newest first, .deps/cuda beside or
// above the executable, and NVIDIA's wheels in VIRTUAL_ENV or CONDA_PREFIX. BATON_CUDA_ROOT=none
// leaves out the loader's path and all behind it. A root may be laid out as a toolkit (lib64,
// include) or as wheels (nvidia/cu13/lib, nvidia/cuda_nvrtc/lib). The headers beside NVRTC come
// first, and headers that lack others (missing_headers) last. Thread-safe as far as getenv is.
Toolkit find_toolkit();

// The toolkit's NVRTC, or throws kNotFound saying what was searched and how to get it.
const std::filesystem::path& require_nvrtc(const Toolkit& toolkit);

// What CUDA's headers include and none of the folders has, such as "crt/host_defines.h". NVIDIA's
// wheels bring these files apart, and PyTorch installs some of the wheels alone.
std::vector<std::string_view> missing_headers(const std::vector<std::filesystem::path>& include);

// "CUDA_VERSION 13000" of cuda.h in the header folders, as "13.0"; empty where it is not found.
std::string header_version(const Toolkit& toolkit);

}  // namespace baton::compiler
