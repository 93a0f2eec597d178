#include "exec/executor.h"

#include "base/error.h"

namespace baton::exec {

std::unique_ptr<Executor> make_executor(ExecutorKind kind, const Device& device) {
  switch (kind) {
    case ExecutorKind::kStream:
      return make_stream_executor(device);
    case ExecutorKind::kGraph:
      return make_graph_executor(device);
  }
  throw error(ErrorCode::kInvalidInput, "unknown executor {}", static_cast<int>(kind));
}

}  // namespace baton::exec
