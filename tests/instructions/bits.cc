#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "instructions/suite.h"

// Bits: counting, fields, permutations, shifts and logic (PTX ISA, "Integer Arithmetic
// Instructions" and "Logic and Shift Instructions"). The references follow the ISA's pseudo-code.
namespace baton::instructions {
namespace {

template <typename T>
std::string bit_type() {
  return fmt::format("b{}", sizeof(T) * 8);
}

// Positions and lengths around the width, and beyond the 8 bits that bfe and bfi look at.
Values positions() {
  Values values = only({0,   1,   31,  32,  33,         63,         64,         65,
                        5,   16,  30,  62,  127,        128,        200,        254,
                        255, 256, 257, 300, 0x80000000, 0xffffffff, 0x7fffffff, 0xffffff00});
  values.random = [](Random& random) { return random() % 80; };
  return values;
}

template <typename T>
void add_counts(Group& group) {
  using U = std::make_unsigned_t<T>;
  const std::string type = bit_type<T>();
  group.add("popc." + type + " %d, %a;", [](T a) { return u32(std::popcount(U(a))); });
  group.add("clz." + type + " %d, %a;", [](T a) { return u32(std::countl_zero(U(a))); });
  group.add("brev." + type + " %d, %a;", [](T a) {
    T reversed = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; ++i) reversed = T(reversed << 1 | (a >> i & 1));
    return reversed;
  });
}

template <typename T>
void add_bfind(Group& group) {
  using U = std::make_unsigned_t<T>;
  const std::string type = fmt::format("{}{}", std::is_signed_v<T> ? 's' : 'u', sizeof(T) * 8);
  const auto find = [](T a) {
    const U bits = a < 0 ? U(~U(a)) : U(a);
    return bits == 0 ? ~u32{0} : u32(sizeof(T) * 8 - 1 - std::countl_zero(bits));
  };
  group.add("bfind." + type + " %d, %a;", find);
  group.add("bfind.shiftamt." + type + " %d, %a;", [find](T a) {
    const u32 position = find(a);
    return position == ~u32{0} ? position : u32(sizeof(T) * 8 - 1) - position;
  });
}

// The ISA says that bfe and bfi look at 8 bits of positions and lengths. The hardware does for 32
// bits, and takes the whole register for 64.
template <typename T>
u64 field_number(u32 number) {
  return sizeof(T) == 4 ? number & 0xff : number;
}

template <typename T>
T extract(T a, u32 b, u32 c) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 kTop = sizeof(T) * 8 - 1;
  const u64 position = field_number<T>(b), length = field_number<T>(c);
  const bool extend = std::is_signed_v<T> && length != 0;
  const U sign = extend ? U(a) >> std::min<u64>(position + length - 1, kTop) & 1 : 0;
  U field = 0;
  for (u32 i = 0; i <= kTop; ++i) {
    const U bit = i < length && position + i <= kTop ? U(a) >> (position + i) & 1 : sign;
    field |= U(bit << i);
  }
  return T(field);
}

template <typename T>
T insert(T a, T b, u32 c, u32 d) {
  constexpr u32 kTop = sizeof(T) * 8 - 1;
  const u64 position = field_number<T>(c), length = field_number<T>(d);
  T result = b;
  for (u32 i = 0; i < length && position + i <= kTop; ++i) {
    const T bit = T{1} << (position + i);
    result = (a >> i & 1) != 0 ? T(result | bit) : T(result & ~bit);
  }
  return result;
}

template <typename T>
void add_bfe(Group& group) {
  const std::string type = fmt::format("{}{}", std::is_signed_v<T> ? 's' : 'u', sizeof(T) * 8);
  group.add("bfe." + type + " %d, %a, %b, %c;", extract<T>)
      .operand(1, positions())
      .operand(2, positions());
}

u32 find_nth_set(u32 mask, u32 base, s32 offset) {
  if (offset == 0) return (mask >> base & 1) != 0 ? base : ~u32{0};
  s32 count = std::abs(offset) - 1;
  const s32 step = offset > 0 ? 1 : -1;
  for (s32 position = s32(base); position >= 0 && position < 32; position += step) {
    if ((mask >> position & 1) != 0 && count-- == 0) return u32(position);
  }
  return ~u32{0};
}

