// Softmax of rows: one warp a row, maximum and sum by butterfly shuffles.
__device__ float warp_max(float v) {
  for (int lane = 16; lane > 0; lane >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, lane));
  return v;
}
__device__ float warp_sum(float v) {
  for (int lane = 16; lane > 0; lane >>= 1) v += __shfl_xor_sync(0xffffffffu, v, lane);
  return v;
}

extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* x = in + (size_t)row * columns;
  float highest = -INFINITY;
  for (int c = lane; c < columns; c += 32) highest = fmaxf(highest, x[c]);
  highest = warp_max(highest);
  float total = 0.0f;
  for (int c = lane; c < columns; c += 32) total += __expf(x[c] - highest);
  total = warp_sum(total);
  for (int c = lane; c < columns; c += 32) out[(size_t)row * columns + c] = __expf(x[c] - highest) / total;
}

// Four columns a thread with vector accesses.
extern "C" __global__ void softmax_vector(const float4* __restrict__ in, float4* __restrict__ out, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float4 v = in[row * 32 + threadIdx.x];
  const float highest = warp_max(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  v.x = expf(v.x - highest), v.y = expf(v.y - highest), v.z = expf(v.z - highest), v.w = expf(v.w - highest);
  const float scale = 1.0f / warp_sum(v.x + v.y + v.z + v.w);
  out[row * 32 + threadIdx.x] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}
