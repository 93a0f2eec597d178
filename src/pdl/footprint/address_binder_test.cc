#include "pdl/footprint/address_binder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "pdl/test_support.h"

namespace baton::overlap::address_binder_test {
namespace {

// Returns what the binder says of the last argument, for a body that stores.
template <typename Tell>
auto of_store(const std::string& body, const GivenArgument& third, LoadedValue loaded,
              const Tell& tell) {
  const Footprint found = footprint_of(body);
  const std::vector<GivenArgument> given = {GivenArgument::pointer(1), GivenArgument::pointer(2),
                                            third, GivenArgument::scalar(7)};
  const VariableNumber variable = [](std::string_view, bool) { return MemoryId{9}; };
  const AddressBinder binder(found, given, variable, loaded);
  for (const AccessGroup& access : found.accesses) {
    if (access.writes) return tell(binder.touched(access));
  }
  ADD_FAILURE() << "nothing is stored";
  return tell(TouchedMemory());
}

// Why the memory that a body stores to is not known.
std::optional<UnknownAddress> why(const std::string& body,
                                  const GivenArgument& third = GivenArgument::pointer(3),
                                  LoadedValue loaded = LoadedValue::kIndex) {
  return of_store(body, third, loaded, [](const TouchedMemory& found) { return found.unknown; });
}

// How many memories that may be.
std::size_t count(const std::string& body, const GivenArgument& third) {
  return of_store(body, third, LoadedValue::kIndex,
                  [](const TouchedMemory& found) { return found.places.size(); });
}

// An address that is loaded, and one that a branch may tell by what it decides.
TEST(AddressBinder, TellsWhatIsLoadedFromWhatALoadedValueDecides) {
  const std::string store = "st.global.u32 [%d1], 1;";
  EXPECT_EQ(why("ld.global.u64 %d1, [%a];" + store), UnknownAddress::kLoaded);
  EXPECT_EQ(why("mov.u64 %d1, %c;" + store), std::nullopt);
  const std::string branch =
      "ld.global.u32 %r3, [%a]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L; nanosleep.u32 1; L:";
  EXPECT_EQ(why(branch + "mov.u64 %d1, %c;" + store), std::nullopt) << "an address as it was given";
  EXPECT_EQ(why(branch + "ld.global.u64 %d1, [%a];" + store), UnknownAddress::kLoaded);
  // The bits of the address may have come from the branch.
  const std::string shifted = "shr.u64 %d1, %c, 4; shl.b64 %d1, %d1, 4;" + store;
  EXPECT_EQ(why(shifted), std::nullopt);
  EXPECT_EQ(why(branch + shifted), UnknownAddress::kDecided);
  const std::string both = "setp.lt.u64 %p2, %b, %d3; @%p2 bra M; nanosleep.u32 1; M:";
  EXPECT_EQ(why(branch + "add.s64 %d3, %a, %d2;" + both + "mov.u64 %d1, %c;" + store),
            UnknownAddress::kDecided)
      << "addresses decide, too";
}

// Conditions on values of 64 bits tell addresses bit by bit.
TEST(AddressBinder, ConditionsTellLoadedAddresses) {
  const auto bit = [](const std::string& value) {
    return "ld.global.u64 %d3, [%a];" + value +
           "and.b64 %d3, %d3, 1024; setp.ne.u64 %p1, %d3, 0; mov.u64 %d1, 0;"
           "@%p1 mov.u64 %d1, 1024;";
  };
  const std::string narrow = "ld.global.u32 %r3, [%a]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L;";
  const std::string of_null = "add.u64 %d1, %d1, %c; st.global.u32 [%d1], 1;";
  const GivenArgument null = GivenArgument::scalar(0);
  EXPECT_EQ(why(bit("") + of_null, null), UnknownAddress::kNoBuffer);
  EXPECT_EQ(why(narrow + "mov.u64 %d1, 64; L:" + of_null, null), std::nullopt);
  const std::string indexed =
      "ld.global.u64 %d4, [%a]; add.u64 %d4, %a, %d4; ld.global.u32 %r3, [%d4];"
      "setp.eq.u32 %p1, %r3, 0; @%p1 bra L; mov.u64 %d1, 64; L:";
  EXPECT_EQ(why(indexed + of_null, null), std::nullopt) << "32 bits, wherever they lie";
  // From an address in memory of the block to anywhere.
  const std::string from_shared = "add.u64 %d1, %d1, %d5; st.u32 [%d1], 1;";
  const std::string shared = "mov.u64 %d5, shared; cvta.shared.u64 %d5, %d5;";
  EXPECT_EQ(why(shared + bit("sub.u64 %d3, %d3, %d5;") + from_shared), UnknownAddress::kDecided);
  EXPECT_EQ(why(shared + bit("") + from_shared), std::nullopt);
}

// Where kernels leave addresses, the parts of one are enough.
TEST(AddressBinder, ConditionsTellPartsOfLoadedAddresses) {
  const std::string bits =
      "ld.global.u32 %r3, [%a]; setp.eq.u32 %p1, %r3, 0; mov.u64 %d1, 0; @%p1 mov.u64 %d1, 1024;";
  const std::string of_null = "add.u64 %d1, %d1, %c; st.global.u32 [%d1], 1;";
  const GivenArgument null = GivenArgument::scalar(0);
  EXPECT_EQ(why(bits + of_null, null, LoadedValue::kFollowed), std::nullopt);
  EXPECT_EQ(why(bits + of_null, null, LoadedValue::kDifference), UnknownAddress::kNoBuffer);
  EXPECT_EQ(why(bits + of_null + "st.shared.u64 [shared], %b;", null, LoadedValue::kFollowed),
            UnknownAddress::kNoBuffer);
}

// The order of two addresses is a number. Comparisons with many numbers tell an address.
TEST(AddressBinder, ComparisonsWithNumbersTellAnAddress) {
  const std::string chosen =
      "selp.u64 %d3, 4096, 0, %p1; add.u64 %d1, %a, %d3; st.global.u32 [%d1], 1;";
  const std::string whole = "setp.lt.u64 %p1, %b, %c;" + chosen;
  const std::string greatest = "max.u64 %d5, %c, %b; setp.eq.u32 %p1, %r1, 0;" + chosen;
  const std::string words =
      "ld.param.u32 %r3, [p1]; ld.param.u32 %r4, [p2]; setp.lt.u32 %p1, %r3, %r4;" + chosen;
  const GivenArgument address = GivenArgument::scalar(std::uint64_t{1} << 44);
  for (const std::string& body : {whole, greatest, words}) {
    EXPECT_EQ(count(body, GivenArgument::pointer(3)), 1U) << body;
    EXPECT_EQ(count(body, GivenArgument::scalar(0)), 1U) << body;
    EXPECT_EQ(count(body, address), 2U) << body;
    EXPECT_EQ(count(body, GivenArgument::scalar(std::nullopt)), 2U) << body;
  }
  EXPECT_EQ(count(whole, GivenArgument::scalar(5)), 1U) << "each address is greater";
  EXPECT_EQ(count(words, GivenArgument::scalar(5)), 2U) << "halves of addresses may be less";
  EXPECT_EQ(count(whole, GivenArgument()), 2U) << "a struct that may hold numbers";
  const std::string in_shared =
      "mov.u64 %d5, shared; cvta.shared.u64 %d5, %d5; setp.lt.u64 %p1, %b, %c;"
      "selp.u64 %d3, 4096, 0, %p1; add.u64 %d1, %d5, %d3; st.u32 [%d1], 1;";
  EXPECT_EQ(count(in_shared, GivenArgument::pointer(3)), 0U);
  EXPECT_EQ(count(in_shared, address), 1U);
  const std::string numbers = "setp.lt.u64 %p1, %c, %c;" + chosen;
  EXPECT_EQ(count(numbers, address), 1U);
}

// Addresses of 32 bits are computed with as numbers are.
TEST(AddressBinder, NumbersOfPlacesInTheBlockTellOfNoBuffer) {
  const std::string index = "ld.global.u32 %r3, [%a]; mul.wide.u32 %d3, %r3, 4;";
  const std::string to_buffer = "add.u64 %d1, %c, %d3; st.global.u32 [%d1], 1;";
  const std::string stored =
      "mov.u32 %r4, shared; mul.lo.u32 %r4, %r4, 3; st.shared.u32 [shared], %r4;";
  const std::string of_buffer = "shr.u64 %d5, %b, 1; st.shared.u64 [shared], %d5;";
  EXPECT_EQ(why(index + to_buffer), std::nullopt);
  EXPECT_EQ(why(index + to_buffer + stored), std::nullopt);
  EXPECT_EQ(why(index + to_buffer + of_buffer), UnknownAddress::kLoaded);
  // From an address in memory of the block to anywhere.
  const std::string from_shared =
      "mov.u64 %d5, shared; cvta.shared.u64 %d5, %d5; add.u64 %d1, %d3, %d5; st.u32 [%d1], 1;";
  EXPECT_EQ(why(index + from_shared), std::nullopt);
  EXPECT_EQ(why(index + from_shared + stored), UnknownAddress::kLoaded);
}

TEST(AddressBinder, APrefetchLeavesNothingInMemory) {
  const std::string index =
      "ld.global.u32 %r3, [%a]; mul.wide.u32 %d3, %r3, 4; add.u64 %d1, %c, %d3;";
  const std::string store = "st.global.u32 [%d1], 1;";
  EXPECT_EQ(why(index + "prefetch.global.L2 [%d1];" + store), std::nullopt);
  EXPECT_EQ(why(index + "cp.async.bulk.prefetch.L2.global [%d1], 16;" + store), std::nullopt);
  EXPECT_EQ(why(index + store + "st.shared.u64 [shared], %d1;"), UnknownAddress::kLoaded);
}

// A constant address is unknown. It is a null pointer only in place of another one.
TEST(AddressBinder, AConstantAddressIsNotKnown) {
  EXPECT_EQ(why("mov.u64 %d1, 0; st.global.u32 [%d1], 1;"), UnknownAddress::kConstant);
  EXPECT_EQ(why("mov.u64 %d1, 0; @%p1 mov.u64 %d1, %c; st.global.u32 [%d1], 1;"), std::nullopt);
}

// Whether an access by a pointer in a struct, or in a number of 32 bits, touches nothing, as none
// goes through a null pointer.
TEST(AddressBinder, NullPointersInStructs) {
  const auto is_null = [](const std::string& pointer, const GivenArgument& given) {
    const auto module = ptx::ParsedModule::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .align 8 .b8 p[24]) {
.reg .b64 %d<3>; .reg .b32 %r<3>;
)" + pointer + R"(
st.global.u32 [%d1], 1; ret; })",
                                                 "k.ptx");
    const Footprint found = read_footprint(module, *module->function("k"), {});
    const AddressBinder binder(found, std::span(&given, 1),
                               [](std::string_view, bool) { return MemoryId{9}; });
    const TouchedMemory touched = binder.touched(found.accesses.at(0));
    return touched.places.empty() && !touched.unknown;
  };
  const auto numbers = [](std::vector<GivenArgument::Number> all) {
    GivenArgument given;
    given.kind = GivenArgument::Kind::kStruct;
    given.numbers = std::move(all);
    return given;
  };
  for (const std::uint32_t position : {0, 8}) {
    const std::string load = fmt::format("ld.param.u64 %d1, [p+{}];", position);
    EXPECT_TRUE(is_null(load, numbers({{position, 8, 0}}))) << position;
    EXPECT_FALSE(is_null(load, numbers({{position, 8, std::uint64_t{1} << 40}}))) << position;
    EXPECT_FALSE(is_null(load, numbers({{position, 4, 0}}))) << "half of it";
    EXPECT_FALSE(is_null(load, numbers({{16, 8, 0}}))) << "another field";
  }
  EXPECT_FALSE(is_null("ld.param.u32 %r1, [p]; cvt.u64.u32 %d1, %r1;", numbers({{0, 8, 0}})))
      << "a value of 32 bits is not a pointer";
}

