#include "image/container/scan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "image/container/bytes.h"
#include "image/container/elf.h"
#include "image/container/fatbin.h"
#include "image/container/sniff.h"

namespace baton::image {
namespace {

// What was found at a place, and where the walk goes on.
struct Hit {
  std::string_view image;  // empty: nothing
  std::size_t start = 0;
  std::size_t next = 0;
};

using Probe = Hit (*)(std::string_view bytes, std::size_t at, std::size_t from);

Hit probe_fatbin(std::string_view bytes, std::size_t at, std::size_t) {
  const std::uint64_t size = Fatbin::container_at(bytes.substr(at));
  if (size == 0) return {{}, at, at + 1};
  return {bytes.substr(at, size), at, at + size};
}

Hit probe_cubin(std::string_view bytes, std::size_t at, std::size_t) {
  const std::string_view rest = bytes.substr(at);
  if (ElfFile::machine_of(rest) != ElfFile::kMachineCuda) return {{}, at, at + 1};
  const auto size = ElfFile::extent_of(rest);
  if (!size) return {{}, at, at + 1};
  return {rest.substr(0, *size), at, at + *size};
}

// The PTX at the beginning of a string. One without a NUL at its end runs into what comes after it:
// if that is not text, the PTX ends with the last brace before it.
std::string_view without_binary_tail(std::string_view text) {
  const auto is_control = [](unsigned char c) {
    return (c < 0x20 && std::isspace(c) == 0) || c == 0x7f;
  };
  const auto control = std::find_if(text.begin(), text.end(), is_control);
  const std::string_view clean = text.substr(0, static_cast<std::size_t>(control - text.begin()));
  const std::size_t brace = clean.rfind('}');
  if (brace == std::string_view::npos) return text;
  // Comments may hold other letters; after the last brace only binary data has them.
  const std::string_view tail = clean.substr(brace + 1);
  const bool is_binary = control != text.end() || std::any_of(tail.begin(), tail.end(), [](char c) {
                           return static_cast<unsigned char>(c) >= 0x80;
                         });
  return is_binary ? clean.substr(0, brace + 1) : text;
}

// `at` is where ".version " stands: the string around it, from the last NUL to the next.
Hit probe_ptx(std::string_view bytes, std::size_t at, std::size_t from) {
  const std::size_t nul = bytes.substr(from, at - from).rfind('\0');
  const std::size_t start = nul == std::string_view::npos ? from : from + nul + 1;
  const std::size_t end = std::min(bytes.find('\0', at), bytes.size());
  const std::string_view text = bytes.substr(start, end - start);
  const char digit = load_or_zero<std::uint8_t>(bytes, at + 9);
  const bool is_ptx = std::isdigit(static_cast<unsigned char>(digit)) != 0 &&
                      text.find(".target", at - start) != std::string_view::npos &&
                      starts_with_ptx_version(text);
  // The rest of a string that is none is none either.
  return {is_ptx ? without_binary_tail(text) : std::string_view(), start, end};
}

struct Signature {
  std::string_view magic;
  ImageKind kind;
  Probe probe;
};
constexpr std::array<Signature, 3> kSignatures = {{
    {"\x50\xed\x55\xba", ImageKind::kFatbin, probe_fatbin},
    {"\x7f"
     "ELF\x02\x01\x01",
     ImageKind::kCubin, probe_cubin},
    {".version ", ImageKind::kPtx, probe_ptx},
}};

}  // namespace

void scan_for_images(std::string_view bytes, const Visit& visit) {
  // The next place of each signature, looked for anew only once the walk has passed it.
  std::array<std::size_t, kSignatures.size()> next{};
  std::size_t from = 0;
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = bytes.find(kSignatures[i].magic);
  for (;;) {
    const auto nearest = std::min_element(next.begin(), next.end());
    if (*nearest == std::string_view::npos) return;
    const Signature& signature = kSignatures[static_cast<std::size_t>(nearest - next.begin())];
    const Hit hit = signature.probe(bytes, *nearest, from);
    if (!hit.image.empty()) {
      if (!visit(signature.kind, hit.start, hit.image)) return;
      from = hit.next;
    }
    const std::size_t passed = hit.image.empty() ? *nearest + 1 : hit.next;
    *nearest = bytes.find(signature.magic, std::max(hit.next, *nearest + 1));
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (next[i] < passed) next[i] = bytes.find(kSignatures[i].magic, passed);
    }
  }
}

}  // namespace baton::image
