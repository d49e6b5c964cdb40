// Records the special function unit over whole ranges of its reduced argument, as raw words: the input of fit_tables.cpp.
//   nvcc -std=c++17 -O2 -gencode=arch=compute_90a,code=sm_90a -o ranges ranges.cu && ./ranges FOLDER
#include "hash.cuh"

#define FUNCTION(id, text)                                                \
  struct id {                                                             \
    __device__ static U32 of(U32 x) {                                     \
      float r;                                                            \
      asm volatile(text " %0, %1;" : "=f"(r) : "f"(__uint_as_float(x)));  \
      return __float_as_uint(r);                                          \
    }                                                                     \
  };
FUNCTION(Rcp, "rcp.approx.ftz.f32")
FUNCTION(Rsqrt, "rsqrt.approx.ftz.f32")
FUNCTION(Sqrt, "sqrt.approx.ftz.f32")
FUNCTION(Ex2, "ex2.approx.ftz.f32")
FUNCTION(Lg2, "lg2.approx.ftz.f32")
FUNCTION(Sin, "sin.approx.ftz.f32")
FUNCTION(Tanh, "tanh.approx.f32")

template <class F>
__global__ void range_kernel(U32* out, U32 first) {
  const U32 i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = F::of(first + i);
}

/// sin by phase, the first quadrant in 2^23 steps: the range reduction is PTX' own, so every operand is tried.
__global__ void phase_kernel(U32* out) {
  const float x = __uint_as_float(blockIdx.x * blockDim.x + threadIdx.x);
  const U32 phase = static_cast<U32>(__fmul_rz(x, __uint_as_float(0x3e22f983)) * 0x1p25f);
  if (x < 1.5707966f && phase < 1u << 23) out[phase] = Sin::of(__float_as_uint(x));
}

void save(const std::string& path, const U32* device, U32 count) {
  std::vector<U32> words(count);
  check(cudaMemcpy(words.data(), device, count * sizeof(U32), cudaMemcpyDeviceToHost), path.c_str());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  std::fwrite(words.data(), sizeof(U32), count, file);
  std::fclose(file);
}

template <class F>
void record(const std::string& path, U32* device, U32 first, U32 count) {
  range_kernel<F><<<count / 256, 256>>>(device, first);
  save(path, device, count);
}

int main(int count, char** argument) {
  if (count != 2) return 2;
  const std::string folder = std::string(argument[1]) + "/";
  U32* device = nullptr;
  check(cudaMalloc(&device, sizeof(U32) << 24), "cudaMalloc");
  record<Rcp>(folder + "rcp", device, 0x3f800000, 1 << 23);
  record<Rsqrt>(folder + "rsqrt", device, 0x3f800000, 1 << 24);
  record<Sqrt>(folder + "sqrt", device, 0x3f800000, 1 << 24);
  record<Ex2>(folder + "ex2", device, 0x3f800000, 1 << 23);
  record<Lg2>(folder + "lg2", device, 0x3f000000, 1 << 24);
  phase_kernel<<<0x40000000 / 256, 256>>>(device);
  save(folder + "sin", device, 1 << 23);
  for (U32 e = 119; e <= 129; ++e) record<Tanh>(folder + "tanh" + std::to_string(e), device, e << 23, 1 << 23);
}
