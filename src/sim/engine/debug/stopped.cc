#include "sim/engine/debug/stopped.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "image/names/readable_names.h"
#include "sim/engine/lower/frame.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

// Lines of a text on each side of one.
constexpr std::size_t kLinesBeside = 5;

// Numbered, with the line itself marked; empty where there is no such line.
std::string lines_around(std::istream& text, std::size_t wanted) {
  std::string found;
  bool has_it = false;
  std::string line;
  for (std::size_t number = 1; std::getline(text, line); ++number) {
    if (number > wanted + kLinesBeside) break;
    if (number + kLinesBeside < wanted) continue;
    has_it = has_it || number == wanted;
    found += fmt::format("{} {:5}  {}\n", number == wanted ? ">" : " ", number, line);
  }
  return has_it ? found : "";
}

// A number of C or of PTX as a register of `width` bytes a lane has it; nothing where it does not
// fit. One with a point is a float.
std::optional<std::uint64_t> register_bits(std::string_view text, std::uint8_t width) {
  if (text.empty() || (width != 1 && width != 4 && width != 8)) return std::nullopt;
  const std::string word(text);
  char* end = nullptr;
  if (text.find('.') != text.npos) {
    const double value = std::strtod(word.c_str(), &end);
    if (*end != '\0' || width == 1) return std::nullopt;
    if (width == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return std::bit_cast<std::uint64_t>(value);
  }
  errno = 0;
  const bool is_negative = text.front() == '-';
  const std::uint64_t bits = is_negative
                                 ? static_cast<std::uint64_t>(std::strtoll(word.c_str(), &end, 0))
                                 : std::strtoull(word.c_str(), &end, 0);
  if (*end != '\0' || errno != 0) return std::nullopt;
  if (width == 8) return bits;
  if (width == 1) return bits <= 1 ? std::optional(bits) : std::nullopt;
  const bool fits = is_negative ? static_cast<std::int64_t>(bits) >= INT32_MIN : bits <= UINT32_MAX;
  return fits ? std::optional(bits & UINT32_MAX) : std::nullopt;
}

}  // namespace

