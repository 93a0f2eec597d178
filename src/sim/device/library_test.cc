#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "base/file/file.h"
#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::library_test {
namespace {

using testing::HasSubstr;

class LibraryTest : public DriverTest {
 protected:
  static constexpr auto kBinaryVersion = CU_FUNC_ATTRIBUTE_BINARY_VERSION;
  int b200_version_ = 0;

  struct Loaded {
    CUresult result;
    CUlibrary library;
    std::string log;
  };
  // Loads with an error buffer of the given size.
  Loaded load_logged(const std::string& image, std::size_t capacity = 1000) {
    std::string buffer(capacity, '#');
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {buffer.data(), reinterpret_cast<void*>(capacity)};
    CUlibrary library = nullptr;
    const CUresult result =
        driver.cuLibraryLoadData(&library, image.c_str(), options, values, 2, nullptr, nullptr, 0);
    return {result, library, buffer.c_str()};
  }

  int attribute(CUkernel entry, CUfunction_attribute which) {
    int value = -1;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelGetAttribute(&value, which, entry, 0));
    return value;
  }
};

TEST_F(LibraryTest, ListsItsKernels) {
  const CUlibrary library = load(kTestKernels);
  unsigned count = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryGetKernelCount(&count, library));
  std::vector<CUkernel> kernels(count);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryEnumerateKernels(kernels.data(), count, library));
  std::vector<std::string> names;
  for (CUkernel each : kernels) {
    const char* name = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelGetName(&name, each));
    names.push_back(name);
    EXPECT_EQ(kernel(library, name), each);
  }
  EXPECT_TRUE(std::find(names.begin(), names.end(), "add") != names.end());
  EXPECT_TRUE(std::find(names.begin(), names.end(), "empty") != names.end());
  CUkernel two[3] = {nullptr, nullptr, nullptr};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryEnumerateKernels(two, 2, library));
  EXPECT_EQ(two[2], nullptr);
  CUkernel found = nullptr;
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, driver.cuLibraryGetKernel(&found, library, "nonesuch"));
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, driver.cuLibraryGetKernel(&found, library, ""));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuLibraryGetKernel(&found, library, nullptr));
}

TEST_F(LibraryTest, NeedsNoContextToLoad) {
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(nullptr));
  const CUlibrary library = load(kTestKernels);
  const CUkernel add = kernel(library, "add");
  EXPECT_EQ(attribute(add, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelSetAttribute(
                                  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000, add, 0));
  CUfunction function = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuKernelGetFunction(&function, add));
  CUdeviceptr address = 0;
  size_t bytes = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT,
                driver.cuLibraryGetGlobal(&address, &bytes, library, "table"));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuKernelGetParamInfo(add, 0, &bytes, &bytes));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryUnload(library));
}

TEST_F(LibraryTest, KnowsParameters) {
  const CUkernel mixed = kernel(load(kTestKernels), "mixed");
  const std::pair<size_t, size_t> want[] = {{0, 1}, {8, 24}, {32, 2}, {48, 16}, {64, 8}};
  for (size_t i = 0; i < 5; ++i) {
    size_t offset = 0;
    size_t size = 0;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelGetParamInfo(mixed, i, &offset, &size));
    EXPECT_EQ(std::make_pair(offset, size), want[i]) << i;
  }
  size_t offset = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuKernelGetParamInfo(mixed, 5, &offset, &offset));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelGetParamInfo(mixed, 0, &offset, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuKernelGetParamInfo(mixed, 0, nullptr, &offset));
}

