#include "sim/engine/async/wgmma.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "sim/engine/async/wgmma_registers.h"
#include "sim/engine/async/wgmma_tile.h"
#include "sim/engine/isa/matrix_kernel.h"
#include "sim/engine/isa/matrix_sparse.h"
#include "sim/engine/isa/matrix_sums.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/span_access.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kRowsOfWarp = 16;
constexpr std::size_t kMostOperations = 4096;  // by which a warp may be ahead of another one

const Insn* wrong(Exec* x, const Insn* i, const std::string& message) {
  return fault(x, i, std::countr_zero(x->mask), CUDA_ERROR_ILLEGAL_INSTRUCTION,
               driver::FindingKind::kUnsupported, message);
}

Warpgroup& warpgroup(Exec* x) {
  return x->block->async.wgmma.groups[x->warp->index / kWarpsOfGroup];
}

std::uint32_t first_warp(const Exec* x) {
  return x->warp->index / kWarpsOfGroup * kWarpsOfGroup;
}

// Waits until all lanes of the warp are at the instruction, which four whole warps must be there to
// execute. False, with *next set, while they are not, and after a fault.
bool whole_warpgroup(Exec* x, const Insn* i, const Insn** next) {
  if (!whole_warp(x, i, next)) return false;
  *next = nullptr;
  const std::uint32_t behind = first_warp(x) + kWarpsOfGroup;
  if (behind > x->block->warps.size()) {
    wrong(x, i,
          fmt::format("its warpgroup has {} warps, as the block has {}: it takes four",
                      x->block->warps.size() - first_warp(x), x->block->warps.size()));
    return false;
  }
  if (x->full) return true;
  wrong(x, i, fmt::format("{} lanes of its warp execute it: it takes all 32", x->active));
  return false;
}

// Whether the other warps of the warpgroup issue the same operation at this point. False after a
// fault.
bool is_same_in_group(Exec* x, const Insn* i, const Warpgroup::Operation& mine) {
  Warpgroup& group = warpgroup(x);
  WgmmaWarp& warp = wgmma_warp(x);
  const std::uint64_t number = warp.issued++;
  if (number < group.first) return true;  // too far behind to tell
  const auto at = static_cast<std::size_t>(number - group.first);
  if (at == group.operations.size()) {
    group.operations.push_back(mine);
    if (group.operations.size() <= kMostOperations) return true;
    group.operations.pop_front();
    ++group.first;
    return true;
  }
  const Warpgroup::Operation& theirs = group.operations[at];
  const bool is_same = theirs.insn == mine.insn && theirs.left == mine.left &&
                       theirs.right == mine.right && theirs.adds == mine.adds;
  if (!is_same) {
    wrong(x, i,
          theirs.insn != mine.insn
              ? fmt::format("warp {} of its warpgroup executes another wgmma at this point, at {}",
                            theirs.warp, where_of(*x->grid, theirs.insn))
              : fmt::format("the warps of its warpgroup differ: descriptors {:#x} and {:#x}, "
                            "scale-d {}; in warp {} {:#x} and {:#x}, {}",
                            mine.left, mine.right, mine.adds, theirs.warp, theirs.left,
                            theirs.right, theirs.adds));
    return false;
  }
  const std::vector<WgmmaWarp>& warps = x->block->async.wgmma.warps;
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t w = 0; w < kWarpsOfGroup; ++w) {
    least = std::min(least, warps[first_warp(x) + w].issued);
  }
  while (group.first < least) {
    group.operations.pop_front();
    ++group.first;
  }
  return true;
}

// What a worker needs while it multiplies, kept from one time to the next.
struct ProductScratch {
  std::vector<std::uint32_t> chunks, words;
  std::vector<float> left, right, sums;
};
ProductScratch& scratch() {
  static thread_local ProductScratch kept;
  return kept;
}

// Whether some byte of a chunk of the block's memory was never written.
bool has_unwritten(const Exec* x, std::uint32_t chunk) {
  if (x->shared.written == nullptr) return false;
  std::uint32_t flags = 0;  // one byte for each of its words
  std::memcpy(&flags, x->block->shared_written.data() + chunk / 4, sizeof(flags));
  return flags != 0x01010101;
}

// Reads the bytes of a tile's chunks. False after a fault.
bool read_chunks(Exec* x, const Insn* i, const std::vector<std::uint32_t>& chunks,
                 std::vector<std::uint32_t>* words) {
  constexpr std::size_t kWords = kChunkBytes / sizeof(std::uint32_t);
  words->resize(chunks.size() * kWords);
  const int lane = std::countr_zero(x->mask);
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    const bool is_inside = std::uint64_t{chunks[k]} + kChunkBytes <= x->shared.size;
    if (!is_inside || has_unwritten(x, chunks[k])) {
      const std::uint64_t address = kSharedWindow + x->shared.base + chunks[k];
      if (!check_span(x, i, lane, {Space::kGeneric, address, kChunkBytes, kChunkBytes}, false)) {
        return false;
      }
    }
    std::memcpy(words->data() + k * kWords, x->shared.host + chunks[k], kChunkBytes);
  }
  return true;
}

