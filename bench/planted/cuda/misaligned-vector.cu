// A float4 at an address that is no multiple of 16.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
#ifdef RIGHT
  const float4 v = *reinterpret_cast<const float4*>(in + 4 * i);
#else
  const float4 v = *reinterpret_cast<const float4*>(in + 4 * i + 1);  // MISTAKE
#endif
  out[i] = v.x + v.y + v.z + v.w;
}
