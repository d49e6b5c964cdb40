// A bulk copy reads shared memory that the generic proxy wrote, without a proxy fence.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  __shared__ alignas(128) float tile[128];
  const int i = threadIdx.x;
  tile[i] = 2 * in[i];  // MISTAKE
#ifdef RIGHT
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncthreads();
  if (i == 0) {
    const unsigned from = (unsigned)__cvta_generic_to_shared(tile);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(from) : "memory");  // MISTAKE
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
