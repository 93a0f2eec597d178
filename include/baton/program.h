#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "baton/compile.h"
#include "baton/dtype.h"
#include "baton/error.h"
#include "baton/forward.h"
#include "baton/image.h"
#include "baton/tensor_map.h"
#include "baton/world.h"

namespace baton {

class ExpressionCode;
class HeldBytes;

// An integer expression over symbols and indexes, such as "ceildiv(N, 256)": 64-bit signed, checked
// for overflow. An immutable, cheap value. Thread-safe.
class BATON_API Expression {
 public:
  // A literal. Throws kInvalidInput for an unsigned value above 2^63 - 1.
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  Expression(T value)  // NOLINT: implicit by design
      : Expression(Literal{}, literal_of(value)) {}
  // Parses a text. `where` is the place of its first character, for messages. Throws kInvalidInput
  // with the place inside the text.
  Expression(std::string_view text, SourceLocation where = {});  // NOLINT: implicit by design
  Expression(const char* text) : Expression(std::string_view(text)) {}         // NOLINT
  Expression(const std::string& text) : Expression(std::string_view(text)) {}  // NOLINT

  const std::string& text() const;
  const SourceLocation& where() const;
  // The value if the expression is a literal number.
  std::optional<std::int64_t> literal() const;
  // The names in the expression, each once, in order of appearance.
  const std::vector<std::string>& names() const;

  const std::shared_ptr<const ExpressionCode>& code() const { return code_; }

  // Equal in structure: spaces and redundant parentheses do not count.
  BATON_API friend bool operator==(const Expression& a, const Expression& b);

  // In C++: ceildiv(symbol("N"), 256) * 2. `/` is floor division, `%` its remainder.
  BATON_API friend Expression operator+(const Expression& a, const Expression& b);
  BATON_API friend Expression operator-(const Expression& a, const Expression& b);
  BATON_API friend Expression operator*(const Expression& a, const Expression& b);
  BATON_API friend Expression operator/(const Expression& a, const Expression& b);
  BATON_API friend Expression operator%(const Expression& a, const Expression& b);
  BATON_API friend Expression operator-(const Expression& a);
  BATON_API friend Expression min(const Expression& a, const Expression& b);
  BATON_API friend Expression max(const Expression& a, const Expression& b);
  BATON_API friend Expression ceildiv(const Expression& a, const Expression& b);
  BATON_API friend Expression floordiv(const Expression& a, const Expression& b);

 private:
  struct Literal {};
  Expression(Literal, std::int64_t value);
  template <typename T>
  static std::int64_t literal_of(T value) {
    if constexpr (std::is_unsigned_v<T>) require_signed(value);
    return static_cast<std::int64_t>(value);
  }
  static void require_signed(std::uint64_t value);
  explicit Expression(std::shared_ptr<const ExpressionCode> code) : code_(std::move(code)) {}
  std::shared_ptr<const ExpressionCode> code_;
};

// Returns the expression that is the name of a symbol or an index.
BATON_API Expression symbol(std::string_view name);

// An argument expression in double precision, such as "1/sqrt(K)". `/` is division, and sqrt, exp,
// log and pow are available. An immutable, cheap value. Thread-safe.
class BATON_API FloatExpression {
 public:
  FloatExpression(std::string_view text, SourceLocation where = {});  // NOLINT: implicit by design

  const std::string& text() const;
  const SourceLocation& where() const;
  const std::vector<std::string>& names() const;
  const std::shared_ptr<const ExpressionCode>& code() const { return code_; }

  BATON_API friend bool operator==(const FloatExpression& a, const FloatExpression& b);

 private:
  std::shared_ptr<const ExpressionCode> code_;
};

// A place in a buffer: "W + layer*N*K". The buffer comes first; the offset counts elements.
struct BATON_API BufferOffset {
  std::string buffer;
  std::optional<Expression> offset;
  SourceLocation where;

