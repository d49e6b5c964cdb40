// DeepGEMM's Hopper kernels on small arrays, with tensor maps and block sizes as its own host code makes
// them, and every result compared with a sum in double precision. The kernels are DeepGEMM's headers; this
// file is the host's side alone.
#include <cuda.h>

#include <cmath>
#include <cstdio>
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#include <deep_gemm/impls/sm90_bmk_bnk_mn.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d1d.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
#include <deep_gemm/impls/sm90_fp8_mqa_logits.cuh>
#include <deep_gemm/impls/sm90_tf32_hc_prenorm_gemm.cuh>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

// Two kernels of this header declare one dynamic array with two types: they are compiled apart (-DPACKING),
// and for the host declared alone.
#ifdef __CUDA_ARCH__
#define smem_buffer words_in_shared_memory
#include <deep_gemm/impls/smxx_layout.cuh>
#undef smem_buffer
#else
namespace deep_gemm {
template <uint32_t, uint32_t, uint32_t K, uint32_t = K + (1 - (K % 2))>
CUTLASS_GLOBAL void transpose_fp32(const float*, float*, const uint32_t) {}
template <uint32_t, uint32_t, uint32_t, uint32_t = 1, bool = false>
CUTLASS_GLOBAL void transpose_and_pack_fp32_into_ue8m0(float*, uint32_t*, const uint32_t, const uint32_t*,
                                                       const uint32_t) {}
template <uint32_t, uint32_t, uint32_t, uint32_t, bool = true, bool = false>
CUTLASS_GLOBAL void pack_fp32_into_ue8m0(float*, uint32_t*, uint32_t*, const uint32_t, const uint32_t,
                                         const uint32_t, const uint32_t, const uint32_t) {}
}  // namespace deep_gemm
#endif
#define smem_buffer logits_in_shared_memory
#include <deep_gemm/impls/smxx_clean_logits.cuh>
#undef smem_buffer

using namespace deep_gemm;
using cute::UMMA::Major;
using Bf16 = cutlass::bfloat16_t;
using Fp8 = __nv_fp8_e4m3;

namespace {

constexpr int kSharedBytes = 232448;  // of a CTA, Hopper
constexpr int up(int a, int b) { return (a + b - 1) / b * b; }
constexpr int swizzle_of(int elements, int bytes) {
  for (int mode : {128, 64, 32}) {
    if (elements * bytes % mode == 0) return mode;
  }
  return 16;
}

void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}

