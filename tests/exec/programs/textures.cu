// Textures and surfaces in a program without an error; with an argument, in one that reads outside.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.cuh"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

constexpr int kWidth = 37, kHeight = 9, kDepth = 5;

template <typename T>
T* managed(size_t count) {
  T* pointer = nullptr;
  CHECK(cudaMallocManaged(&pointer, count * sizeof(T)));
  std::memset(pointer, 0, count * sizeof(T));
  return pointer;
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureFilterMode filter,
                               cudaTextureReadMode read, cudaTextureAddressMode mode,
                               bool normalized) {
  cudaTextureDesc texture{};
  for (auto& each : texture.addressMode) each = mode;
  texture.filterMode = filter;
  texture.readMode = read;
  texture.normalizedCoords = normalized;
  cudaTextureObject_t object = 0;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

__global__ void fetch_2d(cudaTextureObject_t texture, float dx, float scale, float* out) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * kWidth + x] = tex2D<float>(texture, x * scale + dx, y + 0.5f);
}

__global__ void fetch_linear(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<short2>(texture, threadIdx.x).y;
}

__global__ void fetch_3d(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = threadIdx.y;
  for (int z = 0; z < kDepth; ++z) {
    const float4 texel = tex3D<float4>(texture, x + 0.5f, y + 0.5f, z + 0.5f);
    out[(z * kHeight + y) * kWidth + x] = texel.x + 1000 * texel.w;
  }
}

__global__ void fetch_layers(cudaTextureObject_t texture, float* out) {
  const int x = threadIdx.x, y = threadIdx.y;
  for (int z = 0; z < kDepth; ++z) {
    out[(z * kHeight + y) * kWidth + x] = tex2DLayered<float>(texture, x + 0.5f, y + 0.5f, z);
  }
}

__global__ void double_layers(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x * 4, y = threadIdx.y;
  for (int z = 0; z < kDepth; ++z) {
    surf2DLayeredwrite(2 * surf2DLayeredread<float>(surface, x, y, z), surface, x, y, z);
  }
}

__global__ void gather(cudaTextureObject_t texture, float4* out) {
  *out = tex2Dgather<float4>(texture, 3.0f, 2.0f);
}

__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y;
  const uchar4 texel = surf2Dread<uchar4>(from, x * 4, y);
  const uchar4 inverted = {static_cast<unsigned char>(255 - texel.x),
                           static_cast<unsigned char>(255 - texel.y),
                           static_cast<unsigned char>(255 - texel.z), texel.w};
  surf2Dwrite(inverted, to, x * 4, y);
}

__global__ void write_outside(cudaSurfaceObject_t to) {
  surf2Dwrite(make_uchar4(1, 2, 3, 4), to, static_cast<int>(threadIdx.x) * 4 + 4 * (kWidth - 1), 0);
}


dim3 plane() { return dim3(kWidth, kHeight); }

std::vector<float> ramp() {
  std::vector<float> texels(kWidth * kHeight);
  for (int k = 0; k < kWidth * kHeight; ++k) texels[k] = static_cast<float>(k % kWidth + 100 * (k / kWidth));
  return texels;
}