  BufferOffset() = default;
  BufferOffset(std::string name, Expression elements)
      : buffer(std::move(name)), offset(std::move(elements)) {}
  BufferOffset(std::string_view text, SourceLocation place = {});  // NOLINT: implicit by design
  BufferOffset(const char* text) : BufferOffset(std::string_view(text)) {}         // NOLINT
  BufferOffset(const std::string& text) : BufferOffset(std::string_view(text)) {}  // NOLINT

  friend bool operator==(const BufferOffset& a, const BufferOffset& b) {
    return a.buffer == b.buffer && a.offset == b.offset;
  }
};

// An argument with an explicit type, for a type that the image does not give: { f16 = 1.0 }.
struct TypedValue {
  DType dtype = DType::kF32;
  std::variant<double, Expression, FloatExpression> value = 0.0;
  BATON_API friend bool operator==(const TypedValue& a, const TypedValue& b);
};

// A struct by value: { bytes = "00ff…" }.
struct RawBytes {
  std::string bytes;
  friend bool operator==(const RawBytes& a, const RawBytes& b) { return a.bytes == b.bytes; }
};

// A tensor map of a buffer of the program, by value: { tensor_map = { buffer = "x", box = [64, 64]
// } }. Lists have the innermost dimension last, as in TensorMapOptions.
struct TensorMapArgument {
  BufferOffset buffer = {};
  std::vector<Expression> shape = {};    // empty: the buffer's
  std::vector<Expression> strides = {};  // in elements; empty: contiguous
  std::vector<Expression> box = {};
  std::vector<Expression> element_strides = {};  // empty: all 1
  std::optional<TensorMapType> type = {};        // empty: the dtype's
  TensorMapInterleave interleave = TensorMapInterleave::kNone;
  TensorMapSwizzle swizzle = TensorMapSwizzle::kNone;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::kNone;
  TensorMapFill oob_fill = TensorMapFill::kZeros;
  BATON_API friend bool operator==(const TensorMapArgument& a, const TensorMapArgument& b);
};

// A part of a buffer, with bounds: { buffer = "W", offset = "l*N*K", count = "N*K" }. The kernel
// gets its address. The elements must lie in the buffer when the program is bound.
struct BufferView {
  BufferOffset place = {};
  std::optional<Expression> count = {};  // elements; empty: up to the buffer's end
  friend bool operator==(const BufferView& a, const BufferView& b) {
    return a.place == b.place && a.count == b.count;
  }
};

struct BATON_API LaunchArgument;

// A struct by value: { struct = ["x", { i32 = "N" }] }. Each field is a buffer, a typed value,
// bytes or a struct. Its offset is the one of C: the next multiple of its size.
struct StructArgument {
  std::vector<LaunchArgument> fields;
  BATON_API friend bool operator==(const StructArgument& a, const StructArgument& b);
};

// One argument of a launch. A text is a buffer, a buffer with an offset, or an integer expression.
// The program decides which when it knows its names, so a Program never contains a plain text here.
struct BATON_API LaunchArgument {
  std::variant<std::string, BufferOffset, Expression, double, TypedValue, RawBytes,
               TensorMapArgument, StructArgument, BufferView>
      value;
  SourceLocation where;

  LaunchArgument(std::string text, SourceLocation place = {})  // NOLINT: implicit by design
      : value(std::move(text)), where(std::move(place)) {}
  LaunchArgument(const char* text) : value(std::string(text)) {}     // NOLINT
  LaunchArgument(BufferOffset place) : value(std::move(place)) {}    // NOLINT
  LaunchArgument(Expression integer) : value(std::move(integer)) {}  // NOLINT
  LaunchArgument(double number) : value(number) {}                   // NOLINT
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  LaunchArgument(T integer) : value(Expression(integer)) {}            // NOLINT
  LaunchArgument(TypedValue typed) : value(std::move(typed)) {}        // NOLINT
  LaunchArgument(RawBytes bytes) : value(std::move(bytes)) {}          // NOLINT
  LaunchArgument(TensorMapArgument map) : value(std::move(map)) {}     // NOLINT
  LaunchArgument(BufferView view) : value(std::move(view)) {}          // NOLINT
  LaunchArgument(StructArgument fields) : value(std::move(fields)) {}  // NOLINT