// Two addresses in memory lead from one buffer to another: later kernels may find their difference.
TEST(AddressBinder, AddressesInGlobalMemoryAreStoredDifferences) {
  const auto stores = [](const std::string& value,
                         const std::string& store = "st.global.u64 [%c], %d1;",
                         bool is_close = false) {
    const Footprint found = footprint_of(value + store);
    std::vector<GivenArgument> given = {GivenArgument::pointer(1), GivenArgument::pointer(2),
                                        GivenArgument::pointer(3), GivenArgument::scalar(7)};
    given[0].has_neighbours = is_close;
    return AddressBinder(found, given, [](std::string_view, bool) { return MemoryId{9}; })
        .stores_differences();
  };
  EXPECT_FALSE(stores("mov.u64 %d1, 5;"));
  EXPECT_TRUE(stores("mov.u64 %d1, %a;"));
  EXPECT_TRUE(stores("mov.u64 %d1, %a;", "st.shared.u64 [shared], %d1;"))
      << "the block may copy it to a buffer";
  EXPECT_FALSE(stores("mov.u64 %d1, shared;", "st.shared.u64 [shared], %d1;"));
  EXPECT_TRUE(stores("add.u64 %d1, %a, 16;"));
  EXPECT_TRUE(stores("add.u64 %d1, %a, %b;"));
  EXPECT_TRUE(stores("sub.u64 %d1, %a, %b;"));
  // A parameter that is loaded by its address, which was lost meanwhile.
  const std::string lost =
      "mov.b64 %d5, p0; cvta.param.u64 %d5, %d5; st.volatile.shared.u64 [shared], %d5;"
      "ld.volatile.shared.u64 %d6, [shared]; ld.u64 %d7, [%d6];";
  EXPECT_TRUE(stores(lost + "sub.u64 %d1, %d7, 16;"));
  EXPECT_FALSE(stores("mov.b64 %d5, p0; ld.global.u64 %d7, [%c]; sub.u64 %d1, %d7, 16;"));
  const std::string alignment = "and.b64 %d1, %a, 255;", store = "st.global.u64 [%c], %d1;";
  EXPECT_FALSE(stores(alignment, store, false));
  EXPECT_TRUE(stores(alignment, store, true)) << "it leads to another buffer of these 256 bytes";
}

