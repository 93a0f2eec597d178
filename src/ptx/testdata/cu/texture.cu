// Texture and surface objects.
// targets: sm_80 sm_90
extern "C" __global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float4* out) {
  out[0] = tex2D<float4>(t, 0.5f, out[1].x);
  out[2].x = tex1Dfetch<float>(t, threadIdx.x);
  out[3] = tex3DLod<float4>(t, out[1].x, out[1].y, out[1].z, 2.0f);
  out[4] = tex2DLayered<float4>(t, 0.1f, 0.2f, 3);
  surf2Dwrite<float>(out[5].x, s, 4, 5);
  out[6].x = surf2Dread<float>(s, 8, 9);
}