  BATON_API friend bool operator==(const LaunchArgument& a, const LaunchArgument& b);
};

enum class BufferRole : std::uint8_t {
  kInput,
  kWeight,  // gets its contents once; no step writes it
  kOutput,
  kInout,
  kScratch,
  kState,  // gets its contents once, and keeps what the steps write from run to run
  kCache,  // a state with rows below a counter that no step writes (ProgramBuffer::frozen)
};
// kNormal and kUniform are random like kRandom, with a distribution of their own (ProgramBuffer).
enum class BufferInit : std::uint8_t {
  kNone,
  kZeros,
  kOnes,
  kArange,
  kRandom,
  kFile,
  kNormal,
  kUniform,
};
enum class KernelOrigin : std::uint8_t {
  kSource,
  kText,
  kPtx,
  kCubin,
  kFatbin,
  kLink,      // several sources and images, linked
  kImage,     // an image in memory: program files cannot name one
  kCompiled,  // the result of a compile, in memory: program files cannot name one
};
enum class PdlMode : std::uint8_t { kAuto, kOn, kOff, kForce };
// Adds PDL to kernels (pdl-rewrite.md). A kernel without a wait gets one. In a kernel that waits,
// loads that the wait does not order become plain loads. kLoads, kExit and kTop also add a trigger
// at that place to a kernel without one.
enum class RewriteMode : std::uint8_t {
  kOff,
  kAuto,   // if a launch may then start early
  kWait,   // no trigger: the next launch may start when the blocks end
  kLoads,  // after the last load of global memory
  kExit,   // at every exit of the kernel
  kTop,    // as its first instruction
};
// The distribution of the blocks of an early launch over the multiprocessors.
enum class BlockPlacement : std::uint8_t {
  kAny,
  kEven,  // pads dynamic shared memory so that each one holds only its share
};

BATON_API std::string_view to_string(BufferRole role) noexcept;
BATON_API std::string_view to_string(BufferInit init) noexcept;
BATON_API std::string_view to_string(KernelOrigin origin) noexcept;
BATON_API std::string_view to_string(PdlMode mode) noexcept;
BATON_API std::string_view to_string(RewriteMode mode) noexcept;
BATON_API std::string_view to_string(BlockPlacement placement) noexcept;

// The parts of a program: plain values, which a reader or a builder fills and Program checks.
// `where` is the place in the program file, or in the C++ source that built the part. Equality
// ignores it.

struct ProgramSymbol {
  std::string name = {};
  std::int64_t value = 0;  // the default
  SourceLocation where = {};
  // `rank` or `ranks` of a program with a world, or a group's, which sets their values. Program
  // adds them.
  bool of_world = false;
};

// A dimension of the grid of a world's ranks. Ranks that differ in this dimension alone are a group
// of that name: they exchange contents among themselves. Expressions know the symbols NAME_rank,
// the number of the rank in its group, and NAME_ranks, the size of the group.
struct WorldGroup {
  std::string name = {};
  // The ranks of one group: an expression over `ranks` and symbols that the world does not set. The
  // shapes of inputs do not change symbols that a size names.
  Expression size = 1;
  SourceLocation where = {};

  friend bool operator==(const WorldGroup& a, const WorldGroup& b) {
    return a.name == b.name && a.size == b.size;
  }
};

// A program for several ranks, each on a device of its own. Its expressions know the symbols `rank`
// and `ranks`.
struct ProgramWorld {
  // Empty: any number from 1 on. Program sets it to the product of the groups' sizes if these are
  // numbers.
  std::optional<std::int64_t> ranks = {};
  SourceLocation where = {};
  // The dimensions of the grid of ranks. The product of their sizes is `ranks`. A group of the last
  // one has consecutive ranks.
  std::vector<WorldGroup> groups = {};

