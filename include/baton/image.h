#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/dtype.h"
#include "baton/forward.h"
#include "baton/span.h"

namespace baton {

namespace image {
struct ImageContent;
}

enum class ImageKind : std::uint8_t { kPtx, kCubin, kFatbin };

BATON_API std::string_view to_string(ImageKind kind) noexcept;

// Bytes that contain kernels: PTX text, a cubin (ELF), or a fatbin. The bytes decide the kind,
// never a file's name. An immutable, cheap value: copies share the bytes. Thread-safe.
class BATON_API Image {
 public:
  // Reads a file. Throws kNotFound if it cannot be read, kInvalidInput if the bytes are not an
  // image.
  static Image from_file(const std::filesystem::path& path);
  // Copies the bytes. `name` is its name in messages. Throws kInvalidInput if the bytes are not an
  // image.
  static Image from_bytes(std::string_view bytes, std::string name);
  // The same without a copy, for data that a program embeds (baton/embed.h). The bytes must outlive
  // every copy of the image and everything made from it. One NUL must follow them in memory.
  static Image from_static(std::string_view bytes, std::string name);

  ImageKind kind() const { return kind_; }
  const std::string& name() const;
  // Without the terminating NUL of PTX. For PTX, one NUL always follows the bytes in memory. The
  // first call for an image of a bundle checks its bytes, and throws kInvalidInput if they are
  // damaged.
  std::string_view bytes() const;

 private:
  friend struct image::ImageContent;
  Image(std::string_view bytes, std::string name);
  Image(ImageKind kind, std::shared_ptr<image::ImageContent> content, std::string_view bytes);
  ImageKind kind_;
  std::shared_ptr<image::ImageContent> content_;  // shared by all copies
  std::string_view bytes_;
};

// An image inside another file.
struct FoundImage {
  Image image;               // named "libk.so (.nv_fatbin + 0x0)"
  std::string place;         // ".nv_fatbin + 0x0", "k.o: .nv_fatbin + 0x0"; empty: the file itself
  std::uint64_t offset = 0;  // in the file, in bytes
};

// All images of one file, in the order of their bytes.
struct FoundImages {
  std::string container;  // "executable", "shared object", "object", "archive"; empty: an image
  std::vector<FoundImage> images;
  std::vector<std::string> remarks;  // the parts that could not be read, and why
};

// Finds the images of a file. In an executable, shared object, object file or static library it
// finds the images that compilers embedded (.nv_fatbin) and those in plain data. For an image it
// returns the image itself. A file without images is not an error. Time and memory are linear in
// the file's size. Throws kNotFound if the file cannot be read, kInvalidInput for another kind of
// file.
BATON_API FoundImages find_images(const std::filesystem::path& path);
BATON_API FoundImages find_images(std::string_view bytes, const std::string& name);

// The known part of a kernel parameter's type.
enum class ParamKind : std::uint8_t {
  kUnknown,  // only the size is known
  kPointer,  // an address: 8 bytes
  kScalar,   // `dtype` says which
  kInteger,  // an integer of `size` bytes, signed or unsigned
  kBytes,    // a struct or array by value
};

struct ParamFacts {
  std::uint32_t offset = 0;  // in bytes, in the kernel's parameter block
  std::uint32_t size = 0;    // in bytes
  ParamKind kind = ParamKind::kUnknown;
  std::optional<DType> dtype;  // kScalar: the type; kPointer: the element, where known
  bool read_only = false;      // kPointer to const, by the demangled name or debug information
  std::string type;            // for messages: "float const*". If only its use or size is
                               // known, "pointer", "i32", "4-byte integer", "12 bytes"
  std::string name = {};       // "count", as in the source; empty if not known. Debug information
                               // has it, and a compile that asks for names
};

// The facts of one kernel in an image. An empty field means that the image does not say, never
// "none".
struct KernelFacts {
  std::string name;       // the symbol, as the driver knows it
  std::string demangled;  // "rmsnorm<float>(float const*, …)", or the plain name
  // In ordinal order. Empty if the parameter table is unreadable.
  std::optional<std::vector<ParamFacts>> params;
  std::optional<std::uint32_t> registers;      // per thread
  std::optional<std::uint32_t> static_shared;  // bytes per block
  std::optional<std::uint32_t> local_bytes;    // stack bytes per thread
  std::optional<std::uint32_t> max_threads;    // per block, from launch bounds
  std::optional<std::uint32_t> max_registers;  // the limit the kernel was built with
  std::optional<std::uint32_t> spill_bytes;    // spill stores; only from a compile
  std::optional<std::array<std::uint32_t, 3>> required_block;
  std::optional<std::array<std::uint32_t, 3>> required_cluster;
  std::optional<std::uint32_t> max_cluster;  // blocks of the largest cluster it was built for
  std::optional<std::uint32_t> min_blocks;   // per multiprocessor, as requested; only from PTX
  std::optional<std::uint32_t> barriers;     // of a block; only from machine code
  std::optional<bool> grid_in_clusters;      // the driver counts its grid in clusters
  std::optional<bool> waits;                 // has griddepcontrol.wait
  std::optional<bool> triggers;              // has griddepcontrol.launch_dependents
  std::optional<bool> grid_sync;             // its blocks synchronise across the grid, which
                                             // needs a cooperative launch; only from PTX
  std::optional<bool> polls;                 // has a loop that waits for a value in memory, such
                                             // as grid_sync; only from PTX
  bool traced = false;                       // instrumented: its last parameter is for Baton's
                                             // records, and not among `params`
  std::string arch;                          // "sm_90a"; empty if unknown
};

// One global or constant variable of an image.
struct VariableFacts {
  std::string name;
  std::uint64_t size = 0;
  bool constant = false;
};

// One member of a fatbin.
struct MemberFacts {
  enum class Kind : std::uint8_t { kPtx, kCubin, kLto };
  enum class Packing : std::uint8_t { kStored, kLz4, kZstd };
  Kind kind = Kind::kPtx;
  Packing packing = Packing::kStored;
  std::string arch;               // "sm_90a"; for PTX, its target
  std::uint64_t stored_size = 0;  // in bytes, in the fatbin
  std::uint64_t size = 0;         // in bytes, unpacked, as declared
  std::string source;             // the source file's name, if known
  std::string options;            // for a compile of this PTX or LTO-IR
};

BATON_API std::string_view to_string(MemberFacts::Kind kind) noexcept;
BATON_API std::string_view to_string(MemberFacts::Packing packing) noexcept;

// The debug information of an image.
enum class DebugInfo : std::uint8_t { kNone, kLines, kFull };

BATON_API std::string_view to_string(DebugInfo info) noexcept;

struct ImageFacts {
  ImageKind kind = ImageKind::kPtx;
  std::string arch;                  // "sm_90a"; empty if unknown
  std::string producer;              // "NVIDIA ptxas 13.0", if known
  std::string toolkit;               // "13.0": the CUDA version of machine code
  std::string ptx_version;           // "9.0": the instruction set version of PTX
  std::optional<int> abi;            // for machine code: 7 (CUDA 12) or 8 (CUDA 13)
  std::optional<bool> linked;        // false: an object before the device link
  std::optional<DebugInfo> debug;    // for PTX and machine code
  std::vector<KernelFacts> kernels;  // in the image's own order
  std::vector<VariableFacts> variables;
  std::vector<MemberFacts> members;  // of a fatbin
  std::vector<std::string> remarks;  // the parts that could not be read, and why

