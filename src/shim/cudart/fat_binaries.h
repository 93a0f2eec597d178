#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "shim/cudart/api.h"

namespace baton::cudart {

// The fat binaries of the process's programs and libraries, and what of theirs host code names by
// the address of a function or variable of its own. An image is loaded when something of it is
// first used. Thread-safe.
class FatBinaries {
 public:
  static FatBinaries& instance();  // never destroyed

  // The handle stands for the image until it is removed.
  void** add(const void* image);
  void remove(void** handle);
  void add_kernel(void** handle, const void* host, const char* name);
  void add_variable(void** handle, const void* host, const char* name, std::size_t bytes);
  // A managed variable, which the host reaches by the pointer at `host`.
  void add_managed(void** handle, void** host, const char* name, std::size_t bytes);
  // Loads the image, and points the host's pointers to its managed variables.
  cudaError_t place_managed(void** handle);

  // The kernel that the host's function stands for, or that is one itself:
  // cudaErrorInvalidDeviceFunction for any other address, and what loading its image gives.
  cudaError_t kernel(const void* host, CUkernel* kernel);
  // The host's function that stands for a kernel or its function, or what was given.
  const void* host_of(CUkernel kernel);
  const void* host_of(CUfunction function);
  // The variable in the current context: cudaErrorInvalidSymbol for an address that is none.
  cudaError_t variable(const void* host, CUdeviceptr* address, std::size_t* bytes);

 private:
  struct Image {
    const void* bytes = nullptr;
    bool is_loaded = false;
    CUresult result = CUDA_SUCCESS;
    CUlibrary library = nullptr;
    void* handle = nullptr;  // what its own handle points to
  };
  struct Managed {
    Image* image = nullptr;
    void** host = nullptr;
    std::string name;
    std::size_t bytes = 0;
  };
  struct Named {
    Image* image = nullptr;
    std::string name;
    std::size_t bytes = 0;
    CUkernel kernel = nullptr;
  };
  using Names = std::unordered_map<const void*, Named>;

  static Image* image_of(void** handle);
  static CUresult load(Image& image);

  std::mutex mutex_;
  std::deque<Image> images_;
  Names kernels_;
  Names variables_;  // managed ones by their address, as host code names those
  std::vector<Managed> managed_;
};

// The function that serves a kernel in the driver's calls.
inline CUfunction function_of(CUkernel kernel) {
  return reinterpret_cast<CUfunction>(kernel);
}

}  // namespace baton::cudart