TEST_F(LibraryTest, KernelAttributes) {
  const CUlibrary library = load(kTestKernels);
  const CUkernel empty = kernel(library, "empty");
  const CUkernel staged = kernel(library, "staged");
  EXPECT_EQ(attribute(empty, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
  EXPECT_EQ(attribute(staged, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 4000);
  EXPECT_EQ(attribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152);
  EXPECT_EQ(attribute(staged, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 45152);
  EXPECT_EQ(attribute(empty, CU_FUNC_ATTRIBUTE_PTX_VERSION), 90);
  // An estimate where there is PTX alone, of 16 at least.
  EXPECT_GE(attribute(empty, CU_FUNC_ATTRIBUTE_NUM_REGS), tests_cuda() ? 1 : 16);
  EXPECT_LE(attribute(empty, CU_FUNC_ATTRIBUTE_NUM_REGS), 255);
  EXPECT_EQ(attribute(empty, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
  EXPECT_EQ(attribute(empty, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), -1);
  EXPECT_EQ(attribute(empty, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 0);
  EXPECT_EQ(attribute(kernel(library, "bounded"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 256);
  // Without machine code the registers are estimated from the PTX, never fewer than 16.
  EXPECT_EQ(attribute(empty, CU_FUNC_ATTRIBUTE_NUM_REGS), 16);
  EXPECT_GE(attribute(staged, CU_FUNC_ATTRIBUTE_NUM_REGS), 16);
  const CUkernel paired = kernel(library, "paired");
  EXPECT_EQ(attribute(paired, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 1);
  EXPECT_EQ(attribute(paired, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 2);
  EXPECT_EQ(attribute(paired, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH), 1);
  int value = 0;
  for (int id : {-1, 16, 99}) {
    EXPECT_RESULT(
        CUDA_ERROR_INVALID_VALUE,
        driver.cuKernelGetAttribute(&value, static_cast<CUfunction_attribute>(id), empty, 0))
        << id;
  }
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE,
                driver.cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, empty, 9));
}

TEST_F(LibraryTest, SettableAttributesHaveRanges) {
  const CUlibrary library = load(kTestKernels);
  const CUkernel empty = kernel(library, "empty");
  const CUkernel staged = kernel(library, "staged");
  auto set = [&](CUkernel entry, CUfunction_attribute which, int value) {
    return driver.cuKernelSetAttribute(which, value, entry, 0);
  };
  const auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_RESULT(CUDA_SUCCESS, set(empty, dynamic, 232448));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, set(empty, dynamic, 232449));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, set(empty, dynamic, -1));
  EXPECT_RESULT(CUDA_SUCCESS, set(staged, dynamic, 228448));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, set(staged, dynamic, 228449));
  const auto carveout = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
  EXPECT_RESULT(CUDA_SUCCESS, set(empty, carveout, 100));
  EXPECT_RESULT(CUDA_SUCCESS, set(empty, carveout, -1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, set(empty, carveout, 101));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, set(empty, CU_FUNC_ATTRIBUTE_NUM_REGS, 16));
  EXPECT_RESULT(CUDA_SUCCESS, set(empty, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  EXPECT_EQ(attribute(empty, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED), 1);
}

TEST_F(LibraryTest, FunctionsHaveSettingsOfTheirOwn) {
  const CUkernel staged = kernel(load(kTestKernels), "staged");
  const auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuKernelSetAttribute(dynamic, 100000, staged, 0));
  CUfunction function = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&function, staged));
  CUfunction again = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&again, staged));
  EXPECT_EQ(function, again);
  int value = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuFuncGetAttribute(&value, dynamic, function));
  EXPECT_EQ(value, 100000);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuFuncSetAttribute(function, dynamic, 60000));
  EXPECT_EQ(attribute(staged, dynamic), 100000);
  // What is set of the kernel later reaches its function.
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuKernelSetAttribute(dynamic, 70000, staged, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuFuncGetAttribute(&value, dynamic, function));
  EXPECT_EQ(value, 70000);
  // A kernel is not a function, nor a function a kernel.
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuFuncGetAttribute(&value, dynamic, reinterpret_cast<CUfunction>(staged)));
  EXPECT_RESULT(
      CUDA_ERROR_INVALID_HANDLE,
      driver.cuKernelGetAttribute(&value, dynamic, reinterpret_cast<CUkernel>(function), 0));
}

// Without machine code the registers are an estimate, which occupancy and limits depend on.
TEST_F(LibraryTest, RegistersAreEstimatedUntilTheyAreKnown) {
  SIMULATED_ONLY();
  const CUkernel entry = kernel(load(kTestKernels), "add");
  const int estimate = attribute(entry, CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_GT(estimate, 1);
  EXPECT_LT(estimate, 64);
  driver.simulator->set_registers(entry, 200);
  EXPECT_EQ(attribute(entry, CU_FUNC_ATTRIBUTE_NUM_REGS), 200);
  EXPECT_EQ(attribute(entry, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 256);
}

// Two threads that set different attributes of one kernel, or of its function, lose neither.
TEST_F(LibraryTest, ThreadsSetAttributesOfOneKernel) {
  constexpr int kRounds = 100'000;
  const CUkernel entry = kernel(load(kTestKernels), "add");
  CUfunction function = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&function, entry));
  const auto count_lost = [&](CUfunction_attribute which, bool of_kernel) {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
    int lost = 0;
    for (int round = 0; round < kRounds; ++round) {
      const int want = round % 100;
      int got = -1;
      if (of_kernel) {
        driver.cuKernelSetAttribute(which, want, entry, 0);
        driver.cuKernelGetAttribute(&got, which, entry, 0);
      } else {
        driver.cuFuncSetAttribute(function, which, want);
        driver.cuFuncGetAttribute(&got, which, function);
      }
      lost += got != want;
    }
    return lost;
  };
  for (const bool of_kernel : {true, false}) {
    auto shared = std::async(std::launch::async, count_lost,
                             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, of_kernel);
    EXPECT_EQ(count_lost(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, of_kernel), 0);
    EXPECT_EQ(shared.get(), 0);
  }
}

