#include "shim/cudart/thread_state.h"

#include <atomic>
#include <mutex>

#include "shim/call_errors.h"

namespace baton::cudart {
namespace {

// How often the device has been reset, of the process and as the thread last saw it.
std::atomic<unsigned> g_generation{1};
thread_local unsigned t_generation = 0;

thread_local cudaError_t t_last_error = cudaSuccess;
thread_local unsigned t_own_default_stream = 0;

// The primary context, retained once for each generation.
CUresult retain(unsigned generation, CUcontext* context) {
  static std::mutex mutex;
  static unsigned retained = 0;
  static CUcontext primary = nullptr;
  const std::lock_guard lock(mutex);
  if (retained != generation) {
    const CUresult result = cuDevicePrimaryCtxRetain(&primary, 0);
    if (result != CUDA_SUCCESS) return result;
    retained = generation;
  }
  *context = primary;
  return CUDA_SUCCESS;
}

CUresult start_driver() {
  static const CUresult result = cuInit(0);
  return result;
}

}  // namespace

cudaError_t begin() {
  if (const CUresult result = start_driver(); result != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(result);
  }
  const unsigned generation = g_generation.load(std::memory_order_acquire);
  CUcontext current = nullptr;
  if (t_generation == generation) {
    const CUresult result = cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
    if (current != nullptr) return cudaSuccess;
  }
  if (const CUresult result = retain(generation, &current); result != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(result);
  }
  t_generation = generation;
  CUcontext chosen = nullptr;
  if (cuCtxGetCurrent(&chosen) == CUDA_SUCCESS && chosen != nullptr) return cudaSuccess;
  return static_cast<cudaError_t>(cuCtxSetCurrent(current));
}

void begin_anew() {
  g_generation.fetch_add(1, std::memory_order_acq_rel);
}

// That work goes on is an answer, and no error that a later check should find.
cudaError_t answer(cudaError_t error) {
  if (error == cudaSuccess || error == cudaErrorNotReady) return error;
  t_last_error = error;
  shim::CallErrors::note({}, error, cudaGetErrorName(error), cudaGetErrorString(error));
  return error;
}

// Where both have a result, its number is the same.
cudaError_t answer(CUresult result) {
  return answer(static_cast<cudaError_t>(result));
}

cudaError_t take_last_error() {
  const cudaError_t error = t_last_error;
  t_last_error = cudaSuccess;
  return error;
}

cudaError_t last_error() {
  return t_last_error;
}

OwnDefaultStream::OwnDefaultStream() {
  ++t_own_default_stream;
}

OwnDefaultStream::~OwnDefaultStream() {
  --t_own_default_stream;
}

CUstream stream_of(cudaStream_t stream) {
  return stream == nullptr && t_own_default_stream != 0 ? CU_STREAM_PER_THREAD : stream;
}

}  // namespace baton::cudart
