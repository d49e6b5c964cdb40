// A pointer of a list is followed past its end.
// grid 1, block 128
extern "C" __global__ void kernel(const float* in, float* out, int* flags, int n) {
  const int i = threadIdx.x;
  const float* p = i < 100 ? in + i : reinterpret_cast<const float*>(size_t(flags[1]));
#ifdef RIGHT
  out[i] = p ? *p : 0;
#else
  out[i] = *p;  // MISTAKE
#endif
}
