#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/dtype.h"
#include "baton/export.h"

namespace baton {

namespace image {
struct ImageContent;
}

enum class ImageKind : std::uint8_t { kPtx, kCubin, kFatbin };

BATON_API std::string_view to_string(ImageKind kind) noexcept;

// Bytes that hold kernels: PTX text, a cubin (ELF), or a fatbin. What an image is is decided by its
// bytes, never by a file's name. A cheap, immutable value: copies share the bytes; any thread may
// use it.
class BATON_API Image {
 public:
  // Throws kNotFound where the file cannot be read, kInvalidInput where the bytes are no image.
  static Image from_file(const std::filesystem::path& path);
  // `name` is what messages call it. The bytes are copied.
  static Image from_bytes(std::string_view bytes, std::string name);
  // The same without a copy, for what a program carries in its own data (baton/embed.h): the bytes
  // must outlive every copy of the image and of what is made from it, and one NUL must follow them
  // in memory.
  static Image from_static(std::string_view bytes, std::string name);

  ImageKind kind() const { return kind_; }
  const std::string& name() const;
  // PTX comes without its terminating NUL, but one always follows the bytes in memory.
  std::string_view bytes() const { return bytes_; }

 private:
  friend struct image::ImageContent;
  Image(std::string_view bytes, std::string name);
  ImageKind kind_;
  std::shared_ptr<image::ImageContent> content_;  // what all copies share
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
  std::vector<std::string> remarks;  // what could not be read, and why
};

// Finds the images of any file: of an executable, shared object, object file or static library
// those that compilers embedded (.nv_fatbin) and those that stand in its data as plain arrays of
// bytes; of an image, itself. No image is not an error there. Work and memory are linear in the
// file's size. Throws kNotFound where the file cannot be read, kInvalidInput where its bytes are
// none of these.
BATON_API FoundImages find_images(const std::filesystem::path& path);
BATON_API FoundImages find_images(std::string_view bytes, const std::string& name);

// What is known of one kernel parameter's type.
enum class ParamKind : std::uint8_t {
  kUnknown,  // the size alone is known
  kPointer,  // an address: 8 bytes
  kScalar,   // `dtype` says which
  kInteger,  // an integer of `size` bytes whose signedness nobody knows
  kBytes,    // a struct or array by value
};

struct ParamFacts {
  std::uint32_t offset = 0;  // in bytes, in the kernel's parameter block
  std::uint32_t size = 0;    // in bytes
  ParamKind kind = ParamKind::kUnknown;
  std::optional<DType> dtype;  // kScalar: the type; kPointer: the element, where known
  bool read_only = false;      // kPointer to const, where the demangled name says so
  std::string type;            // for people: "float const*"; where only its use or its size is
                               // known, "pointer", "i32", "4-byte integer", "12 bytes"
};

// What an image says about one kernel. Empty means that the image does not say, never "none".
struct KernelFacts {
  std::string name;       // the symbol, as the driver knows it
  std::string demangled;  // "rmsnorm<float>(float const*, …)", or the name where it is not mangled
  // Empty optional: the parameter table is unreadable. In ordinal order.
  std::optional<std::vector<ParamFacts>> params;
  std::optional<std::uint32_t> registers;      // per thread
  std::optional<std::uint32_t> static_shared;  // bytes per block
  std::optional<std::uint32_t> local_bytes;    // stack bytes per thread
  std::optional<std::uint32_t> max_threads;    // per block, from launch bounds
  std::optional<std::uint32_t> max_registers;  // the cap the kernel was built with
  std::optional<std::uint32_t> spill_bytes;    // spill stores; a compile alone says it
  std::optional<std::array<std::uint32_t, 3>> required_block;
  std::optional<std::array<std::uint32_t, 3>> required_cluster;
  std::optional<std::uint32_t> max_cluster;  // blocks of the largest cluster it was built for
  std::optional<std::uint32_t> min_blocks;   // per multiprocessor, as asked for; PTX alone says it
  std::optional<std::uint32_t> barriers;     // of a block; machine code alone says it
  std::optional<bool> grid_in_clusters;      // its grid is counted in clusters, not in blocks
  std::optional<bool> waits;                 // has griddepcontrol.wait
  std::optional<bool> triggers;              // has griddepcontrol.launch_dependents
  std::optional<bool> grid_sync;             // its blocks meet across the grid, which takes a
                                             // cooperative launch; PTX alone says it
  std::string arch;                          // "sm_90a"; empty where unknown
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
  std::string arch;               // "sm_90a"; of PTX, what it was written for
  std::uint64_t stored_size = 0;  // in bytes, as it lies in the fatbin
  std::uint64_t size = 0;         // in bytes, as declared for when it is unpacked
  std::string source;             // the source file's name, where the fatbin says it
  std::string options;            // that a compile of this PTX or LTO-IR is to use
};

BATON_API std::string_view to_string(MemberFacts::Kind kind) noexcept;
BATON_API std::string_view to_string(MemberFacts::Packing packing) noexcept;

// What an image carries for debuggers and profilers.
enum class DebugInfo : std::uint8_t { kNone, kLines, kFull };

BATON_API std::string_view to_string(DebugInfo info) noexcept;

struct ImageFacts {
  ImageKind kind = ImageKind::kPtx;
  std::string arch;                  // "sm_90a"; empty where unknown
  std::string producer;              // "NVIDIA ptxas 13.0", where the image says
  std::string toolkit;               // "13.0": the CUDA version that machine code was made for
  std::string ptx_version;           // "9.0": the instruction set version of PTX
  std::optional<int> abi;            // of machine code: 7 (CUDA 12) or 8 (CUDA 13)
  std::optional<bool> linked;        // false: an object that waits for a device link
  std::optional<DebugInfo> debug;    // of PTX and machine code
  std::vector<KernelFacts> kernels;  // in the image's own order
  std::vector<VariableFacts> variables;
  std::vector<MemberFacts> members;  // of a fatbin
  std::vector<std::string> remarks;  // what could not be read, and why