TEST_F(LibraryTest, GlobalsHaveAddresses) {
  const CUlibrary library = load(kTestKernels);
  CUdeviceptr address = 0;
  size_t bytes = 0;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuLibraryGetGlobal(&address, &bytes, library, "table"));
  EXPECT_EQ(bytes, 28u);
  EXPECT_EQ(download<int>(address, 7), (std::vector<int>{1, 2, 3, 0, 0, 0, 0}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryGetGlobal(nullptr, &bytes, library, "coefficients"));
  EXPECT_EQ(bytes, 12u);
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND,
                driver.cuLibraryGetGlobal(&address, &bytes, library, "nonesuch"));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuLibraryGetGlobal(nullptr, nullptr, library, "table"));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFree(address));  // the module's
}

TEST_F(LibraryTest, UnloadedLibrariesAreGone) {
  SIMULATED_ONLY();
  const CUlibrary library = load(kTestKernels);
  const CUkernel empty = kernel(library, "empty");
  CUfunction function = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&function, empty));
  EXPECT_RESULT(CUDA_SUCCESS, launch(empty, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryUnload(library));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuLibraryUnload(library));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, launch(empty, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

TEST_F(LibraryTest, TakesThePtxOfFatbins) {
  for (const char* packing : {"none", "default", "speed", "size"}) {
    const std::string fatbin =
        read_file(fmt::format("{}/src/image/testdata/packed_{}.fatbin", BATON_SOURCE_DIR, packing));
    // The wrapper that nvcc's host code hands over.
    const struct {
      std::uint32_t magic = 0x466243b1, version = 1;
      const void* data;
      const void* unused = nullptr;
    } wrapper{.data = fatbin.data()};
    for (const void* image :
         {static_cast<const void*>(fatbin.data()), static_cast<const void*>(&wrapper)}) {
      CUlibrary library = nullptr;
      ASSERT_RESULT(CUDA_SUCCESS, driver.cuLibraryLoadData(&library, image, nullptr, nullptr, 0,
                                                           nullptr, nullptr, 0))
          << packing;
      CUkernel packed = kernel(library, "packed");
      EXPECT_EQ(attribute(packed, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 128);
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryUnload(library));
    }
  }
}

TEST_F(LibraryTest, RefusesWhatItCannotRun) {
  SIMULATED_ONLY();  // a CUDA driver loads lazily, and lets most of these pass at first
  CUlibrary library = nullptr;
  EXPECT_RESULT(
      CUDA_ERROR_INVALID_VALUE,
      driver.cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  EXPECT_RESULT(CUDA_ERROR_INVALID_IMAGE, load_logged("").result);
  EXPECT_RESULT(CUDA_ERROR_INVALID_IMAGE, load_logged("hello world").result);
  const Loaded syntax = load_logged(head + ".visible .entry k({ ret; }");
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, syntax.result);
  EXPECT_NE(syntax.log.find(":4:"), std::string::npos) << syntax.log;
  const Loaded newer =
      load_logged(".version 99.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }");
  EXPECT_RESULT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, newer.result);
  EXPECT_NE(newer.log.find(":1:10: PTX of version 99.0 is newer than"), std::string::npos)
      << newer.log;
  const Loaded cubin =
      load_logged(std::string("\x7f"
                              "ELF\x02\x01\x01",
                              7));
  EXPECT_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, cubin.result);
  EXPECT_NE(cubin.log.find("holds machine code only, no PTX"), std::string::npos) << cubin.log;
  // A fatbin without members.
  const Loaded fatbin =
      load_logged(std::string("\x50\xed\x55\xba\x01\0\x10\0\0\0\0\0\0\0\0\0", 16));
  EXPECT_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, fatbin.result);
  EXPECT_NE(fatbin.log.find("no PTX"), std::string::npos) << fatbin.log;
  // The message is cut to the buffer, and ends in a NUL.
  EXPECT_EQ(load_logged("hello world", 10).log.size(), 9u);
  const Loaded fine = load_logged(head + ".visible .entry k() { ret; }");
  EXPECT_RESULT(CUDA_SUCCESS, fine.result);
  EXPECT_EQ(fine.log, "");
}

