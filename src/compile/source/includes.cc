#include "compile/source/includes.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "compile/source/words.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 20000;
constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;

// A name in a directive: "x.h", <x.h>, or something that only the preprocessor can tell.
struct IncludeDirective {
  enum class Form { kQuoted, kAngled, kOther };
  Form form = Form::kOther;
  std::string name;
};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

// Past blanks and /* comments */ on the same line.
std::size_t skip_blanks(std::string_view text, std::size_t at) {
  for (;;) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (text.substr(at, 2) != "/*") return at;
    const std::size_t end = text.find("*/", at + 2);
    if (end == std::string_view::npos) return text.size();
    at = end + 2;
  }
}

IncludeDirective read_name(std::string_view text, std::size_t at) {
  at = skip_blanks(text, at);
  IncludeDirective found;
  if (at >= text.size() || (text[at] != '"' && text[at] != '<')) return found;
  const char close = text[at] == '"' ? '"' : '>';
  const std::size_t line_end = std::min(text.find('\n', at), text.size());
  const std::size_t end = text.find(close, at + 1);
  if (end == std::string_view::npos || end >= line_end) return found;
  found.form = close == '"' ? IncludeDirective::Form::kQuoted : IncludeDirective::Form::kAngled;
  found.name = text.substr(at + 1, end - at - 1);
  return found;
}

// Calls `visit` with every directive that names a header.
template <typename Visit>
void for_each_directive(std::string_view text, Visit&& visit) {
  // Spliced lines are rare: they are joined in a copy.
  std::string joined;
  if (text.find("\\\n") != std::string_view::npos ||
      text.find("\\\r\n") != std::string_view::npos) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i, 2) == "\\\n") {
        i += 1;
      } else if (text.substr(i, 3) == "\\\r\n") {
        i += 2;
      } else {
        joined += text[i];
      }
    }
    text = joined;
  }
  for (std::size_t at = text.find("include"); at != std::string_view::npos;
       at = text.find("include", at)) {
    const std::size_t start = at;
    at += std::string_view("include").size();
    if (text.substr(at).starts_with("_next")) at += std::string_view("_next").size();
    if (at < text.size() && is_word(text[at])) continue;
    constexpr std::string_view kHas = "__has_";
    const bool asks = start >= kHas.size() && text.substr(start - kHas.size(), kHas.size()) == kHas;
    if (asks) {
      const std::size_t open = skip_blanks(text, at);
      if (open < text.size() && text[open] == '(') visit(read_name(text, open + 1));
      continue;
    }
    // Back over blanks, and comments as far as they hold no '#', to the '#' that makes it a
    // directive.
    std::size_t hash = start;
    while (hash > 0 && is_space(text[hash - 1])) --hash;
    if (hash >= 2 && text.substr(hash - 2, 2) == "*/") {
      const std::size_t comment = text.rfind("/*", hash - 2);
      hash = comment == std::string_view::npos ? 0 : comment;
      while (hash > 0 && is_space(text[hash - 1])) --hash;
    }
    const bool is_directive =
        hash > 0 && (text[hash - 1] == '#' || (hash > 1 && text.substr(hash - 2, 2) == "%:"));
    if (is_directive) visit(read_name(text, at));
  }
}

bool opens_std(std::string_view text) {
  constexpr std::string_view kOpens = "namespace std";
  for (std::size_t at = text.find(kOpens); at != std::string_view::npos;
       at = text.find(kOpens, at + 1)) {
    std::size_t next = at + kOpens.size();
    while (next < text.size() && (is_space(text[next]) || text[next] == '\n')) ++next;
    if (next < text.size() && text[next] == '{') return true;
  }
  return false;
}

bool is_inside(const fs::path& path, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    if (end == folder.end() || (std::next(end) == folder.end() && end->empty())) return true;
  }
  return false;
}

class Scanner {
 public:
  Scanner(const std::vector<fs::path>& folders, const std::vector<fs::path>& cuda_folders,
          const std::vector<std::string_view>& standard_headers, IncludeScan& out)
      : folders_(folders), cuda_folders_(cuda_folders), out_(out) {
    for (std::string_view name : standard_headers) standard_.emplace(name);
  }

  void add_text(std::string_view text, const fs::path& directory) {
    look_for_mentions(text);
    for_each_directive(text, [&](const IncludeDirective& found) {
      if (found.form == IncludeDirective::Form::kOther) {
        out_.obstacle = "an #include names its file by a macro";
        return;
      }
      add(found.name, found.form == IncludeDirective::Form::kQuoted ? directory : fs::path());
    });
  }

