// Streams and events.
#include "cuda/driver/streams/streams.h"

#include <fmt/format.h>

#include <chrono>
#include <list>

#include "cuda/driver/streams/stream_capture.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {

namespace {

// The calling thread's default stream. It is kept when the thread has ended: a capture may outlive it.
Stream& own_stream() {
  static auto* const all = new std::list<Stream>;
  thread_local Stream* const own = [] {
    const Guard guard(state().lock);
    return &all->emplace_back();
  }();
  return *own;
}

}  // namespace

bool is_stream(const Stream* handle) {
  return handle <= per_thread_stream || (exist(handle) && handle->of_program);
}

Stream& stream_of(Stream* handle) {
  static auto *const legacy = new Stream, *const nobodys = new Stream;
  if (!is_stream(handle)) return *nobodys;
  if (handle == per_thread_stream) return own_stream();
  return reinterpret_cast<uintptr_t>(handle) <= 1 ? *legacy : *handle;
}

order::Line line_of(Stream* handle) {
  constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING
  Stream& s = stream_of(handle);
  if (s.line == 0)
    s.line = streams().add(reinterpret_cast<uintptr_t>(handle) <= 1 ? order::Kind::legacy
                           : (s.flags & non_blocking) != 0          ? order::Kind::non_blocking
                                                                    : order::Kind::blocking);
  return s.line;
}

std::string name_of(Stream* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 1) return "the default stream";
  const Stream& s = stream_of(handle);
  if (handle == per_thread_stream) return fmt::format("the default stream of thread {}", line_of(handle));
  return fmt::format("stream {}{}", s.number, (s.flags & 1) != 0 ? " (non-blocking)" : "");
}

Stream* synchronous_stream() { return has_own_default_stream() ? per_thread_stream : nullptr; }

bool capturing(Stream* handle) { return stream_of(handle).capture != nullptr; }

double now_us() {
  State& s = state();
  if (s.settings.schedule.starts_with("hardware")) return s.clock_us;
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status enqueue(Stream* handle, Work work) {
  Doing doing;
  return enqueue(handle, std::move(work), doing);
}

Status enqueue(Stream* handle, Work work, Doing& doing) {
  Stream& stream = stream_of(handle);
  if (const Status status = may_use(handle); status != success) return status;
  if (!stream.capture) {
    const auto* const launch = std::get_if<std::shared_ptr<LaunchWork>>(&work);
    doing.place =
        streams().put(line_of(handle), launch != nullptr, launch != nullptr && (*launch)->programmatic());
    doing.as = named(work, name_of(handle));
    const Status status = submit(doing, work);
    streams().extend(line_of(handle), doing.place.after());
    return status;
  }
  Node* node = nullptr;
  const std::vector<Node*> after = stream.last;
  const Status status = add_node(&node, stream.capture->graph, after.data(), after.size(), std::move(work));
  if (status == success) stream.last = {node};
  return status;
}

Status put(Stream* handle, Work work) {
  State& s = state();
  const Guard guard(s.lock);
  if (const Status status = usable(); status != success) return status;
  return enqueue(handle, std::move(work));
}

Status record(Event* event, Stream* handle) {
  if (!exist(event)) return invalid_handle;
  if (const Status status = usable(); status != success) return status;
  if (const Status status = may_use(handle); status != success) return status;
  const Stream& stream = stream_of(handle);
  event->capture = stream.capture;
  event->last = stream.last;
  if (!stream.capture) mark(*event, streams().record(line_of(handle)), line_of(handle));
  return state().sticky;
}

void mark(Event& event, order::Mark what, order::Line stream) {
  event.recorded = true;
  event.us = now_us();
  event.mark = std::move(what);
  for (const order::Line waiting : event.waiting) waited_before_record(waiting, stream);
  event.waiting.clear();
}

namespace {

constexpr unsigned without_timing = 2;  // CU_EVENT_DISABLE_TIMING

Status waited(const order::Clock& until) {
  complete(until);
  host_knows(until);
  show_printed();
  trim_pools();
  return state().sticky;
}

// Whether all of it is over; the host knows it then.
Status asked(const order::Clock& until) {
  go_on();
  return state().sticky == success && !is_over(until) ? not_ready : waited(until);
}

}  // namespace
}  // namespace palladion::cuda::driver