template <class T>
struct Array {  // on the device, with its values on the host
  std::vector<T> host;
  T* device = nullptr;
  explicit Array(size_t n, const std::function<T(size_t)>& value) : host(n) {
    for (size_t i = 0; i < n; ++i) host[i] = value(i);
    check(cudaMalloc(&device, n * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(device); }
  void back() {
    check(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost), "copy back");
  }
};

float noise(size_t i, unsigned seed) {  // in [-1, 1)
  unsigned v = static_cast<unsigned>(i) * 2654435761u + seed * 40503u;
  v = (v ^ v >> 15) * 2246822519u;
  return static_cast<float>(v >> 8 & 0xFFFF) / 32768.0f - 1.0f;
}

template <class T>
std::function<T(size_t)> random(unsigned seed) {
  return [seed](size_t i) { return T(noise(i, seed)); };
}
template <class T>
std::function<T(size_t)> constant(float v) {
  return [v](size_t) { return T(v); };
}
std::function<float(size_t)> scales(unsigned seed) {  // near 1, powers of two, as UE8M0 wants
  return [seed](size_t i) { return std::ldexp(1.0f, static_cast<int>(std::floor(noise(i, seed) * 3))); };
}

template <class T>
constexpr CUtensorMapDataType type_of(bool tf32 = false) {
  if (std::is_same_v<T, Bf16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (std::is_same_v<T, Fp8>) return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  return tf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

/// A tensor map: sizes and box in elements, innermost first; strides (of all but the innermost) in elements.
template <class T>
CUtensorMap map(const T* data, std::vector<cuuint64_t> sizes, std::vector<cuuint64_t> strides,
                std::vector<cuuint32_t> box, int swizzle, bool tf32 = false) {
  if (swizzle != 0) box[0] = swizzle / sizeof(T);
  for (auto& s : strides) s *= sizeof(T);
  const cuuint32_t ones[] = {1, 1, 1};
  const auto mode = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                    : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                    : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                    : CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMap m;
  const CUresult e = cuTensorMapEncodeTiled(
      &m, type_of<T>(tf32), static_cast<cuuint32_t>(sizes.size()), const_cast<T*>(data), sizes.data(),
      strides.data(), box.data(), ones, CU_TENSOR_MAP_INTERLEAVE_NONE, mode,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (e != CUDA_SUCCESS) throw std::runtime_error("cuTensorMapEncodeTiled: " + std::to_string(e));
  return m;
}
template <class T>
CUtensorMap map2(const T* data, int inner, int outer, int box_inner, int box_outer, int swizzle,
                 bool tf32 = false) {
  return map<T>(data, {static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(outer)},
                {static_cast<cuuint64_t>(inner)},
                {static_cast<cuuint32_t>(box_inner), static_cast<cuuint32_t>(box_outer)}, swizzle, tf32);
}

template <class... P>
void launch(void (*kernel)(P...), dim3 grid, int threads, int shared, int cluster,
            std::type_identity_t<P>... arguments) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
  cudaLaunchConfig_t config = {grid, dim3(threads), static_cast<size_t>(shared), nullptr, nullptr, 0};
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "launch");
  check(cudaDeviceSynchronize(), "kernel");
}

int failures = 0;
struct Compare {
  const char* name;
  double worst = 0, top = 0;
  int values = 0;
  void operator()(double got, double want) {
    worst = std::isfinite(got) ? std::max(worst, std::abs(got - want)) : INFINITY;
    top = std::max(top, std::abs(want));
    ++values;
  }
  ~Compare() {
    const bool good = values > 0 && worst <= top * 0.008;
    failures += !good;
    std::printf("%-28s %7d values, largest error %.2e of the largest value: %s\n", name, values, worst / top,
                good ? "passed" : "FAILED");
  }
};

template <int M, int N, int Stages, int Cluster = 1, bool OnA = false, int Sms = 132>
struct Tile {
  static constexpr int m = M, n = N, stages = Stages, cluster = Cluster, sms = Sms;
  static constexpr bool on_a = OnA;
  static constexpr int math = M <= 64 ? 128 : 256, threads = 128 + math;
};

int index_of(Major major, int mn, int k, int size_mn, int size_k) {
  return major == Major::K ? mn * size_k + k : k * size_mn + mn;
}

/// D of bf16 operands. The group's rows: see DeepGEMM's README ("grouped GEMMs"); of no group, G is 1.
template <class T, GemmType Type, Major A, Major B, class Out, bool Add, int Groups>
void bf16(const char* name, int m, int n, int k) {
  constexpr int block_k = 64;
  constexpr int swizzle_a = swizzle_of(A == Major::K ? block_k : T::m, 2),
                swizzle_b = swizzle_of(B == Major::K ? block_k : T::n, 2);
  constexpr int swizzle_d = std::is_same_v<Out, float> ? 0 : swizzle_of(T::n, 2);
  constexpr bool batched = Type == GemmType::Batched, masked = Type == GemmType::MGroupedMasked,
                 contiguous = Type == GemmType::MGroupedContiguous,
                 k_grouped = Type == GemmType::KGroupedContiguous;
  constexpr int groups_a = batched || masked ? Groups : 1, groups_b = k_grouped ? 1 : Groups,
                groups_d = contiguous ? 1 : Groups;
  const int rows_of[] = {m - 40, 64, m / 2, 8};  // masked
  Array<Bf16> a(size_t{groups_a} * m * k, random<Bf16>(1)), b(size_t{groups_b} * n * k, random<Bf16>(2));
  Array<Out> d(size_t{groups_d} * m * n, Add ? random<Out>(3) : constant<Out>(0));
  const std::vector<Out> before = d.host;
  const int each_k = k / Groups;
  Array<int> layout(contiguous ? m : Groups, [&](size_t i) {
    const int at = static_cast<int>(i);
    return contiguous ? at / (m / Groups) : masked ? rows_of[at] : each_k;
  });
  const int d_box = swizzle_d == 0 ? T::n : swizzle_d / 2;
  CUtensorMap map_a, map_b, map_d;
  if (batched) {
    const auto sizes = [](int inner, int outer, int groups) {
      return std::vector<cuuint64_t>{static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(outer),
                                     static_cast<cuuint64_t>(groups)};
    };
    const auto strides = [](int inner, int outer) {
      return std::vector<cuuint64_t>{static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(inner) * outer};
    };
    map_a = map<Bf16>(a.device, sizes(k, m, Groups), strides(k, m), {block_k, T::m, 1}, swizzle_a);
    map_b = map<Bf16>(b.device, sizes(k, n, Groups), strides(k, n), {block_k, T::n, 1}, swizzle_b);
    map_d = map<Out>(d.device, sizes(n, m, Groups), strides(n, m), {static_cast<cuuint32_t>(d_box), T::m, 1},
                     swizzle_d);
  } else {
    map_a = A == Major::K ? map2(a.device, k, m * groups_a, block_k, T::m, swizzle_a)
                          : map2(a.device, m, k, T::m, block_k, swizzle_a);
    map_b = B == Major::K ? map2(b.device, k, n * groups_b, block_k, T::n, swizzle_b)
                          : map2(b.device, n, k, T::n, block_k, swizzle_b);
    map_d = map2(d.device, n, m * groups_d, d_box, T::m, swizzle_d);
  }
  const int shared =
      up(T::m * T::n * static_cast<int>(sizeof(Out)), 1024) + T::stages * (T::m + T::n) * block_k * 2 + 256;
  launch(sm90_bf16_gemm_impl<A, B, 0, 0, 0, Groups, T::m, T::n, block_k, swizzle_a, swizzle_b, swizzle_d,
                             T::stages, 128, T::math, T::cluster, T::on_a, T::sms, Type, Add, Out>,
         T::sms, T::threads, shared, T::cluster, layout.device, m, n, k, map_a, map_b, map_d);
  d.back();
  Compare compare{name};
  for (int g = 0; g < groups_d; ++g) {
    for (int i = 0; i < (masked ? rows_of[g] : m); i += 3) {
      for (int j = 0; j < n; j += 5) {
        const int of_b = contiguous ? layout.host[i] : groups_b > 1 ? g : 0, of_a = groups_a > 1 ? g : 0;
        const size_t at = (size_t{static_cast<size_t>(g)} * m + i) * n + j;
        double sum = Add ? static_cast<double>(before[at]) : 0;
        for (int l = k_grouped ? g * each_k : 0; l < (k_grouped ? (g + 1) * each_k : k); ++l) {
          sum += static_cast<double>(
                     a.host[size_t{static_cast<size_t>(of_a)} * m * k + index_of(A, i, l, m, k)]) *
                 static_cast<double>(
                     b.host[size_t{static_cast<size_t>(of_b)} * n * k + index_of(B, j, l, n, k)]);
        }
        compare(static_cast<double>(d.host[at]), sum);
      }
    }
  }
}

/// fp8 operands, scales of A a row and 128 of K, of B a block of 128 x 128; D in bf16.
template <class T, GemmType Type, int Groups>
void fp8_blocks(const char* name, int m, int n, int k) {
  constexpr int block_k = 128, swizzle_d = swizzle_of(T::n, 2);
  constexpr bool masked = Type == GemmType::MGroupedMasked, contiguous = Type == GemmType::MGroupedContiguous;
  constexpr int groups_a = masked ? Groups : 1;
  const int k_scales = k / 128, n_scales = (n + 127) / 128, rows_of[] = {m - 40, 64, m / 2, 8};
  Array<Fp8> a(size_t{groups_a} * m * k, random<Fp8>(1)), b(size_t{Groups} * n * k, random<Fp8>(2));
  Array<float> scales_a(size_t{groups_a} * k_scales * m, scales(3)),
      scales_b(size_t{Groups} * n_scales * k_scales, scales(4));
  Array<Bf16> d(size_t{groups_a} * m * n, constant<Bf16>(0));
  Array<int> layout(contiguous ? m : Groups,
                    [&](size_t i) { return contiguous ? static_cast<int>(i) / (m / Groups) : rows_of[i]; });
  const int b_rows = block_k % T::n == 0 ? 1 : 2;
  const int shared = up(T::m * T::n * 2, 1024) + T::stages * ((T::m + T::n) * block_k + up(T::m * 4, 128)) +
                     up(k_scales * b_rows * 4, 8) + 256;
  launch(sm90_fp8_gemm_1d2d_impl<Major::K, 0, 0, 0, Groups, T::m, T::n, block_k, 128, 128, swizzle_d,
                                 T::stages, 128, T::math, T::cluster, T::on_a, T::sms, Type, Bf16,
                                 epilogue::transform::EpilogueIdentity>,
         T::sms, T::threads, shared, T::cluster, scales_b.device, layout.device, m, n, k,
         map2(a.device, k, m * groups_a, block_k, T::m, 128),
         map2(b.device, k, n * Groups, block_k, T::n, 128),
         map2(d.device, n, m * groups_a, swizzle_d / 2, T::m, swizzle_d),
         map2(scales_a.device, m, k_scales * groups_a, T::m, 1, 0));
  d.back();
  Compare compare{name};
  for (int g = 0; g < groups_a; ++g) {
    for (int i = 0; i < (masked ? rows_of[g] : m); i += 3) {
      for (int j = 0; j < n; j += 5) {
        const int of_b = contiguous ? layout.host[i] : g;
        double sum = 0;
        for (int l = 0; l < k; ++l) {
          sum +=
              static_cast<double>(float(a.host[(size_t{static_cast<size_t>(g)} * m + i) * k + l])) *
              static_cast<double>(float(b.host[(size_t{static_cast<size_t>(of_b)} * n + j) * k + l])) *
              static_cast<double>(
                  scales_a.host[(size_t{static_cast<size_t>(g)} * k_scales + l / 128) * m + i]) *
              static_cast<double>(
                  scales_b
                      .host[(size_t{static_cast<size_t>(of_b)} * n_scales + j / 128) * k_scales + l / 128]);
        }
        compare(static_cast<double>(d.host[(size_t{static_cast<size_t>(g)} * m + i) * n + j]), sum);
      }
    }
  }
}

/// fp8 operands, scales of A and B a row and 128 of K; added to D in f32. Of K-grouped operands each group is
/// a matrix of its own.
template <class T, GemmType Type, int Groups>
void fp8_rows(const char* name, int m, int n, int k) {
  constexpr int block_k = 128;
  constexpr bool grouped = Type == GemmType::KGroupedContiguous;
  const int k_scales = k / 128, each_k = k / Groups;
  Array<Fp8> a(size_t{1} * m * k, random<Fp8>(1)), b(size_t{1} * n * k, random<Fp8>(2));
  Array<float> scales_a(size_t{1} * k_scales * m, scales(3)), scales_b(size_t{1} * k_scales * n, scales(4));
  Array<float> d(size_t{Groups} * m * n, random<float>(5));
  const std::vector<float> before = d.host;
  Array<int> layout(Groups, [&](size_t) { return each_k; });
  Array<CUtensorMap> maps(size_t{T::sms} * 2, [](size_t) { return CUtensorMap{}; });
  const int shared = (grouped ? 512 : 0) + T::m * T::n * 4 +
                     T::stages * ((T::m + T::n) * block_k + T::m * 4 + up(T::n * 4, 128)) + 256;
  launch(sm90_fp8_gemm_1d1d_impl<0, 0, 0, Groups, T::m, T::n, block_k, 128, 128, T::stages, 128, T::math,
                                 T::cluster, T::on_a, T::sms, Type, float>,
         T::sms, T::threads, shared, T::cluster, grouped ? a.device : nullptr, grouped ? b.device : nullptr,
         layout.device, reinterpret_cast<cute::TmaDescriptor*>(maps.device), m, n, k,
         map2(a.device, each_k, m, block_k, T::m, 128), map2(b.device, each_k, n, block_k, T::n, 128),
         map2(scales_a.device, m, k_scales, T::m, 1, 0), map2(scales_b.device, n, k_scales, T::n, 1, 0),
         map2(d.device, n, m * Groups, T::n, 64, 0));
  d.back();
  Compare compare{name};
  for (int g = 0; g < Groups; ++g) {
    for (int i = 0; i < m; i += 3) {
      for (int j = 0; j < n; j += 5) {
        const size_t at = (size_t{static_cast<size_t>(g)} * m + i) * n + j;
        double sum = before[at];
        for (int l = 0; l < each_k; ++l) {
          const int scale = (g * each_k + l) / 128;
          sum += static_cast<double>(float(a.host[size_t{1} * g * each_k * m + size_t{1} * i * each_k + l])) *
                 static_cast<double>(float(b.host[size_t{1} * g * each_k * n + size_t{1} * j * each_k + l])) *
                 static_cast<double>(scales_a.host[size_t{1} * scale * m + i]) *
                 static_cast<double>(scales_b.host[size_t{1} * scale * n + j]);
        }
        compare(static_cast<double>(d.host[at]), sum);
      }
    }
  }
}

#ifdef PACKING
void layouts(int rows) {
  constexpr int k = 7;
  const int aligned = up(rows, 4);
  Array<float> sf(size_t{1} * rows * k, scales(1));
  Array<float> columns(size_t{1} * rows * k, [&](size_t i) { return sf.host[i % rows * k + i / rows]; });
  Array<unsigned> packed(size_t{2} * aligned, constant<unsigned>(0)),
      packed_columns(size_t{2} * rows, constant<unsigned>(0));
  launch(transpose_and_pack_fp32_into_ue8m0<512, 48, k>, (rows + 47) / 48, 512, 48 * k * 4, 1, sf.device,
         packed.device, rows, nullptr, 0);
  launch(pack_fp32_into_ue8m0<1, 512, 128, 16>, dim3((rows + 127) / 128, 1), 512, 0, 1, columns.device,
         packed_columns.device, nullptr, rows, k, 2, 128, 128);
  packed.back();
  packed_columns.back();
  Compare of_rows{"transpose_and_pack"}, of_columns{"pack_fp32_into_ue8m0"};
  const auto value = [](unsigned word, int j) {
    return std::ldexp(1.0, static_cast<int>(word >> j % 4 * 8 & 255) - 127);
  };
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < k; ++j) {
      of_rows(value(packed.host[size_t{1} * (j / 4) * aligned + i], j), sf.host[size_t{1} * i * k + j]);
      of_columns(value(packed_columns.host[size_t{1} * (j / 4) * rows + i], j),
                 sf.host[size_t{1} * i * k + j]);
    }
  }
}
#else
void layouts(int rows) {
  constexpr int k = 7;
  const int aligned = up(rows, 4);
  Array<float> sf(size_t{1} * rows * k, scales(1)), out(size_t{1} * aligned * k, constant<float>(0));
  launch(transpose_fp32<512, 64, k>, (rows + 63) / 64, 512, 64 * k * 4, 1, sf.device, out.device, rows);
  out.back();
  Compare compare{"transpose_fp32"};
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < k; ++j)
      compare(out.host[size_t{1} * j * aligned + i], sf.host[size_t{1} * i * k + j]);
  }
}
#endif

