#include "compile/nvrtc/options.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/text/text.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

// An option that takes a value, in the spellings of NVRTC: "-I dir", "-Idir", "--include-path=dir".
struct Valued {
  std::string_view short_name;
  std::string_view long_name;
  bool joined;  // the value may follow the short name at once
};
constexpr Valued kInclude = {"-I", "--include-path", true};
constexpr Valued kForced = {"-include", "--pre-include", false};
constexpr Valued kArch = {"-arch", "--gpu-architecture", false};
constexpr Valued kStandard = {"-std", "--std", false};

// The value of option `i` where it is `valued`; advances `i` past a value of its own.
std::optional<std::string> value_of(const Valued& valued, const std::vector<std::string>& options,
                                    std::size_t& i) {
  const std::string_view option = trim(options[i]);
  std::string_view rest;
  if (option.starts_with(valued.long_name)) {
    rest = option.substr(valued.long_name.size());
  } else if (option.starts_with(valued.short_name)) {
    rest = option.substr(valued.short_name.size());
    if (valued.joined && !rest.empty() && rest[0] != '=' && rest[0] != ' ') {
      return std::string(rest);
    }
  } else {
    return std::nullopt;
  }
  if (!rest.empty()) {
    if (rest[0] != '=' && rest[0] != ' ') return std::nullopt;  // a longer option's name
    return std::string(trim(rest.substr(1)));
  }
  if (i + 1 >= options.size()) {
    throw error(ErrorCode::kInvalidInput, "compile option {} lacks its value", option);
  }
  return options[++i];
}

// Folders are relative to the source's own.
fs::path absolute_from(const fs::path& directory, const fs::path& path) {
  return (fs::absolute(directory.empty() ? fs::path(".") : directory) / path).lexically_normal();
}

}  // namespace

ParsedOptions parse_options(const Source& source) {
  ParsedOptions parsed;
  parsed.directory = absolute_from(source.directory, "");
  for (const fs::path& folder : source.include) {
    parsed.include.push_back(absolute_from(source.directory, folder));
  }
  for (std::size_t i = 0; i < source.options.size(); ++i) {
    const std::string& option = source.options[i];
    if (const auto folder = value_of(kInclude, source.options, i)) {
      parsed.include.push_back(absolute_from(source.directory, *folder));
    } else if (auto header = value_of(kForced, source.options, i)) {
      parsed.forced.push_back(std::move(*header));
    } else if (value_of(kArch, source.options, i)) {
      throw error(ErrorCode::kInvalidInput,
                  "{}: the option {} sets the architecture, which the device or an option of "
                  "Baton's decides; leave it out",
                  source.name, option);
    } else if (const auto standard = value_of(kStandard, source.options, i)) {
      parsed.has_standard = true;
      parsed.others.push_back("--std=" + *standard);
    } else {
      const std::string_view text = trim(option);
      parsed.has_debug |= text == "-G" || text == "--device-debug";
      parsed.has_lto |= text == "-dlto" || text == "--dlink-time-opt";
      parsed.is_relocatable |= text == "-dc" || text == "--device-c" || text == "-rdc=true" ||
                               text == "--relocatable-device-code=true";
      if (!text.empty()) parsed.others.emplace_back(text);
    }
  }
  parsed.include.push_back(parsed.directory);
  return parsed;
}

std::vector<std::string> with_paths_from(const fs::path& directory,
                                         std::vector<std::string> options) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::size_t first = i;
    if (const auto folder = value_of(kInclude, options, i)) {
      out.push_back("-I" + absolute_from(directory, *folder).string());
      continue;
    }
    if (const auto header = value_of(kForced, options, i)) {
      const fs::path path = absolute_from(directory, *header);
      std::error_code unknown;
      const bool is_there = fs::is_regular_file(path, unknown);
      out.push_back("--pre-include=" + (is_there ? path.string() : *header));
      continue;
    }
    out.push_back(std::move(options[first]));
  }
  return out;
}

Arch parse_arch(const std::string& text) {
  Arch arch;
  arch.text = text;
  std::string_view rest = text;
  if (rest.starts_with("sm_")) {
    arch.is_real = true;
    rest.remove_prefix(3);
  } else if (rest.starts_with("compute_")) {
    rest.remove_prefix(8);
  } else {
    rest = {};
  }
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), arch.number);
  const std::string_view suffix(parsed.ptr,
                                static_cast<std::size_t>(rest.data() + rest.size() - parsed.ptr));
  if (rest.empty() || parsed.ec != std::errc() || arch.number < 10 ||
      (!suffix.empty() && suffix != "a" && suffix != "f")) {
    throw error(
        ErrorCode::kInvalidInput,
        "\"{}\" is not an architecture; write sm_90 or sm_90a for machine code, compute_90 for "
        "PTX only",
        text);
  }
  return arch;
}

}  // namespace baton::compiler