// The function may call the driver: the lock is not held meanwhile, unless other work was in front of it.
PLD_CUDA cuLaunchHostFunc(Stream* stream, HostFn fn, void* data) {
  Doing doing;
  {
    const Guard guard(state().lock);
    if (const Status status = may_use(stream); status != success) return status;
    if (const Status status = usable(); status != success) return status;
    if (fn == nullptr) return invalid_value;
    go_on();
    if (capturing(stream) || !is_over(streams().of(line_of(stream))))
      return enqueue(stream, HostNode{fn, data});
    doing.place = streams().put(line_of(stream));
  }
  call_host(doing.place, [&] { fn(data); });
  return success;
}
PLD_CUDA cuStreamAddCallback(Stream* stream, void (*fn)(Stream*, Status, void*), void* data, unsigned) {
  Doing doing;
  {
    const Guard guard(state().lock);
    if (const Status status = may_use_uncaptured(stream); status != success) return status;
    if (fn == nullptr) return invalid_value;
    doing.place = streams().put(line_of(stream));
    complete(doing.place.before);
  }
  call_host(doing.place, [&] { fn(stream, state().sticky, data); });
  return success;
}

PLD_CUDA cuStreamCreateWithPriority(Stream** out, unsigned flags, int priority) {
  const Guard guard(state().lock);
  constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING
  if (out == nullptr || flags > non_blocking) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  auto* stream = new Stream;
  stream->of_program = true;
  stream->flags = flags;
  stream->context = current();
  stream->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
  stream->id = state().next_id++;
  static uint64_t created = 0;
  stream->number = ++created;
  return *out = stream, success;
}
PLD_CUDA cuStreamCreate(Stream** out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }
PLD_CUDA cuStreamDestroy_v2(Stream* stream) {
  const Guard guard(state().lock);
  if (stream <= per_thread_stream || !is_stream(stream)) return invalid_handle;
  forget_in_capture(stream);
  if (stream->line != 0) streams().remove(stream->line);
  return delete stream, success;
}
PLD_CUDA cuStreamSynchronize(Stream* stream) {
  const Guard guard(state().lock);
  const Status status = may_wait_for(stream);
  return status != success ? status : waited(streams().of(line_of(stream)));
}
PLD_CUDA cuStreamQuery(Stream* stream) {
  const Guard guard(state().lock);
  const Status status = may_wait_for(stream);
  return status != success ? status : asked(streams().of(line_of(stream)));
}
namespace {
template <class T>
Status give(Stream* handle, T Stream::* member, auto* out) {
  const Guard guard(state().lock);
  if (!is_stream(handle)) return invalid_handle;
  if (out == nullptr) return invalid_value;
  return *out = stream_of(handle).*member, success;
}
}  // namespace
PLD_CUDA cuStreamGetFlags(Stream* s, unsigned* flags) { return give(s, &Stream::flags, flags); }
PLD_CUDA cuStreamGetPriority(Stream* s, int* priority) { return give(s, &Stream::priority, priority); }
PLD_CUDA cuStreamGetId(Stream* s, unsigned long long* id) { return give(s, &Stream::id, id); }
PLD_CUDA cuStreamGetCtx(Stream* s, Context** c) {
  const Guard guard(state().lock);
  if (!is_stream(s)) return invalid_handle;
  if (c == nullptr) return invalid_value;
  Context* const owner = stream_of(s).context;
  return *c = owner != nullptr ? owner : current() != nullptr ? current() : &state().primary, success;
}
PLD_CUDA cuStreamGetCtx_v2(Stream* s, Context** c, void** green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(s, c);
}
PLD_CUDA cuStreamGetDevice(Stream* s, DeviceId* d) {
  const Guard guard(state().lock);
  if (!is_stream(s)) return invalid_handle;
  return d == nullptr ? invalid_value : (*d = 0, success);
}
// CUstreamAttrID: those of launches that a stream has. All are hints but the priority, and priorities are
// too.
PLD_CUDA cuStreamSetAttribute(Stream* handle, LaunchAttributeId id, const LaunchAttributeValue* value) {
  const Guard guard(state().lock);
  using enum LaunchAttributeId;
  if (!is_stream(handle)) return invalid_handle;
  if (value == nullptr) return invalid_value;
  if (id == priority) return stream_of(handle).priority = value->flag, success;
  if (id != access_policy_window && id != synchronization_policy && id != mem_sync_domain_map &&
      id != mem_sync_domain)
    return invalid_value;
  return stream_of(handle).attributes[static_cast<uint32_t>(id)] = *value, success;
}
PLD_CUDA cuStreamGetAttribute(Stream* handle, LaunchAttributeId id, LaunchAttributeValue* value) {
  const Guard guard(state().lock);
  if (!is_stream(handle)) return invalid_handle;
  if (value == nullptr) return invalid_value;
  *value = {};
  const Stream& stream = stream_of(handle);
  if (id == LaunchAttributeId::priority) return value->flag = stream.priority, success;
  const auto found = stream.attributes.find(static_cast<uint32_t>(id));
  if (found != stream.attributes.end()) *value = found->second;
  return success;
}
PLD_CUDA cuStreamCopyAttributes(Stream* to, Stream* from) {
  const Guard guard(state().lock);
  if (!is_stream(to) || !is_stream(from)) return invalid_handle;
  stream_of(to).attributes = stream_of(from).attributes;
  return stream_of(to).priority = stream_of(from).priority, success;
}
// All streams and the host may always reach managed memory.
PLD_CUDA cuStreamAttachMemAsync(Stream* stream, Pointer p, size_t, unsigned flags) {
  const Guard guard(state().lock);
  if (const Status status = may_use_uncaptured(stream); status != success) return status;
  const Block* const b = state().block_of(p);
  return b != nullptr && b->origin == Origin::managed && (flags == 1 || flags == 2 || flags == 4)
             ? success
             : invalid_value;
}

