// mma, wmma, ldmatrix, stmatrix and movmatrix.

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>

#include "sim/engine/isa/matrix.h"
#include "sim/engine/isa/matrix_sparse.h"
#include "sim/engine/lower/lower.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

std::optional<MatrixType> matrix_type(std::string_view name) {
  static constexpr std::pair<std::string_view, MatrixType> kTypes[] = {
      {"f16", MatrixType::kF16},   {"bf16", MatrixType::kBF16}, {"tf32", MatrixType::kTF32},
      {"f32", MatrixType::kF32},   {"f64", MatrixType::kF64},   {"e4m3", MatrixType::kE4M3},
      {"e5m2", MatrixType::kE5M2}, {"s8", MatrixType::kS8},     {"u8", MatrixType::kU8},
      {"s4", MatrixType::kS4},     {"u4", MatrixType::kU4},     {"b1", MatrixType::kB1},
      {"s32", MatrixType::kS32}};
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return std::nullopt;
}

// "m16n8k16"
bool parse_shape(std::string_view text, MmaForm* form, unsigned* columns_of_b) {
  unsigned numbers[3] = {};
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    if (at >= text.size() || text[at] != "mnk"[part]) return false;
    const char* begin = text.data() + at + 1;
    const auto [end, failure] = std::from_chars(begin, text.data() + text.size(), numbers[part]);
    if (failure != std::errc() || numbers[part] > 256) return false;
    at = static_cast<std::size_t>(end - text.data());
  }
  form->m = static_cast<std::uint8_t>(numbers[0]);
  form->n = static_cast<std::uint8_t>(numbers[1]);
  *columns_of_b = numbers[1];
  form->k = static_cast<std::uint16_t>(numbers[2]);
  return at == text.size();
}

bool is_byte(MatrixType type) {
  return type == MatrixType::kS8 || type == MatrixType::kU8;
}
bool is_nibble(MatrixType type) {
  return type == MatrixType::kS4 || type == MatrixType::kU4;
}
bool is_fp8(MatrixType type) {
  return type == MatrixType::kE4M3 || type == MatrixType::kE5M2;
}
// Whether a and b may have these types together.
bool go_together(MatrixType a, MatrixType b) {
  return a == b || (is_byte(a) && is_byte(b)) || (is_nibble(a) && is_nibble(b)) ||
         (is_fp8(a) && is_fp8(b));
}

// The shapes that PTX has (PTX ISA 9.0, tables of "mma" and "wmma").
struct ShapeRow {
  MatrixType type;
  std::uint8_t m, n;
  std::uint16_t k;
};
bool is_mma_shape(const MmaForm& form) {
  using T = MatrixType;
  static constexpr ShapeRow kRows[] = {
      {T::kF16, 16, 8, 8},   {T::kF16, 16, 8, 16},  {T::kBF16, 16, 8, 8},  {T::kBF16, 16, 8, 16},
      {T::kTF32, 16, 8, 4},  {T::kTF32, 16, 8, 8},  {T::kF64, 8, 8, 4},    {T::kF64, 16, 8, 4},
      {T::kF64, 16, 8, 8},   {T::kF64, 16, 8, 16},  {T::kE4M3, 16, 8, 16}, {T::kE4M3, 16, 8, 32},
      {T::kE5M2, 16, 8, 16}, {T::kE5M2, 16, 8, 32}, {T::kS8, 8, 8, 16},    {T::kS8, 16, 8, 16},
      {T::kS8, 16, 8, 32},   {T::kU8, 8, 8, 16},    {T::kU8, 16, 8, 16},   {T::kU8, 16, 8, 32},
      {T::kS4, 8, 8, 32},    {T::kS4, 16, 8, 32},   {T::kS4, 16, 8, 64},   {T::kU4, 8, 8, 32},
      {T::kU4, 16, 8, 32},   {T::kU4, 16, 8, 64},   {T::kB1, 8, 8, 128},   {T::kB1, 16, 8, 128},
      {T::kB1, 16, 8, 256}};
  for (const ShapeRow& row : kRows) {
    if (row.type == form.a && row.m == form.m && row.n == form.n && row.k == form.k) return true;
  }
  return false;
}
bool is_sparse_shape(const MmaForm& form) {
  using T = MatrixType;
  static constexpr ShapeRow kRows[] = {
      {T::kF16, 16, 8, 16}, {T::kF16, 16, 8, 32},  {T::kBF16, 16, 8, 16}, {T::kBF16, 16, 8, 32},
      {T::kTF32, 16, 8, 8}, {T::kTF32, 16, 8, 16}, {T::kE4M3, 16, 8, 64}, {T::kE5M2, 16, 8, 64},
      {T::kS8, 16, 8, 32},  {T::kS8, 16, 8, 64},   {T::kU8, 16, 8, 32},   {T::kU8, 16, 8, 64},
      {T::kS4, 16, 8, 64},  {T::kS4, 16, 8, 128},  {T::kU4, 16, 8, 64},   {T::kU4, 16, 8, 128}};
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const ShapeRow& row) {
    return row.type == form.a && row.m == form.m && row.n == form.n && row.k == form.k;
  });
}
bool is_wmma_shape(const MmaForm& form) {
  const auto is = [&](int m, int n, int k) { return form.m == m && form.n == n && form.k == k; };
  switch (form.a) {
    case MatrixType::kF16:
    case MatrixType::kBF16:
    case MatrixType::kS8:
    case MatrixType::kU8:
      return is(16, 16, 16) || is(32, 8, 16) || is(8, 32, 16);
    case MatrixType::kTF32:
      return is(16, 16, 8);
    case MatrixType::kF64:
      return is(8, 8, 4);
    case MatrixType::kS4:
    case MatrixType::kU4:
      return is(8, 8, 32);
    case MatrixType::kB1:
      return is(8, 8, 128);
    default:
      return false;
  }
}

