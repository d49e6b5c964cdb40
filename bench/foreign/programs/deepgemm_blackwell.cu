// DeepGEMM's Blackwell products of bf16 on small arrays, with tensor maps and block sizes as its own host code
// makes them, and every result compared with a sum in double precision. The kernels are DeepGEMM's headers;
// this file is the host's side alone.
#include <cuda.h>

#include <cmath>
#include <cstdio>
#include <deep_gemm/impls/sm100_bf16_gemm.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace deep_gemm;
using cute::UMMA::Major;
using Bf16 = cutlass::bfloat16_t;

namespace {

template <class Status>
void check(Status e, const char* what) {
  if (static_cast<int>(e) != 0) throw std::runtime_error(std::string(what) + ": " + std::to_string(e));
}

// A matrix in device memory; values are multiples of 1/8 in [-1, 1), which bf16 holds.
template <class T>
struct Matrix {
  Matrix(int rows_, int columns_, uint32_t seed) : rows(rows_), columns(columns_), host(size_t(rows) * columns) {
    for (T& v : host) v = T(static_cast<float>(static_cast<int>((seed = seed * 1664525 + 1013904223) >> 28) - 8) / 8);
    check(cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  double at(int row, int column) const { return static_cast<float>(host[size_t(row) * columns + column]); }

  int rows, columns;
  std::vector<T> host;
  T* device = nullptr;
};

// Boxes of 128 bytes by `box` rows, swizzled.
template <class T>
CUtensorMap map_of(const Matrix<T>& m, int box) {
  CUtensorMap map;
  const cuuint64_t dims[] = {cuuint64_t(m.columns), cuuint64_t(m.rows)}, strides[] = {m.columns * sizeof(T)};
  const cuuint32_t boxes[] = {128 / sizeof(T), cuuint32_t(box)}, steps[] = {1, 1};
  const auto type = sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  check(cuTensorMapEncodeTiled(&map, type, 2, m.device, dims, strides, boxes, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "cuTensorMapEncodeTiled");
  return map;
}

// D = A B^T (+ D), of `groups` products: rows of A belong to a group each, or the first of each group's.
template <int block_m, int block_n, int stages, int ctas, bool swap, GemmType type, bool accumulates, class D>
bool product(const char* name, int m, int n, int k, int groups) {
  constexpr int load_m = block_m, load_n = block_n / ctas, store_m = swap ? 16 : block_m;
  constexpr auto kernel =
      &sm100_bf16_gemm_impl<Major::K, Major::K, 0, 0, 0, block_m, block_n, 64, /*groups=*/(type == GemmType::Normal ? 1 : 2),
                            128, 128, 128, stages, 128, 128, ctas, false, 4, 128, swap, false, type, accumulates, D,
                            100>;
  const bool masked = type == GemmType::MGroupedMasked;
  Matrix<Bf16> a(m * (masked ? groups : 1), k, 1), b(n * groups, k, 2);
  Matrix<D> d(a.rows, n, 3);
  std::vector<int> layout(masked ? groups : m);
  for (int i = 0; i < int(layout.size()); ++i) layout[i] = masked ? m - 32 * i : i / (m / groups);
  int* layout_there = nullptr;
  check(cudaMalloc(&layout_there, layout.size() * sizeof(int)), "cudaMalloc");
  check(cudaMemcpy(layout_there, layout.data(), layout.size() * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
  const int output = store_m * (swap ? block_n * int(sizeof(D)) : 128) * 2;
  const int bytes = output + stages * (load_m + load_n) * 128 + 1024;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute");
  cudaLaunchAttribute cluster{.id = cudaLaunchAttributeClusterDimension};
  cluster.val.clusterDim = {unsigned(ctas), 1, 1};
  cudaLaunchConfig_t config{.gridDim = {4}, .blockDim = {256}, .dynamicSmemBytes = size_t(bytes)};
  config.attrs = &cluster;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, layout_there, uint32_t(m), uint32_t(n), uint32_t(k), map_of(a, load_m),
                           map_of(b, load_n), map_of(d, store_m)),
        name);
  std::vector<D> out(d.host.size());
  check(cudaMemcpy(out.data(), d.device, out.size() * sizeof(D), cudaMemcpyDeviceToHost), name);
  double worst = 0;
  for (int row = 0; row < a.rows; ++row) {
    const int group = masked ? row / m : type == GemmType::Normal ? 0 : layout[row];
    if (masked && row % m >= layout[group]) continue;
    for (int column = 0; column < n; ++column) {
      double sum = accumulates ? d.at(row, column) : 0;
      for (int i = 0; i < k; ++i) sum += a.at(row, i) * b.at(group * n + column, i);
      worst = std::max(worst, std::abs(sum - static_cast<float>(out[size_t(row) * n + column])) / (1 + std::abs(sum)));
    }
  }
  std::printf("%s: %g\n", name, worst);
  return worst < (sizeof(D) == 4 ? 1e-5 : 1e-2);
}

}  // namespace

int main() {
  using G = GemmType;
  bool good = product<128, 128, 4, 1, false, G::Normal, false, Bf16>("one CTA", 256, 256, 512, 1);
  good &= product<128, 128, 4, 2, false, G::Normal, false, Bf16>("two CTAs", 512, 256, 512, 1);
  good &= product<128, 64, 4, 1, false, G::Normal, true, float>("accumulates", 256, 128, 512, 1);
  good &= product<32, 128, 4, 1, true, G::Normal, false, Bf16>("swapped", 64, 256, 512, 1);
  good &= product<128, 128, 4, 1, false, G::MGroupedContiguous, false, Bf16>("grouped", 256, 128, 512, 2);
  good &= product<128, 128, 4, 1, false, G::MGroupedMasked, false, Bf16>("masked", 128, 128, 512, 2);
  return good ? 0 : 1;
}
