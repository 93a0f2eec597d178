// Kernels of litmus tests.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "litmus.h"

namespace baton::litmus {
namespace {

struct Scope {
  const char* name;
  const char* membar;  // null: it has none
  Place widest;        // whose threads it has
  bool is_narrow;
};
constexpr Scope kScopes[] = {{"cta", "cta", Place::kWarps, true},
                             {"cluster", nullptr, Place::kBlocks, true},
                             {"gpu", "gl", Place::kClusters, false},
                             {"sys", "sys", Place::kClusters, false}};

bool has(Set set, unsigned element) {
  return (set >> element & 1) != 0;
}

bool mentions(const Litmus& litmus, std::string_view word) {
  return std::any_of(litmus.threads.begin(), litmus.threads.end(),
                     [&](const std::string& text) { return text.find(word) != std::string::npos; });
}

std::string with(std::string text, std::string_view word, std::string_view in_place) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += in_place.size()) {
    text.replace(at, word.size(), in_place);
  }
  return text;
}

bool is_racy(Answer answer, Place place, const Scope* scope) {
  switch (answer) {
    case Answer::kOrdered:
      return false;
    case Answer::kRacy:
      return true;
    case Answer::kByScope:
      return scope != nullptr && place > scope->widest;
    case Answer::kInBlock:
      return place > Place::kWarps;
    case Answer::kInCluster:
      return place > Place::kBlocks;
  }
  return true;
}

// The thread of the program that the executing one is, in %r0; %p0: none.
std::string actor_text(const Litmus& litmus, Place place) {
  const char* const lane =
      "and.b32 %r1, %r2, 31;\nsetp.ne.u32 %p0, %r1, 0;\nsetp.eq.u32 %own, %r1, 0;\n";
  std::string text = "mov.u32 %r2, %tid.x;\n";
  switch (place) {
    case Place::kOne:
      text += fmt::format("{}mov.u32 %r0, 0;\n", lane);
      break;
    case Place::kLanes:
      text += fmt::format("mov.u32 %r0, %r2;\nsetp.ge.u32 %p0, %r0, {};\nsetp.eq.u32 %own, 0, 0;\n",
                          litmus.threads.size());
      break;
    case Place::kWarps:
      text += fmt::format("{}shr.u32 %r0, %r2, 5;\n", lane);
      break;
    case Place::kBlocks:
    case Place::kClusters:
      text += fmt::format("{}mov.u32 %r0, %ctaid.x;\n", lane);
      break;
  }
  if (litmus.by_warps) text += "setp.ne.u32 %p0, 0, 0;\n";
  return text;
}

std::string addresses_text(Place place, Memory memory) {
  std::string text =
      "ld.param.u64 %base, [p];\nmov.u32 %sx, data;\nmov.u32 %sm, bar;\n"
      "mov.u64 %x, %base;\n";
  text += fmt::format("add.u64 %from, %base, {};\nadd.u64 %to, %base, {};\n", kFrom, kTo);
  if (memory == Memory::kShared) text += "mov.u64 %x, data;\ncvta.shared.u64 %x, %x;\n";
  if (place == Place::kBlocks) {
    if (memory == Memory::kShared) text += "mapa.u64 %x, %x, 0;\n";
    text += "mapa.shared::cluster.u32 %other, %sm, 1;\n";
  }
  return text + "add.u64 %y, %x, 16;\nadd.u64 %f, %x, 32;\nadd.u64 %g, %x, 48;\n";
}