  // The kernel of that symbol, or null. Linear in the number of kernels.
  BATON_API const KernelFacts* kernel(std::string_view symbol) const;
};

// Reads what an image says, without a driver. Work and memory are linear in the image's size,
// whatever the bytes. Throws kInvalidInput where the image as a whole cannot be read.
BATON_API ImageFacts read_facts(const Image& image);

// Joins what two images of the same kernels say (the PTX and the cubin of one compile): types from
// the first that knows them, registers and static shared memory from machine code.
BATON_API ImageFacts merge_facts(const ImageFacts& first, const ImageFacts& second);

// The dynamic shared memory in bytes that a block of the kernel can have at the most: what the
// architecture (90 for sm_90; where left out, the one the kernel was built for) allows one block,
// less the kernel's static shared memory. Nothing where either is unknown.
BATON_API std::optional<std::uint32_t> max_dynamic_shared(const KernelFacts& kernel);
BATON_API std::optional<std::uint32_t> max_dynamic_shared(const KernelFacts& kernel,
                                                          int architecture);

// Whether a GPU can take an image.
struct Compatibility {
  enum class Answer : std::uint8_t {
    kRuns,      // as it is
    kCompiles,  // the driver compiles its PTX
    kNo,
    kUnknown,  // the image does not say what it is for
  };
  Answer answer = Answer::kUnknown;
  std::string reason;  // "machine code for sm_90a runs on sm_90 alone, the device is sm_80"
};

// Holds an image against a GPU of that architecture (90 for compute capability 9.0), and the
// version of its PTX against a driver for that CUDA version (13000 for 13.0; 0 leaves that out).
// Machine code runs within its major version from its own minor version on, with the suffix f too;
// with the suffix a on its own architecture alone. PTX compiles for its own architecture and all
// later ones, with a suffix where machine code with it would run.
BATON_API Compatibility runs_on(const ImageFacts& facts, int architecture, int driver_version = 0);

// Why a kernel without a wait (griddepcontrol.wait) has none though its source may have one: what
// CUTLASS compiles out, or a target before sm_90. Empty where the kernel waits, where that is not
// known, and where nothing tells.
BATON_API std::string missing_wait_cause(const KernelFacts& kernel);

// Finds the one kernel that `entry` names: an exact symbol, a full demangled name, or a plain name
// ("rmsnorm", "ns::rmsnorm<float>") that fits one kernel only. An empty entry stands for the only
// kernel. Throws kNotFound with the available entries, or kInvalidInput where several fit.
BATON_API const KernelFacts& find_kernel(const ImageFacts& facts, std::string_view entry,
                                         std::string_view image_name);

}  // namespace baton