  friend bool operator==(const ProgramWorld& a, const ProgramWorld& b) {
    return a.ranks == b.ranks && a.groups == b.groups;
  }
};

enum class Relation : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
};
// As it is written: "==", "<=".
BATON_API std::string_view to_string(Relation relation) noexcept;

// A comparison of two expressions over symbols, which must hold when the program is bound:
// "POS + STEPS <= T".
struct BATON_API Requirement {
  std::string name = {};  // says in messages what it is for; may be empty
  Expression left = 0;
  Relation relation = Relation::kEqual;
  Expression right = 0;
  SourceLocation where = {};

  // Parses a text. `place` is that of its first character. Throws kInvalidInput with the place
  // inside the text.
  explicit Requirement(std::string_view text, SourceLocation place = {});

  std::string text() const;

  BATON_API friend bool operator==(const Requirement& a, const Requirement& b);
};

// The values that tuning may give to a symbol instead of its default (baton/tune.h). The default is
// always among the candidates.
struct TuneParameter {
  std::string symbol = {};
  std::vector<Expression> values = {};  // over other symbols
  SourceLocation where = {};
};

// A __device__ or __constant__ variable in the module of one of the program's kernels.
struct ModuleVariable {
  std::string kernel = {};  // the kernel's name in the program
  std::string name = {};    // as Module::variable takes it
  friend bool operator==(const ModuleVariable& a, const ModuleVariable& b) {
    return a.kernel == b.kernel && a.name == b.name;
  }
};

// The rows of a cache that no launch writes: those below a counter in another buffer, whose value
// the steps change. Launches may read them before their wait. "pos[0]" names a counter.
struct BATON_API FrozenRows {
  std::string counter = {};  // a buffer of integers
  std::int64_t element = 0;  // of that buffer
  std::size_t axis = 0;      // the dimension of the cache that counts its rows
  SourceLocation where = {};

  // Parses "pos[0]". Throws kInvalidInput.
  static FrozenRows from_text(std::string_view text, SourceLocation where = {});
  std::string text() const;  // "pos[0]"
  friend bool operator==(const FrozenRows& a, const FrozenRows& b) {
    return a.counter == b.counter && a.element == b.element && a.axis == b.axis;
  }
};

// Each rank of a group has one part of a whole array, which is divided along a dimension: the first
// rank has the first part. Ranks with equal numbers in that group have equal parts. The buffer's
// shape is the shape of its part.
struct BufferShard {
  std::size_t axis = 0;
  std::string group = {};  // empty: all ranks
  SourceLocation where = {};

  friend bool operator==(const BufferShard& a, const BufferShard& b) {
    return a.axis == b.axis && a.group == b.group;
  }
};

struct ProgramBuffer {
  std::string name = {};
  DType dtype = DType::kF32;
  std::vector<Expression> shape = {};  // empty for one element
  BufferRole role = BufferRole::kScratch;
  BufferInit init = BufferInit::kNone;
  double deviation = 0;  // kNormal: the standard deviation of a float dtype, with mean 0
  // kUniform: floats in [low, high); integers from low to high, both included.
  double low = 0, high = 0;
  // kFile: a .npy; with `tensor` a .safetensors, or the .json index of a model in several of these.
  std::filesystem::path file = {};
  // kFile: a tensor of the model. "layers.{layer}.w" names one for each element of the first
  // dimension, counted from 0: the buffer is a stack of them. Empty: the file is a .npy.
  std::string tensor = {};
  // With `tensor`: whether a tensor of another float dtype is converted to `dtype`, rounded to
  // nearest. Otherwise it is an error.
  bool convert = false;
  // kFile: the bytes of the file if they came with the program, in a bundle. `file` is not read.
  std::shared_ptr<const HeldBytes> contents = {};
  // The bytes of the .safetensors files of an index, by the names that it gives them.
  std::map<std::string, std::shared_ptr<const HeldBytes>, std::less<>> content_shards = {};
  // The buffer is this variable, or its beginning, and has no memory of its own.
  std::optional<ModuleVariable> variable = {};
  // kCache: the rows that no launch writes. Empty for every other role.
  std::optional<FrozenRows> frozen = {};
  // Its contents at the start of a run are this rank's part of an array: of an input, of a file, or
  // of the array that `init` makes. Several of these have different axes and different groups.
  std::vector<BufferShard> shards = {};
  // An output, inout or state buffer: a .npy file with the contents that a run should leave.
  // `Executable::compare_expected` reads it. Empty: none.
  std::filesystem::path expect = {};
  SourceLocation where = {};
};