MatrixType accumulator_of(MatrixType type) {
  if (type == MatrixType::kF64) return MatrixType::kF64;
  const bool integer = is_byte(type) || is_nibble(type) || type == MatrixType::kB1;
  return integer ? MatrixType::kS32 : MatrixType::kF32;
}
bool accumulates(MatrixType sum, MatrixType product) {
  const bool half = product == MatrixType::kF16 || is_fp8(product);
  return sum == accumulator_of(product) || (half && sum == MatrixType::kF16);
}

// Whether wmma has accumulators of this shape and type: those of one of its products.
bool is_accumulator_shape(MmaForm form, MatrixType type) {
  using T = MatrixType;
  for (const T product : {T::kF16, T::kTF32, T::kF64, T::kS8, T::kS4, T::kB1}) {
    form.a = product;
    if (accumulates(type, product) && is_wmma_shape(form)) return true;
  }
  return false;
}

Type register_type(MatrixType type) {
  return type == MatrixType::kF64 ? Type::kB64 : Type::kB32;
}

}  // namespace

// What the words of a matrix instruction say; any that is not known is refused.
Lowering::MatrixWords Lowering::matrix_words() const {
  MatrixWords words;
  for (std::string_view word : insn_->modifiers) {
    // The state space is read where the address is; mma.sp and wgmma have methods of their own.
    static constexpr std::string_view kKnown[] = {
        "sync",        "aligned", "rn",        "popc", "shared",
        "shared::cta", "global",  "mma_async", "sp",   "sp::ordered_metadata"};
    if (std::find(std::begin(kKnown), std::end(kKnown), word) != std::end(kKnown)) continue;
    if (word == "row" || word == "col") {
      words.columns.push_back(word == "col");
    } else if (word == "satfinite") {
      words.mode |= kMmaSaturates;
    } else if (word == "and") {
      words.mode |= kMmaAnd;
    } else if (word == "mma" || word == "load" || word == "store" || word == "a" || word == "b" ||
               word == "c" || word == "d") {
      words.what = word;
    } else if (const auto type = matrix_type(word)) {
      words.types.push_back(*type);
    } else if (word != "xor" && !parse_shape(word, &words.form, &words.columns_of_b)) {
      throw Unsupported{fmt::format("the simulated GPU does not know the modifier .{} of {}", word,
                                    insn_->opcode)};
    }
  }
  return words;
}

std::vector<SlotId> Lowering::matrix_registers(const ptx::InstructionOperand& o, unsigned count,
                                               Type type, bool writes) {
  const bool vector = o.kind == Kind::kVector;
  if ((vector ? o.children.size() : 1) != count) {
    invalid(fmt::format("the operand has {} registers; this part of the matrix takes {}",
                        vector ? o.children.size() : 1, count));
  }
  std::vector<SlotId> slots;
  for (unsigned k = 0; k < count; ++k) {
    const ptx::InstructionOperand& one = vector ? o.children[k] : o;
    slots.push_back(writes ? target(one, bits_of(type)) : source(one, type));
  }
  return slots;
}

