#pragma once

#include <cstdint>
#include <string>

#include "kernel_writer.h"

namespace baton::verdicts {

// Which threads surely go the same way: all of the block, those of a warp, or none.
enum class Together { kBlock, kWarp, kNobody };

// Writes a kernel whose first three parameters are of x, y and z and whose fourth one is the weight
// w. Statements pass barrier 0 a number of times that is the same on each way through them where
// warps go different ways. Not thread-safe.
class OrderedKernel : public KernelWriter {
 public:
  // The simulated GPU takes an atomic operation after a fence for the release of a flag, of
  // whatever scope the fence is. So a chain has either fences or atomic operations.
  OrderedKernel(std::uint64_t seed, std::uint32_t block, bool has_fences)
      : KernelWriter(seed), block_(block), has_fences_(has_fences) {
    line("shr.u32 %warp, %tid, 5; and.b32 %lane, %tid, 31; mad.lo.u32 %i, %cta, %ntid, %tid;");
    switch (pick(6)) {
      case 0:
        line("griddepcontrol.wait;");
        break;
      case 1:
        trigger();
        break;
      case 2:
        line("griddepcontrol.launch_dependents; griddepcontrol.wait;");
        break;
      case 3:
        one_role_waits();
        break;
      default:
        break;
    }
    statements(Together::kBlock, 0, 0);
  }

 private:
  static constexpr unsigned kMaxDepth = 3;

  void trigger() { line("griddepcontrol.launch_dependents;"); }

  // --- Statements --------------------------------------------------------------------------------

  // `barriers`: how often each thread passes barrier 0. Where the block goes together more are
  // added.
  void statements(Together together, unsigned depth, unsigned barriers);

  void statement(Together together, unsigned depth, unsigned barriers);

  void barrier(Together together);
  // Whether a barrier may name the number of its threads.
  bool may_count() const { return !left_ && loops_ == 0 && block_ % 32 == 0; }

  // What all threads of the block meet at, but not at barrier 0.
  void other_barrier();
  unsigned name() { return 1 + names_++ % 15; }

  void fence(Together together);

  // --- Conditions and loops ----------------------------------------------------------------------

  struct Test {
    std::string guard;  // "%p1" or "!%p1"
    Together together = Together::kNobody;
  };

  Test test(Together now);

  Test simple_test(Together now);

  void condition(Together together, unsigned depth, unsigned barriers);

  void loop(Together together, unsigned depth);

  // for (k = index; k < limit; k += step)
  void strides();

  void leave(Together together);

  void call();

  // --- Roles -------------------------------------------------------------------------------------

  // One warp, or one thread, waits, and the others meet it at barrier 0, or the other way round.
  void one_role_waits();

  // The first warp, or the others, do something and signal; the rest wait for the signal.
  void roles();

  void signal(unsigned kind, unsigned at, unsigned named, bool first_signals);

  void await(unsigned kind, unsigned at, unsigned named);

  // --- Accesses ----------------------------------------------------------------------------------

  // The address of an element of x, y or z.
  std::string element();

  void access();

  const std::uint32_t block_;
  const bool has_fences_;
  unsigned loops_ = 0, names_ = 0;
  bool left_ = false;   // threads may have ended
  bool stays_ = false;  // none may end here
};

}  // namespace baton::verdicts