void two_dimensions() {
  const std::vector<float> texels = ramp();
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &channels, kWidth, kHeight));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, texels.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  float* out = managed<float>(kWidth * kHeight);

  const auto nearest = texture_of(of_array(array), cudaFilterModePoint, cudaReadModeElementType, cudaAddressModeClamp, false);
  fetch_2d<<<1, plane()>>>(nearest, 0.5f, 1, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(std::memcmp(out, texels.data(), texels.size() * 4) == 0);

  // A quarter of a texel to the right: the value itself is linear, and clamped at the edge.
  const auto linear = texture_of(of_array(array), cudaFilterModeLinear, cudaReadModeElementType, cudaAddressModeClamp, false);
  fetch_2d<<<1, plane()>>>(linear, 0.75f, 1, out);
  CHECK(cudaDeviceSynchronize());
  for (int k = 0; k < kWidth * kHeight; ++k) {
    EXPECT(out[k] == (k % kWidth == kWidth - 1 ? texels[k] : texels[k] + 0.25f));
  }

  // Two periods further on the texels are the same.
  const auto wrapped = texture_of(of_array(array), cudaFilterModePoint, cudaReadModeElementType, cudaAddressModeWrap, true);
  float* rows = managed<float>(kWidth * kHeight);
  fetch_2d<<<1, plane()>>>(wrapped, 2 + 0.5f / kWidth, 1.0f / kWidth, rows);
  CHECK(cudaDeviceSynchronize());
  for (int x = 0; x < kWidth; ++x) EXPECT(rows[x] - rows[0] == x);

  float4* four = managed<float4>(1);
  gather<<<1, 1>>>(nearest, four);
  CHECK(cudaDeviceSynchronize());
  EXPECT(four->x == 202 && four->y == 203 && four->z == 103 && four->w == 102);

  std::vector<float> back(kWidth * kHeight);
  CHECK(cudaMemcpyFromArray(back.data(), array, 0, 0, back.size() * 4, cudaMemcpyDeviceToHost));
  EXPECT(back == texels);
  CHECK(cudaMemcpyToArray(array, 4, 1, texels.data(), 40 * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DFromArray(back.data(), kWidth * 4, array, 0, 1, kWidth * 4, 2, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == texels[kWidth] && back[1] == texels[0] && back[kWidth] == texels[36] && back[kWidth + 3] == texels[39]);
  EXPECT(back[kWidth + 4] == texels[2 * kWidth + 4]);

  cudaExtent extent{};
  cudaChannelFormatDesc found{};
  unsigned flags = 1;
  CHECK(cudaArrayGetInfo(&found, &extent, &flags, array));
  EXPECT(extent.width == kWidth && extent.height == kHeight && extent.depth == 0 && flags == 0);
  EXPECT(found.x == 32 && found.y == 0 && found.f == cudaChannelFormatKindFloat);
  cudaTextureDesc described{};
  CHECK(cudaGetTextureObjectTextureDesc(&described, wrapped));
  EXPECT(described.normalizedCoords == 1 && described.addressMode[1] == cudaAddressModeWrap);
  cudaResourceDesc resource{};
  CHECK(cudaGetTextureObjectResourceDesc(&resource, linear));
  EXPECT(resource.resType == cudaResourceTypeArray && resource.res.array.array == array);
  for (const auto object : {nearest, linear, wrapped}) CHECK(cudaDestroyTextureObject(object));
  EXPECT(cudaDestroyTextureObject(nearest) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaFreeArray(array));
}

void linear_and_pitched_memory() {
  std::vector<short2> pairs(100);
  for (short k = 0; k < 100; ++k) pairs[k] = {k, static_cast<short>(-k)};
  short2* memory = nullptr;
  CHECK(cudaMalloc(&memory, pairs.size() * sizeof(short2)));
  CHECK(cudaMemcpy(memory, pairs.data(), pairs.size() * sizeof(short2), cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory, cudaCreateChannelDesc<short2>(), pairs.size() * sizeof(short2)};
  const auto line = texture_of(resource, cudaFilterModePoint, cudaReadModeElementType, cudaAddressModeClamp, false);
  int* out = managed<int>(128);
  fetch_linear<<<1, 128>>>(line, out);
  CHECK(cudaDeviceSynchronize());
  for (int k = 0; k < 128; ++k) EXPECT(out[k] == (k < 100 ? -k : 0));

  // Bytes as floats up to 1.
  unsigned char* rows = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&rows, &pitch, kWidth, kHeight));
  std::vector<unsigned char> bytes(kWidth * kHeight);
  for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<unsigned char>(k);
  CHECK(cudaMemcpy2D(rows, pitch, bytes.data(), kWidth, kWidth, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc pitched{};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D = {rows, cudaCreateChannelDesc<unsigned char>(), kWidth, kHeight, pitch};
  const auto plane_of_bytes = texture_of(pitched, cudaFilterModeLinear, cudaReadModeNormalizedFloat, cudaAddressModeBorder, false);
  float* floats = managed<float>(kWidth * kHeight);
  fetch_2d<<<1, plane()>>>(plane_of_bytes, 0.5f, 1, floats);
  CHECK(cudaDeviceSynchronize());
  for (size_t k = 0; k < bytes.size(); ++k) EXPECT(floats[k] == static_cast<float>(bytes[k]) / 255);
  CHECK(cudaDestroyTextureObject(line));
  CHECK(cudaDestroyTextureObject(plane_of_bytes));
}

void three_dimensions() {
  std::vector<float4> texels(kWidth * kHeight * kDepth);
  for (size_t k = 0; k < texels.size(); ++k) texels[k] = {static_cast<float>(k), 0, 0, 2};
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float4>();
  const cudaExtent extent = make_cudaExtent(kWidth, kHeight, kDepth);
  CHECK(cudaMalloc3DArray(&array, &channels, extent));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), kWidth * sizeof(float4), kWidth, kHeight);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const auto cube = texture_of(of_array(array), cudaFilterModeLinear, cudaReadModeElementType, cudaAddressModeClamp, false);
  float* out = managed<float>(texels.size());
  fetch_3d<<<1, plane()>>>(cube, out);
  CHECK(cudaDeviceSynchronize());
  for (size_t k = 0; k < texels.size(); ++k) EXPECT(out[k] == static_cast<float>(k) + 2000);
  CHECK(cudaDestroyTextureObject(cube));
  CHECK(cudaFreeArray(array));
}

// Each layer is a texture, and then a surface, of its own.
void layers() {
  std::vector<float> texels(kWidth * kHeight * kDepth);
  for (size_t k = 0; k < texels.size(); ++k) texels[k] = static_cast<float>(k);
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(kWidth, kHeight, kDepth);
  CHECK(cudaMalloc3DArray(&array, &channels, extent, cudaArrayLayered));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), kWidth * sizeof(float), kWidth, kHeight);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const auto stack = texture_of(of_array(array), cudaFilterModeLinear, cudaReadModeElementType, cudaAddressModeClamp, false);
  const cudaResourceDesc resource = of_array(array);
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  float* out = managed<float>(texels.size());
  for (int pass = 0; pass < 2; ++pass) {
    fetch_layers<<<1, plane()>>>(stack, out);
    CHECK(cudaDeviceSynchronize());
    for (size_t k = 0; k < texels.size(); ++k) EXPECT(out[k] == static_cast<float>(k) * (pass + 1));
    double_layers<<<1, plane()>>>(surface);
  }
  CHECK(cudaDestroyTextureObject(stack));
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
}

