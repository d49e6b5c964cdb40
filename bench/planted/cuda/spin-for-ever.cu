// A thread waits for a flag that nobody sets.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
#ifdef RIGHT
  if (i == 32) atomicExch(flags, 1);
#endif
  if (i == 0)
    while (atomicAdd(flags, 0) == 0) {  // MISTAKE
    }
  out[i] = in[i];
}