/// Logits of one key head for many query heads: a sum of weights times relu(q . k) over the heads; then -inf
/// outside [start, end).
template <int Heads, int Dim, bool Compressed>
void logits(const char* name, int queries, int keys) {
  constexpr int block_q = 128 / Heads, block_kv = 256, stages = 3, sms = 132;
  Array<Fp8> q(size_t{1} * queries * Heads * Dim, random<Fp8>(1)), kv(size_t{1} * keys * Dim, random<Fp8>(2));
  Array<float> kv_scales(up(keys, 4), scales(3)), weights(size_t{1} * queries * Heads, random<float>(4));
  const int stride = up(keys + block_kv, 8);
  Array<float> out(size_t{1} * up(queries, block_q) * stride, constant<float>(0));
  Array<unsigned> start(queries, [](size_t i) { return static_cast<unsigned>(i / 4); });
  Array<unsigned> end(
      queries, [&](size_t i) { return static_cast<unsigned>(std::min<size_t>(keys, keys / 2 + i * 2)); });
  const int shared = stages * (block_q * Heads * (Dim + 4) + block_kv * (Dim + 4)) + (stages * 4 + 8) * 8 + 4;
  launch(sm90_fp8_mqa_logits<Heads, Dim, Compressed, block_q, block_kv, stages, stages, sms, 128, 512, float>,
         sms, 640, shared, 1, queries, keys, Compressed ? keys : 0, stride, start.device, end.device,
         out.device, map2(q.device, Dim, queries * Heads, Dim, block_q * Heads, Dim),
         map2(kv.device, Dim, keys, Dim, block_kv, Dim),
         map2(kv_scales.device, up(keys, 4), 1, block_kv, 1, 0),
         map2(weights.device, Heads, queries, Heads, block_q, 0));
  if (!Compressed) {
    launch(smxx_clean_logits<1, 8192, 8, float>, sms, 256, 8192 * 4, 1, queries, keys, stride, start.device,
           end.device, out.device);
  }
  out.back();
  Compare compare{name};
  for (int i = 0; i < queries; i += 3) {
    for (int j = static_cast<int>(start.host[i]); j < static_cast<int>(end.host[i]); j += 5) {
      double sum = 0;
      for (int h = 0; h < Heads; ++h) {
        double dot = 0;
        for (int l = 0; l < Dim; ++l) {
          dot += static_cast<double>(float(q.host[(size_t{1} * i * Heads + h) * Dim + l])) *
                 static_cast<double>(float(kv.host[size_t{1} * j * Dim + l]));
        }
        sum += std::max(dot, 0.0) * static_cast<double>(weights.host[size_t{1} * i * Heads + h]);
      }
      compare(out.host[size_t{1} * i * stride + j - (Compressed ? start.host[i] : 0)],
              sum * static_cast<double>(kv_scales.host[j]));
    }
  }
}

