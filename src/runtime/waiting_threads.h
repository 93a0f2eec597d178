#pragma once

#include <functional>

namespace baton {

// Calls `task`, which waits in the driver, in a thread that waits for nothing else. The threads
// stay for the next tasks: to start one takes longer than most waits. Throws std::system_error
// where the system gives no thread. Thread-safe; a forked process has threads of its own.
void run_in_waiting_thread(std::function<void()> task);

}  // namespace baton