  // The kernel with that symbol, or null. Linear in the number of kernels.
  BATON_API const KernelFacts* kernel(std::string_view symbol) const;
};

// Reads the facts of an image, without a driver. Time and memory are linear in the image's size for
// all inputs. Throws kInvalidInput if the image as a whole cannot be read.
BATON_API ImageFacts read_facts(const Image& image);

// Joins the facts of two images of the same kernels, such as the PTX and the cubin of one compile.
// Types come from the first image that has them, registers and static shared memory from machine
// code.
BATON_API ImageFacts merge_facts(const ImageFacts& first, const ImageFacts& second);

// The largest dynamic shared memory of a block, in bytes: the architecture's limit for a block less
// the kernel's static shared memory. `architecture` is 90 for sm_90; the default is the kernel's
// own. Empty if either is unknown.
BATON_API std::optional<std::uint32_t> max_dynamic_shared(const KernelFacts& kernel);
BATON_API std::optional<std::uint32_t> max_dynamic_shared(const KernelFacts& kernel,
                                                          int architecture);

// Whether a GPU can take an image.
struct Compatibility {
  enum class Answer : std::uint8_t {
    kRuns,      // without a compile
    kCompiles,  // the driver compiles its PTX
    kNo,
    kUnknown,  // the image has no architecture
  };
  Answer answer = Answer::kUnknown;
  std::string reason;  // "machine code for sm_90a runs on sm_90 alone, the device is sm_80"
};

// Checks an image against a GPU of that architecture (90 for compute capability 9.0). It also
// checks the version of the image's PTX against a driver for that CUDA version (13000 for 13.0; 0
// skips this check).
// - Machine code runs on its own minor version and later ones of the same major version. The
//   suffix f is the same. Code with the suffix a runs only on its own architecture.
// - PTX compiles for its own architecture and all later ones. With a suffix, it compiles where
//   machine code with that suffix would run.
BATON_API Compatibility runs_on(const ImageFacts& facts, int architecture, int driver_version = 0);

// The reason why a kernel has no wait (griddepcontrol.wait) although its source may have one:
// CUTLASS compiled it out, or the target is before sm_90. Nothing if the kernel waits, and if the
// reason is unknown.
BATON_API std::optional<std::string> missing_wait_cause(const KernelFacts& kernel);

// Finds the kernel that `entry` names: by an exact symbol, a full demangled name, or a plain name
// ("rmsnorm", "ns::rmsnorm<float>") that matches one kernel only. An empty entry names the only
// kernel. Throws kNotFound with the available entries, or kInvalidInput if several match.
BATON_API const KernelFacts& find_kernel(const ImageFacts& facts, std::string_view entry,
                                         std::string_view image_name);

}  // namespace baton