// mma.sync, mma.sp.sync and wmma.mma: d = a * b + c.
void Lowering::matrix_multiply(bool fragments) {
  const bool is_sparse = insn_->has("sp") || insn_->has("sp::ordered_metadata");
  MatrixWords words = matrix_words();
  MmaForm& form = words.form;
  // wmma.mma of half precision names the types of d and c alone.
  const auto& types = words.types;
  if (types.size() == 4) {
    form.d = types[0];
    form.a = types[1];
    form.b = types[2];
    form.c = types[3];
  } else if (fragments && types.size() == 2) {
    form.a = form.b = MatrixType::kF16;
    form.d = types[0];
    form.c = types[1];
  } else {
    throw Unsupported{"its types are not known"};
  }
  const bool shape = fragments   ? is_wmma_shape(form)
                     : is_sparse ? is_sparse_shape(form)
                                 : is_mma_shape(form);
  const bool layouts =
      words.columns.size() == 2 && (fragments || (!words.columns[0] && words.columns[1]));
  const bool modes = ((words.mode & kMmaSaturates) == 0 || form.c == MatrixType::kS32) &&
                     ((words.mode & kMmaAnd) == 0 || form.a == MatrixType::kB1);
  if (!shape || !modes || !go_together(form.a, form.b) || !accumulates(form.c, form.a) ||
      !accumulates(form.d, form.a) || !layouts) {
    throw Unsupported{"the simulated GPU does not have this shape with these types and layouts"};
  }
  require(is_fp8(form.a) ? 89 : form.a == MatrixType::kF64 && form.m == 16 ? 90 : 80);
  need_operands(is_sparse ? 6 : 4, is_sparse ? 6 : 4);
  MmaForm held = form;  // what of a is there
  if (is_sparse) held.k /= 2;
  const auto registers = [&](std::size_t k, MatrixPart part, MatrixType type, bool writes) {
    const MmaForm& of = part == MatrixPart::kA ? held : form;
    return matrix_registers(operand(k), registers_of(of, part, fragments, type),
                            register_type(type), writes);
  };
  std::vector<SlotId> list = registers(0, MatrixPart::kC, form.d, true);
  const std::size_t written = list.size();
  for (const auto& [k, part, type] :
       {std::tuple{1, MatrixPart::kA, form.a}, std::tuple{2, MatrixPart::kB, form.b},
        std::tuple{3, MatrixPart::kC, form.c}}) {
    const std::vector<SlotId> more = registers(static_cast<std::size_t>(k), part, type, false);
    list.insert(list.end(), more.begin(), more.end());
  }
  if (is_sparse) {
    words.mode |= kMmaSparse | sparsity_selector(form.a, form.k, 5) << kMmaSelectorShift;
    list.push_back(source(operand(4), Type::kB32));
  }
  guard_by_branch();
  Proto& proto = emit(op_mma);
  proto.has_list = true;
  proto.list = std::move(list);
  proto.list_written = static_cast<std::uint32_t>(written);
  proto.mode = static_cast<std::uint8_t>(words.mode | (fragments ? kMmaFragments : 0));
  proto.imm = std::bit_cast<std::int64_t>(form);
}

// The constant that says which lanes have the metadata.
std::uint8_t Lowering::sparsity_selector(MatrixType type, unsigned k, std::size_t place) const {
  const ptx::InstructionOperand& o = operand(place);
  const unsigned selectors = sparse_selectors(type, k);
  if (o.kind != Kind::kInteger || o.bits >= selectors) {
    invalid(fmt::format("the sparsity selector must be a constant less than {}", selectors));
  }
  return static_cast<std::uint8_t>(o.bits);
}

void Lowering::mma() {
  matrix_multiply(false);
}

