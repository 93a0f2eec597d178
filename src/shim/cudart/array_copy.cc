// Copies to and from arrays.

#include "shim/cudart/channel.h"
#include "shim/cudart/copy.h"
#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::ArrayPart;
using baton::cudart::RowCopy;
using baton::cudart::submit;
using baton::cudart::submit_and_wait;

RowCopy to_array(const ArrayPart& target, const void* source, size_t pitch, size_t width,
                 size_t height, cudaMemcpyKind kind) {
  RowCopy copy;
  copy.target_array = target;
  copy.source = {const_cast<void*>(source), pitch, width, height};
  copy.extent = {width, height, 1};
  copy.kind = kind;
  return copy;
}

RowCopy from_array(void* target, size_t pitch, const ArrayPart& source, size_t width, size_t height,
                   cudaMemcpyKind kind) {
  RowCopy copy;
  copy.target = {target, pitch, width, height};
  copy.source_array = source;
  copy.extent = {width, height, 1};
  copy.kind = kind;
  return copy;
}

// Bytes of an array's row, row after row.
struct RowRun {
  size_t x = 0, y = 0, rows = 0, bytes = 0, done = 0;
};

// Calls `copy` with parts that are rectangles until `count` bytes from the place on are copied.
template <class Copy>
cudaError_t for_runs(cudaArray_const_t array, size_t x, size_t y, size_t count, Copy copy) {
  BATON_RUNTIME_BEGIN();
  CUDA_ARRAY3D_DESCRIPTOR description;
  size_t texel = 0;
  if (const cudaError_t error = baton::cudart::describe(array, &description)) return answer(error);
  if (const cudaError_t error = baton::cudart::texel_bytes(array, &texel)) return answer(error);
  const size_t row = description.Width * texel;
  if (x >= row && count != 0) return answer(cudaErrorInvalidValue);
  for (size_t done = 0; done < count;) {
    RowRun run{x, y, 1, 0, done};
    const size_t left = count - done;
    if (x == 0 && left >= row) {
      run.rows = left / row;
      run.bytes = row;
    } else {
      run.bytes = left < row - x ? left : row - x;
    }
    if (const cudaError_t error = copy(run)) return error;
    done += run.bytes * run.rows;
    y += run.rows;
    x = 0;
  }
  return cudaSuccess;
}

template <class Submit>
cudaError_t run_to_array(cudaArray_t target, size_t x, size_t y, const void* source, size_t count,
                         cudaMemcpyKind kind, Submit submit_copy) {
  return for_runs(target, x, y, count, [&](const RowRun& run) {
    return submit_copy(to_array({target, run.x, run.y, 0},
                                static_cast<const char*>(source) + run.done, run.bytes, run.bytes,
                                run.rows, kind));
  });
}

template <class Submit>
cudaError_t run_from_array(void* target, cudaArray_const_t source, size_t x, size_t y, size_t count,
                           cudaMemcpyKind kind, Submit submit_copy) {
  return for_runs(source, x, y, count, [&](const RowRun& run) {
    return submit_copy(from_array(static_cast<char*>(target) + run.done, run.bytes,
                                  {source, run.x, run.y, 0}, run.bytes, run.rows, kind));
  });
}

}  // namespace

cudaError_t cudaMemcpy2DToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                                size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return submit_and_wait(to_array({target, x, y, 0}, source, pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t target, size_t x, size_t y, const void* source,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return submit(to_array({target, x, y, 0}, source, pitch, width, height, kind), stream);
}

cudaError_t cudaMemcpy2DFromArray(void* target, size_t pitch, cudaArray_const_t source, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return submit_and_wait(from_array(target, pitch, {source, x, y, 0}, width, height, kind));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, cudaArray_const_t source,
                                       size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  return submit(from_array(target, pitch, {source, x, y, 0}, width, height, kind), stream);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t target, size_t target_x, size_t target_y,
                                     cudaArray_const_t source, size_t source_x, size_t source_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  RowCopy copy;
  copy.target_array = {target, target_x, target_y, 0};
  copy.source_array = {source, source_x, source_y, 0};
  copy.extent = {width, height, 1};
  copy.kind = kind;
  return submit_and_wait(copy);
}

cudaError_t cudaMemcpyToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                              size_t count, cudaMemcpyKind kind) {
  return run_to_array(target, x, y, source, count, kind, submit_and_wait);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t target, size_t x, size_t y, const void* source,
                                   size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return run_to_array(target, x, y, source, count, kind,
                      [&](const RowCopy& copy) { return submit(copy, stream); });
}

cudaError_t cudaMemcpyFromArray(void* target, cudaArray_const_t source, size_t x, size_t y,
                                size_t count, cudaMemcpyKind kind) {
  return run_from_array(target, source, x, y, count, kind, submit_and_wait);
}

cudaError_t cudaMemcpyFromArrayAsync(void* target, cudaArray_const_t source, size_t x, size_t y,
                                     size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return run_from_array(target, source, x, y, count, kind,
                        [&](const RowCopy& copy) { return submit(copy, stream); });
}
