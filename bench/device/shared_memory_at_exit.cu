// Does a CTA's shared memory stay its own until its bulk copies have ended, when its threads exit without
// waiting for them?  Usage: shared_memory_at_exit [rounds].  Prints one line a case.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#define CK(x)                                                                     \
  do {                                                                            \
    cudaError_t e_ = (x);                                                         \
    if (e_ != cudaSuccess) {                                                      \
      printf("%s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_));   \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

enum Kind { kStore, kReduce, kTensorStore, kLoad, kCpAsync };
struct Log {
  unsigned sm;
  long long start, end;
};

__device__ unsigned value_of(unsigned cta) { return cta * 2654435761u | 1u; }
__device__ unsigned shared_of(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Stores: a CTA poisons its shared memory, fills it with its value, stores it to out, and ends.
template <int kind, bool wait>
__global__ void store(unsigned* out, unsigned words, Log* log, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) unsigned s[];
  const long long t0 = clock64();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) s[words - 1 - i] = 0xDEADBEEF;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) s[i] = value_of(blockIdx.x) + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned chunk = 2048;  // words: 8 KiB, a box of 64 x 32
    for (unsigned at = 0; at < words; at += chunk) {
      unsigned* g = out + (size_t)blockIdx.x * words + at;
      if constexpr (kind == kStore)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(g), "r"(shared_of(s + at)),
                     "r"(chunk * 4)
                     : "memory");
      else if constexpr (kind == kReduce)
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(g),
                     "r"(shared_of(s + at)), "r"(chunk * 4)
                     : "memory");
      else
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0),
                     "r"((int)((blockIdx.x * words + at) / 64)), "r"(shared_of(s + at))
                     : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (wait) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    log[blockIdx.x] = {sm, t0, clock64()};
  }
}

// Loads: a CTA fills its shared memory, waits a while, counts words that have changed, then starts a load of
// the whole of it and ends without a wait. What lands late lands in the next CTA's memory.
template <int kind, bool wait>
__global__ void load(const unsigned* in, unsigned words, Log* log, unsigned* changed, int nap) {
  extern __shared__ __align__(1024) unsigned s[];
  __shared__ __align__(8) unsigned long long bar;
  const long long t0 = clock64();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_of(&bar)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) s[i] = value_of(blockIdx.x) + i;
  __syncthreads();
  for (int n = 0; n < nap; ++n) __nanosleep(1000);
  unsigned bad = 0;
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
    bad += ((volatile unsigned*)s)[i] != value_of(blockIdx.x) + i;
  if (bad) atomicAdd(changed, bad);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned* g = in + (size_t)(blockIdx.x % 512) * words;
  if (kind == kCpAsync) {
    for (unsigned i = threadIdx.x * 4; i < words; i += blockDim.x * 4)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_of(s + i)), "l"(g + i) : "memory");
    if (wait) asm volatile("cp.async.wait_all;" ::: "memory");
  } else if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_of(&bar)), "r"(words * 4) : "memory");
    for (unsigned at = 0; at < words; at += 2048)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_of(s + at)),
                   "l"(g + at), "r"(8192), "r"(shared_of(&bar))
                   : "memory");
    if (wait)
      asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L; }" ::"r"(shared_of(&bar))
                   : "memory");
  }
  if (wait) __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    log[blockIdx.x] = {sm, t0, clock64()};
  }
}

__global__ void judge(const unsigned* out, unsigned words, unsigned times, unsigned long long* bad, unsigned* poison) {
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
    const unsigned v = out[(size_t)blockIdx.x * words + i], want = (value_of(blockIdx.x) + i) * times;
    if (v != want) {
      atomicAdd(bad, 1ull);
      if (v == 0xDEADBEEF) atomicAdd(poison, 1u);
    }
  }
}

