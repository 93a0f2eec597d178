#include <cuda.h>

#include <algorithm>
#include <optional>

#include "conformance/conformance.h"
#include "driver/driver.h"
#include "runtime/context.h"

namespace baton::conformance::facts_test {
namespace {

// What images say, and what the driver says of them once they are loaded. Each image is loaded
// alone, so that its own facts are what is checked against the driver: PTX on every device, machine
// code where the device takes it.
class Facts : public Conformance {
 protected:
  // The images of one source: PTX, and machine code for this device.
  std::vector<Image> images_of(std::string_view file) const {
    CompileOptions options;
    options.arch = device().compile_arch();
    const Compiled compiled = compile(Source::from_file(kernel_path(file)), options);
    std::vector<Image> images = {compiled.ptx};
    if (compiled.cubin) images.push_back(*compiled.cubin);
    return images;
  }

  std::optional<Module> load_alone(const Image& image) const {
    try {
      return Module::load(device(), image);
    } catch (const Error& refused) {
      EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput) << refused.what();
      return std::nullopt;
    }
  }

  // Calls `check(module)` for every image of the files that loads.
  template <typename Check>
  void for_each_image(std::initializer_list<std::string_view> files, Check check) const {
    for (std::string_view file : files) {
      std::size_t loaded = 0;
      for (const Image& image : images_of(file)) {
        const std::optional<Module> module = load_alone(image);
        if (!module) continue;
        ++loaded;
        SCOPED_TRACE(std::string(file) + " as " + std::string(to_string(image.kind())));
        ASSERT_FALSE(module->facts().kernels.empty());
        check(*module);
      }
      EXPECT_GE(loaded, 1u) << file;
    }
  }

  template <typename Check>
  void for_each_kernel(std::initializer_list<std::string_view> files, Check check) const {
    for_each_image(files, [&](const Module& module) {
      for (const KernelFacts& facts : module.facts().kernels) {
        SCOPED_TRACE(facts.name);
        check(module, facts, module.kernel(facts.name));
      }
    });
  }

  // As the function says it, and as the kernel does for the device.
  int attribute(const Kernel& kernel, CUfunction_attribute id) const {
    const ContextGuard guard(device());
    const driver::Driver& driver = device().driver();
    int of_function = -1;
    EXPECT_EQ(driver.cuFuncGetAttribute(&of_function, id, kernel.native_function()), CUDA_SUCCESS);
    int of_kernel = -1;
    EXPECT_EQ(driver.cuKernelGetAttribute(&of_kernel, id, kernel.native(), device().native()),
              CUDA_SUCCESS);
    EXPECT_EQ(of_function, of_kernel) << "attribute " << id;
    return of_function;
  }