// One number of a launch attribute. A text is an expression, a choice ("spread") or a place in a
// buffer ("w + 2*N"); the attribute's row decides. `field` names the number in an attribute with
// several ("remote"). Empty means the next one in order.
struct BATON_API AttributeValue {
  std::string field;
  std::variant<std::string, Expression, double, bool, BufferOffset> value;
  SourceLocation where;

  template <typename T>
  AttributeValue(T given, SourceLocation place = {})  // NOLINT: implicit by design
      : AttributeValue(std::string(), std::move(given), std::move(place)) {}
  template <typename T>
  AttributeValue(std::string name, T given, SourceLocation place = {})
      : field(std::move(name)), value(stored(std::move(given))), where(std::move(place)) {}

  BATON_API friend bool operator==(const AttributeValue& a, const AttributeValue& b);

 private:
  template <typename T>
  static auto stored(T given) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Expression> ||
                  std::is_same_v<T, BufferOffset>) {
      return given;
    } else if constexpr (std::is_integral_v<T>) {
      return Expression(given);
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(given);
    } else {
      return std::string(std::move(given));
    }
  }
};

// A launch attribute by its name, as in `baton/attributes.h` and program files:
//   {"cluster", {2, 1}}, {"cooperative", {true}}, {"priority", {"-P"}},
//   {"mem_sync_domain_map", {{"default", 0}, {"remote", 1}}},
//   {"access_policy_window", {{"buffer", "w"}, {"num_bytes", "4*N"}, {"hit_ratio", 0.6}, …}}.
struct ProgramAttribute {
  std::string name = {};
  std::vector<AttributeValue> values = {};
  SourceLocation where = {};

  friend bool operator==(const ProgramAttribute& a, const ProgramAttribute& b) {
    return a.name == b.name && a.values == b.values;
  }
};

// The settings of a launch besides its grid and block. An empty setting takes the kernel's default;
// without a default it is not sent. A Program has `list` in the order of the attributes' numbers.
struct ProgramAttributes {
  std::optional<Expression> shared = {};  // dynamic shared memory, in bytes
  std::optional<PdlMode> pdl = {};        // for the edge from the step before
  std::optional<BlockPlacement> placement = {};
  // The SMs of the part that the launch runs on, over symbols alone. Launches of one branch with
  // equal expressions share a part; parts are disjoint. 0: all of the device.
  std::optional<Expression> sms = {};
  // The floating-point operations of one launch, over symbols alone. Only `baton bench` uses it.
  std::optional<Expression> flops = {};
  std::vector<ProgramAttribute> list = {};
  SourceLocation pdl_where = {};

  // Null where there is none of that name.
  BATON_API const ProgramAttribute* find(std::string_view name) const;

  friend bool operator==(const ProgramAttributes& a, const ProgramAttributes& b) {
    return a.shared == b.shared && a.pdl == b.pdl && a.placement == b.placement && a.sms == b.sms &&
           a.flops == b.flops && a.list == b.list;
  }
};

struct ProgramKernel {
  std::string name = {};  // its name in steps
  KernelOrigin origin = KernelOrigin::kText;
  std::filesystem::path file = {};               // the source or the image
  std::string text = {};                         // kText: CUDA source
  std::vector<std::filesystem::path> link = {};  // kLink: sources and images
  std::optional<Image> image = {};               // kImage
  std::optional<Compiled> compiled = {};         // kCompiled
  std::string entry = {};  // empty: of the name `name`, or the image's only kernel
  std::string prelude = {};
  std::vector<std::filesystem::path> include = {};
  std::vector<std::string> options = {};
  ProgramAttributes launch = {};  // defaults, which a step overrides
  // Empty: the value of PrepareOptions. A mode other than off and auto is a requirement.
  std::optional<RewriteMode> rewrite = {};
  SourceLocation where = {};
};