// Shows who looks for races what the warp's part of an operation reads.
void watch_tile(Exec* x, const Insn* i, const std::vector<std::uint32_t>& chunks) {
  SharedWatch::Access access;
  access.insn = i;
  const auto [low, high] = std::minmax_element(chunks.begin(), chunks.end());
  access.offset = *low;
  access.bytes = access.stride = *high + kChunkBytes - *low;
  access.is_product = true;
  x->block->watch->note_product(x, access, chunks);
}

bool gather_left(Exec* x, const Insn* i, const WgmmaForm& form, const MatrixDescriptor& descriptor,
                 std::vector<float>* numbers) {
  const MatrixKernel& kernel = matrix_kernel();
  ProductScratch& s = scratch();
  const unsigned held = form.has(WgmmaForm::kSparse) ? form.k / 2u : form.k;
  numbers->resize(std::size_t{kRowsOfWarp} * held);
  if (!form.has(WgmmaForm::kLeftInRegisters)) {
    TilePart part{descriptor, form.a, form.has(WgmmaForm::kLeftRowsMajor)};
    part.first = x->warp->index % kWarpsOfGroup * kRowsOfWarp;
    part.count = kRowsOfWarp;
    part.list_chunks(&s.chunks);
    if (!read_chunks(x, i, s.chunks, &s.words)) return false;
    gather_rows(part, s.words, numbers->data());
    if (x->block->watch != nullptr) watch_tile(x, i, s.chunks);
  } else {
    // As a of mma: registers have eight rows of 16 bytes, then eight rows below, then to the right.
    const std::uint32_t* slots = i->u.list + form.registers_of_d();
    const unsigned width = held / 2;
    std::vector<float> rows(std::size_t{8} * width);
    for (unsigned r = 0; r < 4; ++r) {
      kernel.widen(form.a, slot_at<std::uint32_t>(x, slots[r]), kLanes, rows.data());
      kernel.copy_rows(rows.data(), width, numbers->data() + r % 2 * 8 * held + r / 2 * width,
                       held);
    }
  }
  if (form.has(WgmmaForm::kSparse)) {
    std::vector<float> all(std::size_t{kRowsOfWarp} * form.k);
    expand_sparse(form.a, form.k, slot_at<std::uint32_t>(x, i->r[3]), form.selector,
                  numbers->data(), all.data());
    *numbers = std::move(all);
  }
  if (form.has(WgmmaForm::kNegates)) {
    for (float& number : *numbers) number = -number;
  }
  return true;
}

bool gather_right(Exec* x, const Insn* i, const WgmmaForm& form, const MatrixDescriptor& descriptor,
                  std::vector<float>* numbers) {
  TilePart part{descriptor, form.b, form.has(WgmmaForm::kRightRowsMajor)};
  part.count = form.columns();
  if (form.has(WgmmaForm::kSparse)) part.chunks_along_k = 4;
  if (descriptor.swizzle_bits == 1 && part.chunks_along_k == 4 && !part.rows_major) {
    fault(x, i, std::countr_zero(x->mask), CUDA_ERROR_ILLEGAL_INSTRUCTION,
          driver::FindingKind::kUnsupported,
          "64 bytes along k do not fit into a swizzle of 32 bytes: what a GPU reads is not "
          "documented");
    return false;
  }
  numbers->resize(std::size_t{form.k} * form.columns());
  ProductScratch& s = scratch();
  part.list_chunks(&s.chunks);
  if (!read_chunks(x, i, s.chunks, &s.words)) return false;
  gather_columns(part, s.words, numbers->data());
  if (x->block->watch != nullptr) watch_tile(x, i, s.chunks);
  return true;
}

void gather_accumulators(Exec* x, const WgmmaForm& form, const std::uint32_t* slots, float* sums) {
  const MatrixKernel& kernel = matrix_kernel();
  const std::size_t step = form.columns();
  const auto words = [&](unsigned r) { return slot_at<std::uint32_t>(x, slots[r]); };
  for (unsigned group = 0; group < form.groups; ++group) {
    for (unsigned half = 0; half < 2; ++half) {
      float* to = sums + half * 8 * step + group * 8;
      if (form.d == MatrixType::kF16) {
        kernel.gather_halves(words(2 * group + half), to, step);
      } else {
        const unsigned r = 4 * group + 2 * half;
        kernel.gather_pairs(words(r), words(r + 1), to, step);
      }
    }
  }
}

