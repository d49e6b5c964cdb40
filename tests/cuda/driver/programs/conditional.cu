// Graphs whose course kernels decide: the steps of Collatz's sequence in a WHILE node that a capture holds, then
// what was odd and even among them by an IF node with two bodies, and a SWITCH node.
#include <cstdio>

#define CHECK(condition) \
  if (!(condition)) return std::printf("line %d: %s\n", __LINE__, #condition), 1
#define RUN(call) CHECK((call) == cudaSuccess)

struct State {
  unsigned n, steps, odd, even, ended;
};

__global__ void start(State* s, unsigned n, cudaGraphConditionalHandle more) {
  *s = {n, 0, 0, 0, 0};
  cudaGraphSetConditional(more, n != 1);
}
__global__ void ask(const State* s, cudaGraphConditionalHandle is_odd) {
  cudaGraphSetConditional(is_odd, s->n % 2);
}
__global__ void up(State* s) { s->n = 3 * s->n + 1, ++s->odd; }
__global__ void down(State* s) { s->n /= 2, ++s->even; }
__global__ void count(State* s, cudaGraphConditionalHandle more) {
  ++s->steps;
  cudaGraphSetConditional(more, s->n != 1);
}
__global__ void choose(const State* s, cudaGraphConditionalHandle which) {
  cudaGraphSetConditional(which, s->steps % 4);
}
__global__ void end(State* s, unsigned which) { s->ended = 100 + which; }

static cudaGraphNodeParams conditional(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                       unsigned size) {
  cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  return p;
}

// Puts a conditional node behind what the stream has captured.
static int insert(cudaStream_t stream, cudaGraphNodeParams& p) {
  cudaStreamCaptureStatus status;
  cudaGraph_t graph;
  const cudaGraphNode_t* after;
  size_t count;
  cudaGraphNode_t node;
  RUN(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &after, nullptr, &count));
  RUN(cudaGraphAddNode(&node, graph, after, nullptr, count, &p));
  RUN(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  return 0;
}

static int fill_loop(cudaStream_t stream, cudaGraph_t body, State* s, cudaGraphConditionalHandle more) {
  cudaGraphConditionalHandle is_odd;
  RUN(cudaGraphConditionalHandleCreate(&is_odd, body, 0, 0));
  RUN(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  ask<<<1, 1, 0, stream>>>(s, is_odd);
  auto either = conditional(is_odd, cudaGraphCondTypeIf, 2);
  CHECK(insert(stream, either) == 0);
  count<<<1, 1, 0, stream>>>(s, more);
  RUN(cudaStreamEndCapture(stream, nullptr));
  RUN(cudaStreamBeginCaptureToGraph(stream, either.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                    cudaStreamCaptureModeGlobal));
  up<<<1, 1, 0, stream>>>(s);
  RUN(cudaStreamEndCapture(stream, nullptr));
  RUN(cudaStreamBeginCaptureToGraph(stream, either.conditional.phGraph_out[1], nullptr, nullptr, 0,
                                    cudaStreamCaptureModeGlobal));
  down<<<1, 1, 0, stream>>>(s);
  RUN(cudaStreamEndCapture(stream, nullptr));
  return 0;
}

static int fill_choice(cudaGraphNodeParams& choice, State* s) {
  for (unsigned i = 0; i < choice.conditional.size; ++i) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
    void* arguments[] = {&s, &i};
    p.kernel.func = reinterpret_cast<void*>(end);
    p.kernel.gridDim = p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = arguments;
    cudaGraphNode_t node;
    RUN(cudaGraphAddNode(&node, choice.conditional.phGraph_out[i], nullptr, nullptr, 0, &p));
  }
  return 0;
}

int main() {
  State *s, h;
  cudaStream_t stream;
  cudaStreamCaptureStatus status;
  cudaGraph_t graph, captured;
  cudaGraphExec_t exec;
  cudaGraphConditionalHandle more, which;
  RUN(cudaMalloc(&s, sizeof *s));
  RUN(cudaStreamCreate(&stream));
  RUN(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  RUN(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph));
  RUN(cudaGraphConditionalHandleCreate(&more, graph, 0, 0));
  RUN(cudaGraphConditionalHandleCreate(&which, graph, 3, cudaGraphCondAssignDefault));
  start<<<1, 1, 0, stream>>>(s, 27, more);
  auto loop = conditional(more, cudaGraphCondTypeWhile, 1);
  auto choice = conditional(which, cudaGraphCondTypeSwitch, 3);
  CHECK(insert(stream, loop) == 0);
  choose<<<1, 1, 0, stream>>>(s, which);
  CHECK(insert(stream, choice) == 0);
  RUN(cudaStreamEndCapture(stream, &captured));
  CHECK(fill_loop(stream, loop.conditional.phGraph_out[0], s, more) == 0);
  CHECK(fill_choice(choice, s) == 0);
  RUN(cudaGraphInstantiate(&exec, captured, 0));
  for (int i = 0; i < 2; ++i) {
    RUN(cudaGraphLaunch(exec, stream));
    RUN(cudaStreamSynchronize(stream));
    RUN(cudaMemcpy(&h, s, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h.n == 1 && h.steps == 111 && h.odd == 41 && h.even == 70);
    CHECK(h.ended == 0);  // 111 % 4 is 3: none of three bodies
  }
  cudaGraph_t clone;
  CHECK(cudaGraphClone(&clone, captured) == cudaErrorNotSupported);
  cudaGetLastError();
  RUN(cudaGraphExecDestroy(exec));
  RUN(cudaGraphDestroy(captured));
  return 0;
}
