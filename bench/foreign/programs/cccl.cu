// The parallel algorithms of the toolkit's own C++ libraries on small arrays: their kernels are what is
// captured.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/host_vector.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <cstdio>
#include <cub/cub.cuh>

namespace {

struct Odd {
  __host__ __device__ bool operator()(int v) const { return (v & 1) != 0; }
};

template <class Call>
void with_storage(Call call) {
  size_t bytes = 0;
  call(nullptr, bytes);
  thrust::device_vector<char> storage(bytes);
  const cudaError_t error = call(thrust::raw_pointer_cast(storage.data()), bytes);
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
}

template <class T>
thrust::device_vector<T> numbers(int n, unsigned seed) {
  thrust::host_vector<T> v(n);
  for (auto& x : v) {
    seed = seed * 1664525 + 1013904223;
    x = static_cast<T>(seed >> 20) - T{1000};
  }
  return v;
}

template <class T>
void sorts(int n) {
  auto keys = numbers<T>(n, 1), values = numbers<T>(n, 2);
  thrust::sort(keys.begin(), keys.end());
  auto other = numbers<T>(n, 3);
  thrust::sort_by_key(other.begin(), other.end(), values.begin());
  auto stable = numbers<T>(n, 4);
  thrust::stable_sort(stable.begin(), stable.end(), [] __device__(T a, T b) { return a % 64 < b % 64; });
}

}  // namespace

int main() {
  constexpr int n = 6000;
  sorts<int>(n);
  sorts<long long>(n);
  auto a = numbers<int>(n, 5), b = numbers<int>(n, 6), c = numbers<int>(2 * n, 7);
  const auto f = numbers<float>(n, 8);
  thrust::device_vector<float> g(n);
  int sum = thrust::reduce(a.begin(), a.end()) +
            static_cast<int>(thrust::reduce(f.begin(), f.end(), 0.0F, thrust::maximum<float>()));
  thrust::inclusive_scan(f.begin(), f.end(), g.begin());
  thrust::exclusive_scan(a.begin(), a.end(), c.begin(), 0, thrust::maximum<int>());
  thrust::adjacent_difference(a.begin(), a.end(), c.begin());
  thrust::transform(f.begin(), f.end(), g.begin(), [] __device__(float x) { return x * x + 1; });
  thrust::sort(a.begin(), a.end());
  thrust::sort(b.begin(), b.end());
  thrust::merge(a.begin(), a.end(), b.begin(), b.end(), c.begin());
  thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), c.begin());
  thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), c.begin());
  thrust::lower_bound(a.begin(), a.end(), b.begin(), b.end(), c.begin());
  auto d = a;
  thrust::device_vector<int> e(n), h(n);
  thrust::unique(d.begin(), d.end());
  thrust::reduce_by_key(a.begin(), a.end(), b.begin(), e.begin(), h.begin());
  thrust::inclusive_scan_by_key(a.begin(), a.end(), b.begin(), e.begin());
  d = numbers<int>(n, 9);
  thrust::partition(d.begin(), d.end(), Odd());
  thrust::copy_if(d.begin(), d.end(), e.begin(), Odd());
  thrust::remove_if(d.begin(), d.end(), Odd());
  sum += static_cast<int>(thrust::count_if(a.begin(), a.end(), Odd())) +
         static_cast<int>(thrust::max_element(f.begin(), f.end()) - f.begin());

  thrust::device_vector<int> bins(256), offsets(33), out(n);
  thrust::host_vector<int> starts(33);
  for (int i = 0; i <= 32; ++i) starts[i] = n / 32 * i;
  offsets = starts;
  const auto* in = thrust::raw_pointer_cast(f.data());
  auto* fout = thrust::raw_pointer_cast(g.data());
  auto* words = thrust::raw_pointer_cast(a.data());
  auto* result = thrust::raw_pointer_cast(out.data());
  auto* segments = thrust::raw_pointer_cast(offsets.data());
  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(s, bytes, in, thrust::raw_pointer_cast(bins.data()), 257,
                                               -1000.0F, 3100.0F, n);
  });
  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(s, bytes, in, fout, 32, segments, segments + 1);
  });
  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceSegmentedSort::SortKeys(s, bytes, words, result, n, 32, segments, segments + 1);
  });
  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceSegmentedRadixSort::SortKeys(s, bytes, words, result, n, 32, segments, segments + 1);
  });
  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(s, bytes, words, result, thrust::raw_pointer_cast(h.data()),
                                              thrust::raw_pointer_cast(bins.data()), n);
  });
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%d %s\n", sum, cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
