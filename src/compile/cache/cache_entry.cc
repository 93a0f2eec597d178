#include "compile/cache/cache_entry.h"

#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "base/hash/hash.h"

namespace baton::compiler {
namespace {

constexpr std::size_t kChecksumEnd = 32;  // what the checksum covers begins here
constexpr std::size_t kKeySize = 64;
constexpr std::size_t kHeaderSize = kChecksumEnd + kKeySize;

class EntryWriter {
 public:
  template <typename T>
  void number(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
  }
  void string(std::string_view text) {
    number<std::uint64_t>(text.size());
    out_ += text;
  }
  const std::string& bytes() const { return out_; }

 private:
  std::string out_;
};

// Reads what EntryWriter wrote; after the first value that does not fit, all are empty and
// `failed`.
class EntryReader {
 public:
  explicit EntryReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    if (rest_.size() < sizeof value) {
      failed_ = true;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string string() {
    const auto size = number<std::uint64_t>();
    if (size > rest_.size()) failed_ = true;
    const std::string_view text = rest_.substr(0, failed_ ? 0 : size);
    rest_.remove_prefix(text.size());
    return std::string(text);
  }
  // A count of things that take at least 8 bytes each.
  std::size_t count() {
    const auto value = number<std::uint64_t>();
    if (value > rest_.size() / 8) failed_ = true;
    return failed_ ? 0 : value;
  }
  bool failed() const { return failed_; }
  bool is_done() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

void read_summary_fields(EntryReader& in, Result& out) {
  out.name = in.string();
  out.arch = in.string();
  out.compiler = in.string();
  const std::string seconds = in.string();
  out.seconds = std::strtod(seconds.c_str(), nullptr);
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count && !in.failed(); ++i) out.entries.push_back(in.string());
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void write_pairs(EntryWriter& out, const Pairs& pairs) {
  out.number<std::uint64_t>(pairs.size());
  for (const auto& [first, second] : pairs) {
    out.string(first);
    out.string(second);
  }
}

Pairs read_pairs(EntryReader& in) {
  Pairs pairs;
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    std::string first = in.string();
    pairs.emplace_back(std::move(first), in.string());
  }
  return pairs;
}

void write_kernel(EntryWriter& out, const CompiledKernel& kernel) {
  out.string(kernel.symbol);
  out.number(kernel.registers);
  out.number(kernel.stack_bytes);
  out.number(kernel.spill_store_bytes);
  out.number(kernel.spill_load_bytes);
  out.number(kernel.static_shared);
  out.number(kernel.seconds);
}

CompiledKernel read_kernel(EntryReader& in) {
  CompiledKernel kernel;
  kernel.symbol = in.string();
  kernel.registers = in.number<std::uint32_t>();
  kernel.stack_bytes = in.number<std::uint32_t>();
  kernel.spill_store_bytes = in.number<std::uint32_t>();
  kernel.spill_load_bytes = in.number<std::uint32_t>();
  kernel.static_shared = in.number<std::uint32_t>();
  kernel.seconds = in.number<double>();
  return kernel;
}

struct Header {
  std::uint32_t version = 0;
  std::uint32_t summary_size = 0;
  std::uint64_t body_size = 0;
  std::uint64_t checksum = 0;
};

std::optional<Header> read_header(std::string_view bytes) {
  if (bytes.size() < kHeaderSize || !bytes.starts_with(kCacheMagic)) return std::nullopt;
  EntryReader in(bytes.substr(kCacheMagic.size()));
  Header header;
  header.version = in.number<std::uint32_t>();
  header.summary_size = in.number<std::uint32_t>();
  header.body_size = in.number<std::uint64_t>();
  header.checksum = in.number<std::uint64_t>();
  return header;
}

}  // namespace

namespace {

// A listing reads a bounded beginning of the file, so the summary leaves out what does not fit.
EntryWriter summary_of(const Result& result) {
  constexpr std::size_t kMaxText = 4096;
  constexpr std::size_t kRest = 128;  // for the line that says how many are left out
  const auto bounded = [](std::string_view text) {
    if (text.size() <= kMaxText) return std::string(text);
    return std::string(text.substr(0, kMaxText)) + "…";
  };
  EntryWriter summary;
  summary.string(bounded(result.name));
  summary.string(bounded(result.arch));
  summary.string(bounded(result.compiler));
  summary.string(fmt::format("{}", result.seconds));
  std::vector<std::string> entries;
  std::size_t room = kMaxSummary - kHeaderSize - summary.bytes().size() - kRest;
  for (const std::string& entry : result.entries) {
    std::string text = bounded(entry);
    const std::size_t size = sizeof(std::uint64_t) + text.size();
    if (size > room) break;
    room -= size;
    entries.push_back(std::move(text));
  }
  if (entries.size() < result.entries.size()) {
    entries.push_back(fmt::format("… and {} more", result.entries.size() - entries.size()));
  }
  summary.number<std::uint64_t>(entries.size());
  for (const std::string& entry : entries) summary.string(entry);
  return summary;
}

}  // namespace

std::string write_entry(const Result& result, std::string_view key) {
  const EntryWriter summary = summary_of(result);
  EntryWriter body;
  write_pairs(body, result.symbols);
  body.number<std::uint64_t>(result.kernels.size());
  for (const CompiledKernel& kernel : result.kernels) write_kernel(body, kernel);
  body.string(result.log);
  body.string(result.ptx);
  body.string(result.cubin);
  write_pairs(body, result.line_files);

  std::string covered(key);
  covered.resize(kKeySize, '\0');
  covered += summary.bytes();
  covered += body.bytes();
  EntryWriter out;
  out.number(kCacheFormat);
  out.number(static_cast<std::uint32_t>(summary.bytes().size()));
  out.number<std::uint64_t>(body.bytes().size());
  out.number(xxh3(covered));
  std::string bytes(kCacheMagic);
  bytes += out.bytes();
  bytes += covered;
  return bytes;
}

std::optional<Result> read_entry(std::string_view bytes, std::string_view key,
                                 std::string* damage) {
  const auto damaged = [&](std::string why) {
    *damage = std::move(why);
    return std::nullopt;
  };
  const std::optional<Header> header = read_header(bytes);
  if (!header) return damaged("its header is broken");
  if (header->version != kCacheFormat) {
    return damaged(fmt::format("its format is version {}, not {}", header->version, kCacheFormat));
  }
  const std::uint64_t content = bytes.size() - kHeaderSize;
  if (header->summary_size > content || header->body_size != content - header->summary_size) {
    return damaged(fmt::format("it has {} bytes, and its header says {}", bytes.size(),
                               kHeaderSize + header->summary_size + header->body_size));
  }
  if (xxh3(bytes.substr(kChecksumEnd)) != header->checksum) {
    return damaged("its checksum does not fit its bytes");
  }
  if (bytes.substr(kChecksumEnd, kKeySize) != key) return damaged("it belongs to another key");
  Result result;
  EntryReader summary(bytes.substr(kHeaderSize, header->summary_size));
  read_summary_fields(summary, result);
  EntryReader body(bytes.substr(kHeaderSize + header->summary_size));
  result.symbols = read_pairs(body);
  const std::size_t kernels = body.count();
  for (std::size_t i = 0; i < kernels && !body.failed(); ++i) {
    result.kernels.push_back(read_kernel(body));
  }
  result.log = body.string();
  result.ptx = body.string();
  result.cubin = body.string();
  result.line_files = read_pairs(body);
  if (!summary.is_done() || !body.is_done() || (result.ptx.empty() && result.cubin.empty())) {
    return damaged("its fields do not add up");
  }
  return result;
}

bool is_outdated(std::string_view bytes) {
  const std::optional<Header> header = read_header(bytes);
  return header && header->version != 0 && header->version < kCacheFormat;
}

std::optional<Result> read_summary(std::string_view beginning) {
  const std::optional<Header> header = read_header(beginning);
  if (!header || header->version != kCacheFormat) return std::nullopt;
  Result result;
  EntryReader in(beginning.substr(kHeaderSize, header->summary_size));
  read_summary_fields(in, result);
  if (in.failed()) return std::nullopt;
  return result;
}

}  // namespace baton::compiler