struct LaunchStep {
  std::string kernel = {};
  std::vector<Expression> grid = {};   // 1 to 3 extents, in blocks
  std::vector<Expression> block = {};  // 1 to 3 extents; empty if the image fixes it
  std::vector<LaunchArgument> args = {};
  ProgramAttributes attributes = {};
  // For a launch that is itself a step of a branch: events that order it with launches of other
  // branches of the same parallel before it is done. Names, empty for none.
  std::string programmatic_event = {};       // happens when every block has triggered or ended
  std::string launch_completion_event = {};  // happens when every block has begun
  // Events of launches of earlier branches, before which the launch does not start. Its wait
  // (griddepcontrol.wait) lasts until launches with these programmatic events are done.
  std::vector<std::string> after = {};
};

struct CopyStep {
  BufferOffset from = {}, to = {};
  std::optional<Expression> count = {};  // elements; empty: the rest of both
};

struct FillStep {
  std::string buffer = {};
  std::variant<double, Expression> value = 0.0;
};

enum class CollectiveKind : std::uint8_t {
  kAllReduce,      // the buffer becomes the reduction of the buffers of all ranks
  kAllGather,      // `to` becomes the buffers of all ranks, in their order
  kReduceScatter,  // `to` becomes this rank's part of the reduction of `from` of all ranks
  kBroadcast,      // the buffer becomes the one of the rank `peer`
  kSend,           // sends the buffer to the rank `peer`
  kReceive,        // receives the buffer from the rank `peer`
};
BATON_API std::string_view to_string(CollectiveKind kind) noexcept;
BATON_API std::string_view to_string(ReduceOp op) noexcept;

// Divides each row by the root of its mean square, and multiplies it by weights.
struct RmsNorm {
  BufferOffset weight = {};  // one row: as many elements as the last dimension of the buffer
  BufferOffset to = {};      // as many elements as are reduced
  double epsilon = 0;        // added to the mean square; becomes f32
};

// A step that exchanges contents between the ranks of a group. All of these execute the same ones
// in the same order. With one rank it is a copy, or does nothing beside its epilogue.
struct CollectiveStep {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  BufferOffset buffer = {};
  BufferOffset to = {};  // kAllGather, kReduceScatter
  ReduceOp op = ReduceOp::kSum;
  // kBroadcast, kSend, kReceive: a rank, by its number in the group. A message to or from -1 or the
  // size of the group, beyond the first and the last rank, does nothing.
  std::optional<Expression> peer = {};
  // The elements of one rank; empty: the rest of the buffer, or of `to` for kReduceScatter.
  std::optional<Expression> count = {};
  std::string group = {};  // empty: all ranks
  // What executes the step; empty: what Bindings::collectives says. kPeer is for a kAllReduce.
  std::optional<CollectiveExecutor> by = {};
  // The epilogue of a kAllReduce with a sum, on each rank, of buffers in one dtype: f32, f16 or
  // bf16. First `add` is added to the reduction, which becomes the buffer; `add` has as many
  // elements. Then the norm of the buffer becomes `rms_norm->to`.
  std::optional<BufferOffset> add = {};
  std::optional<RmsNorm> rms_norm = {};
};

struct ProgramStep;

struct RepeatStep {
  Expression count = 0;
  std::string index = {};  // empty: none
  std::vector<ProgramStep> steps;
};

// Executes its steps if the first element of the buffer is not 0 when it comes to them. The buffer
// has an integer dtype or bool.
struct IfStep {
  std::string buffer = {};
  std::vector<ProgramStep> steps;
};

