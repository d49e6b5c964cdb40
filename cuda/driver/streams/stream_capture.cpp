// Stream capture: sequences from their begin to their end, and the rules of what may be called meanwhile.
#include "cuda/driver/streams/stream_capture.h"

#include <algorithm>
#include <set>

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

std::set<std::shared_ptr<Capture>> captures;  // that go on, invalid ones too
thread_local CaptureMode thread_mode = CaptureMode::global;
thread_local bool own_default_stream = false;  // of synchronous calls, as with --default-stream per-thread

bool is_legacy(Stream* handle) { return reinterpret_cast<uintptr_t>(handle) <= 1; }

void insert(std::vector<Node*>& nodes, const std::vector<Node*>& more) {
  for (Node* const node : more)
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
}

Status invalidated(Capture& capture, Status status) {
  capture.invalid = true;
  return status;
}

// The legacy stream waits for all blocking streams, so that it would depend on one that is captured.
bool blocks_legacy_stream(const Capture& capture) {
  constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING
  return std::ranges::any_of(capture.streams, [](const Stream* s) { return (s->flags & non_blocking) == 0; });
}

bool is_unusable(Stream* handle) {
  return is_legacy(handle) &&
         std::ranges::any_of(captures, [](const auto& c) { return blocks_legacy_stream(*c); });
}

Status may_use_legacy_stream() {
  Status status = success;
  for (const auto& c : captures)
    if (blocks_legacy_stream(*c)) status = invalidated(*c, stream_capture_implicit);
  return status;
}

bool prohibits_unsafe_calls(const Capture& capture) {
  if (thread_mode == CaptureMode::relaxed || capture.mode == CaptureMode::relaxed) return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return thread_mode == CaptureMode::global && capture.mode == CaptureMode::global;
}

// All that was captured is an ancestor of what the first stream would do next.
bool is_joined(const Capture& capture) {
  std::set<const Node*> before;
  std::vector<const Node*> open(capture.origin->last.begin(), capture.origin->last.end());
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    if (exist(node) && before.insert(node).second)
      open.insert(open.end(), node->after.begin(), node->after.end());
  }
  const auto reached = [&](const Node* node) { return before.contains(node); };
  return std::ranges::all_of(capture.forgotten, reached) &&
         std::ranges::all_of(capture.streams,
                             [&](const Stream* s) { return std::ranges::all_of(s->last, reached); });
}

// The streams go on as before; the graph, which the program is given unless something was wrong.
Graph* finish(const std::shared_ptr<Capture>& capture, bool good) {
  for (Stream* const s : capture->streams) {
    s->capture = nullptr;
    s->last.clear();
  }
  Graph* const graph = capture->graph;
  if (graph != nullptr) --graph->captures;
  capture->graph = nullptr;
  captures.erase(capture);
  if (!good && !capture->into_given) delete graph;
  if (good && !capture->into_given) graph->of_program = true;
  return good ? graph : nullptr;
}

Status begin(Stream* handle, Graph* graph, std::vector<Node*> after, CaptureMode mode) {
  State& s = state();
  if (mode < CaptureMode::global || mode > CaptureMode::relaxed) return invalid_value;
  if (is_legacy(handle)) return stream_capture_unsupported;
  if (!is_stream(handle)) return invalid_handle;
  Stream& stream = stream_of(handle);
  if (stream.capture) return illegal_state;
  auto capture = std::make_shared<Capture>();
  capture->into_given = graph != nullptr;
  capture->graph = graph != nullptr ? graph : new Graph;
  ++capture->graph->captures;
  capture->id = s.next_id++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = &stream;
  capture->streams = {&stream};
  captures.insert(capture);
  stream.capture = std::move(capture);
  stream.last = std::move(after);
  return success;
}

bool are_of(const Graph& graph, Node* const* nodes, size_t count) {
  return (nodes != nullptr || count == 0) &&
         std::all_of(nodes, nodes + count, [&](const Node* n) { return exist(n) && n->graph == &graph; });
}

void wait_for(Stream* handle, Event& event) {
  streams().wait(line_of(handle), event.mark);
  event.waiting.push_back(line_of(handle));
}

