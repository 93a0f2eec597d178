/* Arrays, their copies, and texture and surface objects. */
#include "client.h"

enum { kWidth = 20, kHeight = 6, kDepth = 4, kTexels = kWidth * kHeight * kDepth };

/* fetch(out, texture, scale): out[t] = the texel at (x * scale, y, z) of thread t. store(surface): texel
   t of the first row = t. */
static const char kKernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry fetch(.param .u64 out, .param .u64 texture, .param .f32 scale)\n{\n"
    "  .reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .f32 %f<9>;\n"
    "  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [texture]; ld.param.f32 %f8, [scale];\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  rem.u32 %r2, %r1, 20; div.u32 %r3, %r1, 20; rem.u32 %r4, %r3, 6; div.u32 %r5, %r3, 6;\n"
    "  cvt.rn.f32.u32 %f1, %r2; cvt.rn.f32.u32 %f2, %r4; cvt.rn.f32.u32 %f3, %r5;\n"
    "  add.f32 %f1, %f1, 0f3F000000; add.f32 %f2, %f2, 0f3F000000; add.f32 %f3, %f3, 0f3F000000;\n"
    "  mul.f32 %f1, %f1, %f8;\n"
    "  tex.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2, %f3, %f3}];\n"
    "  mul.wide.u32 %rd3, %r1, 8; add.u64 %rd3, %rd1, %rd3;\n"
    "  st.global.v2.f32 [%rd3], {%f4, %f5};\n  ret;\n}\n"
    ".visible .entry store(.param .u64 surface)\n{\n"
    "  .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .b16 %h1;\n"
    "  ld.param.u64 %rd1, [surface]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 1; cvt.u16.u32 %h1, %r1;\n"
    "  sust.b.1d.b16.trap [%rd1, {%r2}], {%h1};\n  ret;\n}\n";

static CUfunction function_of(const char* name) {
  static CUmodule module;
  if (module == NULL) CHECK(cuModuleLoadData(&module, kKernels));
  CUfunction function;
  CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}

static CUtexObject texture_of(CUarray array, unsigned flags, CUfilter_mode filter) {
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC texture = {.flags = flags, .filterMode = filter};
  for (int d = 0; d < 3; ++d) texture.addressMode[d] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject object = 0;
  CHECK(cuTexObjectCreate(&object, &resource, &texture, NULL));
  return object;
}

/* Signed bytes of two channels in three dimensions, read as floats. */
static void three_dimensions(void) {
  CUDA_ARRAY3D_DESCRIPTOR description = {kWidth, kHeight, kDepth, CU_AD_FORMAT_SIGNED_INT8, 2, 0};
  CUarray array;
  CHECK(cuArray3DCreate(&array, &description));
  signed char texels[kTexels][2];
  for (int k = 0; k < kTexels; ++k) {
    texels[k][0] = (signed char)(k % 128);
    texels[k][1] = (signed char)-(k % 128);
  }
  CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = texels, .srcPitch = kWidth * 2,
                        .srcHeight = kHeight, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array,
                        .WidthInBytes = kWidth * 2, .Height = kHeight, .Depth = kDepth};
  CHECK(cuMemcpy3D(&copy));
  copy.dstZ = 1;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));

  CUtexObject texture = texture_of(array, 0, CU_TR_FILTER_MODE_POINT);
  CUdeviceptr out;
  static float got[kTexels][2];
  CHECK(cuMemAlloc(&out, sizeof got));
  float scale = 1;
  void* arguments[] = {&out, &texture, &scale};
  CHECK(cuLaunchKernel(function_of("fetch"), 1, 1, 1, kTexels, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuMemcpyDtoH(got, out, sizeof got));
  for (int k = 0; k < kTexels; ++k) {
    EXPECT(got[k][0] == (float)(k % 128) / 127.0f && got[k][1] == -(float)(k % 128) / 127.0f);
  }

  CUDA_ARRAY3D_DESCRIPTOR found;
  CHECK(cuArray3DGetDescriptor(&found, array));
  EXPECT(memcmp(&found, &description, sizeof found) == 0);
  CUDA_ARRAY_DESCRIPTOR flat;
  CHECK(cuArrayGetDescriptor(&flat, array));
  EXPECT(flat.Width == kWidth && flat.Height == kHeight && flat.NumChannels == 2);
  CUDA_RESOURCE_DESC resource;
  CHECK(cuTexObjectGetResourceDesc(&resource, texture));
  EXPECT(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.res.array.hArray == array);
  CUDA_TEXTURE_DESC described;
  CHECK(cuTexObjectGetTextureDesc(&described, texture));
  EXPECT(described.addressMode[2] == CU_TR_ADDRESS_MODE_CLAMP);
  CHECK(cuTexObjectDestroy(texture));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture));
  CHECK(cuArrayDestroy(array));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
  CHECK(cuMemFree(out));
}