// As ptxas does, by the target of the PTX.
TEST_F(LibraryTest, InstructionsThatATargetLacksAreRefusedByName) {
  SIMULATED_ONLY();
  const int sm120 = *simulated_ordinal("sm120");
  CUcontext other = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&other, sm120));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(other));
  const struct {
    const char *target, *instruction, *wants;
  } cases[] = {{"sm_80", "griddepcontrol.wait;", "it requires .target sm_90 or newer"},
               {"sm_89", "fence.proxy.async;", "it requires .target sm_90 or newer"},
               {"sm_120", "setmaxnreg.inc.sync.aligned.u32 64;", "it requires .target sm_90a"},
               {"sm_120a", "wgmma.fence.sync.aligned;", "it requires .target sm_90a alone"}};
  for (const auto& [target, instruction, wants] : cases) {
    SCOPED_TRACE(instruction);
    const Loaded loaded = load_logged(
        fmt::format(".version 8.7\n.target {}\n.address_size 64\n.visible .entry k() {{ {} ret; }}",
                    target, instruction));
    ASSERT_RESULT(CUDA_SUCCESS, loaded.result);
    EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(loaded.library, "k"), nullptr));
    EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, driver.cuStreamSynchronize(nullptr));
    const auto found = driver.simulator->take_findings(other);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0].message, HasSubstr(wants));
    driver.simulator->recover(other);
  }
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
  driver.cuDevicePrimaryCtxRelease(sm120);
}

// What suits a chip is for the device to say whose context is current.
TEST_F(LibraryTest, LoadsForTheDeviceThatIsCurrent) {
  SIMULATED_ONLY();
  const int b200 = *simulated_ordinal("b200");
  CUcontext other = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&other, b200));
  const auto image = [](const char* target) {
    return fmt::format(".version 8.7\n.target {}\n.address_size 64\n.visible .entry k() {{ ret; }}",
                       target);
  };
  const struct {
    const char* target;
    bool on_h200, on_b200;
  } cases[] = {{"sm_80", true, true},     {"sm_90", true, true},    {"sm_90a", true, false},
               {"sm_100", false, true},   {"sm_100a", false, true}, {"sm_100f", false, true},
               {"sm_101a", false, false}, {"sm_120", false, false}};
  for (const auto& [target, on_h200, on_b200] : cases) {
    SCOPED_TRACE(target);
    for (const auto& [device, runs] : {std::pair(context, on_h200), std::pair(other, on_b200)}) {
      ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(device));
      const Loaded loaded = load_logged(image(target));
      EXPECT_EQ(loaded.result, runs ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX);
      if (!runs) {
        EXPECT_THAT(loaded.log, HasSubstr(fmt::format("the module is for {}", target)));
        EXPECT_THAT(loaded.log,
                    HasSubstr(device == other ? "the device is sm_100" : "the device is sm_90"));
        continue;
      }
      EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(loaded.library, "k"), nullptr));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryUnload(loaded.library));
    }
  }
  // Without a context any device will do; another one refuses it when it places a kernel there.
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(nullptr));
  const Loaded newer = load_logged(image("sm_100a"));
  ASSERT_RESULT(CUDA_SUCCESS, newer.result);
  const CUkernel entry = kernel(newer.library, "k");
  CUfunction function = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
  EXPECT_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, driver.cuKernelGetFunction(&function, entry));
  EXPECT_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU,
                driver.cuKernelGetAttribute(&b200_version_, kBinaryVersion, entry, 0));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(other));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&function, entry));
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuKernelGetAttribute(&b200_version_, kBinaryVersion, entry, b200));
  EXPECT_EQ(b200_version_, 100);
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, load_logged(image("sm_121")).result);
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, load_logged(image("sm_121")).result);
  driver.cuDevicePrimaryCtxRelease(b200);
}