PLD_CUDA cuEventCreate(Event** out, unsigned flags) {
  const Guard guard(state().lock);
  constexpr unsigned known = 7, interprocess = 4;
  const bool timed = (flags & without_timing) == 0;
  if (out == nullptr || flags > known || ((flags & interprocess) != 0 && timed)) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  *out = new Event;
  return (*out)->flags = flags, success;
}
PLD_CUDA cuEventDestroy_v2(Event* event) {
  const Guard guard(state().lock);
  if (!exist(event)) return invalid_handle;
  return delete event, success;
}
PLD_CUDA cuEventRecord(Event* event, Stream* handle) {
  const Guard guard(state().lock);
  return record(event, handle);
}
PLD_CUDA cuEventRecordWithFlags(Event* event, Stream* stream, unsigned flags) {
  const Guard guard(state().lock);
  constexpr unsigned external = 1;  // CU_EVENT_RECORD_EXTERNAL: a node of the graph
  if (!exist(event)) return invalid_handle;
  if (flags > external) return invalid_value;
  if ((flags & external) != 0 && capturing(stream)) return enqueue(stream, RecordWork{event});
  return record(event, stream);
}
PLD_CUDA cuEventSynchronize(Event* event) {
  const Guard guard(state().lock);
  if (!exist(event)) return invalid_handle;
  const Status status = may_wait_for(event);
  return status != success ? status : waited(event->mark.over);
}
PLD_CUDA cuEventQuery(Event* event) {
  const Guard guard(state().lock);
  if (!exist(event)) return invalid_handle;
  const Status status = may_wait_for(event);
  return status != success ? status : asked(event->mark.over);
}
PLD_CUDA cuEventElapsedTime_v2(float* ms, Event* from, Event* to) {
  const Guard guard(state().lock);
  for (const Event* event : {from, to})
    if (exist(event) && event->capture) return may_wait_for(event);
  if (ms == nullptr) return invalid_value;
  if (!exist(from, to) || !from->recorded || !to->recorded) return invalid_handle;
  if (((from->flags | to->flags) & without_timing) != 0) return invalid_handle;
  go_on();
  if (!is_over(from->mark.over) || !is_over(to->mark.over)) return not_ready;
  return *ms = static_cast<float>((to->us - from->us) / 1000), success;
}
PLD_CUDA cuEventElapsedTime(float* ms, Event* from, Event* to) { return cuEventElapsedTime_v2(ms, from, to); }