// Executes its steps again and again. It tests the first element of the buffer before each
// iteration, and ends when that is 0. A run that comes to the test after `at_most` iterations and
// finds another value than 0 fails.
struct WhileStep {
  std::string buffer = {};
  Expression at_most = 0;
  Expression unroll = 1;  // iterations in one turn of a graph's loop; no effect on results
  std::vector<ProgramStep> steps;
};

// Executes its branches side by side: as streams, or as branches of a graph. Each branch begins
// when the step before is done, and the step after begins when all branches are done. The steps of
// a branch follow one another. Branches may read the same memory; what one writes, no other may
// touch.
struct ParallelStep {
  std::vector<std::vector<ProgramStep>> branches = {};  // at least two, none of them empty
};

struct ProgramStep {
  std::variant<LaunchStep, CopyStep, FillStep, CollectiveStep, RepeatStep, IfStep, WhileStep,
               ParallelStep>
      action = {};
  SourceLocation where = {};
};

BATON_API bool operator==(const ProgramSymbol& a, const ProgramSymbol& b);
BATON_API bool operator==(const TuneParameter& a, const TuneParameter& b);
BATON_API bool operator==(const ProgramBuffer& a, const ProgramBuffer& b);
BATON_API bool operator==(const ProgramKernel& a, const ProgramKernel& b);
BATON_API bool operator==(const ProgramStep& a, const ProgramStep& b);

struct ProgramDefinition {
  std::string name = {};
  std::filesystem::path file = {};                   // of the program; empty if it was built
  std::string text = {};                             // of the program file; empty if it was built
  std::filesystem::path directory = {};              // for quoted includes of kernels given as text
  std::vector<std::filesystem::path> included = {};  // the files that `text` includes, in any depth
  std::optional<ProgramWorld> world = {};            // empty: each process runs the program alone
  std::vector<ProgramSymbol> symbols = {};
  std::vector<Requirement> requirements = {};
  std::vector<TuneParameter> tune = {};
  std::vector<ProgramBuffer> buffers = {};
  std::vector<ProgramKernel> kernels = {};
  // Steps that are executed once when the program is bound, before any run. They use weights,
  // states and scratch buffers, and make weights that have no init and no file.
  std::vector<ProgramStep> setup = {};
  std::vector<ProgramStep> steps = {};
};

// A host program as a value: kernels, buffers, symbols and steps. It is checked as far as possible
// without a device, images and symbol values. Immutable and cheap to copy. Thread-safe.
class BATON_API Program {
 public:
  // Reads a program file (docs/program-file.md). Relative paths in it start from its folder. Throws
  // kNotFound for a missing file, otherwise kInvalidInput with file:line:column.
  static Program from_file(const std::filesystem::path& path);
  // Reads a program text. `name` is its name in messages.
  static Program from_text(std::string_view toml, std::string name,
                           const std::filesystem::path& directory = {});
  // Checks the parts and freezes them. Throws kInvalidInput or kNotFound (an unknown name).
  explicit Program(ProgramDefinition definition);

  const std::string& name() const { return definition_->name; }
  const std::filesystem::path& file() const { return definition_->file; }
  const std::string& text() const { return definition_->text; }
  const std::filesystem::path& directory() const { return definition_->directory; }
  // All parts, such as to make another program of them.
  const ProgramDefinition& definition() const { return *definition_; }
  const std::optional<ProgramWorld>& world() const { return definition_->world; }
  const std::vector<ProgramSymbol>& symbols() const { return definition_->symbols; }
  const std::vector<Requirement>& requirements() const { return definition_->requirements; }
  const std::vector<TuneParameter>& tune_parameters() const { return definition_->tune; }
  const std::vector<ProgramBuffer>& buffers() const { return definition_->buffers; }
  const std::vector<ProgramKernel>& kernels() const { return definition_->kernels; }
  const std::vector<ProgramStep>& setup() const { return definition_->setup; }
  const std::vector<ProgramStep>& steps() const { return definition_->steps; }
  // The symbols and buffers that the setup steps use, by name.
  const std::set<std::string, std::less<>>& setup_names() const { return *setup_names_; }
  // One sentence for each kernel, buffer and symbol that nothing uses, with its place.
  const std::vector<std::string>& warnings() const { return *warnings_; }

