// Order-independent hashes of what an instruction answers, one a bucket of inputs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__host__ __device__ inline U64 mix64(U64 z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// A bucket is 2^bits inputs; a block takes 2^14. `F::term(i)` is what input i adds to its bucket.
template <class F>
__global__ void hash_kernel(U64* buckets, int bits) {
  const U32 first = blockIdx.x << 14;
  U64 sum = 0;
  for (U32 j = threadIdx.x; j < 1u << 14; j += blockDim.x) sum += F::term(first + j);
  for (int lanes = 16; lanes; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&buckets[first >> bits]), static_cast<unsigned long long>(sum));
  }
}

struct Column {
  std::string name;
  std::vector<U64> hashes;
};

template <class F>
Column hash_column(int buckets, int bits) {
  U64* device = nullptr;
  check(cudaMalloc(&device, buckets * sizeof(U64)), "cudaMalloc");
  check(cudaMemset(device, 0, buckets * sizeof(U64)), "cudaMemset");
  hash_kernel<F><<<buckets << (bits - 14), 256>>>(device, bits);
  check(cudaDeviceSynchronize(), F::name);
  Column column{F::name, std::vector<U64>(buckets)};
  check(cudaMemcpy(column.hashes.data(), device, buckets * sizeof(U64), cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaFree(device), "cudaFree");
  return column;
}

template <class F>
__global__ void result_kernel(U64* results) {
  const U32 i = blockIdx.x * blockDim.x + threadIdx.x;
  results[i] = F::result(i);
}

/// The results of inputs 0 .. count-1 as they are, to look into a mismatch. `count` is a multiple of 256.
template <class F>
void write_results(U32 count, const std::string& folder) {
  U64* device = nullptr;
  check(cudaMalloc(&device, count * sizeof(U64)), "cudaMalloc");
  result_kernel<F><<<count / 256, 256>>>(device);
  check(cudaDeviceSynchronize(), F::name);
  std::vector<U64> results(count);
  check(cudaMemcpy(results.data(), device, count * sizeof(U64), cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaFree(device), "cudaFree");
  std::FILE* file = std::fopen((folder + "/" + F::name).c_str(), "wb");
  std::fwrite(results.data(), sizeof(U64), count, file);
  std::fclose(file);
}

inline void write_provenance(std::FILE* file, const char* date) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::fprintf(file, "# %s (sm_%d%d), driver %s, CUDA %d.%d, recorded %s.\n", properties.name, properties.major,
               properties.minor, std::getenv("DRIVER") ? std::getenv("DRIVER") : "unknown", CUDART_VERSION / 1000,
               CUDART_VERSION % 1000 / 10, date);
}

inline void write_columns(std::FILE* file, const std::vector<Column>& columns) {
  std::fprintf(file, "bucket");
  for (const Column& c : columns) std::fprintf(file, ",%s", c.name.c_str());
  for (std::size_t b = 0; b < columns[0].hashes.size(); ++b) {
    std::fprintf(file, "\n%03zx", b);
    for (const Column& c : columns) std::fprintf(file, ",%016llx", static_cast<unsigned long long>(c.hashes[b]));
  }
  std::fprintf(file, "\n");
}
