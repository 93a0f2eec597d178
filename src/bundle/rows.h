#pragma once

// The fixed-width rows of a bundle's index, as they lie in the file (docs/bundles.md). All numbers
// are little-endian. A later minor version may append fields to a row, never change one.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace baton::bundle {

static_assert(std::endian::native == std::endian::little, "rows are copied as they lie");

inline constexpr std::uint64_t kPage = 4096;  // the index begins here; sections are aligned to it
inline constexpr std::string_view kIndexMagic =
    "\x93"
    "BATONB\n";
inline constexpr std::uint32_t kMajor = 1;
inline constexpr std::uint32_t kMinor = 3;
inline constexpr std::uint32_t kRequired = 1;       // of a table's or a section's flags
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;  // no row
inline constexpr std::uint8_t kNotSaid = 0xFF;      // for a byte; −1 for a 64-bit number

// The first bytes of the index. No version of the format changes this row.
struct HeaderRow {
  char magic[8];
  std::uint64_t xxh3;  // of the index's bytes from `major` to its end
  std::uint32_t major;
  std::uint32_t minor;
  std::uint64_t file_size;
  std::uint64_t index_size;  // from the magic
  std::uint32_t tables;
  std::uint32_t zero;
};

// One table of the index. Tables lie in this order, without overlap.
struct TableRow {
  char name[16];  // filled up with NUL
  std::uint32_t flags;
  std::uint32_t row_size;
  std::uint64_t offset;  // in the index, a multiple of 8
  std::uint64_t rows;
};

// Bytes of the table `strings`.
struct TextRef {
  std::uint32_t offset;
  std::uint32_t size;
};

// Rows of another table. The ranges of one field follow each other and cover that table.
struct RangeRef {
  std::uint32_t first;
  std::uint32_t count;
};

// A part of the file. Sections are sorted by name, and lie in the file in that order.
struct SectionRow {
  TextRef name;  // "images/norm.sm_90a.ptx"
  std::uint32_t flags;
  std::uint32_t zero;
  std::uint64_t offset;  // in the file, a multiple of 4096
  std::uint64_t size;
  std::uint64_t xxh3;
  std::uint8_t sha256[32];
};

// The program. There is one.
struct ProgramRow {
  TextRef name;           // if the text says none
  std::uint32_t section;  // of its text
  std::uint32_t zero;
};

// The contents of a buffer that the program takes from a file.
struct FileRow {
  TextRef buffer;
  std::uint32_t section;
  std::uint32_t zero;
};

// One source or image of the program's kernels.
struct ModuleRow {
  TextRef name;          // for messages
  RangeRef uses;         // the program's kernels
  RangeRef builds;       // of a source: one for each architecture; of an image: one
  std::uint32_t source;  // the section of its text; kNone if there is none
  std::uint32_t is_source;
};

// A kernel of the program.
struct UseRow {
  TextRef kernel;
};

// The result of one compile, or an image that the program names.
struct BuildRow {
  TextRef arch;        // "sm_90a"
  TextRef log;         // the compiler's warnings
  std::uint32_t ptx;   // the image that is PTX, or kNone
  std::uint32_t code;  // the image that is a cubin or a fatbin, or kNone
  RangeRef symbols;
  RangeRef compiled;
};

// A name expression of a compile, and its symbol.
struct SymbolRow {
  TextRef expression;
  TextRef symbol;
};

// The compiler's figures for one kernel.
struct CompiledRow {
  TextRef symbol;
  std::uint32_t registers;
  std::uint32_t stack_bytes;
  std::uint32_t spill_store_bytes;
  std::uint32_t spill_load_bytes;
  std::uint32_t static_shared;
  std::uint32_t zero;
};

// An image, with its facts.
struct ImageRow {
  TextRef arch, producer, toolkit, ptx_version;
  std::uint32_t section;
  std::uint8_t kind;    // of ImageKind
  std::uint8_t linked;  // 0, 1 or kNotSaid
  std::uint8_t debug;   // of DebugInfo, or kNotSaid
  std::uint8_t zero;
  std::int64_t abi;
  RangeRef kernels, variables, members, remarks;
};

// The facts of a kernel.
struct KernelRow {
  TextRef name, demangled, arch;
  RangeRef params;
  std::int64_t registers, static_shared, local_bytes, max_threads, max_registers, spill_bytes,
      max_cluster, min_blocks, barriers;
  std::uint32_t required_block[3], required_cluster[3];       // zeros: none is said
  std::uint8_t has_params;                                    // 0: the parameters are not known
  std::uint8_t grid_in_clusters, waits, triggers, grid_sync;  // 0, 1 or kNotSaid
  std::uint8_t polls;  // likewise; 0 in bundles of earlier versions, which do not say it
  std::uint8_t zero[2];
};