// A stream that waits for an event of a sequence becomes a part of it.
Status wait_in_capture(Stream* handle, Event& event) {
  Stream& stream = stream_of(handle);
  const std::shared_ptr<Capture>& capture = event.capture;
  if (!capture && stream.capture) return invalidated(*stream.capture, stream_capture_isolation);
  if (!capture) return wait_for(handle, event), success;
  if (capture->graph == nullptr)  // it is over
    return stream.capture ? invalidated(*stream.capture, captured_event) : captured_event;
  if (capture->invalid) return stream_capture_invalidated;
  if (stream.capture && stream.capture != capture) {
    stream.capture->invalid = true;
    return invalidated(*capture, stream_capture_merge);
  }
  if (is_legacy(handle)) return invalidated(*capture, stream_capture_unsupported);
  if (!stream.capture) {
    stream.capture = capture;
    capture->streams.push_back(&stream);
  }
  return insert(stream.last, event.last), success;
}

enum : int { not_capturing = 0, active = 1, invalid = 2 };  // CUstreamCaptureStatus

int status_of(const Stream& stream) {
  if (!stream.capture) return not_capturing;
  return stream.capture->invalid ? invalid : active;
}

}  // namespace

Status may_use(Stream* handle) {
  if (!is_stream(handle)) return invalid_handle;
  if (const Status status = of_current(); status != success)
    return state().initialised ? status : not_initialized;
  const Stream& stream = stream_of(handle);
  if (stream.capture) return stream.capture->invalid ? stream_capture_invalidated : success;
  return is_legacy(handle) ? may_use_legacy_stream() : success;
}

Status may_use_uncaptured(Stream* handle) {
  if (const Status status = may_use(handle); status != success) return status;
  const Stream& stream = stream_of(handle);
  return stream.capture ? invalidated(*stream.capture, stream_capture_unsupported) : success;
}

Status may_wait_for(Stream* handle) {
  const Status status = may_use_uncaptured(handle);
  return status != success ? status : may_call_unsafe();
}

Status may_wait_for(const Event* event) {
  if (!exist(event)) return invalid_handle;
  return event->capture ? invalidated(*event->capture, captured_event) : may_call_unsafe();
}

Status may_wait_for_all() {
  Status status = success;
  for (const auto& c : captures) status = invalidated(*c, stream_capture_unsupported);
  return status;
}

Status may_call_unsafe() {
  Status status = success;
  for (const auto& c : captures)
    if (prohibits_unsafe_calls(*c)) status = invalidated(*c, stream_capture_unsupported);
  return status;
}

bool has_own_default_stream() { return own_default_stream; }
Status may_call_synchronous() { return may_wait_for(own_default_stream ? per_thread_stream : nullptr); }

void forget_in_capture(Stream* stream) {
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture) return;
  if (capture->origin == stream) {
    finish(capture, false);
    return;
  }
  insert(capture->forgotten, stream->last);
  std::erase(capture->streams, stream);
}

// With the node that it is inside of.
void forget_in_capture(const Graph* graph) {
  for (const auto& c : captures)
    if (c->graph == graph) c->graph = nullptr, c->invalid = true;
}

}  // namespace palladion::cuda::driver