// wmma.load.{a,b,c}, wmma.store.d and wmma.mma. Where a lane keeps which elements is left open by
// PTX for these.
void Lowering::wmma() {
  if (insn_->has("mma")) return matrix_multiply(true);
  const bool store = insn_->has("store");
  const MatrixWords words = matrix_words();
  if (words.types.size() != 1 || words.columns.size() != 1) {
    throw Unsupported{"its type or layout is not known"};
  }
  MmaForm shape = words.form;
  shape.a = shape.b = shape.c = shape.d = words.types[0];
  const bool of_a = words.what == "a";
  const bool of_b = words.what == "b";
  const MatrixPart part = of_a ? MatrixPart::kA : of_b ? MatrixPart::kB : MatrixPart::kC;
  const bool accumulator = part == MatrixPart::kC;
  const bool known =
      accumulator ? is_accumulator_shape(shape, words.types[0]) : is_wmma_shape(shape) && !store;
  if (!known) {
    throw Unsupported{"the simulated GPU does not have this shape with this type"};
  }
  FragmentForm form;
  form.rows = static_cast<std::uint8_t>(of_b ? shape.k : shape.m);
  form.columns = static_cast<std::uint8_t>(of_a ? shape.k : shape.n);
  form.type = words.types[0];
  form.by_column = words.columns[0];
  form.store = store;
  form.registers = static_cast<std::uint8_t>(registers_of(shape, part, true, form.type));
  need_operands(2, 3);
  form.has_stride = insn_->operands.size() == 3;
  const ptx::InstructionOperand& place = operand(store ? 0 : 1);
  const bool global = insn_->has("global");
  const bool shared = insn_->has("shared") || insn_->has("shared::cta");
  const Space space = global ? Space::kGlobal : shared ? Space::kShared : Space::kGeneric;
  const SlotId where = generic_address(place, space);
  form.space = static_cast<std::uint8_t>(global ? Space::kGlobal : Space::kGeneric);
  const SlotId stride = form.has_stride ? source(operand(2), Type::kU32) : kSink;
  std::vector<SlotId> list =
      matrix_registers(operand(store ? 1 : 0), form.registers, register_type(form.type), !store);
  guard_by_branch();
  Proto& proto = emit(op_fragment);
  use(proto, 0, where);
  use(proto, 1, stride);
  proto.has_list = true;
  proto.list_written = store ? 0 : static_cast<std::uint32_t>(list.size());
  proto.list = std::move(list);
  proto.imm = std::bit_cast<std::int64_t>(form);
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 registers, [row], and stmatrix.
void Lowering::matrix_rows() {
  Modifiers m(*insn_);
  const bool store = insn_->opcode == "stmatrix";
  m.take("sync");
  m.take("aligned");
  if (!m.take("m8n8")) throw Unsupported{"its matrices have 8 rows and 8 columns"};
  const auto count = m.take_one_of({"x1", "x2", "x4"});
  if (!count) throw Unsupported{"it names no number of matrices"};
  const bool transposed = m.take("trans");
  const Space space = take_space(m);
  if (m.need_type() != Type::kB16) throw Unsupported{"its elements have 16 bits"};
  m.finish();
  need_operands(2, 2);
  const unsigned matrices = 1u << *count;
  const SlotId where = generic_address(operand(store ? 0 : 1), space);
  const std::vector<SlotId> list =
      matrix_registers(operand(store ? 1 : 0), matrices, Type::kB32, !store);
  guard_by_branch();
  Proto& proto = emit(op_matrix_rows);
  use(proto, 0, where);
  for (unsigned k = 0; k < matrices; ++k) {
    if (store) {
      use(proto, static_cast<int>(k) + 1, list[k]);
    } else {
      def(proto, static_cast<int>(k) + 1, list[k]);
    }
  }
  proto.mode = static_cast<std::uint8_t>(matrices | (transposed ? kMatrixTransposed : 0) |
                                         (store ? kMatrixStore : 0));
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void Lowering::matrix_transpose() {
  Modifiers m(*insn_);
  m.take("sync");
  m.take("aligned");
  if (!m.take("m8n8") || !m.take("trans")) throw Unsupported{"there is only .m8n8.trans"};
  if (m.need_type() != Type::kB16) throw Unsupported{"its elements have 16 bits"};
  m.finish();
  need_operands(2, 2);
  const SlotId from = source(operand(1), Type::kB32);
  const SlotId to = target(operand(0), 32);
  guard_by_branch();
  Proto& proto = emit(op_transpose);
  def(proto, 0, to);
  use(proto, 1, from);
}

}  // namespace baton::sim