u32 bit_mask(u32 a, u32 b, bool clamp) {
  const u32 a1 = a & 31, b1 = b & 31;
  u32 mask0 = ~u32{0} << a1;
  const u32 sum = a1 + b1;
  u32 mask1 = sum >= 32 ? 0 : ~u32{0} << sum;
  bool overflow = sum >= 32;
  if (clamp && a >= 32) {
    overflow = true;
    mask0 = 0;
  }
  if (clamp && b >= 32) overflow = true;
  if (overflow) {
    mask1 = 0;
  } else if (b1 == 0) {
    mask1 = ~u32{0};
  }
  return mask0 & ~mask1;
}

u32 extend(u32 a, u32 b, bool clamp, bool is_signed) {
  const u32 width = b & 31;
  const bool too_large = clamp && b >= 32;
  const u32 mask = too_large ? 0 : ~u32{0} << width;
  const bool sign = width != 0 && !too_large && is_signed && (a >> ((width - 1) & 31) & 1) != 0;
  return (a & ~mask) | (sign ? mask : 0);
}

u8 byte_of(u64 bytes, unsigned index) {
  return u8(bytes >> (index * 8));
}

// The eight bytes of b:a, by four selectors of three bits; a fourth replicates the byte's sign.
u32 permute(u32 a, u32 b, u32 selectors) {
  const u64 bytes = u64{b} << 32 | a;
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const u32 selector = selectors >> (4 * i) & 0xf;
    u8 byte = byte_of(bytes, selector & 7);
    if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= u32{byte} << (8 * i);
  }
  return result;
}