/// a (bf16) times b (tf32) and the sums of squares of a's rows, K split in parts.
template <int N, int K, int Splits>
void prenorm(const char* name, int m) {
  constexpr int block_n = up(N, 16), swizzle = swizzle_of(block_n, 4), stages = 8, block_m = 64, block_k = 64;
  Array<Bf16> a(size_t{1} * m * K, random<Bf16>(1));
  Array<float> b(size_t{1} * N * K, [](size_t i) { return float(Bf16(noise(i, 2))); });
  Array<float> d(size_t{Splits} * m * N, constant<float>(0)), squares(size_t{Splits} * m, constant<float>(0));
  const auto map_d = Splits == 1
                         ? map2(d.device, N, m, block_n, block_m, swizzle)
                         : map<float>(d.device, {N, static_cast<cuuint64_t>(m), Splits},
                                      {N, static_cast<cuuint64_t>(m) * N}, {block_n, block_m, 1}, swizzle);
  launch(sm90_tf32_hc_prenorm_gemm_impl<N, K, block_m, block_n, block_k, Splits, swizzle, stages, 128, 128>,
         (m + 63) / 64 * Splits, 256, kSharedBytes, 1, m, map2(a.device, K, m, block_k, block_m, 128),
         map2(b.device, K, N, block_k, block_n, 128, true), map_d, squares.device);
  d.back();
  squares.back();
  Compare compare{name};
  for (int i = 0; i < m; i += 3) {
    double got_square = 0, square = 0;
    for (int s = 0; s < Splits; ++s) got_square += squares.host[size_t{1} * s * m + i];
    for (int l = 0; l < K; ++l) square += std::pow(static_cast<double>(a.host[size_t{1} * i * K + l]), 2);
    compare(got_square, square);
    for (int j = 0; j < N; ++j) {
      double got = 0, sum = 0;
      for (int s = 0; s < Splits; ++s) got += d.host[(size_t{1} * s * m + i) * N + j];
      for (int l = 0; l < K; ++l)
        sum += static_cast<double>(a.host[size_t{1} * i * K + l]) *
               static_cast<double>(b.host[size_t{1} * j * K + l]);
      compare(got, sum);
    }
  }
}

