#include "tools/parts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text/text.h"
#include "baton/error.h"
#include "compile/cache/cache.h"
#include "compile/link/nvjitlink.h"
#include "compile/nvrtc/bundled_headers.h"
#include "compile/nvrtc/nvrtc.h"
#include "compile/nvrtc/toolkit.h"

namespace baton::tools {
namespace {

Part driver_part(const std::vector<DeviceSummary>& devices, const std::string& why_no_gpu) {
  Part part{"CUDA driver", false, {}, "the simulated GPU serves: "};
  for (const std::string_view line : split_lines(why_no_gpu)) {
    part.detail += part.detail.back() == ' ' ? "" : "; ";
    part.detail += line;
  }
  for (const DeviceSummary& device : devices) {
    if (!device.spec.starts_with("cuda")) continue;
    const int version = Device::open(device.spec).driver_version();
    return {"CUDA driver", true, fmt::format("{}.{}", version / 1000, version % 1000 / 10), ""};
  }
  return part;
}

Part nvrtc_part(const compiler::Toolkit& toolkit) {
  Part part{"NVRTC", false, {}, {}, true};
  try {
    part.detail =
        fmt::format("{} ({})", compiler::require_nvrtc(toolkit).string(), toolkit.nvrtc_origin);
    part.version = compiler::Nvrtc::load(*toolkit.nvrtc).version_text();
    part.found = true;
  } catch (const Error& error) {
    part.detail = error.message();
  }
  return part;
}

Part headers_part(const compiler::Toolkit& toolkit) {
  if (toolkit.include.empty()) {
    return {
        "CUDA headers",
        false,
        {},
        "no folder has cuda_fp16.h, so sources that include CUDA's headers do not compile; run: "
        "pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl, or install a CUDA "
        "toolkit",
        true};
  }
  Part part{"CUDA headers", true, compiler::header_version(toolkit),
            fmt::format("{} ({})", toolkit.include.front().string(), toolkit.include_origin)};
  const auto missing = compiler::missing_headers(toolkit.include);
  if (!missing.empty()) {
    part.detail += fmt::format(
        ", without {}: sources that include CUDA's headers do not compile; run: pip install "
        "nvidia-cuda-crt nvidia-cuda-cccl, of the version of nvidia-cuda-runtime",
        fmt::join(missing, " and "));
  }
  return part;
}

Part nvjitlink_part(const compiler::Toolkit& toolkit) {
  Part part{"nvJitLink", false, {}, {}};
  if (!toolkit.nvjitlink) {
    part.detail =
        "not found, so the registers of kernels in PTX are estimates on the simulated GPU";
    return part;
  }
  part.detail = toolkit.nvjitlink->string();
  try {
    part.version = compiler::NvJitLink::load(*toolkit.nvjitlink).version_text();
    part.found = true;
  } catch (const Error& error) {
    part.detail = error.message();
  }
  return part;
}

Part cache_part() {
  const std::optional<compiler::Cache> cache = compiler::Cache::open_default();
  if (!cache) {
    return {"compile cache",
            false,
            {},
            "there is no folder for it, so every run compiles again; set BATON_CACHE_DIR, or HOME"};
  }
  std::error_code failed;
  std::filesystem::create_directories(cache->directory(), failed);
  if (failed) {
    return {
        "compile cache",
        false,
        {},
        fmt::format("{} cannot be created ({}), so every run compiles again; set BATON_CACHE_DIR",
                    cache->directory().string(), failed.message())};
  }
  std::uint64_t bytes = 0;
  const auto entries = cache->list();
  for (const compiler::Cache::Entry& entry : entries) bytes += entry.size;
  return {"compile cache",
          true,
          {},
          fmt::format("{}: {} entr{}, {}{}", cache->directory().string(), entries.size(),
                      entries.size() == 1 ? "y" : "ies", format_bytes(bytes),
                      ::access(cache->directory().c_str(), W_OK) == 0
                          ? ""
                          : "; it cannot be written, so every run compiles what it lacks")};
}

}  // namespace

std::vector<Part> find_parts(const std::vector<DeviceSummary>& devices,
                             const std::string& why_no_gpu) {
  compiler::Toolkit toolkit = compiler::find_toolkit();
  compiler::add_bundled_headers(toolkit);
  return {driver_part(devices, why_no_gpu), nvrtc_part(toolkit), headers_part(toolkit),
          nvjitlink_part(toolkit), cache_part()};
}

}  // namespace baton::tools