void scatter_accumulators(Exec* x, const WgmmaForm& form, const std::uint32_t* slots,
                          const float* sums) {
  const MatrixKernel& kernel = matrix_kernel();
  const std::size_t step = form.columns();
  const auto words = [&](unsigned r) { return slot_at<std::uint32_t>(x, slots[r]); };
  for (unsigned group = 0; group < form.groups; ++group) {
    for (unsigned half = 0; half < 2; ++half) {
      const float* from = sums + half * 8 * step + group * 8;
      if (form.d == MatrixType::kF16) {
        kernel.scatter_halves(from, step, words(2 * group + half));
      } else {
        const unsigned r = 4 * group + 2 * half;
        kernel.scatter_pairs(from, step, words(r), words(r + 1));
      }
    }
  }
}

void add_to_accumulators(Exec* x, const WgmmaForm& form, const std::uint32_t* slots, bool adds,
                         const float* sums) {
  const bool saturates = form.has(WgmmaForm::kSaturates);
  for (unsigned r = 0; r < form.registers_of_d(); ++r) {
    std::uint32_t* words = slot_at<std::uint32_t>(x, slots[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned row = lane / 4 + (r % 4 >= 2 ? 8 : 0);
      const unsigned column = r / 4 * 8 + lane % 4 * 2 + r % 2;
      words[lane] =
          add_integer(adds ? words[lane] : 0, sums[row * form.columns() + column], saturates);
    }
  }
}

}  // namespace

const Insn* op_wgmma(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warpgroup(x, i, &next)) return next;
  const auto form = std::bit_cast<WgmmaForm>(i->imm);
  const bool left_in_registers = form.has(WgmmaForm::kLeftInRegisters);
  const std::uint32_t adding = predicate_at(x, i->r[2]) ^ ((i->negated & 4) != 0 ? kAllLanes : 0);
  Warpgroup::Operation operation;
  operation.insn = i;
  operation.left = left_in_registers ? 0 : slot_at<std::uint64_t>(x, i->r[0])[0];
  operation.right = slot_at<std::uint64_t>(x, i->r[1])[0];
  operation.adds = (adding & 1) != 0;
  operation.warp = x->warp->index;
  wgmma_warp(x);
  if (!is_same_in_group(x, i, operation)) return nullptr;
  const WgmmaRegisters* registers = &function_of(x)->wgmma[i->r[4]];
  if ((i->mode & kWgmmaMayLackFence) != 0) check_fenced(x, i, *registers);

  ProductScratch& s = scratch();
  if (!gather_left(x, i, form, MatrixDescriptor::of(operation.left), &s.left) ||
      !gather_right(x, i, form, MatrixDescriptor::of(operation.right), &s.right)) {
    return nullptr;
  }
  const ProductShape shape{kRowsOfWarp, form.columns(), form.k};
  s.sums.assign(shape.m * shape.n, 0.0f);
  const std::uint32_t* slots = i->u.list;
  if (form.d == MatrixType::kS32) {
    matrix_kernel().multiply(shape, s.left.data(), s.right.data(), s.sums.data());
    add_to_accumulators(x, form, slots, operation.adds, s.sums.data());
  } else {
    if (operation.adds) gather_accumulators(x, form, slots, s.sums.data());
    matrix_kernel().multiply(shape, s.left.data(), s.right.data(), s.sums.data());
    scatter_accumulators(x, form, slots, s.sums.data());
  }
  if ((i->mode & kWgmmaIsFollowed) != 0) keep_busy(x, i, *registers);
  return i + 1;
}

const Insn* op_wgmma_fence(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warpgroup(x, i, &next)) return next;
  wgmma_warp(x).written.clear();
  return i + 1;
}

const Insn* op_wgmma_commit(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warpgroup(x, i, &next)) return next;
  ++wgmma_warp(x).committed;
  if (x->block->watch != nullptr) x->block->watch->commit_products(x);
  for (std::uint32_t w = 0; w < kWarpsOfGroup; ++w) {
    Warp& warp = x->block->warps[first_warp(x) + w];
    for (std::uint32_t k = 0; k < warp.count; ++k) {
      Fragment& fragment = warp.fragments[k];
      if (fragment.wait == Wait::kWarpgroup) fragment.wait = Wait::kNone;
    }
  }
  return i + 1;
}

const Insn* op_wgmma_wait(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warpgroup(x, i, &next)) return next;
  WgmmaWarp& mine = wgmma_warp(x);
  const auto left = static_cast<std::uint64_t>(i->imm);
  const std::uint64_t over = mine.committed > left ? mine.committed - left : 0;
  // An operation is one of all four warps.
  for (std::uint32_t w = 0; w < kWarpsOfGroup; ++w) {
    if (x->block->async.wgmma.warps[first_warp(x) + w].committed >= over) continue;
    Fragment& fragment = x->warp->fragment();
    fragment.wait = Wait::kWarpgroup;
    fragment.pc = i;
    fragment.from = x->from;
    return resume(x);
  }
  std::erase_if(mine.busy, [&](const WgmmaWarp::Busy& one) { return one.group < over; });
  if (x->block->watch != nullptr) x->block->watch->wait_products(x, over);
  return i + 1;
}

const Insn* op_set_registers(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  return whole_warpgroup(x, i, &next) ? i + 1 : next;
}

}  // namespace baton::sim