/// d += the sum over s of a[s] b[s]', in parts that add by atomics.
template <int M, int N, int K>
void summed(const char* name, int s) {
  constexpr int stages = 4, split = 3;
  Array<Bf16> a(size_t{1} * s * M * K, random<Bf16>(1)), b(size_t{1} * s * N * K, random<Bf16>(2));
  Array<float> d(size_t{M} * N, constant<float>(0));
  const int tiles = ((M + 127) / 128) * ((N + 127) / 128), parts = (s * (K / 64) + split - 1) / split;
  launch(sm90_bmn_bnk_mn_gemm_impl<M, N, K, 128, 128, 64, split, stages, 128, 256>, tiles * parts, 384,
         stages * 2 * 128 * 64 * 2 + stages * 16, 1, s, map2(a.device, K, s * M, 64, 128, 128),
         map2(b.device, K, s * N, 64, 128, 128), d.device);
  d.back();
  Compare compare{name};
  for (int i = 0; i < M; i += 3) {
    for (int j = 0; j < N; j += 5) {
      double sum = 0;
      for (int g = 0; g < s; ++g) {
        for (int l = 0; l < K; ++l) {
          sum += static_cast<double>(a.host[(size_t{1} * g * M + i) * K + l]) *
                 static_cast<double>(b.host[(size_t{1} * g * N + j) * K + l]);
        }
      }
      compare(d.host[size_t{1} * i * N + j], sum);
    }
  }
}

}  // namespace

