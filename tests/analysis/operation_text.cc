#include "analysis/operation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/order/shared_place.h"
#include "pdl/test_support.h"
#include "pdl/value/number_range.h"
#include "pdl/value/value.h"

namespace baton::record {
namespace {

using overlap::NumberRange;
using overlap::Operation;
using overlap::Value;

constexpr const char* kOperations[] = {"add.u32 %r3, %r4, %r5;",
                                       "add.s32 %r3, %r4, %r5;",
                                       "add.s64 %d3, %d4, %d5;",
                                       "add.u64 %d3, %d4, %d5;",
                                       "add.sat.s32 %r3, %r4, %r5;",
                                       "add.cc.u32 %r3, %r4, %r5;",
                                       "addc.u32 %r3, %r4, %r5;",
                                       "sub.u32 %r3, %r4, %r5;",
                                       "sub.s32 %r3, %r4, %r5;",
                                       "sub.s64 %d3, %d4, %d5;",
                                       "sub.u64 %d3, %d4, %d5;",
                                       "mul.lo.u32 %r3, %r4, %r5;",
                                       "mul.lo.s32 %r3, %r4, %r5;",
                                       "mul.lo.s64 %d3, %d4, %d5;",
                                       "mul.lo.u64 %d3, %d4, %d5;",
                                       "mul.hi.u32 %r3, %r4, %r5;",
                                       "mul.hi.s32 %r3, %r4, %r5;",
                                       "mul.wide.u32 %d3, %r4, %r5;",
                                       "mul.wide.s32 %d3, %r4, %r5;",
                                       "mul.wide.u16 %r3, %r4, %r5;",
                                       "mul24.lo.u32 %r3, %r4, %r5;",
                                       "div.u32 %r3, %r4, %r5;",
                                       "div.s32 %r3, %r4, %r5;",
                                       "div.u64 %d3, %d4, %d5;",
                                       "div.s64 %d3, %d4, %d5;",
                                       "rem.u32 %r3, %r4, %r5;",
                                       "rem.s32 %r3, %r4, %r5;",
                                       "rem.u64 %d3, %d4, %d5;",
                                       "min.u32 %r3, %r4, %r5;",
                                       "min.s32 %r3, %r4, %r5;",
                                       "max.u32 %r3, %r4, %r5;",
                                       "max.s32 %r3, %r4, %r5;",
                                       "min.u64 %d3, %d4, %d5;",
                                       "max.s64 %d3, %d4, %d5;",
                                       "and.b32 %r3, %r4, %r5;",
                                       "and.b64 %d3, %d4, %d5;",
                                       "or.b32 %r3, %r4, %r5;",
                                       "or.b64 %d3, %d4, %d5;",
                                       "xor.b32 %r3, %r4, %r5;",
                                       "xor.b64 %d3, %d4, %d5;",
                                       "shl.b32 %r3, %r4, %r5;",
                                       "shl.b64 %d3, %d4, %r5;",
                                       "shr.u32 %r3, %r4, %r5;",
                                       "shr.s32 %r3, %r4, %r5;",
                                       "shr.b32 %r3, %r4, %r5;",
                                       "shr.u64 %d3, %d4, %r5;",
                                       "shr.s64 %d3, %d4, %r5;",
                                       "not.b32 %r3, %r4;",
                                       "not.b64 %d3, %d4;",
                                       "neg.s32 %r3, %r4;",
                                       "neg.s64 %d3, %d4;",
                                       "abs.s32 %r3, %r4;",
                                       "abs.s64 %d3, %d4;",
                                       "popc.b32 %r3, %r4;",
                                       "clz.b32 %r3, %r4;",
                                       "bfind.u32 %r3, %r4;",
                                       "brev.b32 %r3, %r4;",
                                       "mov.u32 %r3, %r4;",
                                       "mov.b64 %d3, %d4;",
                                       "mov.u64 %d3, %d4;",
                                       "cvt.u64.u32 %d3, %r4;",
                                       "cvt.s64.s32 %d3, %r4;",
                                       "cvt.u32.u64 %r3, %d4;",
                                       "cvt.s32.s64 %r3, %d4;",
                                       "cvt.u32.u16 %r3, %r4;",
                                       "cvt.s32.s16 %r3, %r4;",
                                       "cvt.u16.u32 %r3, %r4;",
                                       "cvt.s16.s32 %r3, %r4;",
                                       "cvt.u32.u8 %r3, %r4;",
                                       "cvt.s32.s8 %r3, %r4;",
                                       "cvt.u8.u32 %r3, %r4;",
                                       "cvt.s8.s32 %r3, %r4;",
                                       "cvt.sat.s8.s32 %r3, %r4;",
                                       "cvt.u64.u16 %d3, %r4;",
                                       "cvt.s64.s16 %d3, %r4;",
                                       "cvt.u64.s32 %d3, %r4;",
                                       "cvt.s64.u32 %d3, %r4;",
                                       "cvt.rn.f32.u32 %f1, %r4;",
                                       "cvt.rzi.s32.f32 %r3, %r4;",
                                       "cvt.rn.f64.s64 %d3, %d4;",
                                       "add.f32 %r3, %r4, %r5;",
                                       "add.f64 %d3, %d4, %d5;",
                                       "min.f32 %r3, %r4, %r5;",
                                       "neg.f32 %r3, %r4;",
                                       "mul.f64 %d3, %d4, %d5;",
                                       "add.u16 %r3, %r4, %r5;",
                                       "sub.s16 %r3, %r4, %r5;",
                                       "and.b16 %r3, %r4, %r5;",
                                       "shl.b16 %r3, %r4, %r5;",
                                       "cvta.to.global.u64 %d3, %d4;",
                                       "cvta.shared.u64 %d3, %d4;",
                                       "cvta.to.shared.u64 %d3, %d4;",
                                       "mad.lo.u32 %r3, %r4, %r5, %r6;",
                                       "mad.lo.s32 %r3, %r4, %r5, %r6;",
                                       "mad.lo.s64 %d3, %d4, %d5, %d6;",
                                       "mad.hi.u32 %r3, %r4, %r5, %r6;",
                                       "mad.wide.u32 %d3, %r4, %r5, %d6;",
                                       "mad.wide.s32 %d3, %r4, %r5, %d6;",
                                       "selp.b32 %r3, %r4, %r5, %p1;",
                                       "selp.u64 %d3, %d4, %d5, %p1;",
                                       "sad.u32 %r3, %r4, %r5, %r6;",
                                       "bfe.u32 %r3, %r4, %r5, %r6;",
                                       "bfe.s32 %r3, %r4, %r5, %r6;",
                                       "lop3.b32 %r3, %r4, %r5, %r6, 0xc0;",
                                       "lop3.b32 %r3, %r4, %r5, %r6, 0x96;",
                                       "shf.l.wrap.b32 %r3, %r4, %r5, %r6;",
                                       "shf.r.clamp.b32 %r3, %r4, %r5, %r6;",
                                       "prmt.b32 %r3, %r4, %r5, 0x4040;",
                                       "setp.lt.u32 %p1, %r4, %r5;",
                                       "setp.le.u32 %p1, %r4, %r5;",
                                       "setp.gt.u32 %p1, %r4, %r5;",
                                       "setp.ge.u32 %p1, %r4, %r5;",
                                       "setp.lo.u32 %p1, %r4, %r5;",
                                       "setp.ls.u32 %p1, %r4, %r5;",
                                       "setp.hi.u32 %p1, %r4, %r5;",
                                       "setp.hs.u32 %p1, %r4, %r5;",
                                       "setp.lt.s32 %p1, %r4, %r5;",
                                       "setp.le.s32 %p1, %r4, %r5;",
                                       "setp.gt.s32 %p1, %r4, %r5;",
                                       "setp.ge.s32 %p1, %r4, %r5;",
                                       "setp.eq.u32 %p1, %r4, %r5;",
                                       "setp.ne.s32 %p1, %r4, %r5;",
                                       "setp.eq.b32 %p1, %r4, %r5;",
                                       "setp.lt.u64 %p1, %d4, %d5;",
                                       "setp.ge.s64 %p1, %d4, %d5;",
                                       "setp.eq.s64 %p1, %d4, %d5;",
                                       "setp.lt.u16 %p1, %r4, %r5;",
                                       "setp.lt.and.u32 %p1, %r4, %r5, %p2;",
                                       "set.lt.u32.u32 %r3, %r4, %r5;",
                                       "setp.lt.f32 %p1, %r4, %r5;",
                                       "setp.gt.f64 %p1, %d4, %d5;",
                                       "setp.eq.b64 %p1, %d4, %d5;",
                                       "setp.ne.b16 %p1, %r4, %r5;",
                                       "setp.ge.s16 %p1, %r4, %r5;",
                                       "and.pred %p1, %p2, %p3;",
                                       "or.pred %p1, %p2, %p3;",
                                       "xor.pred %p1, %p2, %p3;",
                                       "not.pred %p1, %p2;",
                                       "mov.pred %p1, %p2;",
                                       "activemask.b32 %r3;",
                                       "vote.sync.ballot.b32 %r3, %p1, -1;",
                                       "shfl.sync.idx.b32 %r3, %r4, 0, 31, -1;",
                                       "redux.sync.add.u32 %r3, %r4, -1;",
                                       "mov.b64 %d3, {%r4, %r5};",
                                       "mapa.u64 %d3, %d4, %r5;",
                                       "mapa.shared::cluster.u32 %r3, %r4, %r5;",
                                       "cvta.to.shared::cta.u64 %d3, %d4;",
                                       "cvta.shared::cluster.u64 %d3, %d4;",
                                       "cvta.param.u64 %d3, %d4;",
                                       "cvta.u64 %d3, %d4;",
                                       "cvt.u64.u64 %d3, %d4;",
                                       "cvt.u32.s32 %r3, %r4;",
                                       "cvt.b32.f32 %r3, %r4;",
                                       "cvt.rn.f32.s32 %f1, %r4;",
                                       "cvt.f32.u64 %f1, %d4;",
                                       "cvt.u64.f64 %d3, %d4;",
                                       "selp.b16 %r3, %r4, %r5, %p1;",
                                       "selp.f32 %f1, %f2, %f3, %p1;",
                                       "mad.lo.u64 %d3, %d4, %d5, %d6;",
                                       "mad.lo.cc.u32 %r3, %r4, %r5, %r6;",
                                       "sub.cc.u32 %r3, %r4, %r5;",
                                       "sub.sat.s32 %r3, %r4, %r5;",
                                       "add.u32 %r3, %r4, -%r5;",
                                       "setp.eq.u32 %p1, %r4, -%r5;",
                                       "selp.b32 %r3, %r4, %r5, !%p1;",
                                       "shfl.sync.bfly.b32 %r3, %r4, 0, 31, -1;",
                                       "shfl.sync.idx.b32 %r3, %r4, 3, 31, -1;",
                                       "shfl.sync.idx.b32 %r3|%p1, %r4, %r5, 31, -1;"};

const std::vector<Value>& values() {
  static const std::vector<Value> kValues = {Value::varies(),
                                             Value::constant(0),
                                             Value::constant(1),
                                             Value::constant(2),
                                             Value::constant(31),
                                             Value::constant(32),
                                             Value::constant(63),
                                             Value::constant(64),
                                             Value::constant(127),
                                             Value::constant(128),
                                             Value::constant(255),
                                             Value::constant(0xffff),
                                             Value::constant(0x7fffffff),
                                             Value::constant(0x80000000),
                                             Value::constant(0xffffffff),
                                             Value::constant(0x100000000),
                                             Value::constant(INT64_MAX),
                                             Value::constant(UINT64_MAX),
                                             Value::range(0, 1),
                                             Value::range(0, 31),
                                             Value::range(1, 32),
                                             Value::range(31, 33),
                                             Value::range(5, 0x7fffffff),
                                             Value::range(0x7fffffff, 0x80000000),
                                             Value::range(0xfffffff0, 0xffffffff),
                                             Value::range(0, 0x100000000),
                                             Value::shared(1, 16),
                                             Value::param(0)};
  return kValues;
}

// In shared memory and in parameters, with numbers to add.
const std::vector<Value>& addresses() {
  const auto moved_by = [](Value address, std::uint64_t bytes) {
    address.most += bytes;
    return address;
  };
  static const std::vector<Value> kAddresses = [&] {
    std::vector<Value> all = {Value::varies(),
                              Value::constant(0),
                              Value::constant(1),
                              Value::constant(4),
                              Value::constant(0x7fffffff),
                              Value::constant(0x80000000),
                              Value::constant(0xfffffffc),
                              Value::constant(UINT64_MAX - 3),
                              Value::constant(INT64_MAX),
                              Value::range(0, 1),
                              Value::range(0, 0x7fffffff),
                              Value::range(0x7fffffff, 0x80000000),
                              Value::range(0xfffffff0, 0xffffffff),
                              Value::range(UINT64_MAX - 16, UINT64_MAX),
                              Value::shared(1, 0),
                              Value::shared(1, 4),
                              Value::shared(2, 0x7ffffffe),
                              Value::shared(2, UINT64_MAX - 3),
                              moved_by(Value::shared(1, 8), 24),
                              Value::param(0),
                              moved_by(Value::param(1), 8)};
    const std::vector<Value> plain(all.end() - 7, all.end() - 2);
    for (Value other : plain) {
      other.is_generic = true;
      all.push_back(other);
      other.is_generic = false;
      other.is_remote = true;
      all.push_back(other);
    }
    return all;
  }();
  return kAddresses;
}

const std::vector<std::optional<NumberRange>>& ranges() {
  static const std::vector<std::optional<NumberRange>> kRanges = {
      std::nullopt,
      NumberRange{0, 0},
      NumberRange{1, 1},
      NumberRange{32, 32},
      NumberRange{-1, -1},
      NumberRange{0, 31},
      NumberRange{-4, 31},
      NumberRange{-8, -2},
      NumberRange{31, 64},
      NumberRange{127, 256},
      NumberRange{0, 0x7fffffff},
      NumberRange{1, 0x80000000},
      NumberRange{0x80000000, 0xffffffff},
      NumberRange{-5, 0xffffffff},
      NumberRange{0, 0x100000000},
      NumberRange{INT64_MIN, INT64_MAX},
      NumberRange{0, overlap::WideInteger{1} << 80}};
  return kRanges;
}

std::string text_of(const Value& value) {
  return fmt::format("{}:{:x}:{:x}:{}:{}{} ", static_cast<int>(value.state), value.bits, value.most,
                     value.root, int{value.is_generic}, int{value.is_remote});
}

void add_wide(overlap::WideInteger value, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{:x}.{:x} ", static_cast<std::uint64_t>(value >> 64),
                 static_cast<std::uint64_t>(value));
}
std::string text_of(const std::optional<NumberRange>& range) {
  std::string out;
  if (!range) return "? ";
  add_wide(range->least, out);
  add_wide(range->most, out);
  return out;
}

// Calls `use` with so many of `all`, in every way; with a part of them where there are many ways.
template <typename T, typename Use>
void for_each_choice(const std::vector<T>& all, std::size_t count, const Use& use) {
  std::size_t ways = 1;
  for (std::size_t k = 0; k < count; ++k) ways *= all.size();
  const std::size_t step = count > 2 ? 7 : 1;
  std::vector<T> chosen(count, all[0]);
  for (std::size_t way = 0; way < ways; way += step) {
    std::size_t rest = way;
    for (T& each : chosen) {
      each = all[rest % all.size()];
      rest /= all.size();
    }
    use(chosen);
  }
}

}  // namespace