// The table of the ISA for prmt's modes: the four selectors, from the highest byte down, for each
// value of c's two low bits.
struct PermuteMode {
  const char* name;
  u8 selectors[4][4];
};
constexpr PermuteMode kPermuteModes[] = {
    {"f4e", {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
    {"b4e", {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
    {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
    {"ecl", {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
    {"ecr", {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
    {"rc16", {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}},
};

void add_permutations(Group& group) {
  Values selectors = only({0x3210, 0x7654, 0x0123, 0xfedc, 0xba98, 0x5140, 0x7362, 0, 0xffff,
                           0x8888, 0x12345678, 0xffff0000});
  selectors.random = [](Random& random) { return random() & 0xffff; };
  Values bytes = only({0x80ff7f01, 0x01020304, 0xfffefdfc, 0x8081797a, 0, 0xffffffff});
  bytes.random = [](Random& random) { return random() & 0xffffffff; };
  group.add("prmt.b32 %d, %a, %b, %c;", permute)
      .operand(0, bytes)
      .operand(1, bytes)
      .operand(2, selectors);
  for (const PermuteMode& mode : kPermuteModes) {
    group
        .add(fmt::format("prmt.b32.{} %d, %a, %b, %c;", mode.name),
             [&mode](u32 a, u32 b, u32 c) {
               const auto& order = mode.selectors[c & 3];
               return permute(a, b, u32(order[0] << 12 | order[1] << 8 | order[2] << 4 | order[3]));
             })
        .operand(0, bytes)
        .operand(1, bytes)
        .operand(2, only({0, 1, 2, 3, 4, 7, 0xfffffffe}));
  }
}

// Bit i of the table is the result for (a, b, c) = the bits of i, a the highest.
u32 lookup(u32 a, u32 b, u32 c, unsigned table) {
  u32 result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const unsigned index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
    result |= (table >> index & 1) << bit;
  }
  return result;
}

void add_lop3(Group& group) {
  Values words = only({0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa});
  words.random = nullptr;
  for (unsigned table = 0; table < 256; ++table) {
    group
        .add(fmt::format("lop3.b32 %d, %a, %b, %c, {};", table),
             [table](u32 a, u32 b, u32 c) { return lookup(a, b, c, table); })
        .operand(0, words)
        .operand(1, words)
        .operand(2, words);
  }
  // The predicate says whether the result is not 0, combined with bit 0 of c.
  for (const std::string_view combine : {"and", "or"}) {
    for (const unsigned table : {0x00u, 0x80u, 0x96u, 0xc0u, 0xfeu, 0xffu}) {
      const auto holds = [combine, table](u32 a, u32 b, u32 c) {
        const bool result = lookup(a, b, c, table) != 0;
        const bool other = (c & 1) != 0;
        return combine == "and" ? result && other : result || other;
      };
      const std::string flag =
          ".reg .pred %p, %q;\n  .reg .b32 %t;\n  and.b32 %t, %c, 1;\n  setp.ne.u32 %q, %t, 0;\n  ";
      group.add(flag + fmt::format("lop3.{}.b32 %t|%p, %a, %b, %c, {}, %q;\n"
                                   "  selp.b32 %d, 0x5555aaaa, 0, %p;\n  xor.b32 %d, %d, %t;",
                                   combine, table),
                [holds, table](u32 a, u32 b, u32 c) {
                  return lookup(a, b, c, table) ^ (holds(a, b, c) ? 0x5555aaaau : 0u);
                });
      group.add(flag + fmt::format("lop3.{}.b32 _|%p, %a, %b, %c, {}, %q;\n"
                                   "  selp.b32 %d, 1, 0, %p;",
                                   combine, table),
                [holds](u32 a, u32 b, u32 c) { return u32(holds(a, b, c)); });
      // The result may take the place of an operand, and the predicate that of the one it combines.
      group.add(flag + fmt::format("mov.b32 %t, %b;\n"
                                   "  lop3.{}.b32 %t|%q, %a, %t, %c, {}, %q;\n"
                                   "  selp.b32 %d, 0x5555aaaa, 0, %q;\n  xor.b32 %d, %d, %t;",
                                   combine, table),
                [holds, table](u32 a, u32 b, u32 c) {
                  return lookup(a, b, c, table) ^ (holds(a, b, c) ? 0x5555aaaau : 0u);
                });
    }
  }
}

template <typename T>
void add_shifts(Group& group) {
  constexpr unsigned width = sizeof(T) * 8;
  Values amounts = only({0, 1, width - 1, width, width + 1, width / 2, 31, 32, 33, 63, 64, 65, 255,
                         256, 65536, 0x80000000, 0xffffffff});
  amounts.random = [](Random& random) { return random() % (width + 4); };
  const std::string type = fmt::format("{}{}", std::is_signed_v<T> ? 's' : 'u', width);
  group
      .add("shr." + type + " %d, %a, %b;",
           [](T a, u32 b) { return T(a >> std::min<u32>(b, width - 1) >> (b >= width)); })
      .operand(1, amounts);
  if constexpr (!std::is_signed_v<T>) {
    group
        .add("shr." + bit_type<T>() + " %d, %a, %b;",
             [](T a, u32 b) { return b >= width ? T{0} : T(a >> b); })
        .operand(1, amounts);
    group
        .add("shl." + bit_type<T>() + " %d, %a, %b;",
             [](T a, u32 b) { return b >= width ? T{0} : T(u64{a} << b); })
        .operand(1, amounts);
    group.add("shl." + bit_type<T>() + " %d, %a, 3;", [](T a) { return T(u64{a} << 3); });
    group.add(fmt::format("shl.{} %d, %a, {};", bit_type<T>(), width), [](T) { return T{0}; });
  }
}

void add_funnels(Group& group) {
  Values amounts = only({0, 1, 31, 32, 33, 63, 64, 255, 0xffffffff, 16});
  amounts.random = [](Random& random) { return random() % 40; };
  for (const bool clamp : {true, false}) {
    const char* mode = clamp ? "clamp" : "wrap";
    const auto shift = [clamp](u32 c) { return clamp ? std::min(c, u32{32}) : c & 31; };
    group
        .add(fmt::format("shf.l.{}.b32 %d, %a, %b, %c;", mode),
             [shift](u32 a, u32 b, u32 c) { return u32(((u64{b} << 32 | a) << shift(c)) >> 32); })
        .operand(2, amounts);
    group
        .add(fmt::format("shf.r.{}.b32 %d, %a, %b, %c;", mode),
             [shift](u32 a, u32 b, u32 c) { return u32((u64{b} << 32 | a) >> shift(c)); })
        .operand(2, amounts);
  }
}

template <typename T>
void add_logic(Group& group) {
  const std::string type = bit_type<T>();
  group.add("and." + type + " %d, %a, %b;", [](T a, T b) { return T(a & b); });
  group.add("or." + type + " %d, %a, %b;", [](T a, T b) { return T(a | b); });
  group.add("xor." + type + " %d, %a, %b;", [](T a, T b) { return T(a ^ b); });
  group.add("not." + type + " %d, %a;", [](T a) { return T(~a); });
  group.add("cnot." + type + " %d, %a;", [](T a) { return T(a == 0); });
}

}  // namespace

void add_bits(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "bits";
  Group& counts = family.group("popc_clz_brev");
  add_counts<u32>(counts);
  add_counts<u64>(counts);
  Group& find = family.group("bfind");
  add_bfind<u32>(find);
  add_bfind<s32>(find);
  add_bfind<u64>(find);
  add_bfind<s64>(find);
  Group& fields = family.group("bfe");
  add_bfe<u32>(fields);
  add_bfe<s32>(fields);
  add_bfe<u64>(fields);
  add_bfe<s64>(fields);
  Group& insertion = family.group("bfi");
  insertion.add("bfi.b32 %d, %a, %b, %c, %e;", insert<u32>)
      .operand(2, positions())
      .operand(3, positions());
  insertion.add("bfi.b64 %d, %a, %b, %c, %e;", insert<u64>)
      .operand(2, positions())
      .operand(3, positions());

  Group& nth = family.group("fns");
  // The base is a position in the word; the ISA says nothing of others.
  Values bases = range(0, 31);
  Values offsets = range(-4, 4);
  offsets.edges.insert(offsets.edges.end(), {31, 32, 33, u64(-32), u64(-31)});
  nth.add("fns.b32 %d, %a, %b, %c;", find_nth_set).operand(1, bases).operand(2, offsets);

  Group& masks = family.group("bmsk_szext");
  for (const bool clamp : {true, false}) {
    const char* mode = clamp ? "clamp" : "wrap";
    masks
        .add(fmt::format("bmsk.{}.b32 %d, %a, %b;", mode),
             [clamp](u32 a, u32 b) { return bit_mask(a, b, clamp); })
        .operand(0, positions())
        .operand(1, positions());
    for (const bool is_signed : {false, true}) {
      masks
          .add(fmt::format("szext.{}.{} %d, %a, %b;", mode, is_signed ? "s32" : "u32"),
               [clamp, is_signed](u32 a, u32 b) { return extend(a, b, clamp, is_signed); })
          .operand(1, positions());
    }
  }
  add_permutations(family.group("prmt"));
  add_lop3(family.group("lop3"));
  Group& shifts = family.group("shl_shr");
  add_shifts<u16>(shifts);
  add_shifts<s16>(shifts);
  add_shifts<u32>(shifts);
  add_shifts<s32>(shifts);
  add_shifts<u64>(shifts);
  add_shifts<s64>(shifts);
  add_funnels(family.group("shf"));
  Group& logic = family.group("logic");
  add_logic<u16>(logic);
  add_logic<u32>(logic);
  add_logic<u64>(logic);
  logic.add("and.pred %d, %a, %b;", [](bool a, bool b) { return a && b; });
  logic.add("or.pred %d, %a, %b;", [](bool a, bool b) { return a || b; });
  logic.add("xor.pred %d, %a, %b;", [](bool a, bool b) { return a != b; });
  logic.add("not.pred %d, %a;", [](bool a) { return !a; });
}

}  // namespace baton::instructions
