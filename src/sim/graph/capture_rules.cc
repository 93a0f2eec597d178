#include "sim/graph/capture_rules.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sim/api/refusal.h"
#include "sim/queue/queue.h"
#include "sim/queue/stream.h"

namespace baton::sim {
namespace {

thread_local CUstreamCaptureMode t_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// Guarded by the scheduler's mutex. Never destroyed: threads may call while the process ends.
std::vector<std::weak_ptr<Capture>>& captures() {
  static auto& all = *new std::vector<std::weak_ptr<Capture>>;
  return all;
}
// How many of them there may be, for calls without the mutex: most programs have none.
std::atomic<std::size_t> g_count = 0;

bool is_forbidden_by(const Capture& capture) {
  if (capture.mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL && t_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

bool has_stream_of(const Capture& capture, const Context& context) {
  return std::ranges::any_of(capture.streams, [&](const std::weak_ptr<SimStream>& each) {
    const std::shared_ptr<SimStream> stream = each.lock();
    return stream != nullptr && stream->context.get() == &context;
  });
}

// Ends the captures that conflict with a call, and refuses it.
template <typename Conflicts>
void refuse_beside(const Conflicts& conflicts) {
  std::vector<std::shared_ptr<Capture>> kept;  // none ends under the mutex
  const std::lock_guard lock(Scheduler::instance().mutex);
  bool is_refused = false;
  std::erase_if(captures(), [&](const std::weak_ptr<Capture>& each) {
    const std::shared_ptr<Capture>& capture = kept.emplace_back(each.lock());
    if (capture == nullptr || capture->graph == nullptr) return true;
    if (conflicts(*capture)) is_refused = capture->invalidated = true;
    return false;
  });
  g_count.store(captures().size(), std::memory_order_release);
  require(!is_refused, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

}  // namespace

void note_capture(const std::shared_ptr<Capture>& capture) {
  captures().push_back(capture);
  g_count.store(captures().size(), std::memory_order_release);
}

CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode) {
  return std::exchange(t_mode, mode);
}

void refuse_unsafe_beside_captures() {
  if (t_mode == CU_STREAM_CAPTURE_MODE_RELAXED || g_count.load(std::memory_order_acquire) == 0) {
    return;
  }
  refuse_beside(is_forbidden_by);
}

void refuse_beside_captures_of(const Context& context) {
  if (g_count.load(std::memory_order_acquire) == 0) return;
  refuse_beside([&](const Capture& capture) { return has_stream_of(capture, context); });
}

}  // namespace baton::sim
