#include "shim/preload/detour.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace baton::preload {
namespace {

// A jump to the address that follows it.
#if defined(__x86_64__)
constexpr std::array<unsigned char, 6> kJump = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip)
#elif defined(__aarch64__)
constexpr std::array<unsigned char, 8> kJump = {0x50, 0, 0,    0x58,   // ldr x16, . + 8
                                                0,    2, 0x1f, 0xd6};  // br x16
#else
#error "calls are redirected on x86-64 and AArch64 only"
#endif

}  // namespace

const std::size_t kJumpBytes = sizeof kJump + sizeof(void*);

bool redirect(void* function, const void* target) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(function);
  const std::uintptr_t first = begin / page * page;
  const std::size_t bytes = (begin + kJumpBytes - first + page - 1) / page * page;
  auto* const pages = reinterpret_cast<void*>(first);
  if (mprotect(pages, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  auto* const code = static_cast<unsigned char*>(function);
  std::memcpy(code, kJump.data(), sizeof kJump);
  std::memcpy(code + sizeof kJump, &target, sizeof target);
  __builtin___clear_cache(reinterpret_cast<char*>(code),
                          reinterpret_cast<char*>(code + kJumpBytes));
  return mprotect(pages, bytes, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace baton::preload
