// An mbarrier expects one arrival more than there are.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ alignas(8) unsigned long long barrier;
  const int i = threadIdx.x;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
#ifdef RIGHT
  const int expected = 128;
#else
  const int expected = 129;
#endif
  if (i == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(expected) : "memory");
  __syncthreads();
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
  int done = 0;
  while (!done)
    asm volatile(  // MISTAKE
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(at) : "memory");  // MISTAKE
  out[i] = in[i];
}