PLD_CUDA cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  if (mode == nullptr || *mode < CaptureMode::global || *mode > CaptureMode::relaxed) return invalid_value;
  std::swap(*mode, thread_mode);
  return success;
}
PLD_CUDA cuStreamBeginCapture_v2(Stream* handle, CaptureMode mode) {
  const Guard guard(state().lock);
  return begin(handle, nullptr, {}, mode);
}
PLD_CUDA cuStreamBeginCapture(Stream* handle) { return cuStreamBeginCapture_v2(handle, CaptureMode::global); }
PLD_CUDA cuStreamBeginCaptureToGraph(Stream* handle, Graph* graph, Node** after, const void*, size_t count,
                                     CaptureMode mode) {
  const Guard guard(state().lock);
  if (!exist(graph) || !are_of(*graph, after, count)) return invalid_value;
  return begin(handle, graph, std::vector<Node*>(after, after + count), mode);
}
PLD_CUDA cuStreamEndCapture(Stream* handle, Graph** out) {
  const Guard guard(state().lock);
  if (!is_stream(handle)) return invalid_handle;
  const std::shared_ptr<Capture> capture = stream_of(handle).capture;
  if (!capture) return illegal_state;
  if (out == nullptr && !capture->into_given) return invalid_value;
  if (capture->origin != &stream_of(handle)) return invalidated(*capture, stream_capture_unmatched);
  if (capture->mode != CaptureMode::relaxed && capture->thread != std::this_thread::get_id())
    return stream_capture_wrong_thread;
  const Status status = capture->invalid       ? stream_capture_invalidated
                        : !is_joined(*capture) ? stream_capture_unjoined
                                               : success;
  Graph* const graph = finish(capture, status == success);
  if (out != nullptr) *out = graph;
  return status;
}
PLD_CUDA cuStreamIsCapturing(Stream* handle, int* status) {
  const Guard guard(state().lock);
  if (!is_stream(handle)) return invalid_handle;
  if (status == nullptr) return invalid_value;
  if (is_unusable(handle)) return stream_capture_implicit;
  return *status = status_of(stream_of(handle)), success;
}
PLD_CUDA cuStreamGetCaptureInfo_v3(Stream* handle, int* status, uint64_t* id, Graph** graph, Node*** nodes,
                                   const void** edges, size_t* count) {
  const Guard guard(state().lock);
  if (status == nullptr) return invalid_value;
  if (const Status s = cuStreamIsCapturing(handle, status); s != success) return s;
  Stream& stream = stream_of(handle);
  if (*status != active) return success;
  if (id != nullptr) *id = stream.capture->id;
  if (graph != nullptr) *graph = stream.capture->graph;
  if (nodes != nullptr) *nodes = stream.last.data();
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = stream.last.size();
  return success;
}
PLD_CUDA cuStreamGetCaptureInfo_v2(Stream* handle, int* status, uint64_t* id, Graph** graph, Node*** nodes,
                                   size_t* count) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, graph, nodes, nullptr, count);
}
PLD_CUDA cuStreamGetCaptureInfo(Stream* handle, int* status, uint64_t* id) {
  return cuStreamGetCaptureInfo_v2(handle, status, id, nullptr, nullptr, nullptr);
}
PLD_CUDA cuStreamUpdateCaptureDependencies_v2(Stream* handle, Node** nodes, const void*, size_t count,
                                              unsigned flags) {
  const Guard guard(state().lock);
  constexpr unsigned add = 0, set = 1;  // CUstreamUpdateCaptureDependencies_flags
  if (!is_stream(handle)) return invalid_handle;
  Stream& stream = stream_of(handle);
  if (!stream.capture) return illegal_state;
  if (stream.capture->invalid) return stream_capture_invalidated;
  if ((flags != add && flags != set) || !are_of(*stream.capture->graph, nodes, count)) return invalid_value;
  const std::vector<Node*> more(nodes, nodes + count);  // may be those that the stream has
  if (flags == set) stream.last.clear();
  return insert(stream.last, more), success;
}
PLD_CUDA cuStreamUpdateCaptureDependencies(Stream* handle, Node** nodes, size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(handle, nodes, nullptr, count, flags);
}
PLD_CUDA cuStreamWaitEvent(Stream* handle, Event* event, unsigned flags) {
  const Guard guard(state().lock);
  constexpr unsigned external = 1;  // CU_EVENT_WAIT_EXTERNAL
  if (!exist(event)) return invalid_handle;
  if (flags > external) return invalid_value;
  if (const Status status = may_use(handle); status != success) return status;
  if ((flags & external) != 0 && capturing(handle)) return enqueue(handle, WaitWork{event});
  return wait_in_capture(handle, *event);
}

// Whether this thread's synchronous calls are put into its own default stream: so the runtime library tells
// of programs that were compiled for that.
PLD_CUDA palladion_exec_own_default_stream(int own) { return own_default_stream = own != 0, success; }
