#include "nccl/nccl.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/system/dynamic_library.h"
#include "base/system/environment.h"
#include "compile/nvrtc/search_places.h"
#include "compile/required_symbol.h"

namespace baton::nccl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libnccl.so.2";
constexpr std::string_view kBelowPackages = "nvidia/nccl/lib";
// The value of BATON_CUDA_ROOT with which nothing of the system is searched.
constexpr std::string_view kNone = "none";

std::unique_ptr<const Nccl> open_nccl(const fs::path& path) {
  const std::array<std::string, 1> names = {path.string()};
  std::string why;
  auto library = DynamicLibrary::open(names, &why);
  if (!library) throw error(ErrorCode::kNotFound, "NCCL does not load: {}", why);
  auto table = std::make_unique<Nccl>();
  table->path = library->path();
  const std::string needed = "NCCL " + version_text(Nccl::kFloor);
  const auto require = [&](auto& function, const char* symbol) {
    compiler::require_symbol(*library, function, symbol, needed);
  };
  require(table->version, "ncclGetVersion");
  // Below 2.9 the number has another form, which is smaller too.
  if (table->version(&table->number) != Nccl::kSuccess || table->number < Nccl::kFloor) {
    throw error(ErrorCode::kNotFound, "{} is NCCL {}: {} or later is needed", table->path,
                version_text(table->number), needed);
  }
  require(table->error_string, "ncclGetErrorString");
  require(table->last_error, "ncclGetLastError");
  require(table->unique_id, "ncclGetUniqueId");
  require(table->init_rank, "ncclCommInitRank");
  require(table->destroy, "ncclCommDestroy");
  require(table->abort, "ncclCommAbort");
  require(table->async_error, "ncclCommGetAsyncError");
  require(table->group_start, "ncclGroupStart");
  require(table->group_end, "ncclGroupEnd");
  require(table->all_reduce, "ncclAllReduce");
  require(table->all_gather, "ncclAllGather");
  require(table->reduce_scatter, "ncclReduceScatter");
  require(table->broadcast, "ncclBroadcast");
  require(table->send, "ncclSend");
  require(table->receive, "ncclRecv");
  // Its threads may live as long as the process.
  library->leak();
  return table;
}

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

}  // namespace

const Nccl& Nccl::load(const fs::path& library) {
  static std::mutex mutex;
  // Never destroyed: communicators may end while the process does.
  static auto& loaded = *new std::map<fs::path, std::unique_ptr<const Nccl>>;
  const std::lock_guard lock(mutex);
  auto& entry = loaded[library];
  if (entry == nullptr) entry = open_nccl(library);
  return *entry;
}

std::string version_text(int number) {
  if (number < 10000) {
    return fmt::format("{}.{}.{}", number / 1000, number / 100 % 10, number % 100);
  }
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

const Nccl& find_nccl() {
  if (const auto chosen = read_environment("BATON_NCCL")) {
    try {
      return Nccl::load(*chosen);
    } catch (Error& failure) {
      failure.note("BATON_NCCL names it");
      throw;
    }
  }
  // Two of one process would be two times 300 MB.
  if (const auto library = DynamicLibrary::loaded(kName)) return Nccl::load(library->path());
  const compiler::SearchPlaces places = compiler::search_places();
  std::vector<std::string> searched;
  if (read_environment("BATON_CUDA_ROOT") != kNone) {
    const std::array<std::string, 1> names = {kName};
    if (const auto library = DynamicLibrary::open(names)) return Nccl::load(library->path());
    searched.emplace_back("the loader's path");
  }
  for (const auto* const roots : {&places.chosen, &places.packages, &places.customary}) {
    for (const compiler::SearchPlace& root : *roots) {
      const fs::path file = root.folder / kBelowPackages / kName;
      if (is_file(file)) return Nccl::load(file);
      searched.push_back(file.parent_path().string());
    }
  }
  Error missing =
      error(ErrorCode::kNotFound,
            "NCCL is not installed; in a virtual environment of Python run: pip install "
            "nvidia-nccl-cu13 (or -cu12); or name the library in BATON_NCCL");
  for (const std::string& place : searched) missing.note("searched: " + place);
  throw missing;
}

}  // namespace baton::nccl
