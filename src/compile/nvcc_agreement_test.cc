// One source for nvcc and for Baton: both must take it, and give its kernels the same symbols.

#include <fmt/core.h>

#include <optional>
#include <set>

#include "compile/compile_test.h"
#include "compile/nvrtc/toolkit.h"

namespace baton::nvcc_agreement_test {
namespace {

std::optional<fs::path> find_nvcc() {
  for (const fs::path& include : compiler::find_toolkit().include) {
    const fs::path nvcc = include.parent_path() / "bin" / "nvcc";
    if (fs::is_regular_file(nvcc)) return nvcc;
  }
  if (std::system("command -v nvcc > /dev/null 2>&1") == 0) return "nvcc";
  return std::nullopt;
}

std::set<std::string> entries_of(std::string_view ptx) {
  std::set<std::string> found;
  constexpr std::string_view kEntry = ".entry ";
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at)) {
    at += kEntry.size();
    found.emplace(ptx.substr(at, ptx.find_first_of("( \n", at) - at));
  }
  return found;
}

class NvccAgreement : public CompileTest {
 protected:
  void SetUp() override {
    nvcc_ = find_nvcc();
    if (!nvcc_) GTEST_SKIP() << "nvcc is not installed";
  }

  // The symbols that both give.
  std::set<std::string> agreed(const std::string& text) {
    const fs::path source = write("k.cu", text);
    const fs::path out = folder_.path() / "k.ptx";
    const fs::path said = folder_.path() / "nvcc.log";
    const std::string command =
        fmt::format("'{}' -ptx -arch=compute_90 -std=c++17 -o '{}' '{}' > '{}' 2>&1",
                    nvcc_->string(), out.string(), source.string(), said.string());
    if (std::system(command.c_str()) != 0) {
      ADD_FAILURE() << "nvcc refuses it: " << read_file(said, 1 << 20);
      return {};
    }
    const std::set<std::string> theirs = entries_of(read_file(out, 1 << 24));
    try {
      const std::set<std::string> ours =
          entries_of(compile(Source::from_file(source), {.arch = "compute_90"}).ptx.bytes());
      EXPECT_EQ(ours, theirs);
      return ours;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      return {};
    }
  }

  std::optional<fs::path> nvcc_;
};

TEST_F(NvccAgreement, IntegersOf64BitsAreLong) {
  const std::set<std::string> symbols = agreed(R"(
    #include <cinttypes>
    #include <climits>
    #include <cstdint>
    #include <limits>
    #include <type_traits>
    __device__ void f(unsigned long* p) { *p = 3; }
    __global__ void k(uint64_t* a, int64_t* b) { f(a); *b = INT64_MIN; }
    __global__ void all(std::int_fast16_t, uint_fast32_t, int_fast8_t, intptr_t, std::uintptr_t,
                        intmax_t, uintmax_t, size_t, ptrdiff_t, int_least64_t) {}
    template <typename T> struct W { static constexpr int value = 0; };
    template <> struct W<std::uint64_t> { static constexpr int value = 1; };
    template <> struct W<unsigned long long> { static constexpr int value = 2; };
    static_assert(W<unsigned long>::value == 1);
    template <typename T, typename U> constexpr bool is(U) { return std::is_same_v<T, U>; }
    static_assert(is<long>(INT64_MAX) && is<long>(INT64_MIN) && is<unsigned long>(UINT64_MAX));
    static_assert(is<long>(INT64_C(1)) && is<unsigned long>(UINT64_C(1)) && is<int>(INT32_C(1)));
    static_assert(is<long>(INTMAX_C(1)) && is<unsigned long>(SIZE_MAX) && is<long>(PTRDIFF_MAX));
    static_assert(is<long>(LONG_MAX) && is<long>(LONG_MIN) && is<unsigned long>(ULONG_MAX));
    static_assert(is<long long>(LLONG_MAX) && is<unsigned long long>(ULLONG_MAX));
    static_assert(is<long>(INT_FAST16_MAX) && is<int>(INT_LEAST32_MAX));
    static_assert(sizeof(PRId64) == 3 && sizeof(PRIuMAX) == 3 && sizeof(PRIx32) == 2);
    static_assert(std::numeric_limits<int64_t>::min() == INT64_MIN);
    static_assert(std::is_same_v<std::make_unsigned_t<long long>, unsigned long long>);
    static_assert(std::is_same_v<std::make_signed_t<unsigned long>, long>);
    enum class E : unsigned long {};
    static_assert(std::is_same_v<std::make_signed_t<E>, long>);
  )");
  EXPECT_TRUE(symbols.count("_Z1kPmPl"));
}

// CUDA's own headers declare these types for NVRTC too.
TEST_F(NvccAgreement, CudasHeadersHaveTheSameIntegers) {
  const std::set<std::string> symbols = agreed(R"(
    #include <climits>
    #include <cuda/std/climits>
    #include <cuda/std/cstdint>
    #include <cuda/std/limits>
    #include <cuda/std/type_traits>
    #include <cuda_awbarrier.h>
    #include <cuda_pipeline.h>
    #include <cuda/barrier>
    #include <cooperative_groups.h>
    #include <cooperative_groups/memcpy_async.h>
    static_assert(cuda::std::is_same<cuda::std::uint64_t, unsigned long>::value, "");
    static_assert(cuda::std::is_same<cuda::std::int64_t, std::int64_t>::value, "");
    static_assert(cuda::std::is_same<decltype(LONG_MAX), long>::value, "");
    static_assert(cuda::std::numeric_limits<long>::max() == LONG_MAX, "");
    static_assert(cuda::std::is_same<__mbarrier_t, unsigned long>::value, "");
    __global__ void k(cuda::std::uint64_t* p, cuda::std::uintptr_t) {
      __shared__ __mbarrier_t barrier;
      if (threadIdx.x == 0) __mbarrier_init(&barrier, 1);
      __pipeline_arrive_on(&barrier);
      *p = cooperative_groups::this_grid().size();
    })");
  EXPECT_TRUE(symbols.count("_Z1kPmm"));
}