  template <typename T>
  void expect_if_known(const std::optional<T>& fact, int driver, const char* what) {
    if (!fact) return;
    EXPECT_EQ(static_cast<int>(*fact), driver) << what;
  }
};

TEST_F(Facts, ParametersAreTheDrivers) {
  for_each_kernel({"facts.cu", "arguments.cu", "shared.cu"}, [&](const Module& module,
                                                                 const KernelFacts& facts,
                                                                 const Kernel& kernel) {
    ASSERT_TRUE(facts.params.has_value());
    const driver::Driver& driver = device().driver();
    const ContextGuard guard(device());
    // PTX says how a parameter is aligned; where it then lies depends on the architecture that the
    // driver compiles it for, beyond an alignment of 16.
    const bool says_offsets = module.facts().kind != ImageKind::kPtx || facts.name != "aligned";
    for (std::size_t i = 0; i < facts.params->size(); ++i) {
      const ParamFacts& param = (*facts.params)[i];
      std::size_t offset = 0, size = 0;
      ASSERT_EQ(driver.cuKernelGetParamInfo(kernel.native(), i, &offset, &size), CUDA_SUCCESS);
      EXPECT_EQ(param.size, size) << i;
      EXPECT_EQ(says_offsets ? param.offset : offset, offset) << i;
      std::size_t function_offset = 0, function_size = 0;
      ASSERT_EQ(
          driver.cuFuncGetParamInfo(kernel.native_function(), i, &function_offset, &function_size),
          CUDA_SUCCESS);
      EXPECT_EQ(function_offset, offset) << i;
      EXPECT_EQ(function_size, size) << i;
    }
    std::size_t offset = 0, size = 0;
    EXPECT_EQ(driver.cuKernelGetParamInfo(kernel.native(), facts.params->size(), &offset, &size),
              CUDA_ERROR_INVALID_VALUE);
  });
}

// Where the driver puts a parameter of PTX that is aligned to more than 16 bytes, only the driver
// knows; its type is known all the same.
TEST_F(Facts, TypesAreHeldWhereverTheParametersLie) {
  for_each_image({"facts.cu"}, [&](const Module& module) {
    const Kernel aligned = module.kernel("aligned");
    const ParamFacts& wide = aligned.facts().params->at(1);
    const ArgumentType pointer{8, true, {}}, real{4, false, DType::kF32};
    const ArgumentType integer{4, false, DType::kI32}, bytes{wide.size, false, {}};
    EXPECT_NO_THROW(aligned.check(std::array{integer, bytes, pointer}));
    if (module.facts().kind != ImageKind::kPtx) return;  // machine code alone has no types
    expect_error(ErrorCode::kInvalidInput, {"argument 0", "f32"}, [&] {
      aligned.check(std::array{real, bytes, pointer});
    });
  });
}

TEST_F(Facts, AttributesAreTheDrivers) {
  for_each_kernel(
      {"facts.cu", "arguments.cu", "shared.cu", "warps.cu"},
      [&](const Module& module, const KernelFacts& facts, const Kernel& kernel) {
        expect_if_known(facts.registers, attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS),
                        "registers");
        expect_if_known(facts.static_shared, attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                        "static shared memory");
        expect_if_known(facts.max_threads,
                        attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), "threads");
        expect_if_known(facts.local_bytes, attribute(kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                        "local memory");
        const auto cluster = facts.required_cluster.value_or(std::array<std::uint32_t, 3>{0, 0, 0});
        EXPECT_EQ(attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
                  static_cast<int>(cluster[0]));
        EXPECT_EQ(attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
                  static_cast<int>(cluster[1]));
        EXPECT_EQ(attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH),
                  static_cast<int>(cluster[2]));
        EXPECT_EQ(attribute(kernel, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET),
                  facts.required_cluster ? 1 : 0);
        // "sm_90a": the number is what the code is for, and of PTX what it was written for.
        const int number = std::stoi(facts.arch.substr(3));
        const CUfunction_attribute version = module.facts().kind == ImageKind::kPtx
                                                 ? CU_FUNC_ATTRIBUTE_PTX_VERSION
                                                 : CU_FUNC_ATTRIBUTE_BINARY_VERSION;
        EXPECT_EQ(attribute(kernel, version), number);
      });
}

TEST_F(Facts, TheLargestDynamicSharedMemoryIsTheDrivers) {
  const driver::Driver& driver = device().driver();
  for_each_kernel({"facts.cu"}, [&](const Module&, const KernelFacts& facts, const Kernel& kernel) {
    const auto most = max_dynamic_shared(facts, device().architecture());
    ASSERT_TRUE(most.has_value());
    EXPECT_EQ(*most, kernel.max_dynamic_shared());
    const auto allow = [&](std::uint32_t bytes) {
      return driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(bytes), kernel.native(),
                                         device().native());
    };
    const ContextGuard guard(device());
    EXPECT_EQ(allow(*most), CUDA_SUCCESS);
    EXPECT_EQ(allow(*most + 1), CUDA_ERROR_INVALID_VALUE);
  });
}