struct ParamRow {
  TextRef type;
  std::uint32_t offset, size;
  std::uint8_t kind;   // of ParamKind
  std::uint8_t dtype;  // of DType, or kNotSaid
  std::uint8_t read_only;
  std::uint8_t zero[5];
  TextRef name;  // empty if not known; bundles before 1.3 do not have it
};

// The least size of a table's rows. Fields that a later version appended are 0 in shorter rows.
template <typename Row>
inline constexpr std::uint64_t kLeastSize = sizeof(Row);
template <>
inline constexpr std::uint64_t kLeastSize<ParamRow> = offsetof(ParamRow, name);

struct VariableRow {
  TextRef name;
  std::uint64_t size;
  std::uint64_t constant;
};

struct MemberRow {
  TextRef arch, source, options;
  std::uint64_t stored_size, size;
  std::uint32_t kind;     // of MemberFacts::Kind
  std::uint32_t packing;  // of MemberFacts::Packing
};

struct RemarkRow {
  TextRef text;
};

// Who signed the index. The signature is of bytes that contain this row, and lies outside of the
// index. One row, or none.
struct SigningRow {
  std::uint8_t key[32];     // the public key
  std::uint64_t offset;     // of the signature in the file
  std::uint32_t size;       // of the signature
  std::uint32_t algorithm;  // kEd25519
};

inline constexpr std::uint32_t kEd25519 = 1;

// The verdicts about a program's edges for certain values of its symbols, and what they were made
// from.
struct VerdictRow {
  std::uint8_t key[32];  // SHA-256 of everything that decides them
  TextRef symbols;       // "N=4096"
  TextRef answers;       // what the judge told the binder: '0' and '1'
  RangeRef starts, edges, proofs;
  std::uint32_t of_setup;  // whether they are about the setup steps
  std::uint32_t zero;
};

// How one launch starts, by number.
struct VerdictStartRow {
  std::uint8_t early, waits, by_values, triggers, lets_in_early;
  std::uint8_t zero[3];
};

// Names and not numbers: a later version may know more of them.
struct VerdictEdgeRow {
  std::uint32_t from, to;
  TextRef verdict, cause, reason, decision, decision_reason;
  std::uint32_t programmatic;
  std::uint32_t zero;
};

// The PTX of a kernel that verdicts were made from.
struct VerdictProofRow {
  TextRef kernel;
  std::uint8_t sha256[32];  // as in SectionRow; zeros for machine code
};

// A table that every index has: BATON_TABLE(its rows' type, its name).
#define BATON_REQUIRED_TABLES(BATON_TABLE) \
  BATON_TABLE(char, strings)               \
  BATON_TABLE(SectionRow, sections)        \
  BATON_TABLE(ProgramRow, program)         \
  BATON_TABLE(FileRow, files)              \
  BATON_TABLE(ModuleRow, modules)          \
  BATON_TABLE(UseRow, uses)                \
  BATON_TABLE(BuildRow, builds)            \
  BATON_TABLE(SymbolRow, symbols)          \
  BATON_TABLE(CompiledRow, compiled)       \
  BATON_TABLE(ImageRow, images)            \
  BATON_TABLE(KernelRow, kernels)          \
  BATON_TABLE(ParamRow, params)            \
  BATON_TABLE(VariableRow, variables)      \
  BATON_TABLE(MemberRow, members)          \
  BATON_TABLE(RemarkRow, remarks)

// A table that older readers skip. It is left out where it has no rows.
#define BATON_OPTIONAL_TABLES(BATON_TABLE)     \
  BATON_TABLE(SigningRow, signing)             \
  BATON_TABLE(VerdictRow, verdicts)            \
  BATON_TABLE(VerdictStartRow, verdict_starts) \
  BATON_TABLE(VerdictEdgeRow, verdict_edges)   \
  BATON_TABLE(VerdictProofRow, verdict_proofs)

#define BATON_BUNDLE_TABLES(BATON_TABLE) \
  BATON_REQUIRED_TABLES(BATON_TABLE)     \
  BATON_OPTIONAL_TABLES(BATON_TABLE)

// No byte of a row is padding that a compiler chose.
#define BATON_CHECK_ROW(Row, name) \
  static_assert(std::has_unique_object_representations_v<Row> && std::is_trivially_copyable_v<Row>);
BATON_BUNDLE_TABLES(BATON_CHECK_ROW)
BATON_CHECK_ROW(HeaderRow, header)
BATON_CHECK_ROW(TableRow, tables)
#undef BATON_CHECK_ROW

}  // namespace baton::bundle