std::span<const char* const> operations() {
  return kOperations;
}

std::string operation_text(const std::string& instruction) {
  const auto module = overlap::module_of(instruction);
  const overlap::Footprint footprint = overlap::read_footprint(module, *module->function("k"), {});
  const Operation* operation = nullptr;
  for (const Operation& each : footprint.code->operations) {
    if (each.kind == Operation::Kind::kCompute) operation = &each;
  }
  const std::size_t count = operation->sources.size();
  std::string out = fmt::format("{} sources w{}\n", count, operation->width);
  if (count > 4) return out;
  for_each_choice(values(), count, [&](const std::vector<Value>& from) {
    out += text_of(result_of(*operation, from, Value::constant(3)));
  });
  out += '\n';
  for_each_choice(addresses(), count, [&](const std::vector<Value>& from) {
    const bool any = std::ranges::any_of(from, &Value::is_address);
    if (any) out += text_of(address_of(*operation, from));
  });
  out += '\n';
  for_each_choice(ranges(), count, [&](const std::vector<std::optional<NumberRange>>& from) {
    out += text_of(range_of(*operation, from));
  });
  if (!instruction.starts_with("setp") || count != 2) return out;
  for_each_choice(ranges(), 2, [&](const std::vector<std::optional<NumberRange>>& from) {
    for (const bool holds : {false, true}) {
      out += text_of(restricted(*operation, holds, false, from[0], from[1]));
      out += text_of(restricted(*operation, holds, true, from[0], from[1]));
    }
  });
  return out;
}

