#include <fmt/core.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "instructions/suite.h"

// Loads and stores: every width, sign extension into wider registers, vectors, state spaces,
// generic addresses, cache operators and memory order (PTX ISA, "Data Movement and Conversion
// Instructions": ld, ld.global.nc, st, prefetch). A case stores and loads its own 16 bytes.
namespace baton::instructions {
namespace {

constexpr unsigned kSlot = 16;
constexpr unsigned kThreads = 128;  // in a block

struct Space {
  std::string_view name;       // of the space
  std::string_view qualifier;  // of the instruction
  std::string address;         // text that leaves the slot's address in %p
};

std::vector<Space> spaces() {
  const std::string shared = fmt::format(
      ".shared .align 16 .b8 buffer[{}];\n  .reg .b64 %p;\n  mov.u64 %p, buffer;\n"
      "  mad.wide.u32 %p, %tid_, {}, %p;\n",
      kThreads * kSlot, kSlot);
  const std::string local =
      ".local .align 16 .b8 buffer[32];\n  .reg .b64 %p;\n  mov.u64 %p, buffer;\n"
      "  add.u64 %p, %p, 16;\n";
  const std::string global = fmt::format(
      ".reg .b64 %p;\n  mov.u64 %p, scratch;\n  mad.wide.u32 %p, %index, {}, %p;\n", kSlot);
  return {{"global", ".global", global},
          {"shared", ".shared", shared},
          {"local", ".local", local},
          {"global", "", global + "  cvta.global.u64 %p, %p;\n"},
          {"shared", "", shared + "  cvta.shared.u64 %p, %p;\n"},
          {"local", "", local + "  cvta.local.u64 %p, %p;\n"},
          // Shared addresses may be computed in 32 bits.
          {"shared", ".shared",
           fmt::format(".shared .align 16 .b8 buffer[{0}];\n  .reg .b32 %p;\n"
                       "  mov.u32 %p, buffer;\n  mad.lo.u32 %p, %tid_, {1}, %p;\n",
                       kThreads * kSlot, kSlot)}};
}

Values few(Kind kind) {
  Values values = values_of(kind);
  values.edges.resize(std::min<std::size_t>(values.edges.size(), 5));
  return values;
}

template <typename T>
void add_widths(Group& group, const Space& space, std::initializer_list<std::string_view> types) {
  for (const std::string_view type : types) {
    group
        .add(fmt::format("{0}  st{1}.{2} [%p], %a;\n  ld{1}.{2} %d, [%p];", space.address,
                         space.qualifier, type),
             [](T a) { return a; })
        .exact_nan()
        .operand(0, values_of(kind_of<T>()));
    group
        .add(fmt::format("{0}  st{1}.v2.{2} [%p], {{%a, %b}};\n  ld{1}.v2.{2} {{%d, %x}}, [%p];",
                         space.address, space.qualifier, type),
             [](T a, T b) { return std::tuple(a, b); })
        .exact_nan()
        .operand(0, few(kind_of<T>()));
    if (sizeof(T) == 8) continue;
    Case& four = group.add(fmt::format("{0}  st{1}.v4.{2} [%p], {{%a, %b, %c, %e}};\n"
                                       "  ld{1}.v4.{2} {{%d, %x, %y, %z}}, [%p];",
                                       space.address, space.qualifier, type),
                           [](T a, T b, T c, T e) {
                             return std::array{a, b, c, e};
                           });
    four.exact_nan();
    for (std::size_t i = 0; i < 4; ++i) four.operand(i, few(kind_of<T>()));
  }
}

// Loads narrower than what was stored, at every offset, into registers wider than they are.
template <typename Narrow, typename Register>
void add_extension(Group& group, const Space& space, std::string_view type) {
  for (unsigned offset = 0; offset < 4; offset += sizeof(Narrow)) {
    group
        .add(fmt::format("{0}  st{1}.b32 [%p], %a;\n  ld{1}.{2} %d, [%p+{3}];", space.address,
                         space.qualifier, type, offset),
             [offset](u32 a) {
               return static_cast<Register>(static_cast<Narrow>(a >> (8 * offset)));
             })
        .operand(0, few(Kind::kU32));
  }
}

// A store takes the low bits of a wider register, and leaves its neighbours alone.
template <typename Register>
void add_narrow_store(Group& group, const Space& space) {
  group
      .add(fmt::format("{0}  st{1}.b32 [%p], %b;\n  st{1}.u8 [%p+1], %a;\n  ld{1}.b32 %d, [%p];",
                       space.address, space.qualifier),
           [](Register a, u32 b) { return (b & 0xffff00ff) | u32{static_cast<u8>(a)} << 8; })
      .operand(0, few(kind_of<Register>()));
  group
      .add(fmt::format("{0}  st{1}.b32 [%p], %b;\n  st{1}.s16 [%p+2], %a;\n  ld{1}.b32 %d, [%p];",
                       space.address, space.qualifier),
           [](Register a, u32 b) { return (b & 0xffff) | u32{static_cast<u16>(a)} << 16; })
      .operand(0, few(kind_of<Register>()));
}

void add_space(Group& group, const Space& space) {
  add_widths<u16>(group, space, {"b16", "u16", "s16"});
  add_widths<u32>(group, space, {"b32", "u32", "s32"});
  add_widths<u64>(group, space, {"b64", "u64", "s64"});
  add_widths<F32>(group, space, {"f32"});
  add_widths<F64>(group, space, {"f64"});
  add_extension<s8, s16>(group, space, "s8");
  add_extension<s8, s32>(group, space, "s8");
  add_extension<s8, s64>(group, space, "s8");
  add_extension<u8, u16>(group, space, "u8");
  add_extension<u8, u32>(group, space, "b8");
  add_extension<u8, u64>(group, space, "u8");
  add_extension<s16, s32>(group, space, "s16");
  add_extension<s16, s64>(group, space, "s16");
  add_extension<u16, u32>(group, space, "u16");
  add_extension<u16, u64>(group, space, "b16");
  add_extension<s32, s64>(group, space, "s32");
  add_extension<u32, u64>(group, space, "u32");
  add_narrow_store<u16>(group, space);
  add_narrow_store<u32>(group, space);
  add_narrow_store<u64>(group, space);
  // Vectors of bytes, each extended.
  group.add(fmt::format("{0}  st{1}.b32 [%p], %a;\n  ld{1}.v4.s8 {{%d, %x, %y, %z}}, [%p];",
                        space.address, space.qualifier),
            [](u32 a) {
              std::array<s32, 4> bytes;
              for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<s8>(a >> (8 * i));
              return bytes;
            });
  group.add(fmt::format("{0}  st{1}.v2.u8 [%p], {{%a, %b}};\n  ld{1}.u16 %d, [%p];", space.address,
                        space.qualifier),
            [](u16 a, u16 b) { return static_cast<u16>((a & 0xff) | b << 8); });
}

// Qualifiers that change nothing of what one thread sees.
void add_qualifiers(Group& group) {
  const Space global = spaces()[0];
  const auto add = [&](std::string_view store, std::string_view load) {
    group.add(fmt::format("{}  {}.global.u32 [%p], %a;\n  {}.global.u32 %d, [%p];", global.address,
                          store, load),
              [](u32 a) { return a; });
  };
  for (const std::string_view load : {"ld.ca", "ld.cg", "ld.cs", "ld.lu", "ld.cv"}) add("st", load);
  for (const std::string_view store : {"st.wb", "st.cg", "st.cs", "st.wt"}) add(store, "ld");
  add("st.weak", "ld.weak");
  add("st.volatile", "ld.volatile");
  for (const std::string_view scope : {"cta", "cluster", "gpu", "sys"}) {
    add(fmt::format("st.relaxed.{}", scope), fmt::format("ld.relaxed.{}", scope));
    add(fmt::format("st.release.{}", scope), fmt::format("ld.acquire.{}", scope));
    group.add(fmt::format("{0}  st.global.u32 [%p], %a;\n  fence.acq_rel.{1};\n  fence.sc.{1};\n"
                          "  ld.global.u32 %d, [%p];",
                          global.address, scope),
              [](u32 a) { return a; });
  }
  for (const std::string_view scope : {"cta", "gl", "sys"}) {
    group.add(fmt::format("{}  st.global.u32 [%p], %a;\n  membar.{};\n  ld.global.u32 %d, [%p];",
                          global.address, scope),
              [](u32 a) { return a; });
  }
  for (const std::string_view load :
       {"ld.global.L1::evict_first.u32", "ld.global.L1::evict_last.u32",
        "ld.global.L1::no_allocate.u32", "ld.global.L2::64B.u32", "ld.global.L2::128B.u32",
        "ld.global.L2::256B.u32", "ld.global.ca.L2::128B.u32"}) {
    group.add(fmt::format("{}  st.global.u32 [%p], %a;\n  {} %d, [%p];", global.address, load),
              [](u32 a) { return a; });
  }
  for (const std::string_view prefetch :
       {"prefetch.global.L1", "prefetch.global.L2", "prefetch.global.L2::evict_last",
        "prefetch.global.L2::evict_normal"}) {
    group.add(fmt::format("{}  st.global.u32 [%p], %a;\n  {} [%p];\n  ld.global.u32 %d, [%p];",
                          global.address, prefetch),
              [](u32 a) { return a; });
  }
}

// Constant memory and the parameter block hold the same 64 bytes: byte i is 255 - 3 i.
constexpr u8 byte_at(unsigned index) {
  return static_cast<u8>(255 - 3 * index);
}

template <typename T>
T bytes_at(unsigned index) {
  u64 bits = 0;
  for (unsigned i = 0; i < sizeof(T); ++i) bits |= u64{byte_at(index + i)} << (8 * i);
  return static_cast<T>(bits);
}

std::string block_of_bytes() {
  std::string bytes;
  for (unsigned i = 0; i < 64; ++i) bytes.push_back(static_cast<char>(byte_at(i)));
  return bytes;
}

struct ReadOnly {
  std::string_view name, variable;
  bool parameter;
};

template <typename T, typename Register>
void add_read(Group& group, const ReadOnly& space, std::string_view type) {
  const auto finish = [&space](Case& added) {
    if (space.parameter) added.parameter(".param .align 16 .b8 block[64]", block_of_bytes());
  };
  for (const unsigned offset : {0u, 8u, 40u, static_cast<unsigned>(sizeof(T))}) {
    finish(group.add(fmt::format("ld.{}.{} %d, [{}+{}];", space.name, type, space.variable, offset),
                     [offset]() { return static_cast<Register>(bytes_at<T>(offset)); }));
  }
  finish(group.add(
      fmt::format("ld.{}.v2.{} {{%d, %x}}, [{}+48];", space.name, type, space.variable), []() {
        return std::tuple(static_cast<Register>(bytes_at<T>(48)),
                          static_cast<Register>(bytes_at<T>(48 + sizeof(T))));
      }));
  if (sizeof(T) == 8) return;
  finish(group.add(
      fmt::format("ld.{}.v4.{} {{%d, %x, %y, %z}}, [{}+16];", space.name, type, space.variable),
      []() {
        std::array<Register, 4> read;
        for (unsigned i = 0; i < 4; ++i) {
          read[i] = static_cast<Register>(bytes_at<T>(16 + i * sizeof(T)));
        }
        return read;
      }));
}

void add_read_only(Group& group, const ReadOnly& space) {
  if (!space.parameter) {
    group.declare(".const .align 16 .b8 block[64] = {");
    for (unsigned i = 0; i < 64; ++i) {
      group.declare(fmt::format("{}{}", i == 0 ? "" : ", ", byte_at(i)));
    }
    group.declare("};\n");
  }
  add_read<u8, u16>(group, space, "u8");
  add_read<s8, s32>(group, space, "s8");
  add_read<u8, u64>(group, space, "b8");
  add_read<u16, u16>(group, space, "u16");
  add_read<s16, s64>(group, space, "s16");
  add_read<u32, u32>(group, space, "b32");
  add_read<s32, s64>(group, space, "s32");
  add_read<u64, u64>(group, space, "u64");
}

}  // namespace

void add_memory(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "memory";
  // A slot for every row of the longest case.
  const std::string scratch = fmt::format(".global .align 16 .b8 scratch[{}];\n", 4096 * kSlot);
  unsigned count = 0;
  for (const Space& space : spaces()) {
    Group& group = family.group(fmt::format("{}{}", space.name,
                                            space.qualifier.empty() ? "_by_generic_address"
                                            : count == 6            ? "_by_32_bit_address"
                                                                    : ""));
    ++count;
    group.declare(scratch);
    add_space(group, space);
  }
  Group& qualifiers = family.group("qualifiers");
  qualifiers.declare(scratch);
  add_qualifiers(qualifiers);

  Group& non_coherent = family.group("global_read_only");
  non_coherent.declare(".global .align 16 .b32 table[8] = {1, -2, 3, -4, 5, -6, 7, -8};\n");
  non_coherent.add("ld.global.nc.u32 %d, [table+4];", []() { return ~u32{1}; });
  non_coherent.add("ld.global.nc.s16 %d, [table+4];", []() { return s32{-2}; });
  non_coherent.add("ld.global.nc.v4.b32 {%d, %x, %y, %z}, [table+16];", []() {
    return std::array<s32, 4>{5, -6, 7, -8};
  });
  non_coherent.add("ld.global.nc.L1::no_allocate.v2.u64 {%d, %x}, [table];",
                   []() { return std::tuple(u64{0xfffffffe00000001}, u64{0xfffffffc00000003}); });
  non_coherent.add("ldu.global.u32 %d, [table+8];", []() { return u32{3}; });

  static constexpr ReadOnly kConst{"const", "block", false};
  static constexpr ReadOnly kParam{"param", "block", true};
  add_read_only(family.group("const"), kConst);
  add_read_only(family.group("param"), kParam);
}

}  // namespace baton::instructions