void surfaces(bool outside) {
  std::vector<uchar4> texels(kWidth * kHeight);
  for (size_t k = 0; k < texels.size(); ++k) texels[k] = {static_cast<unsigned char>(k), 7, 200, 9};
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
  cudaArray_t arrays[2];
  cudaSurfaceObject_t objects[2];
  for (int k = 0; k < 2; ++k) {
    CHECK(cudaMallocArray(&arrays[k], &channels, kWidth, kHeight, cudaArraySurfaceLoadStore));
    const cudaResourceDesc resource = of_array(arrays[k]);
    CHECK(cudaCreateSurfaceObject(&objects[k], &resource));
  }
  if (outside) {
    write_outside<<<1, 2>>>(objects[1]);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    std::exit(0);
  }
  CHECK(cudaMemcpy2DToArray(arrays[0], 0, 0, texels.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  invert<<<1, plane()>>>(objects[0], objects[1]);
  std::vector<uchar4> inverted(kWidth * kHeight);
  CHECK(cudaMemcpy2DFromArray(inverted.data(), kWidth * 4, arrays[1], 0, 0, kWidth * 4, kHeight, cudaMemcpyDeviceToHost));
  for (size_t k = 0; k < texels.size(); ++k) {
    EXPECT(inverted[k].x == 255 - texels[k].x && inverted[k].y == 248 && inverted[k].z == 55 && inverted[k].w == 9);
  }
  CHECK(cudaMemcpy2DArrayToArray(arrays[0], 8, 1, arrays[1], 0, 0, 16, 2, cudaMemcpyDeviceToDevice));
  uchar4 one{};
  CHECK(cudaMemcpy2DFromArray(&one, 4, arrays[0], 12, 2, 4, 1, cudaMemcpyDeviceToHost));
  EXPECT(one.x == inverted[kWidth + 1].x && one.y == 248);
  for (int k = 0; k < 2; ++k) {
    CHECK(cudaDestroySurfaceObject(objects[k]));
    CHECK(cudaFreeArray(arrays[k]));
  }
}

void what_is_refused() {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  const cudaChannelFormatDesc odd = {5, 0, 0, 0, cudaChannelFormatKindFloat};
  EXPECT(cudaMallocArray(&array, &three, 4) == cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&array, &odd, 4) == cudaErrorInvalidChannelDescriptor);
  EXPECT(cudaMallocArray(&array, &ints, 0) == cudaErrorInvalidValue);
  EXPECT(cudaMalloc3DArray(&array, &ints, make_cudaExtent(4, 4, 6), cudaArraySparse) == cudaErrorNotSupported);
  CHECK(cudaMallocArray(&array, &ints, 4, 4));
  int words[64] = {};
  EXPECT(cudaMemcpy2DToArray(array, 4, 0, words, 16, 16, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DToArray(array, 0, 3, words, 16, 16, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  cudaTextureObject_t object = 0;
  const cudaResourceDesc resource = of_array(array);
  cudaTextureDesc texture{};
  texture.filterMode = cudaFilterModeLinear;  // of integers
  EXPECT(cudaCreateTextureObject(&object, &resource, &texture, nullptr) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaFreeArray(array));
}

int main(int argc, char** argv) {
  if (argc > 1) surfaces(true);
  two_dimensions();
  linear_and_pitched_memory();
  three_dimensions();
  layers();
  surfaces(false);
  what_is_refused();
  std::puts("right");
  return 0;
}