std::string places_text() {
  const auto module = overlap::module_of(
      ".shared .u32 one; .shared .align 8 .b8 many[24]; .shared .v4.f32 table[2][3];\n"
      "mov.u32 %r4, shared; mov.u32 %r5, one; mov.u32 %r6, many; mov.u32 %r7, table; "
      "mov.u32 %r8, any;",
      ".extern .shared .align 16 .b8 any[];");
  const overlap::Footprint footprint = overlap::read_footprint(module, *module->function("k"), {});
  const overlap::Code& code = *footprint.code;
  std::string out;
  auto to = std::back_inserter(out);
  std::vector<Value> places = {Value::varies(), Value::constant(0), Value::param(0)};
  for (std::uint32_t root = 0; root < code.shared_variables.size(); ++root) {
    const ptx::Variable* const variable = code.shared_variables[root];
    const std::uint64_t bytes = variable == nullptr ? 8 : overlap::variable_bytes(*variable);
    fmt::format_to(to, "{}: {} bytes\n", root, bytes);
    for (const std::uint64_t offset : {std::uint64_t{0}, bytes - 5, bytes - 4, bytes - 3, bytes}) {
      places.push_back(Value::shared(root, offset));
    }
    Value some = Value::shared(root, 2);
    some.most = bytes / 2;
    places.push_back(some);
    some.is_remote = true;
    places.push_back(some);
  }
  for (const Value& a : places) {
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{4}, std::int64_t{-8},
                                     std::int64_t{INT32_MAX}, INT64_MAX, INT64_MIN}) {
      out += text_of(moved(a, bytes));
    }
    for (const Value& b : places) {
      for (const unsigned bytes : {1, 4, 8}) out += may_overlap(code, a, b, bytes) ? 'm' : '.';
    }
    for (const Value& b : places) out += text_of(joined(a, b));
    out += '\n';
  }
  return out;
}

}  // namespace baton::record
