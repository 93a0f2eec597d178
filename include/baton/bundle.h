#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/check.h"
#include "baton/forward.h"
#include "baton/program.h"
#include "baton/signing.h"

namespace baton {

namespace bundle {
struct BundleContent;
}

// The checks of `Bundle::open`.
enum class Verify : std::uint8_t {
  kIndex,  // the structure and the index. A part is checked when it is first used.
  kAll,    // also the SHA-256 digest of every part
  kOnce,   // the same, unless that was done on this machine since the file changed
};

// How `Bundle::open` opens.
struct BundleChecks {
  Verify verify = Verify::kIndex;
  // If there are any, the bundle has to be signed with one of them, and a part is checked by its
  // SHA-256 digest before its first use. Nothing: those of `trusted_keys()`.
  std::optional<std::vector<PublicKey>> keys = std::nullopt;
};

// One part of a bundle: the program's text, an image, a source or a file.
struct BundlePart {
  std::string_view name;     // "images/norm.sm_90a.ptx"; lives as long as the bundle
  std::uint64_t offset = 0;  // in the file, a multiple of 4096
  std::uint64_t size = 0;    // in bytes
  std::string sha256;        // in hexadecimal
};

// The verdicts about the edges of a bundle's program for certain values of its symbols.
struct BundleVerdicts {
  struct Proof {
    std::string kernel;      // its name in the program
    std::string ptx_sha256;  // in hexadecimal; empty: machine code, which is not looked into
    bool is_there = true;    // whether a part of the bundle has that digest
  };
  std::string symbols;  // "N=4096 M=1"
  // The architectures of the builds whose PTX was analysed; empty if no source of the program has
  // PTX.
  std::vector<std::string> architectures;
  bool of_setup = false;
  std::vector<EdgeReport> edges;
  std::vector<Proof> proofs;  // what they were made from
};

// One file that holds a program and its kernels' images for one or several architectures
// (docs/bundles.md). LoadedProgram::load runs it without a compiler and without another file. An
// immutable, cheap value: copies share the mapped file. Thread-safe.
//
// The file stays open as long as the bundle, and what was loaded from it, lives. A part is
// read when it is first used; if the file was shortened before, that is an error. Weights stay
// mapped: to shorten the file while they are read ends the process. Replace a file by renaming
// another one over it.
class BATON_API Bundle {
 public:
  // Maps a file read-only and checks it. Throws kNotFound if it cannot be read, and kInvalidInput
  // if it is not a bundle, is damaged, has a later major version, or requires a part that this
  // version does not know.
  // With keys, throws kInvalidInput too if the bundle is not signed, is signed with another key, or
  // has a signature that does not fit.
  static Bundle open(const std::filesystem::path& path, const BundleChecks& checks);
  static Bundle open(const std::filesystem::path& path, Verify verify = Verify::kIndex);
  // The same for bytes in memory. `name` is their name in messages. kOnce is kAll.
  static Bundle from_bytes(std::string bytes, std::string name, const BundleChecks& checks);
  static Bundle from_bytes(std::string bytes, std::string name, Verify verify = Verify::kIndex);
  // Whether the file's first bytes are those of a bundle, whole or damaged. False for a file that
  // cannot be read.
  static bool is_bundle(const std::filesystem::path& path);

  const std::string& name() const;
  // Major and minor version of the format: "1.0".
  std::string version() const;

  // The program, read at the first call. Files that it names and that are not in the bundle are
  // looked for beside the bundle. Throws kInvalidInput if its text is wrong.
  const Program& program() const;
  // The architectures that its sources were compiled for, in the order of the build, such as
  // "sm_90a" and "compute_90". For images that the program names, the architectures in the images.
  std::vector<std::string> architectures() const;

  // All parts, sorted by name.
  std::vector<BundlePart> parts() const;
  // The bytes of a part, which live as long as the bundle. The first call for a part checks it.
  // Throws kNotFound for an unknown name, kInvalidInput for a damaged part.
  std::string_view bytes(std::string_view part) const;
  // Compares the SHA-256 digest of every part. Throws kInvalidInput for the first that differs.
  void verify() const;

  // The verdicts that it has. Binding uses those that were made from what is bound, with the same
  // values and options, and makes all others.
  std::vector<BundleVerdicts> verdicts() const;

  // Whose key the bundle is signed with; nothing if it is not signed. The signature is checked at
  // this call. Throws kInvalidInput if it does not fit or is of an unknown kind.
  std::optional<PublicKey> signed_by() const;

  // Optional tables and sections of later versions, which this version skips.
  const std::vector<std::string>& skipped() const;
  // How the zip around the parts differs from what the index says: its directory, headers and
  // padding. Baton never uses those; other tools do. One sentence for each difference.
  std::vector<std::string> directory_differences() const;

  const std::shared_ptr<const bundle::BundleContent>& content() const { return content_; }

 private:
  explicit Bundle(std::shared_ptr<const bundle::BundleContent> content);
  std::shared_ptr<const bundle::BundleContent> content_;
};

struct BundleOptions {
  // The architectures to compile the sources for: "sm_90a" gives machine code and PTX,
  // "compute_90" PTX alone. Empty: the architecture of the GPU that Device::open() chooses.
  std::vector<std::string> architectures = {};
  // Whether the bundle has the kernels' sources and the headers that they include. Without them the
  // program's text has no CUDA source either. PTX is always there.
  bool sources = true;
  // Whether the bundle has the files that buffers are read from: .npy and .safetensors.
  bool weights = false;
  // Whether the bundle has verdicts about the program's edges, which binding then need not make:
  // for the default values of all symbols, and for each set of values in `verdicts_for`.
  bool verdicts = true;
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> verdicts_for = {};
  // Tuned records, as `to_text` of baton/tune.h writes them. `find_tuned` finds them.
  std::vector<std::string> tuned = {};
  bool use_cache = true;  // the compile cache
  // Signs the bundle; nothing leaves it unsigned.
  std::optional<SigningKey> key = std::nullopt;
};

// Compiles a program's kernels for every architecture and writes a bundle. The file is replaced
// whole or not at all. The same program and compiler give the same bytes. Returns remarks: files
// that the bundle needs beside it. A program that was built in C++ gets a text, and its kernels in
// memory become parts of the bundle. Throws the errors of compiling and reading, and kInvalidInput
// for a program that comes from a bundle or that no program file can express, for an architecture
// that is given twice, and for a file that cannot be written.
BATON_API std::vector<std::string> write_bundle(const Program& program,
                                                const std::filesystem::path& path,
                                                const BundleOptions& options = {});

}  // namespace baton