  // The program as a program file: reading it in the program's folder gives an equal program.
  // Throws kInvalidInput for a kernel in memory, and for an argument that a program file cannot
  // have.
  std::string to_toml() const;

  // Null where there is none of that name.
  const ProgramSymbol* symbol(std::string_view name) const;
  const ProgramBuffer* buffer(std::string_view name) const;
  const ProgramKernel* kernel(std::string_view name) const;

  // Equal apart from places and the file.
  BATON_API friend bool operator==(const Program& a, const Program& b);

 private:
  std::shared_ptr<const ProgramDefinition> definition_;
  std::shared_ptr<const std::vector<std::string>> warnings_;
  std::shared_ptr<const std::set<std::string, std::less<>>> setup_names_;
};

// Builds a program in C++, through the same checks as a program file:
//
//   ProgramBuilder builder("saxpy");
//   builder.symbol("N", 1 << 20);
//   builder.buffer({.name = "x", .shape = {"N"}, .role = BufferRole::kInput, .init = …});
//   builder.kernel({.name = "saxpy", .origin = KernelOrigin::kSource, .file = "saxpy.cu"});
//   builder.launch({.kernel = "saxpy", .grid = {"ceildiv(N, 256)"}, .block = {256},
//                   .args = {"y", "x", 2.0, "N"}});
//   Program program = builder.build();
//
// The trailing arguments note where in the C++ source each part was added: leave them out.
// Not thread-safe.
class BATON_API ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name) { definition_.name = std::move(name); }

  // Adds a symbol and returns the expression that names it.
  Expression symbol(std::string name, std::int64_t value, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE());
  // Makes the program one for several ranks: for that number, or for any.
  ProgramBuilder& world(std::optional<std::int64_t> ranks = {}, std::vector<WorldGroup> groups = {},
                        const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // Adds a comparison that must hold, such as "N % 8 == 0". `name` says what it is for.
  ProgramBuilder& require(std::string_view comparison, std::string name = {},
                          const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // Adds the values that tuning may give to a symbol.
  ProgramBuilder& tune(std::string symbol, std::vector<Expression> values,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // Adds all parts of another program, as `include` of a program file does. A symbol that is added
  // later under the name of one of them takes its place.
  ProgramBuilder& include(const Program& program);
  ProgramBuilder& buffer(ProgramBuffer buffer, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  ProgramBuilder& kernel(ProgramKernel kernel, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  ProgramBuilder& launch(LaunchStep step, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  ProgramBuilder& copy(CopyStep step, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE());
  ProgramBuilder& fill(FillStep step, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE());
  ProgramBuilder& collective(CollectiveStep step, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE());
  // `body` adds the steps of the group to this builder.
  ProgramBuilder& repeat(Expression count, std::string index, const std::function<void()>& body,
                         const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // `body` adds the steps of the group to this builder, here and in `while_`.
  ProgramBuilder& if_(std::string buffer, const std::function<void()>& body,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE());
  ProgramBuilder& while_(std::string buffer, Expression at_most, Expression unroll,
                         const std::function<void()>& body, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  // Each function adds the steps of one branch to this builder.
  ProgramBuilder& parallel(const std::vector<std::function<void()>>& branches,
                           const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // `body` adds the setup steps to this builder. Not inside of a group.
  ProgramBuilder& setup(const std::function<void()>& body);

  // Returns the program; the builder remains usable. Throws the errors of Program's constructor.
  Program build() const { return Program(definition_); }

 private:
  ProgramBuilder& add(ProgramStep step);
  void collect(std::vector<ProgramStep>& steps, const std::function<void()>& body);
  ProgramDefinition definition_;
  std::size_t included_symbols_ = 0;             // the first symbols, which others may replace
  std::vector<std::vector<ProgramStep>*> open_;  // groups being filled, outermost first
};

}  // namespace baton
