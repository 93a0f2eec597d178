#pragma once

#include <cuda.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/device.h"
#include "baton/image.h"

namespace baton {

// One image in the driver's hands: a CUlibrary. Unloaded when destroyed, unless it is a foreign
// one.
class DriverLibrary {
 public:
  // Null, and `why` with the driver's reason and its log, where the image as such does not suit the
  // device: another may. Throws for what no other image would mend.
  static std::unique_ptr<DriverLibrary> load(const Device& device, const Image& image,
                                             std::string* why);

  // A library that someone else loaded, and unloads.
  static std::unique_ptr<DriverLibrary> adopt(const Device& device, CUlibrary handle);

  ~DriverLibrary();
  DriverLibrary(const DriverLibrary&) = delete;
  DriverLibrary& operator=(const DriverLibrary&) = delete;

  CUlibrary handle() const { return handle_; }
  // What the driver's own compiler has said so far, or nothing: errors first, then remarks.
  std::string log() const;
  std::vector<std::string> kernel_names() const;
  // Throws kNotFound where there is none.
  CUkernel kernel(const std::string& symbol) const;

 private:
  explicit DriverLibrary(const Device& device) : device_(device) {}
  struct Opened {
    CUresult result = CUDA_SUCCESS;
    const char* call = nullptr;  // that returned it
  };
  // Loads the image, and keeps it: the driver may read its bytes as long as the library lives.
  Opened open(const Image& image, bool with_log);
  // Compilation may be put off until a kernel is first asked for; this brings it about.
  CUresult force() const;

  Device device_;
  std::optional<Image> image_;
  CUlibrary handle_ = nullptr;
  bool owned_ = true;
  // The driver may write here as long as the library lives, as it may compile late.
  struct Log {
    std::array<char, 8192> errors{};
    std::array<char, 8192> remarks{};
  };
  std::unique_ptr<Log> log_;
};

}  // namespace baton
