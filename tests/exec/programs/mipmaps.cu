// Mipmapped arrays and cubes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.cuh"

constexpr int kSize = 16, kLevels = 5, kFaces = 6;

__global__ void fill(cudaSurfaceObject_t surface, int size, float value) {
  for (int k = threadIdx.x; k < size * size; k += blockDim.x) {
    surf2Dwrite(value, surface, k % size * 4, k / size);
  }
}

__global__ void by_level(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, threadIdx.x * 0.25f);
}

// One texel of level 0 to the right is one pixel, then two, four and so on.
__global__ void by_gradient(cudaTextureObject_t texture, float* out) {
  const float step = static_cast<float>(1 << threadIdx.x) / kSize;
  out[threadIdx.x] = tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(step, 0), make_float2(0, step / 2));
}

__global__ void around(cudaTextureObject_t texture, float* out) {
  const float at[] = {1, -1, 2, -2, 3, -3};
  const int k = threadIdx.x;
  const float x = k / 2 == 0 ? at[k] : 0.25f, y = k / 2 == 1 ? at[k] : 0.25f, z = k / 2 == 2 ? at[k] : 0.25f;
  out[k] = texCubemap<float>(texture, x, y, z);
  // The corner of each face that the guide's table puts at s, t > 1/2.
  const float s = 0.9f, t = 0.6f;
  const float3 corners[] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
  out[kFaces + k] = texCubemap<float>(texture, corners[k].x, corners[k].y, corners[k].z);
}

__global__ void around_layers(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = texCubemapLayered<float>(texture, 0, -1, 0, static_cast<int>(threadIdx.x));
}

__global__ void paint(cudaSurfaceObject_t surface, int face) {
  surfCubemapwrite(100.0f + face, surface, 4, 2, face);
}

template <typename T>
T* managed(size_t count) {
  T* pointer = nullptr;
  CHECK(cudaMallocManaged(&pointer, count * sizeof(T)));
  return pointer;
}

cudaTextureDesc sampling(cudaTextureFilterMode between_levels) {
  cudaTextureDesc texture{};
  for (auto& each : texture.addressMode) each = cudaAddressModeClamp;
  texture.filterMode = cudaFilterModeLinear;
  texture.readMode = cudaReadModeElementType;
  texture.normalizedCoords = 1;
  texture.mipmapFilterMode = between_levels;
  texture.maxMipmapLevelClamp = kLevels - 1;
  return texture;
}

// Level k holds 10 k.
void mipmaps() {
  cudaMipmappedArray_t mipmap = nullptr;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocMipmappedArray(&mipmap, &channels, make_cudaExtent(kSize, kSize, 0), 99,
                                 cudaArraySurfaceLoadStore));
  cudaArray_t array = nullptr;
  EXPECT(cudaGetMipmappedArrayLevel(&array, mipmap, kLevels) == cudaErrorInvalidValue);
  cudaGetLastError();
  for (unsigned level = 0; level < kLevels; ++level) {
    CHECK(cudaGetMipmappedArrayLevel(&array, mipmap, level));
    cudaExtent extent{};
    CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
    EXPECT(extent.width == kSize >> level && extent.height == kSize >> level && extent.depth == 0);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    fill<<<1, 32>>>(surface, kSize >> level, 10.0f * level);
    CHECK(cudaDestroySurfaceObject(surface));
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmap;
  float* out = managed<float>(32);
  for (const auto between : {cudaFilterModePoint, cudaFilterModeLinear}) {
    cudaTextureDesc texture = sampling(between);
    cudaTextureObject_t object = 0;
    CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    by_level<<<1, 24>>>(object, out);
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < 24; ++k) {
      const float level = k * 0.25f > kLevels - 1 ? kLevels - 1 : k * 0.25f;
      const float nearest = static_cast<float>(static_cast<int>(level + 0.5f));
      EXPECT(out[k] == 10 * (between == cudaFilterModeLinear ? level : nearest));
    }
    by_gradient<<<1, kLevels>>>(object, out);
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < kLevels; ++k) EXPECT(out[k] == 10.0f * k);
    CHECK(cudaDestroyTextureObject(object));
  }
  // One level more, and none before the second.
  cudaTextureDesc texture = sampling(cudaFilterModeLinear);
  texture.mipmapLevelBias = 1;
  texture.minMipmapLevelClamp = 2;
  cudaTextureObject_t object = 0;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  by_level<<<1, 8>>>(object, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 20 && out[4] == 20 && out[6] == 25);
  CHECK(cudaDestroyTextureObject(object));
  texture.normalizedCoords = 0;
  EXPECT(cudaCreateTextureObject(&object, &resource, &texture, nullptr) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaFreeMipmappedArray(mipmap));
}

// Texel (x, y) of face f is f * 100 + y * 10 + x.
cudaArray_t cubes(int count) {
  constexpr int kEdge = 4;
  std::vector<float> texels(kEdge * kEdge * kFaces * count);
  for (size_t k = 0; k < texels.size(); ++k) {
    texels[k] = static_cast<float>(k / 16 * 100 + k / 4 % 4 * 10 + k % 4);
  }
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(kEdge, kEdge, kFaces * count);
  CHECK(cudaMalloc3DArray(&array, &channels, extent, cudaArrayCubemap | (count > 1 ? cudaArrayLayered : 0)));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), kEdge * 4, kEdge, kEdge);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

void faces() {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = cubes(1);
  cudaTextureDesc texture = sampling(cudaFilterModePoint);
  texture.filterMode = cudaFilterModePoint;
  cudaTextureObject_t object = 0;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  float* out = managed<float>(2 * kFaces);
  around<<<1, kFaces>>>(object, out);
  CHECK(cudaDeviceSynchronize());
  for (int k = 0; k < kFaces; ++k) {
    EXPECT(static_cast<int>(out[k]) / 100 == k);
    EXPECT(out[kFaces + k] == k * 100 + 33);
  }
  // A face is a layer of the surface.
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  paint<<<1, 1>>>(surface, 3);
  float row[4] = {};
  cudaMemcpy3DParms copy{};
  copy.srcArray = resource.res.array.array;
  copy.srcPos = make_cudaPos(0, 2, 3);
  copy.dstPtr = make_cudaPitchedPtr(row, 16, 4, 1);
  copy.extent = make_cudaExtent(4, 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  EXPECT(row[0] == 320 && row[1] == 103 && row[2] == 322);
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFreeArray(resource.res.array.array));

  resource.res.array.array = cubes(3);
  texture.filterMode = cudaFilterModeLinear;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  around_layers<<<1, 4>>>(object, out);
  CHECK(cudaDeviceSynchronize());
  // The middle of face 3 of cubes 0, 1, 2; there is no cube 3.
  for (int k = 0; k < 4; ++k) EXPECT(out[k] == (k > 2 ? 2 : k) * 600 + 300 + 16.5f);
  CHECK(cudaDestroyTextureObject(object));
  texture.seamlessCubemap = 1;
  EXPECT(cudaCreateTextureObject(&object, &resource, &texture, nullptr) == cudaErrorNotSupported);
  cudaGetLastError();
  CHECK(cudaFreeArray(resource.res.array.array));
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  for (const cudaExtent wrong : {make_cudaExtent(4, 5, 6), make_cudaExtent(4, 4, 5), make_cudaExtent(4, 4, 12)}) {
    EXPECT(cudaMalloc3DArray(&array, &channels, wrong, cudaArrayCubemap) == cudaErrorInvalidValue);
  }
  cudaGetLastError();
}

int main() {
  mipmaps();
  faces();
  std::puts("right");
  return 0;
}