std::string kernel_text(const Litmus& litmus, const std::string& name, Place place, Memory memory,
                        const std::vector<std::string>& threads) {
  const bool in_cluster = place == Place::kBlocks;
  const char* const meet = in_cluster ? "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" : "";
  std::string text = fmt::format(
      ".visible .entry {}(.param .u64 p) {{\n"
      ".reg .pred %p<10>, %own;\n.reg .b32 %r<10>, %v, %sx, %sm, %other;\n"
      ".reg .b64 %d<10>, %x, %y, %f, %g, %from, %to, %base, %result;\n"
      ".shared .align 128 .b8 data[128];\n.shared .align 8 .b64 bar;\n{}"
      // The first thread of the block initialises its shared memory, for both proxies.
      "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra READY;\nmov.u32 %r1, 0;\n"
      "ZERO: add.u32 %r2, %sx, %r1;\nst.shared.u64 [%r2], 0;\nadd.u32 %r1, %r1, 8;\n"
      "setp.lt.u32 %p1, %r1, 128;\n@%p1 bra ZERO;\n"
      "mbarrier.init.shared::cta.b64 [%sm], 1;\nfence.mbarrier_init.release.cluster;\n"
      "fence.proxy.async;\n"
      "READY: bar.sync 0;\n{}",
      name, addresses_text(place, memory), meet);
  text += actor_text(litmus, place);
  text += fmt::format(
      "mul.wide.u32 %result, %r0, 4;\nadd.u64 %result, %result, %base;\n"
      "mov.u32 %v, 7;\n@%p0 bra END;\n");
  for (std::size_t k = 0; k + 1 < threads.size(); ++k) {
    text += fmt::format("setp.eq.u32 %p1, %r0, {};\n@%p1 bra THREAD{};\n", k, k);
  }
  for (std::size_t k = threads.size(); k-- > 0;) {
    text += fmt::format("THREAD{}: {{\n{}}}\n@%own st.global.u32 [%result+{}], %v;\nbra END;\n", k,
                        threads[k], kResults);
  }
  return text + fmt::format("END:\n{}ret;\n}}\n", meet);
}

}  // namespace

std::string_view name_of(Place place) {
  switch (place) {
    case Place::kOne:
      return "one";
    case Place::kLanes:
      return "lanes";
    case Place::kWarps:
      return "warps";
    case Place::kBlocks:
      return "blocks";
    case Place::kClusters:
      return "clusters";
  }
  return "";
}

std::string_view name_of(Memory memory) {
  return memory == Memory::kGlobal ? "global" : "shared";
}

std::vector<LitmusCase> cases_of(const Litmus& litmus) {
  std::vector<const Scope*> scopes;
  const bool narrow = mentions(litmus, "NARROW"), membar = mentions(litmus, "MEMBAR");
  if (narrow || membar || mentions(litmus, "SCOPE")) {
    for (const Scope& scope : kScopes) {
      if ((!narrow || scope.is_narrow) && (!membar || scope.membar != nullptr)) {
        scopes.push_back(&scope);
      }
    }
  } else {
    scopes.push_back(nullptr);
  }
  const auto count = static_cast<unsigned>(litmus.threads.size());
  std::vector<LitmusCase> cases;
  for (const Place place : kPlaces) {
    if (!has(litmus.places, static_cast<unsigned>(place))) continue;
    for (const Memory memory : {Memory::kGlobal, Memory::kShared}) {
      if (!has(litmus.memories, static_cast<unsigned>(memory))) continue;
      // Clusters share no memory of blocks.
      if (memory == Memory::kShared && place == Place::kClusters) continue;
      for (const Scope* scope : scopes) {
        LitmusCase one;
        one.name = fmt::format("{}_{}_{}", litmus.name, name_of(place), name_of(memory));
        std::vector<std::string> threads = litmus.threads;
        if (scope != nullptr) {
          one.name += fmt::format("_{}", scope->name);
          for (std::string& text : threads) {
            text = with(with(text, "SCOPE", scope->name), "NARROW", scope->name);
            if (scope->membar != nullptr) text = with(text, "MEMBAR", scope->membar);
          }
        }
        one.kernel = kernel_text(litmus, one.name, place, memory, threads);
        one.is_racy = is_racy(litmus.answer, place, scope);
        one.unseen = litmus.unseen;
        one.threads = count;
        if (place == Place::kWarps) one.block = 32 * count;
        if (place >= Place::kBlocks) one.grid = count;
        if (place == Place::kBlocks) one.cluster = count;
        cases.push_back(std::move(one));
      }
    }
  }
  return cases;
}

std::vector<Litmus> all_litmus() {
  std::vector<Litmus> all = flag_litmus();
  for (auto& more : {coherence_litmus(), barrier_litmus(), proxy_litmus()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace baton::litmus
