// Of a program of two objects: linked_a.cu.
__device__ int counter = 0;
__constant__ int base = 100;
static __device__ __noinline__ int own(int x) { return base + x; }
__device__ int twice(int x) { return own(2 * x); }

int counter_of_b() {
  int value = -1;
  cudaMemcpyFromSymbol(&value, counter, sizeof value);
  return value;
}