std::optional<Stopped::Place> Stopped::find(std::uint32_t thread) const {
  const GridState& grid = *x_->grid;
  const auto& blocks = x_->block->cluster->blocks;
  const std::uint32_t number = thread - 1;
  if (thread == 0 || number / grid.threads >= blocks.size()) return std::nullopt;
  BlockState& block = *blocks[number / grid.threads];
  Warp& warp = block.warps[number % grid.threads / kLanes];
  const int lane = static_cast<int>(number % grid.threads % kLanes);
  if (block.live_warps == 0 || (warp.live >> lane & 1) == 0) return std::nullopt;
  for (std::uint32_t k = 0; k < warp.count; ++k) {
    const Fragment& fragment = warp.fragments[k];
    if ((fragment.mask >> lane & 1) == 0) continue;
    const bool is_current = &warp == x_->warp && k == warp.current;
    return Place{&block, &warp, lane, &warp.frames[fragment.frame], is_current ? i_ : fragment.pc};
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Stopped::threads() const {
  std::vector<std::uint32_t> found;
  const auto count =
      static_cast<std::uint32_t>(x_->block->cluster->blocks.size() * x_->grid->threads);
  for (std::uint32_t thread = 1; thread <= count; ++thread) {
    if (is_thread(thread)) found.push_back(thread);
  }
  return found;
}

std::uint32_t Stopped::current() const {
  return thread_of(std::countr_zero(x_->mask));
}

std::uint32_t Stopped::thread_of(int lane) const {
  return x_->block->rank * x_->grid->threads + x_->warp->index * kLanes +
         static_cast<std::uint32_t>(lane) + 1;
}

const Warp* Stopped::warp_of(std::uint32_t thread) const {
  const auto place = find(thread);
  return place ? place->warp : nullptr;
}

std::string Stopped::name_of(std::uint32_t thread) const {
  const auto place = find(thread);
  if (!place) return "exited";
  const auto at = thread_index(*x_->grid, (thread - 1) % x_->grid->threads);
  const Extent3& block = place->block->index;
  return fmt::format("block ({}, {}, {}), thread ({}, {}, {})", block.x, block.y, block.z, at[0],
                     at[1], at[2]);
}

const Site* Stopped::site_of(const CallFrame& frame, const Insn* pc) const {
  const auto number = static_cast<std::size_t>(pc - frame.function->code.data());
  const auto& sites = frame.function->sites;
  const bool has_one = number < sites.size() && sites[number].instruction != nullptr;
  return has_one ? &sites[number] : nullptr;
}

std::string Stopped::place_of(std::uint32_t thread) const {
  const auto place = find(thread);
  const Site* const site = place ? site_of(*place->frame, place->pc) : nullptr;
  return site == nullptr ? "" : sim::place_of(*x_->grid->kernel->ptx, *site);
}

std::uint32_t Stopped::line_of(std::uint32_t thread) const {
  const auto place = find(thread);
  const Site* const site = place ? site_of(*place->frame, place->pc) : nullptr;
  return site == nullptr ? 0 : site->instruction->position.line;
}

std::string Stopped::instruction_of(std::uint32_t thread) const {
  const auto place = find(thread);
  const Site* const site = place ? site_of(*place->frame, place->pc) : nullptr;
  return site == nullptr ? "" : text_of(*site->instruction);
}

std::vector<std::string> Stopped::calls_of(std::uint32_t thread) const {
  std::vector<std::string> calls;
  const auto place = find(thread);
  if (!place) return calls;
  const CallFrame* frame = place->frame;
  const Insn* pc = place->pc;
  while (true) {
    const Site* const site = site_of(*frame, pc);
    calls.push_back(
        fmt::format("{} at {}", image::with_readable_names(frame->function->name),
                    site == nullptr ? "its end" : sim::place_of(*x_->grid->kernel->ptx, *site)));
    if (frame->return_to == nullptr) return calls;
    // The call comes before the place where it returns to.
    pc = frame->return_to - 1;
    frame = &place->warp->frames[frame->parent];
  }
}

std::vector<Stopped::Register> Stopped::registers_of(std::uint32_t thread) const {
  std::vector<Register> registers;
  const auto place = find(thread);
  if (!place) return registers;
  for (const NamedRegister& named : place->frame->function->registers) {
    const std::byte* slot = place->frame->base + named.offset;
    Register one{named.name, static_cast<std::uint8_t>(named.width * 8), 0};
    if (named.width == 1) {
      std::uint32_t mask = 0;
      std::memcpy(&mask, slot, sizeof(mask));
      one.bits = 1;
      one.value = mask >> place->lane & 1;
    } else {
      const std::size_t bytes = std::min<std::size_t>(named.width, 8);
      std::memcpy(&one.value, slot + static_cast<std::size_t>(place->lane) * named.width, bytes);
    }
    registers.push_back(std::move(one));
  }
  return registers;
}

bool Stopped::set_register(std::uint32_t thread, std::string_view name,
                           std::string_view value) const {
  const auto place = find(thread);
  if (!place) return false;
  const auto& registers = place->frame->function->registers;
  const auto named = std::find_if(registers.begin(), registers.end(), [&](const auto& one) {
    return one.name == name || std::string_view(one.name).substr(1) == name;
  });
  if (named == registers.end()) return false;
  const auto bits = register_bits(value, named->width);
  if (!bits) return false;
  std::byte* const slot = place->frame->base + named->offset;
  const auto lane = static_cast<std::size_t>(place->lane);
  if (named->width == 1) {
    std::uint32_t mask = 0;
    std::memcpy(&mask, slot, sizeof(mask));
    mask = (mask & ~(1u << lane)) | static_cast<std::uint32_t>(*bits) << lane;
    std::memcpy(slot, &mask, sizeof(mask));
  } else {
    std::memcpy(slot + lane * named->width, &*bits, named->width);
  }
  return true;
}

std::byte* Stopped::own_byte(const Place& place, std::uint64_t address) const {
  const auto low = static_cast<std::uint32_t>(address);
  switch (window_of(address)) {
    case window_number(kSharedWindow): {
      const auto& blocks = x_->block->cluster->blocks;
      const std::uint32_t rank = rank_of(address);
      const std::uint32_t offset = low & ((1u << kRankShift) - 1);
      if (rank >= blocks.size() || offset >= blocks[rank]->shared.size()) return nullptr;
      return &blocks[rank]->shared[offset];
    }
    case window_number(kLocalWindow): {
      const std::size_t at =
          std::size_t{low / 4} * kSlot32 + static_cast<std::size_t>(place.lane) * 4 + low % 4;
      return at < place.warp->local.size() ? &place.warp->local[at] : nullptr;
    }
    default:
      return nullptr;
  }
}

std::optional<std::byte> Stopped::byte_at(const Place& place, std::uint64_t address) const {
  const auto low = static_cast<std::uint32_t>(address);
  switch (window_of(address)) {
    case window_number(kSharedWindow):
    case window_number(kLocalWindow): {
      const std::byte* const own = own_byte(place, address);
      return own == nullptr ? std::nullopt : std::optional(*own);
    }
    case window_number(kParamWindow):
      if (low >= x_->grid->launch.params.size()) return std::nullopt;
      return x_->grid->launch.params[low];
    default: {
      std::byte byte{};
      if (!x_->grid->memory->read(address, &byte, 1)) return std::nullopt;
      return byte;
    }
  }
}

// A word of shared memory, or of the thread's own, counts as initialized.
void Stopped::note_own_write(const Place& place, std::uint64_t address) const {
  if (window_of(address) == window_number(kLocalWindow)) {
    place.warp->local_written[static_cast<std::uint32_t>(address) / 4] |= 1u << place.lane;
    return;
  }
  BlockState& block = *x_->block->cluster->blocks[rank_of(address)];
  std::uint8_t& word = block.shared_written[(address & ((1u << kRankShift) - 1)) / 4];
  if (word == 0) --block.shared_unwritten;
  word = 1;
}

bool Stopped::set_memory(std::uint32_t thread, std::uint64_t address,
                         std::string_view bytes) const {
  const auto place = find(thread);
  if (!place || bytes.empty() || window_of(address) == window_number(kParamWindow)) return false;
  for (std::uint64_t k = 0; k < bytes.size(); ++k) {
    if (!byte_at(*place, address + k)) return false;
  }
  for (std::uint64_t k = 0; k < bytes.size(); ++k) {
    const auto byte = static_cast<std::byte>(bytes[k]);
    if (std::byte* const own = own_byte(*place, address + k)) {
      *own = byte;
      note_own_write(*place, address + k);
    } else {
      x_->grid->memory->write(address + k, &byte, 1);
    }
  }
  return true;
}

std::string Stopped::source_of(std::uint32_t thread) const {
  const auto found = find(thread);
  const Site* const site = found ? site_of(*found->frame, found->pc) : nullptr;
  if (site == nullptr) return "";
  // "/src/norm.cu:12:7", of several the first.
  const std::string place = place_of(thread).substr(0, place_of(thread).find(' '));
  const std::size_t column = place.rfind(':');
  const std::size_t line = column == place.npos ? place.npos : place.rfind(':', column - 1);
  if (line != place.npos) {
    std::ifstream file(place.substr(0, line));
    const auto number = std::strtoul(place.c_str() + line + 1, nullptr, 10);
    if (std::string text = lines_around(file, number); !text.empty()) return text;
  }
  std::istringstream ptx(x_->grid->kernel->ptx->text());
  return lines_around(ptx, site->instruction->position.line);
}

std::string Stopped::memory(std::uint32_t thread, std::uint64_t address,
                            std::uint64_t bytes) const {
  std::string found;
  const auto place = find(thread);
  for (std::uint64_t k = 0; place && k < bytes; ++k) {
    const auto byte = byte_at(*place, address + k);
    if (!byte) break;
    found += static_cast<char>(*byte);
  }
  return found;
}

}  // namespace baton::sim