TEST_F(NvccAgreement, TypeTraitsSayTheSame) {
  agreed(R"(
    #include <type_traits>
    struct Plain { int x; };
    struct Final final { Final(const Final&) = delete; ~Final() noexcept(false) {} };
    struct Virtual { virtual ~Virtual(); virtual int f() = 0; };
    struct Mover { Mover(Mover&&) noexcept; Mover& operator=(Mover&&); int member(int) noexcept; };
    enum Old { kOld }; enum class New : short { kNew };
    union U { int a; float b; };
    int function(float) noexcept;
    template <typename T> using add = T;
    #define YES(...) static_assert(std::__VA_ARGS__, #__VA_ARGS__)
    #define NO(...) static_assert(!std::__VA_ARGS__, #__VA_ARGS__)
    YES(extent_v<int[2][3]> == 2); YES(extent_v<int[2][3], 1> == 3); YES(extent_v<int[], 1> == 0);
    YES(rank_v<int[][4]> == 2); YES(rank_v<int> == 0); YES(alignment_of_v<double> == 8);
    YES(is_same_v<std::remove_all_extents_t<int[2][3]>, int>);
    YES(is_same_v<std::add_cv_t<int>, const volatile int>);
    YES(is_same_v<std::add_volatile_t<int>, volatile int>);
    static_assert(sizeof(std::aligned_storage_t<24, 8>) == 24);
    YES(is_nothrow_swappable_v<int>); YES(is_swappable_v<Plain>); NO(is_swappable_v<Final>);
    YES(is_copy_constructible_v<Plain>); NO(is_copy_constructible_v<Mover>);
    YES(is_nothrow_move_constructible_v<Mover>); NO(is_nothrow_move_assignable_v<Mover>);
    YES(is_move_assignable_v<Mover>); NO(is_copy_assignable_v<Mover>);
    YES(is_trivially_copy_constructible_v<Plain>); NO(is_trivially_move_constructible_v<Mover>);
    YES(is_trivially_default_constructible_v<Plain>); NO(is_default_constructible_v<Mover>);
    YES(is_nothrow_default_constructible_v<int>); YES(is_trivially_copy_assignable_v<U>);
    YES(is_assignable_v<int&, float>); NO(is_assignable_v<int, float>);
    YES(is_nothrow_assignable_v<int&, int>); YES(is_trivially_assignable_v<int&, int>);
    YES(is_destructible_v<Plain[2]>); YES(is_destructible_v<int&>); NO(is_destructible_v<void>);
    YES(is_nothrow_destructible_v<Mover>); NO(is_nothrow_destructible_v<Final>);
    YES(is_trivially_destructible_v<int&>); NO(is_trivially_destructible_v<Virtual>);
    YES(has_virtual_destructor_v<Virtual>); YES(has_unique_object_representations_v<int[3]>);
    NO(has_unique_object_representations_v<float>);
    YES(is_invocable_v<decltype(function), int>); NO(is_invocable_v<decltype(function), Plain>);
    YES(is_invocable_v<decltype(&Mover::member), Mover&, int>);
    YES(is_invocable_v<decltype(&Mover::member), Mover*, int>);
    YES(is_invocable_v<decltype(&Plain::x), Plain>); NO(is_invocable_v<int>);
    YES(is_same_v<std::invoke_result_t<decltype(&Plain::x), Plain&>, int&>);
    YES(is_same_v<std::invoke_result_t<decltype(function)*, int>, int>);
    YES(is_invocable_r_v<long, decltype(function), int>);
    YES(is_invocable_r_v<void, decltype(function), int>);
    NO(is_invocable_r_v<Plain, decltype(function), int>);
    YES(is_nothrow_invocable_v<decltype(function), float>);
    YES(is_aggregate_v<Plain>); NO(is_aggregate_v<Mover>); YES(is_final_v<Final>);
    YES(is_standard_layout_v<Plain>); NO(is_standard_layout_v<Virtual>); YES(is_literal_type_v<int>);
    YES(is_scalar_v<Old>); YES(is_scalar_v<int Plain::*>); NO(is_scalar_v<Plain>);
    YES(is_polymorphic_v<Virtual>); YES(is_abstract_v<Virtual>); NO(is_abstract_v<Plain>);
    YES(is_function_v<decltype(function)>); NO(is_function_v<int&>); NO(is_function_v<const int>);
    YES(is_member_pointer_v<int Plain::*>); YES(is_member_object_pointer_v<int Plain::*>);
    YES(is_member_function_pointer_v<decltype(&Mover::member)>);
    NO(is_member_function_pointer_v<int Plain::*>);
    YES(is_object_v<int*>); NO(is_object_v<int&>); YES(is_compound_v<Plain>); NO(is_compound_v<int>);
    YES(is_union_v<U>); YES(is_lvalue_reference_v<int&>); YES(is_rvalue_reference_v<int&&>);
    YES(is_volatile_v<volatile int>); YES(is_null_pointer_v<decltype(nullptr)>);
    YES(is_fundamental_v<float>); YES(is_pod_v<Plain>); YES(is_swappable_with_v<int&, int&>);
    YES(is_trivially_constructible_v<int, int>); YES(is_nothrow_constructible_v<int, long>);
    YES(negation_v<std::false_type>);
    __global__ void k(int*) {}
  )");
}

}  // namespace
}  // namespace baton::nvcc_agreement_test