#ifdef PACKING
int main() {
  layouts(300);
  return failures == 0 ? 0 : 1;
}
#else
int main(int argc, char** argv) {  // with an argument: the cases whose name begins with it
  const std::string wanted = argc > 1 ? argv[1] : "";
  const auto run = [&](const char* name, auto function, auto... sizes) {
    if (std::string(name).rfind(wanted, 0) != 0) return;
    try {
      function(name, sizes...);
    } catch (const std::exception& e) {
      ++failures;
      std::printf("%s: %s\n", name, e.what());
    }
  };
  constexpr auto K = Major::K, MN = Major::MN;
  run("bf16 64x64", bf16<Tile<64, 64, 6>, GemmType::Normal, K, K, Bf16, false, 1>, 200, 192, 320);
  run("bf16 64x64, merged stages", bf16<Tile<64, 64, 10>, GemmType::Normal, K, K, Bf16, false, 1>, 128, 256,
      768);
  run("bf16 128x128, multicast of A",
      bf16<Tile<128, 128, 5, 2, true, 8>, GemmType::Normal, K, K, Bf16, false, 1>, 512, 512, 256);
  run("bf16 256x96, multicast of B",
      bf16<Tile<256, 96, 4, 2, false, 4>, GemmType::Normal, K, K, Bf16, false, 1>, 768, 288, 192);
  run("bf16, transposed, added in f32", bf16<Tile<128, 64, 4>, GemmType::Normal, MN, MN, float, true, 1>, 256,
      192, 128);
  run("bf16, A transposed", bf16<Tile<128, 64, 5>, GemmType::Normal, MN, K, Bf16, false, 1>, 256, 192, 256);
  run("bf16, B transposed, f32", bf16<Tile<64, 256, 4>, GemmType::Normal, K, MN, float, false, 1>, 128, 512,
      128);
  run("bf16 16x64", bf16<Tile<16, 64, 8>, GemmType::Normal, K, K, Bf16, false, 1>, 16, 192, 512);
  run("bf16, groups of M", bf16<Tile<128, 96, 4>, GemmType::MGroupedContiguous, K, K, Bf16, false, 3>, 384,
      192, 256);
  run("bf16, masked groups", bf16<Tile<64, 96, 4>, GemmType::MGroupedMasked, K, K, Bf16, false, 4>, 192, 192,
      256);
  run("bf16, groups of K", bf16<Tile<128, 64, 4>, GemmType::KGroupedContiguous, MN, MN, float, true, 3>, 256,
      128, 384);
  run("bf16, batched", bf16<Tile<64, 64, 4>, GemmType::Batched, K, K, Bf16, false, 4>, 128, 128, 128);
  run("fp8_1d2d 64x64", fp8_blocks<Tile<64, 64, 6>, GemmType::Normal, 1>, 200, 192, 512);
  run("fp8_1d2d 128x128, multicast", fp8_blocks<Tile<128, 128, 5, 2, true, 8>, GemmType::Normal, 1>, 512, 384,
      384);
  run("fp8_1d2d 64x160", fp8_blocks<Tile<64, 160, 4>, GemmType::Normal, 1>, 128, 320, 256);
  run("fp8_1d2d, groups of M", fp8_blocks<Tile<128, 112, 4>, GemmType::MGroupedContiguous, 3>, 384, 224, 256);
  run("fp8_1d2d, masked groups", fp8_blocks<Tile<64, 128, 4>, GemmType::MGroupedMasked, 4>, 192, 256, 256);
  run("fp8_1d1d 64x56", fp8_rows<Tile<64, 56, 6>, GemmType::Normal, 1>, 128, 168, 512);
  run("fp8_1d1d 128x120, multicast", fp8_rows<Tile<128, 120, 4, 2, false, 8>, GemmType::Normal, 1>, 512, 240,
      384);
  run("fp8_1d1d, groups of K", fp8_rows<Tile<128, 72, 4, 1, false, 4>, GemmType::KGroupedContiguous, 3>, 256,
      144, 768);
  run("layouts", [](const char*, int rows) { layouts(rows); }, 300);
  run("mqa logits, 32 heads", logits<32, 128, false>, 100, 700);
  run("mqa logits, 64 heads, compressed", logits<64, 64, true>, 60, 520);
  run("tf32 prenorm", prenorm<24, 1024, 1>, 150);
  run("tf32 prenorm, K in 3 parts", prenorm<16, 1280, 3>, 100);
  run("sum over s", summed<128, 192, 128>, 5);
  return failures == 0 ? 0 : 1;
}
#endif