TEST_F(Facts, VariablesAreTheDrivers) {
  for_each_image({"facts.cu", "variables.cu"}, [&](const Module& module) {
    EXPECT_GE(module.facts().variables.size(), 4u);
    std::uint64_t constant = 0;
    for (const VariableFacts& variable : module.facts().variables) {
      EXPECT_EQ(module.global(variable.name).second, variable.size) << variable.name;
      if (variable.constant) constant += variable.size;
    }
    for (const KernelFacts& facts : module.facts().kernels) {
      const int bytes = attribute(module.kernel(facts.name), CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
      EXPECT_GE(static_cast<std::uint64_t>(std::max(bytes, 0)), constant) << facts.name;
    }
  });
}

TEST_F(Facts, EveryKernelIsTheDrivers) {
  for_each_image({"facts.cu", "arguments.cu"}, [&](const Module& module) {
    const driver::Driver& driver = device().driver();
    const ContextGuard guard(device());
    unsigned count = 0;
    ASSERT_EQ(driver.cuLibraryGetKernelCount(&count, module.native()), CUDA_SUCCESS);
    EXPECT_EQ(count, module.facts().kernels.size());
    std::vector<CUkernel> kernels(count);
    ASSERT_EQ(driver.cuLibraryEnumerateKernels(kernels.data(), count, module.native()),
              CUDA_SUCCESS);
    for (CUkernel kernel : kernels) {
      const char* name = nullptr;
      ASSERT_EQ(driver.cuKernelGetName(&name, kernel), CUDA_SUCCESS);
      EXPECT_NE(module.facts().kernel(name), nullptr) << name;
    }
  });
}

TEST_F(Facts, WaitsAreSeenInPtxAndInMachineCode) {
  if (device().architecture() < 90) GTEST_SKIP() << "programmatic launches begin with sm_90";
  for (const Image& image : images_of("facts.cu")) {
    const ImageFacts facts = read_facts(image);
    EXPECT_EQ(facts.kernel("waits")->waits, true) << to_string(image.kind());
    EXPECT_EQ(facts.kernel("waits")->triggers, false) << to_string(image.kind());
    EXPECT_EQ(facts.kernel("plain")->waits, false) << to_string(image.kind());
    EXPECT_EQ(facts.kernel("up_to_four")->max_cluster, 4u) << to_string(image.kind());
    EXPECT_EQ(facts.kernel("clustered")->required_cluster, (std::array<std::uint32_t, 3>{2, 1, 1}))
        << to_string(image.kind());
  }
}

// The rule, and what the driver does: a device that takes machine code at all takes what the rule
// allows and nothing else; PTX loads where the rule says that it compiles.
TEST_F(Facts, ImagesRunWhereTheRuleSaysSo) {
  const std::vector<Image> own = images_of("facts.cu");
  const bool takes_code = own.size() > 1 && load_alone(own[1]).has_value();
  for (const char* arch : {"sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120",
                           "compute_80", "compute_90", "compute_90a", "compute_100"}) {
    CompileOptions options;
    options.arch = arch;
    const Compiled compiled = compile(
        Source::from_text("extern \"C\" __global__ void k(int* p) { *p = 1; }", "k.cu"), options);
    const auto answer = [&](const Image& image) {
      return runs_on(read_facts(image), device().architecture(), device().driver_version());
    };
    const Compatibility ptx = answer(compiled.ptx);
    EXPECT_EQ(ptx.answer == Compatibility::Answer::kCompiles, load_alone(compiled.ptx).has_value())
        << arch << ": " << ptx.reason;
    if (!compiled.cubin || !takes_code) continue;
    const Compatibility code = answer(*compiled.cubin);
    EXPECT_EQ(code.answer == Compatibility::Answer::kRuns, load_alone(*compiled.cubin).has_value())
        << arch << ": " << code.reason;
  }
}

}  // namespace
}  // namespace baton::conformance::facts_test