  // `directory` is empty for names in angle brackets.
  void add(const std::string& name, const fs::path& directory) {
    const auto [asked, is_new] = asked_.emplace(name + '\0' + directory.string(), 0);
    if (is_new) asked->second = find(name, directory);
    out_.found.push_back(asked->second);
    if (!draining_) drain();
  }

 private:
  std::int32_t find(const std::string& name, const fs::path& directory) {
    const std::optional<fs::path> found = resolve(name, directory);
    if (!found) {
      if (standard_.contains(name)) return IncludeScan::kProvided;
      // Baton's own headers are told by its version; what is nowhere may appear one day.
      if (missing_.insert(name).second) out_.files.push_back({name, {}, false, false, {}});
      return IncludeScan::kNowhere;
    }
    if (standard_.contains(name)) out_.own_headers.insert(name);
    const auto number = static_cast<std::int32_t>(seen_.size());
    const auto [seen, is_new] = seen_.emplace(found->string(), number);
    if (!is_inside(*found, cuda_folders_)) out_.paths_of[name].insert(*found);
    if (!is_new) return seen->second;
    if (out_.files.size() >= kMaxFiles || bytes_ > kMaxBytes) {
      out_.obstacle = "too many files are included";
    } else {
      pending_.push_back({name, *found, is_inside(*found, cuda_folders_), false, {}});
    }
    return number;
  }

  std::optional<fs::path> resolve(const std::string& name, const fs::path& directory) const {
    const auto try_folder = [&](const fs::path& folder) -> std::optional<fs::path> {
      fs::path path = (folder / name).lexically_normal();
      std::error_code failed;
      if (!fs::is_regular_file(path, failed)) return std::nullopt;
      return path;
    };
    if (fs::path(name).is_absolute()) return try_folder("/");
    if (!directory.empty()) {
      if (auto path = try_folder(directory)) return path;
    }
    for (const fs::path& folder : folders_) {
      if (auto path = try_folder(folder)) return path;
    }
    if (standard_.contains(name)) return std::nullopt;
    for (const fs::path& folder : cuda_folders_) {
      if (auto path = try_folder(folder)) return path;
    }
    return std::nullopt;
  }

  // A list instead of recursion: chains of includes may be of any depth.
  void drain() {
    draining_ = true;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      IncludedFile file = std::move(pending_[i]);
      try {
        const std::string text = read_file(file.path, kMaxBytes);
        bytes_ += text.size();
        file.content = sha256(text);
        file.begins_with_mark = text.starts_with(kByteOrderMark);
        if (!file.is_cuda) add_text(text, file.path.parent_path());
      } catch (const Error& unreadable) {
        out_.obstacle = unreadable.message();
      }
      out_.files.push_back(std::move(file));
    }
    pending_.clear();
    draining_ = false;
  }

  void look_for_mentions(std::string_view text) {
    const auto mentions = [&](std::string_view what) {
      return text.find(what) != std::string_view::npos;
    };
    out_.mentions_pdl |= mentions("cudaGridDependencySynchronize") ||
                         mentions("cudaTriggerProgrammaticLaunchCompletion");
    out_.mentions_std |= mentions("std::") || mentions("namespace std");
    out_.opens_std |= mentions("__CUDACC_RTC__") && opens_std(text);
    out_.mentions_nvcc |= mentions("__NVCC__");
    out_.mentions_launch |= mentions("<<<");
    for (std::string_view what :
         {"__FILE__", "__BASE_FILE__", "__FILE_NAME__", "__builtin_FILE", "source_location"}) {
      out_.mentions_file_name |= mentions(what);
    }
    out_.mentions_file_name |= contains_word(text, "assert");
    for (std::string_view clock : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
      if (mentions(clock)) out_.obstacle = std::string(clock) + " is used";
    }
  }

  const std::vector<fs::path>& folders_;
  const std::vector<fs::path>& cuda_folders_;
  std::unordered_set<std::string> standard_;
  IncludeScan& out_;
  std::unordered_map<std::string, std::int32_t> asked_;  // what each question found
  std::unordered_set<std::string> missing_;
  std::unordered_map<std::string, std::int32_t> seen_;  // paths, numbered as they were met
  std::vector<IncludedFile> pending_;
  std::uint64_t bytes_ = 0;
  bool draining_ = false;
};

}  // namespace

IncludeScan scan_includes(std::string_view text, const fs::path& directory,
                          const std::vector<std::string>& forced,
                          const std::vector<fs::path>& folders,
                          const std::vector<fs::path>& cuda_folders,
                          const std::vector<std::string_view>& standard_headers) {
  IncludeScan out;
  Scanner scanner(folders, cuda_folders, standard_headers, out);
  for (const std::string& header : forced) scanner.add(header, directory);
  scanner.add_text(text, directory);
  return out;
}

}  // namespace baton::compiler
