#include "compile/cache/path_table.h"

#include <algorithm>

#include "base/error.h"
#include "compile/request.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

// Marks stand between bytes that occur in no name.
constexpr char kEdge = '\x01';
constexpr std::string_view kCudaLabel = "cuda ";

std::string mark(std::string_view what) {
  return fmt::format("{}{}{}", kEdge, what, kEdge);
}

std::string normal(std::string_view path) {
  return fs::path(path).lexically_normal().string();
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The first value of the key in sorted pairs, or null.
const std::string* find(const Pairs& pairs, std::string_view key) {
  const auto found =
      std::lower_bound(pairs.begin(), pairs.end(), key,
                       [](const auto& entry, std::string_view text) { return entry.first < text; });
  return found != pairs.end() && found->first == key ? &found->second : nullptr;
}

}  // namespace

PathTable::PathTable(const Request& request) {
  const auto add = [&](std::string_view label, std::string compilers, std::string readers) {
    compilers_.emplace_back(mark(label), compilers);
    exact_.emplace_back(std::move(compilers), mark(label));
    names_.emplace_back(mark(label), std::move(readers));
  };
  // NVRTC puts the working directory in front of a name that is not a full path.
  std::error_code failed;
  const fs::path working = fs::current_path(failed);
  const auto add_named = [&](std::string_view label, const std::string& compilers,
                             const std::string& readers) {
    add(label, compilers, readers);
    exact_.emplace_back(normal((working / compilers).string()), mark(label));
  };
  add_named("source", request.program_name, request.source.name);
  add_named("prelude", std::string(kPreludeName),
            fmt::format("<prelude of {}>", request.source.name));
  for (std::size_t i = 0; i < request.scan.files.size(); ++i) {
    const std::string path = request.scan.files[i].path.string();
    // CUDA's are told by their folder, those that were seen and those that they include.
    if (!path.empty() && !request.scan.files[i].is_cuda) add(fmt::format("file {}", i), path, path);
  }
  for (std::size_t i = 0; i < request.toolkit.include.size(); ++i) {
    const std::string folder = request.toolkit.include[i].string();
    const std::string label = mark(fmt::format("{}{}", kCudaLabel, i));
    folders_.emplace_back(folder + "/", label);
    names_.emplace_back(label, folder + "/");
  }
  // CCCL's folder lies in CUDA's: the longer one is the one meant.
  std::sort(folders_.begin(), folders_.end(),
            [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::stable_sort(exact_.begin(), exact_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::sort(compilers_.begin(), compilers_.end());
  std::sort(names_.begin(), names_.end());
}

std::string PathTable::encode(std::string_view name) const {
  for (const std::string& candidate : {std::string(name), normal(name)}) {
    if (const std::string* found = find(exact_, candidate)) return *found;
    for (const auto& [folder, label] : folders_) {
      if (candidate.starts_with(folder)) return label + candidate.substr(folder.size());
    }
  }
  return std::string(name);
}

std::string PathTable::compilers_name(std::string_view encoded) const {
  const std::string* found = find(compilers_, encoded);
  return found != nullptr ? *found : decode(encoded);
}

bool PathTable::is_cuda(std::string_view encoded) {
  return encoded.starts_with(fmt::format("{}{}", kEdge, kCudaLabel));
}

std::string PathTable::decode(std::string_view text) const {
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t open = text.find(kEdge, at);
    const std::size_t close = open == std::string_view::npos ? open : text.find(kEdge, open + 1);
    if (close == std::string_view::npos) break;
    out += text.substr(at, open - at);
    const std::string_view label = text.substr(open, close + 1 - open);
    if (const std::string* found = find(names_, label)) out += *found;
    at = close + 1;
  }
  out += text.substr(at);
  return out;
}

std::string PathTable::encode_ptx(std::string_view ptx) const {
  // A line: <tab>.file<tab>1 "/path/norm.cu"
  std::string out;
  std::size_t at = 0;
  while (at < ptx.size()) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::string_view line = ptx.substr(at, end - at);
    const std::size_t start = line.find_first_not_of(" \t");
    const bool is_file = start != std::string_view::npos && line.substr(start).starts_with(".file");
    const std::size_t open = is_file ? line.find('"') : std::string_view::npos;
    const std::size_t close = is_file ? line.rfind('"') : std::string_view::npos;
    if (open != std::string_view::npos && close > open) {
      out += line.substr(0, open + 1);
      out += encode(line.substr(open + 1, close - open - 1));
      out += line.substr(close);
    } else {
      out += line;
    }
    if (end < ptx.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace baton::compiler
