// Data of an asynchronous copy is read before the copy has completed.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ alignas(16) float tile[512];
  const int i = threadIdx.x;
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile + 4 * i);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * i) : "memory");  // MISTAKE
#ifdef RIGHT
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncthreads();
  out[i] = tile[511 - i];  // MISTAKE
}