static void rows(void) {
  CUDA_ARRAY_DESCRIPTOR description = {kWidth, 0, CU_AD_FORMAT_UNSIGNED_INT16, 1};
  CUarray array, other;
  CHECK(cuArrayCreate(&array, &description));
  CHECK(cuArrayCreate(&other, &description));
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
  resource.res.array.hArray = array;
  CUsurfObject surface;
  CHECK(cuSurfObjectCreate(&surface, &resource));
  void* arguments[] = {&surface};
  CHECK(cuLaunchKernel(function_of("store"), 1, 1, 1, kWidth, 1, 1, 0, NULL, arguments, NULL));
  unsigned short texels[kWidth];
  CHECK(cuMemcpyAtoH(texels, array, 0, sizeof texels));
  for (int k = 0; k < kWidth; ++k) EXPECT(texels[k] == k);
  CHECK(cuMemcpyAtoA(other, 8, array, 0, 16));
  CHECK(cuMemcpyHtoA(other, 0, texels + 12, 8));
  CHECK(cuMemcpyAtoH(texels, other, 0, 24));
  EXPECT(texels[0] == 12 && texels[3] == 15 && texels[4] == 0 && texels[11] == 7);
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, 24));
  CHECK(cuMemcpyAtoD(memory, other, 0, 24));
  CHECK(cuMemcpyDtoA(array, 16, memory, 24));
  CHECK(cuMemcpyAtoH(texels, array, 16, 24));
  EXPECT(texels[0] == 12 && texels[11] == 7);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoA(array, 18, memory, 24));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(surface));
  CHECK(cuSurfObjectDestroy(surface));
  CHECK(cuArrayDestroy(array));
  CHECK(cuArrayDestroy(other));
  CHECK(cuMemFree(memory));
}

/* The levels belong to the mipmap. */
static void levels_of_a_mipmap(void) {
  CUDA_ARRAY3D_DESCRIPTOR description = {9, 4, 2, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
  CUmipmappedArray mipmap = NULL;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(&mipmap, NULL, 1));
  CHECK(cuMipmappedArrayCreate(&mipmap, &description, 4));
  const size_t extents[4][3] = {{9, 4, 2}, {4, 2, 1}, {2, 1, 1}, {1, 1, 1}};
  CUarray level = NULL;
  for (unsigned k = 0; k < 4; ++k) {
    CHECK(cuMipmappedArrayGetLevel(&level, mipmap, k));
    CUDA_ARRAY3D_DESCRIPTOR found;
    CHECK(cuArray3DGetDescriptor(&found, level));
    EXPECT(found.Width == extents[k][0] && found.Height == extents[k][1] && found.Depth == extents[k][2]);
  }
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, mipmap, 4));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(level));
  CHECK(cuMipmappedArrayDestroy(mipmap));
  CUDA_ARRAY3D_DESCRIPTOR gone;
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&gone, level));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(mipmap));
  /* Layers are not halved. */
  CUDA_ARRAY3D_DESCRIPTOR layers = {8, 8, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED};
  CHECK(cuMipmappedArrayCreate(&mipmap, &layers, 2));
  CHECK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
  CHECK(cuArray3DGetDescriptor(&gone, level));
  EXPECT(gone.Width == 4 && gone.Height == 4 && gone.Depth == 5);
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayGetLevel(&level, (CUmipmappedArray)level, 0));
  CHECK(cuMipmappedArrayDestroy(mipmap));
}

static void what_is_refused(void) {
  CUarray array;
  CUDA_ARRAY3D_DESCRIPTOR sparse = {8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE};
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuArray3DCreate(&array, &sparse));
  CUDA_ARRAY3D_DESCRIPTOR layers = {8, 8, 4096, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &layers));
  CUDA_ARRAY_DESCRIPTOR wide = {1 << 20, 0, CU_AD_FORMAT_FLOAT, 1};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &wide));
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, 4096));
  CUDA_TEXTURE_DESC texture = {.flags = CU_TRSF_READ_AS_INTEGER};
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
  resource.res.linear.format = CU_AD_FORMAT_FLOAT;
  resource.res.linear.numChannels = 1;
  resource.res.linear.devPtr = memory + 4;
  resource.res.linear.sizeInBytes = 64;
  CUtexObject object;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, NULL));
  resource.res.linear.devPtr = memory;
  resource.res.linear.sizeInBytes = 8192;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, NULL));
  resource.res.linear.sizeInBytes = 4096;
  CUDA_RESOURCE_VIEW_DESC view = {.format = CU_RES_VIEW_FORMAT_FLOAT_1X32, .width = 4};
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuTexObjectCreate(&object, &resource, &texture, &view));
  CHECK(cuTexObjectCreate(&object, &resource, &texture, NULL));
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = NULL;
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuTexObjectCreate(&object, &resource, &texture, NULL));
  CUsurfObject surface;
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &resource));
  size_t most = 0;
  CHECK(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 1, 0));
  EXPECT(most == 1 << 28);
}

int main(void) {
  begin();
  three_dimensions();
  rows();
  levels_of_a_mipmap();
  what_is_refused();
  return 0;
}