// The engine has no tensor memory. It says so where a kernel gets that far, by the instruction's
// name, and not when the module loads.
TEST_F(LibraryTest, RefusesTensorMemoryByName) {
  SIMULATED_ONLY();
  const int b200 = *simulated_ordinal("b200");
  CUcontext other = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&other, b200));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(other));
  const CUlibrary library = load(R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry fine() { ret; }
.visible .entry tensor() {
  .shared .b32 address;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [address], 32;
  ret;
}
)");
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "fine"), nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "tensor"), nullptr, {}, 1, 32));
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, driver.cuStreamSynchronize(nullptr));
  const std::vector<driver::Finding> findings = driver.simulator->take_findings(other);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kUnsupportedInstruction);
  EXPECT_THAT(findings[0].message, HasSubstr("tcgen05.alloc"));
  driver.cuDevicePrimaryCtxRelease(b200);
}

// Bodies are parsed when they are asked for. A broken one is refused each time, and leaves the rest
// of the library as it was.
TEST_F(LibraryTest, RefusesBrokenBodies) {
  SIMULATED_ONLY();
  char log[512] = {};
  CUjit_option option[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* value[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlibrary library = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_PTX,
                driver.cuLibraryLoadData(&library, R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry broken() { add.u32 %r1, %r2 }
.visible .entry fine() { ret; }
)",
                                         option, value, 2, nullptr, nullptr, 0));
  EXPECT_NE(std::string_view(log).find("<ptx>:5:"), std::string_view::npos) << log;
}

// A driver compiles the whole module when it is loaded. What PTX has and the simulator lacks is
// another matter.
TEST_F(LibraryTest, RefusesWhatNoCompilerTakes) {
  SIMULATED_ONLY();
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const struct {
    const char *text, *why;
  } refused[] = {{".visible .entry k() { .reg .b32 %r<2>; frobnicate.b32 %r1, %r0; ret; }",
                  ":4:40: PTX has no instruction \"frobnicate\""},
                 {".extern .func helper();\n.visible .entry k() { { call helper; } ret; }",
                  ":5:25: \"helper\" is extern and nothing defines it"},
                 {".extern .global .b32 v;\n.visible .entry k() { .reg .b32 %r1; ld.global.b32 "
                  "%r1, [v]; ret; }",
                  ":5:38: \"v\" is extern and nothing defines it"}};
  for (const auto& [text, why] : refused) {
    SCOPED_TRACE(text);
    const Loaded loaded = load_logged(head + text);
    EXPECT_RESULT(CUDA_ERROR_INVALID_PTX, loaded.result);
    EXPECT_THAT(loaded.log, HasSubstr(why));
  }
  const char* taken[] = {
      // Nothing uses them, or everybody has them.
      ".extern .func helper();\n.extern .global .b32 v;\n.visible .entry k() { ret; }",
      ".extern .shared .b8 s[];\n.visible .entry k() { .reg .b32 %r1; mov.b32 %r1, s; ret; }",
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".visible .entry k() { .param .b64 f; .param .b64 a; .param .b32 r;\n"
      "call (r), vprintf, (f, a); ret; }",
      // Declared first, defined later.
      ".extern .func helper();\n.func helper() { ret; }\n.visible .entry k() { call helper; ret; }",
      // PTX has it, and the simulator has not.
      ".visible .entry k() { .reg .b32 %r<3>; vadd2.u32.u32.u32 %r0, %r1, %r2, %r1; ret; }"};
  for (const char* text : taken) {
    SCOPED_TRACE(text);
    EXPECT_RESULT(CUDA_SUCCESS, load_logged(head + text).result);
  }
  // A version whose instructions are not all known may have others.
  EXPECT_RESULT(CUDA_SUCCESS, load_logged(".version 9.1\n.target sm_90\n.address_size 64\n"
                                          ".visible .entry k() { frobnicate; ret; }")
                                  .result);
}

TEST_F(LibraryTest, RefusesOptionsThatDoNotExist) {
  SIMULATED_ONLY();
  CUlibrary library = nullptr;
  CUjit_option option = static_cast<CUjit_option>(9999);
  void* value = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuLibraryLoadData(&library, kTestKernels, &option,
                                                                   &value, 1, nullptr, nullptr, 0));
  EXPECT_RESULT(
      CUDA_ERROR_INVALID_VALUE,
      driver.cuLibraryLoadData(&library, kTestKernels, nullptr, nullptr, 1, nullptr, nullptr, 0));
}

}  // namespace
}  // namespace baton::sim::library_test
