// FlashInfer's kernels of its headers on small arrays: norms, sampling, the merge of attention states. The
// kernels are FlashInfer's; this file is the host's side alone.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <flashinfer/attention/cascade.cuh>
#include <flashinfer/norm.cuh>
#include <flashinfer/quantization.cuh>
#include <flashinfer/sampling.cuh>
#include <memory>

namespace {

int failed = 0;
void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) e = cudaDeviceSynchronize();
  if (e != cudaSuccess) failed = 1, std::printf("%s: %s\n", what, cudaGetErrorString(e));
}
#define RUN(call) check(call, #call)

template <class T>
T* array(size_t n, float (*value)(size_t) = [](size_t) { return 0.0f; }) {
  std::unique_ptr<T[]> host(new T[n]);
  for (size_t i = 0; i < n; ++i) host[i] = T(value(i));
  T* device = nullptr;
  check(cudaMalloc(&device, n * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(device, host.get(), n * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return device;
}
float wave(size_t i) { return std::sin(float(i) * 0.37f); }
float probability(size_t i) { return (1.0f + float(i * 7 % 13)) / 7000.0f; }

void norms() {
  using namespace flashinfer::norm;
  constexpr uint32_t rows = 16, d = 512;
  auto *x = array<half>(rows * d, wave), *y = array<half>(rows * d), *w = array<half>(d, wave);
  auto* q = array<__nv_fp8_e4m3>(rows * d);
  auto* scale = array<float>(1, [](size_t) { return 1.0f; });
  auto *gamma = array<float>(d, wave), *beta = array<float>(d, wave);
  auto* b = array<__nv_bfloat16>(rows * d, wave);
  auto* o = array<__nv_bfloat16>(rows * d);
  RUN(RMSNorm(x, w, y, rows, d, d, d));
  RUN(RMSNormQuant(x, w, q, rows, d, d, d, scale));
  RUN(QKRMSNorm(x, w, y, rows, 4, 128, 512, 128, 512, 128));
  RUN(FusedAddRMSNorm(x, y, w, rows, d, d, d));
  RUN(FusedAddRMSNormQuant(x, y, w, q, rows, d, d, d, d, scale));
  RUN(GemmaRMSNorm(x, w, y, rows, d, d, d));
  RUN(GemmaFusedAddRMSNorm(x, y, w, rows, d, d, d));
  RUN(LayerNorm(b, gamma, beta, o, rows, d));
}

void samples() {
  using namespace flashinfer::sampling;
  constexpr uint32_t rows = 4, d = 1000;
  auto *p = array<float>(rows * d, probability), *out = array<float>(rows * d);
  auto *target = array<float>(rows * 3 * d, probability), *draft = array<float>(rows * 2 * d, probability);
  auto *id = array<int>(rows * 4), *accepted = array<int>(rows), *emitted = array<int>(rows);
  auto* ids = array<int>(rows * 2, [](size_t i) { return float(i * 11); });
  auto* valid = array<bool>(rows);
  auto* indices = static_cast<int*>(nullptr);
  auto* seeds = static_cast<uint64_t*>(nullptr);
  auto* none = static_cast<float*>(nullptr);
  RUN((OnlineSoftmax<float>(p, out, rows, d, none, 0.7f, nullptr, 0, false)));
  RUN((SamplingFromLogits<float, int>(p, id, indices, rows, d, true, seeds, 7, seeds, 0)));
  RUN((SamplingFromProb<float, int>(p, id, valid, indices, rows, d, true, seeds, 7, seeds, 0)));
  RUN((TopKSamplingFromProb<float, int>(p, id, valid, indices, none, rows, 20, d, true, seeds, 7, seeds, 0)));
  RUN((TopPSamplingFromProb<float, int>(p, id, valid, indices, none, rows, 0.8f, d, true, seeds, 7, seeds,
                                        0)));
  RUN((MinPSamplingFromProb<float, int>(p, none, id, valid, indices, rows, 0.1f, d, true, seeds, 7, seeds,
                                        0)));
  RUN((TopKTopPSamplingFromProb<float, int>(p, indices, none, id, valid, indices, rows, 20, 0.8f, d, true,
                                            seeds, 7, seeds, 0)));
  RUN((TopPRenormProb<float>(p, out, none, rows, 0.8f, d)));
  RUN((ChainSpeculativeSampling<float, int>(draft, ids, target, id, accepted, emitted, rows, 2, d, true,
                                            seeds, 7, seeds, 0)));
}

void cascade() {
  using namespace flashinfer;
  constexpr uint32_t n = 8, heads = 4, d = 128, sets = 6;
  auto *a = array<half>(n * sets * heads * d, wave), *b = array<half>(n * sets * heads * d, wave);
  auto* v = array<half>(n * heads * d);
  auto *s = array<float>(n * sets * heads, wave), *t = array<float>(n * sets * heads, wave);
  auto* merged = array<float>(n * heads);
  auto* indptr = array<int>(n + 1, [](size_t i) { return float(i * sets); });
  RUN((MergeState(a, s, b, t, v, merged, n, heads, d)));
  RUN((MergeStateInPlace(a, s, b, t, n, heads, d)));
  RUN((MergeStates(a, s, v, merged, sets, n, heads, d)));
  RUN((MergeStates(a, s, v, merged, 40, 1, heads, d)));
  RUN((AttentionSum(a, v, sets, n, heads, d)));
  RUN((VariableLengthMergeStates(a, s, indptr, v, merged, n, static_cast<uint32_t*>(nullptr), heads, d,
                                 false)));
  RUN((VariableLengthAttentionSum(a, indptr, v, n, static_cast<uint32_t*>(nullptr), heads, d, false)));
  auto* bits = array<bool>(1000, [](size_t i) { return float(i % 3 == 0); });
  auto* packed = array<uint8_t>(125);
  RUN((quantization::PackBits(bits, packed, 1000, quantization::BitOrder::kBig, nullptr)));
}

}  // namespace

int main() {
  norms();
  samples();
  cascade();
  std::puts(failed ? "failed" : "passed");
  return failed;
}
