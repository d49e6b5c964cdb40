// What a program of the runtime library does: memory, symbols, streams, events, a graph, occupancy, printf.
#include <cstdio>
#include <vector>

__constant__ float factor = 1;
__device__ int counter;

__global__ void scale(float* p, int n) {
  extern __shared__ float part[];
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  part[threadIdx.x] = p[i] * factor;
  p[i] = part[threadIdx.x] + 1;
  if (threadIdx.x == 0) atomicAdd(&counter, 1);
  if (i == 0) printf("scaled by %g\n", factor);
}

#define CHECK(call)                                                                                         \
  do {                                                                                                      \
    const cudaError_t e = call;                                                                             \
    if (e != cudaSuccess) return std::printf("%s: %s\n", #call, cudaGetErrorString(e)), 3; \
  } while (0)

int main() {
  cudaDeviceProp chip;
  CHECK(cudaGetDeviceProperties(&chip, 0));
  if (chip.major != 9 || chip.multiProcessorCount != 132) return 4;
  constexpr int n = 1000;
  std::vector<float> host(n, 2);
  float *p = nullptr, *managed = nullptr, *pinned = nullptr;
  CHECK(cudaMalloc(&p, n * sizeof *p));
  CHECK(cudaMallocManaged(&managed, n * sizeof *p));
  CHECK(cudaMallocHost(&pinned, n * sizeof *p));
  const float three = 3;
  CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));
  cudaStream_t stream;
  cudaEvent_t start, stop;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaMemcpyAsync(p, host.data(), n * sizeof *p, cudaMemcpyHostToDevice, stream));
  CHECK(cudaEventRecord(start, stream));
  scale<<<4, 256, 1024, stream>>>(p, n);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaMemcpyAsync(managed, p, n * sizeof *p, cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i)
    if (managed[i] != 7) return 5;
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  if (ms < 0) return 6;
  int count = 0, blocks = 0;
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  if (count != 4) return 7;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 1024));
  if (blocks != 8) return 8;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<4, 256, 1024, stream>>>(p, n);
  CHECK(cudaMemcpyAsync(pinned, p, n * sizeof *p, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (pinned[n - 1] != 22) return 9;
  return 0;
}