// Where the caller knows that no buffer which the kernel loads from has addresses, those that the
// kernel leaves in buffers do not matter. Its own block may still load those that it leaves there.
TEST(AddressBinder, AddressesInOtherBuffersLeaveIndexes) {
  const auto finds = [](const std::string& left, LoadedValue loaded) {
    const Footprint found =
        footprint_of(left +
                     "ld.global.u32 %r3, [%a]; mul.wide.u32 %d3, %r3, 4; add.u64 %d4, %b, %d3;"
                     "red.global.add.u32 [%d4], 1;");
    const std::vector<GivenArgument> given = {GivenArgument::pointer(1), GivenArgument::pointer(2),
                                              GivenArgument::pointer(3), GivenArgument::scalar(7)};
    const VariableNumber variable = [](std::string_view, bool) { return MemoryId{9}; };
    const AddressBinder binder(found, given, variable, loaded);
    const auto updates = std::ranges::find_if(
        found.accesses, [](const AccessGroup& access) { return access.reads && access.writes; });
    return !binder.touched(*updates).unknown;
  };
  for (const char* left :
       {"st.global.u64 [%c], %b;", "ld.param.u64 %d5, [p2]; st.u64 [%d5], %b;"}) {
    EXPECT_TRUE(finds(left, LoadedValue::kFollowed)) << left;
    EXPECT_FALSE(finds(left, LoadedValue::kIndex)) << left;
    EXPECT_FALSE(finds(left, LoadedValue::kDifference)) << left;
  }
  // The address of these stores may be one of the block.
  for (const char* left : {"st.shared.u64 [shared], %b;",
                           "ld.param.u64 %d5, [p2]; cvt.u64.u32 %d6, %r1; add.u64 %d5, %d5, %d6;"
                           "ld.global.u64 %d7, [%a]; add.u64 %d5, %d5, %d7; st.u64 [%d5], %b;"}) {
    EXPECT_FALSE(finds(left, LoadedValue::kFollowed)) << left;
  }
  EXPECT_TRUE(finds("", LoadedValue::kIndex));
}

TEST(AddressBinder, EveryReasonIsTold) {
  EXPECT_EQ(describe(UnknownAddress::kLoaded), "its address is loaded from memory");
  EXPECT_EQ(describe(UnknownAddress::kDecided),
            "a value that is loaded from memory decides a branch, and so perhaps the address");
}

}  // namespace
}  // namespace baton::overlap::address_binder_test