// Clocks between the last instruction of a CTA and the first of the next on its SM (one CTA an SM).
long long median_gap(const std::vector<Log>& log) {
  std::map<unsigned, std::vector<Log>> by;
  for (const Log& l : log) by[l.sm].push_back(l);
  std::vector<long long> gaps;
  for (auto& [sm, v] : by) {
    std::sort(v.begin(), v.end(), [](const Log& a, const Log& b) { return a.start < b.start; });
    for (size_t i = 1; i < v.size(); ++i) gaps.push_back(v[i].start - v[i - 1].end);
  }
  if (gaps.empty()) return -1;
  std::nth_element(gaps.begin(), gaps.begin() + gaps.size() / 2, gaps.end());
  return gaps[gaps.size() / 2];
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  cudaDeviceProp p;
  CK(cudaGetDeviceProperties(&p, 0));
  printf("device %s, %d SMs\n", p.name, p.multiProcessorCount);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult r;
  CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &r));
  const unsigned ctas = 4096;
  unsigned* out;
  CK(cudaMalloc(&out, (size_t)ctas * 57344 * 4));
  Log* log;
  CK(cudaMallocManaged(&log, ctas * sizeof(Log)));
  unsigned long long* bad;
  unsigned *poison, *changed;
  CK(cudaMallocManaged(&bad, 8));
  CK(cudaMallocManaged(&poison, 4));
  CK(cudaMallocManaged(&changed, 4));
  for (unsigned kib : {8u, 32u, 64u, 112u, 224u}) {
    const unsigned words = kib * 256;
    CUtensorMap map;
    cuuint64_t sizes[2] = {64, (cuuint64_t)ctas * words / 64}, stride[1] = {256};
    cuuint32_t box[2] = {64, 32}, one[2] = {1, 1};
    if (((decltype(&cuTensorMapEncodeTiled))encode)(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, out, sizes, stride, box, one,
                                                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                                    CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
      printf("no tensor map\n");
      return 1;
    }
    auto stores = [&](auto kernel, const char* name, bool reduce) {
      CK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kib * 1024));
      *bad = *poison = 0;
      float ms = 0, sum = 0;
      cudaEvent_t a, b;
      CK(cudaEventCreate(&a));
      CK(cudaEventCreate(&b));
      for (int n = 0; n < rounds; ++n) {
        CK(cudaMemset(out, 0, (size_t)ctas * words * 4));
        CK(cudaEventRecord(a));
        kernel<<<ctas, 256, kib * 1024>>>(out, words, log, map);
        CK(cudaEventRecord(b));
        CK(cudaDeviceSynchronize());
        CK(cudaEventElapsedTime(&ms, a, b));
        sum += ms;
        judge<<<ctas, 256>>>(out, words, 1, bad, poison);
        CK(cudaDeviceSynchronize());
      }
      printf("%3u KiB  %-28s wrong words %llu (poison %u) of %llu, %.1f us, gap %lld clocks\n", kib, name, *bad, *poison,
             (unsigned long long)rounds * ctas * words, 1000 * sum / rounds,
             kib > 113 ? median_gap(std::vector<Log>(log, log + ctas)) : -1);
      (void)reduce;
      fflush(stdout);
    };
    stores(store<kStore, false>, "bulk store, no wait", false);
    stores(store<kStore, true>, "bulk store, wait_group.read", false);
    stores(store<kReduce, false>, "bulk reduction, no wait", true);
    stores(store<kReduce, true>, "bulk reduction, wait", true);
    stores(store<kTensorStore, false>, "tensor store, no wait", false);
    stores(store<kTensorStore, true>, "tensor store, wait", false);
    auto loads = [&](auto kernel, const char* name) {
      CK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kib * 1024));
      *changed = 0;
      for (int n = 0; n < rounds; ++n) {
        kernel<<<ctas, 256, kib * 1024>>>(out, words, log, changed, 3);
        CK(cudaDeviceSynchronize());
      }
      printf("%3u KiB  %-28s words changed under the next CTA %u of %llu, gap %lld clocks\n", kib, name, *changed,
             (unsigned long long)rounds * ctas * words,
             kib > 113 ? median_gap(std::vector<Log>(log, log + ctas)) : -1);
      fflush(stdout);
    };
    loads(load<kLoad, false>, "bulk load, no wait");
    loads(load<kLoad, true>, "bulk load, wait");
    loads(load<kCpAsync, false>, "cp.async, no wait");
    loads(load<kCpAsync, true>, "cp.async, wait");
  }
}
