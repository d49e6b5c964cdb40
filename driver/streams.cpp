// Streams, events and launches. Every operation is done when it is put into its stream; so nothing is ever
// pending.
#include "driver/streams.h"

#include <chrono>

using namespace palladion::driver;

namespace palladion::driver {

Stream& stream_of(Stream* handle) {
  static auto* const defaults = new Stream[3]{};
  const auto number = reinterpret_cast<uintptr_t>(handle);
  return number <= 2 ? defaults[number] : *handle;
}

bool capturing(Stream* handle) { return stream_of(handle).capture != nullptr; }

double now_us() {
  State& s = state();
  if (s.settings.schedule.starts_with("hardware")) return s.clock_us;
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status enqueue(Stream* handle, Work work) {
  Stream& stream = stream_of(handle);
  if (!stream.capture) return work.run ? work.run() : success;
  Graph& graph = *stream.capture->graph;
  auto node = std::make_unique<Node>();
  node->graph = &graph;
  node->work = std::move(work);
  node->after = stream.last;
  stream.last = {node.get()};
  graph.nodes.push_back(std::move(node));
  return success;
}

namespace {

Status waited() {
  show_printed();
  return state().sticky;
}

Status launch(Kernel* kernel, const uint32_t* grid, const uint32_t* block, isa::Dim3 cluster, uint32_t shared,
              Stream* stream, void** params, void** extra, bool cooperative) {
  State& s = state();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  auto work = std::make_shared<LaunchWork>();
  work->grid = {grid[0], grid[1], grid[2]};
  work->block = {block[0], block[1], block[2]};
  work->cluster = cluster;
  work->shared = shared;
  work->cooperative = cooperative;
  if (work->grid.count() == 0 || work->block.count() == 0) return invalid_value;
  if (work->block.count() > static_cast<uint64_t>(s.arch->max_threads_per_cta)) return invalid_value;
  const Status status = prepare(*work, kernel, params, extra);
  if (status != success) return status;
  if (shared > kernel->max_dynamic_shared) return invalid_value;
  if (cooperative) {
    const auto needs = needs_of(*kernel);
    if (!needs) return needs.error();
    isa::CtaResources cta;
    cta.threads = static_cast<int>(work->block.count());
    cta.registers_per_thread = needs->registers;
    cta.shared_bytes = needs->static_shared + shared;
    cta.barriers = needs->barriers;
    const auto room = isa::occupancy(*s.arch, cta).ctas_per_sm * s.arch->sm_count;
    if (work->grid.count() > static_cast<uint64_t>(room)) return cooperative_launch_too_large;
  }
  return enqueue(stream,
                 {.kind = NodeKind::kernel, .run = [work] { return perform(*work); }, .launch = work});
}

}  // namespace
}  // namespace palladion::driver

PLD_CUDA cuLaunchKernel(Kernel* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, Stream* stream, void** params, void** extra) {
  const uint32_t grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return launch(f, grid, block, {}, shared, stream, params, extra, false);
}
PLD_CUDA cuLaunchCooperativeKernel(Kernel* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, Stream* stream, void** params) {
  const uint32_t grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return launch(f, grid, block, {}, shared, stream, params, nullptr, true);
}
PLD_CUDA cuLaunchKernelEx(const LaunchConfig* c, Kernel* f, void** params, void** extra) {
  palladion::isa::Dim3 cluster;
  bool cooperative = false;
  for (uint32_t i = 0; i < c->attribute_count; ++i) {
    const LaunchAttribute& a = c->attributes[i];
    if (a.id == attribute_cluster) cluster = {a.value.cluster.x, a.value.cluster.y, a.value.cluster.z};
    if (a.id == attribute_cooperative) cooperative = a.value.flag != 0;
  }
  return launch(f, c->grid, c->block, cluster, c->shared_bytes, static_cast<Stream*>(c->stream), params,
                extra, cooperative);
}
PLD_CUDA cuLaunchHostFunc(Stream* stream, HostFn fn, void* data) {
  Status sticky = success;
  {
    const Guard guard(state().lock);
    sticky = state().sticky;
    if (capturing(stream))
      return enqueue(stream, {.kind = NodeKind::host, .run = [=] { return fn(data), success; }});
  }
  show_printed();
  if (sticky == success) fn(data);
  return sticky;
}
PLD_CUDA cuStreamAddCallback(Stream* stream, void (*fn)(Stream*, Status, void*), void* data, unsigned) {
  show_printed();
  fn(stream, state().sticky, data);
  return success;
}

PLD_CUDA cuStreamCreateWithPriority(Stream** out, unsigned flags, int priority) {
  const Guard guard(state().lock);
  auto* stream = new Stream;
  stream->flags = flags;
  stream->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
  stream->id = state().next_id++;
  return *out = stream, success;
}
PLD_CUDA cuStreamCreate(Stream** out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }
PLD_CUDA cuStreamDestroy_v2(Stream* stream) {
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return invalid_handle;
  return delete stream, success;
}
PLD_CUDA cuStreamSynchronize(Stream* stream) {
  const Guard guard(state().lock);
  if (capturing(stream)) return 900;  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  return waited();
}
PLD_CUDA cuStreamQuery(Stream*) {
  const Guard guard(state().lock);
  return waited();
}
PLD_CUDA cuStreamGetFlags(Stream* s, unsigned* flags) { return *flags = stream_of(s).flags, success; }
PLD_CUDA cuStreamGetPriority(Stream* s, int* priority) { return *priority = stream_of(s).priority, success; }
PLD_CUDA cuStreamGetId(Stream* s, unsigned long long* id) { return *id = stream_of(s).id, success; }
PLD_CUDA cuStreamGetCtx(Stream*, Context** c) { return *c = &state().primary, success; }
PLD_CUDA cuStreamGetDevice(Stream*, DeviceId* d) { return *d = 0, success; }
PLD_CUDA cuStreamSetAttribute(Stream*, int, const void*) { return success; }
PLD_CUDA cuStreamAttachMemAsync(Stream*, Pointer, size_t, unsigned) { return success; }
PLD_CUDA cuStreamWaitEvent(Stream* handle, Event* event, unsigned) {
  const Guard guard(state().lock);
  Stream& stream = stream_of(handle);
  if (!event->capture) return success;
  if (!stream.capture) {
    stream.capture = event->capture;
    event->capture->streams.push_back(&stream);
  }
  stream.last.insert(stream.last.end(), event->last.begin(), event->last.end());
  return success;
}

PLD_CUDA cuEventCreate(Event** out, unsigned flags) {
  *out = new Event;
  return (*out)->flags = flags, success;
}
PLD_CUDA cuEventDestroy_v2(Event* event) { return delete event, success; }
PLD_CUDA cuEventRecord(Event* event, Stream* handle) {
  const Guard guard(state().lock);
  if (event == nullptr) return invalid_handle;
  const Stream& stream = stream_of(handle);
  event->capture = stream.capture;
  event->last = stream.last;
  if (!stream.capture) event->recorded = true, event->us = now_us();
  return state().sticky;
}
PLD_CUDA cuEventRecordWithFlags(Event* event, Stream* stream, unsigned) {
  return cuEventRecord(event, stream);
}
PLD_CUDA cuEventSynchronize(Event*) {
  const Guard guard(state().lock);
  return waited();
}
PLD_CUDA cuEventQuery(Event*) {
  const Guard guard(state().lock);
  return waited();
}
PLD_CUDA cuEventElapsedTime_v2(float* ms, Event* from, Event* to) {
  if (from == nullptr || to == nullptr || !from->recorded || !to->recorded) return invalid_handle;
  return *ms = static_cast<float>((to->us - from->us) / 1000), success;
}
PLD_CUDA cuEventElapsedTime(float* ms, Event* from, Event* to) { return cuEventElapsedTime_v2(ms, from, to); }

PLD_CUDA cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int now = 0;
  std::swap(*mode, now);
  return success;
}
namespace {
Status begin(Stream* handle, Graph* graph, const std::vector<Node*>& after) {
  State& s = state();
  const Guard guard(s.lock);
  if (reinterpret_cast<uintptr_t>(handle) <= 1) return 900;
  Stream& stream = stream_of(handle);
  if (stream.capture) return illegal_state;
  stream.capture = std::make_shared<Capture>();
  stream.capture->graph = graph;
  stream.capture->id = s.next_id++;
  stream.capture->first = &stream;
  stream.capture->streams = {&stream};
  stream.last = after;
  return success;
}
}  // namespace
PLD_CUDA cuStreamBeginCapture_v2(Stream* handle, int) { return begin(handle, new Graph, {}); }
PLD_CUDA cuStreamBeginCaptureToGraph(Stream* handle, Graph* graph, Node** after, const void*, size_t count,
                                     int) {
  return begin(handle, graph, std::vector<Node*>(after, after + count));
}
PLD_CUDA cuStreamEndCapture(Stream* handle, Graph** graph) {
  const Guard guard(state().lock);
  Stream& stream = stream_of(handle);
  if (!stream.capture) return illegal_state;
  if (stream.capture->first != &stream) return stream_capture_unmatched;
  *graph = stream.capture->graph;
  const auto capture = stream.capture;
  for (Stream* s : capture->streams) {
    s->capture = nullptr;
    s->last.clear();
  }
  return success;
}
PLD_CUDA cuStreamIsCapturing(Stream* handle, int* status) {
  const Guard guard(state().lock);
  return *status = capturing(handle) ? 1 : 0, success;
}
PLD_CUDA cuStreamGetCaptureInfo_v3(Stream* handle, int* status, uint64_t* id, Graph** graph, Node*** nodes,
                                   const void** edges, size_t* count) {
  const Guard guard(state().lock);
  Stream& stream = stream_of(handle);
  *status = stream.capture ? 1 : 0;
  if (!stream.capture) return success;
  if (id != nullptr) *id = stream.capture->id;
  if (graph != nullptr) *graph = stream.capture->graph;
  if (nodes != nullptr) *nodes = stream.last.data();
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = stream.last.size();
  return success;
}
PLD_CUDA cuStreamUpdateCaptureDependencies_v2(Stream* handle, Node** nodes, const void*, size_t count,
                                              unsigned flags) {
  const Guard guard(state().lock);
  Stream& stream = stream_of(handle);
  if (!stream.capture) return illegal_state;
  if (flags == 1) stream.last.clear();
  stream.last.insert(stream.last.end(), nodes, nodes + count);
  return success;
}
