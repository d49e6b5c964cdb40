// A plain load of a word that other CTAs add to.
// grid 8, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
  if (i == 0) atomicAdd(flags, 1);  // MISTAKE
#ifdef RIGHT
  const int seen = atomicAdd(flags, 0);
#else
  const int seen = flags[0];  // MISTAKE
#endif
  out[blockIdx.x * blockDim.x + i] = seen > 0 ? in[i] : 0;
}
