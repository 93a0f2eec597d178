#include <gmock/gmock.h>

#include "baton/device.h"
#include "metadata/test_support.h"

namespace baton::metadata::versions_test {
namespace {

using testing::HasSubstr;

// One kernel, and what each version of TVM wrote about it in each of its forms, put together from
// the description of the forms; what versions 0.27 really wrote is in tests/golden/metadata. All of
// it launches the kernel by the same call.
constexpr std::string_view kPtx = R"(
.version 8.0
.target sm_90
.address_size 64
// out[i] = factor + the block's dynamic shared memory in bytes, for i < n
.visible .entry fill_kernel(
  .param .u64 fill_kernel_param_0,
  .param .u32 fill_kernel_param_1,
  .param .f32 fill_kernel_param_2
)
{
  .reg .pred %p<2>;
  .reg .u32 %r<8>;
  .reg .f32 %f<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [fill_kernel_param_0];
  ld.param.u32 %r1, [fill_kernel_param_1];
  ld.param.f32 %f1, [fill_kernel_param_2];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 ret;
  mov.u32 %r6, %dynamic_smem_size;
  cvt.rn.f32.u32 %f2, %r6;
  add.f32 %f3, %f1, %f2;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd2, %rd2, %rd3;
  st.global.f32 [%rd2], %f3;
  ret;
}
)";

enum class SchemaForm { kJson, kFunction, kModule, kModuleWithSources };

struct Version {
  const char* name;
  SchemaForm form;
  int generation;                 // of the binary function info
  const char* tags_key;           // of the sidecar
  std::vector<std::string> tags;  // or fields, in the newest generation
  bool pdl = false, cooperative = false, cluster = false;
};

const std::vector<std::string> kTypes = {"handle", "int32", "float32"};

std::string json_text(const std::vector<std::string>& strings) {
  std::string out;
  for (const std::string& text : strings) out += (out.empty() ? "\"" : ", \"") + text + "\"";
  return "[" + out + "]";
}

std::string bytes_of(const Version& version) {
  if (version.form == SchemaForm::kJson) {
    return R"({"tvm_version": "0.1.0", "func_info": {"fill_kernel": {"name": "", "arg_types": )" +
           json_text(kTypes) + ", \"" + version.tags_key + "\": " + json_text(version.tags) + "}}}";
  }
  const bool native = version.generation == 2;
  const RawFunction function = {"fill_kernel",
                                kTypes,
                                native ? std::vector<std::string>() : version.tags,
                                {0, 0, 0},
                                native ? version.tags : std::vector<std::string>(),
                                {}};
  if (version.form == SchemaForm::kFunction) return function_bytes(function, version.generation);
  const std::string module = module_bytes({function}, version.generation, "ptx", kPtx);
  if (version.form == SchemaForm::kModule) return module;
  ByteWriter out;
  out.counted_bytes("cuda.module.v1");
  out.bytes(module);
  out.count(1);
  out.counted_bytes("cuda");
  out.counted_bytes("// the source");
  return out.take();
}

const Version kVersions[] = {
    {"0.7 sidecar", SchemaForm::kJson, 0, "thread_axis_tags", {"blockIdx.x", "threadIdx.x"}},
    {"0.8 sidecar",
     SchemaForm::kJson,
     0,
     "launch_param_tags",
     {"blockIdx.x", "threadIdx.x", "tir.use_dyn_shared_memory"}},
    {"0.8 module",
     SchemaForm::kModule,
     0,
     "",
     {"blockIdx.x", "threadIdx.x", "tir.use_dyn_shared_memory"}},
    {"0.20 function info", SchemaForm::kFunction, 0, "", {"blockIdx.x", "threadIdx.x"}},
    {"0.21 module",
     SchemaForm::kModule,
     1,
     "",
     {"blockIdx.x", "threadIdx.x", "tir.use_dyn_shared_memory"}},
    {"0.23 sidecar",
     SchemaForm::kJson,
     1,
     "launch_param_tags",
     {"blockIdx.x", "threadIdx.x", "tir.use_programtic_dependent_launch",
      "tir.use_cooperative_launch", "tir.use_dyn_shared_memory"},
     true,
     true},
    {"0.24 module",
     SchemaForm::kModule,
     1,
     "",
     {"blockIdx.x", "threadIdx.x", "tirx.use_programtic_dependent_launch",
      "tirx.use_dyn_shared_memory"},
     true},
    {"0.26 module",
     SchemaForm::kModule,
     1,
     "",
     {"blockIdx.x", "threadIdx.x", "clusterCtaIdx.x", "tirx.use_cooperative_launch",
      "tirx.use_dyn_shared_memory"},
     false,
     true,
     true},
    {"tile-ai module",
     SchemaForm::kModule,
     1,
     "",
     {"blockIdx.x", "threadIdx.x", "tir.cluster_dim_x", "tirx.use_dyn_shared_memory"},
     false,
     false,
     true},
    {"main, function info", SchemaForm::kFunction, 2, "", {"grid.x", "block.x"}},
    {"main, module with sources",
     SchemaForm::kModuleWithSources,
     2,
     "",
     {"grid.x", "block.x", "cluster.x", "dynamic_smem_bytes"},
     false,
     false,
     true},
};

TEST(MetadataVersions, AllLaunchTheSameKernel) {
  const Device device = Device::open("sim:h200");
  const Module module = Module::load(device, Image::from_bytes(kPtx, "fill.ptx"));
  for (const Version& version : kVersions) {
    SCOPED_TRACE(version.name);
    const FoundMetadata found = read_metadata(bytes_of(version), version.name);
    EXPECT_THAT(found.remarks, testing::IsEmpty());
    const ModuleMetadata& metadata = found.modules.at(0);
    const bool has_code =
        version.form == SchemaForm::kModule || version.form == SchemaForm::kModuleWithSources;
    EXPECT_EQ(metadata.image().has_value(), has_code);
    const FunctionMetadata& function = metadata.function("fill_kernel");
    EXPECT_EQ(function.pdl(), version.pdl);
    EXPECT_EQ(function.cooperative(), version.cooperative);
    EXPECT_EQ(function.cluster(), version.cluster);

    const auto out = Buffer<float>::of(device, std::vector<float>(100));
    std::vector<Operand> operands = {out, 90, 0.5, 4, 32};
    if (version.cluster) operands.emplace_back(2);
    const bool shared = version.tags.back().ends_with("use_dyn_shared_memory") ||
                        version.tags.back() == "dynamic_smem_bytes";
    if (shared) operands.emplace_back(4096);
    // The kernel has no wait, and some versions launch it with pdl(): a finding, not the matter
    // here.
    device.set_finding_policy(FindingPolicy::kCollect);
    function.launch(module.kernel("fill_kernel"), {}, operands);
    device.findings();
    const auto got = out.download();
    EXPECT_EQ(got[89], shared ? 4096.5f : 0.5f);
    EXPECT_EQ(got[90], 0.0f);

    operands.pop_back();
    EXPECT_THAT(refusal_of([&] { function.launch(module.kernel("fill_kernel"), {}, operands); }),
                HasSubstr("fill_kernel takes " + std::to_string(operands.size() + 1) + " values"));
  }
}

// What is read from any version is written, and read again, as the same in Baton's own form.
TEST(MetadataVersions, AllSurviveTheCanonicalForms) {
  for (const Version& version : kVersions) {
    SCOPED_TRACE(version.name);
    const ModuleMetadata metadata = read_metadata(bytes_of(version), version.name).modules.at(0);
    for (const std::string& bytes : {metadata_json(metadata), metadata_binary(metadata)}) {
      const ModuleMetadata again = read_metadata(bytes, version.name).modules.at(0);
      EXPECT_EQ(again.function("fill_kernel"), metadata.function("fill_kernel"));
      EXPECT_EQ(metadata_json(again), metadata_json(metadata));
    }
  }
}

}  // namespace
}  // namespace baton::metadata::versions_test
