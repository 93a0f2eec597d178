#pragma once

#include <cuda.h>

#include <map>
#include <mutex>
#include <tuple>

#include "sim/device/pool.h"

namespace baton::sim {

// The pools of the host's and of managed memory that are there without being made: a default one
// for each kind and place, and which one is current. Thread-safe.
class HostPools {
 public:
  static HostPools& instance();  // never destroyed

  CUmemoryPool default_of(SimPool::Kind kind, const CUmemLocation& location);
  CUmemoryPool current_of(SimPool::Kind kind, const CUmemLocation& location);
  void set_current(SimPool::Kind kind, const CUmemLocation& location, CUmemoryPool pool);
  // The pool is destroyed: where it was current, the default one is.
  void forget(CUmemoryPool pool);

 private:
  using Place = std::tuple<SimPool::Kind, CUmemLocationType, int>;
  static Place place_of(SimPool::Kind kind, const CUmemLocation& location);

  std::mutex mutex_;
  std::map<Place, CUmemoryPool> defaults_;
  std::map<Place, CUmemoryPool> current_;  // where it is not the default one
};

}  // namespace baton::sim
