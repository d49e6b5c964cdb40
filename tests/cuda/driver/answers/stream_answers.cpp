// Calls about streams, events, captures, graphs.
#include "tests/cuda/driver/answers/calls.h"

namespace palladion::answers {

std::vector<Case> stream_cases() {
  return {
      {"stream_flags",
       [](Driver& d) {
         Handle s = nullptr;
         d.ask("cuStreamCreate", &s, 8U);
       }},
      {"stream_query_idle", [](Driver& d) { d.ask("cuStreamQuery", stream(d)); }},
      {"stream_priority_beyond",
       [](Driver& d) {
         Handle s = nullptr;
         int p = 1;
         d.ask("cuStreamCreateWithPriority", &s, 0U, -99);
         d.ask("cuStreamGetPriority", s, &p);
         d.say(std::to_string(p));
       }},
      {"stream_priorities",
       [](Driver& d) {
         int least = 9, greatest = 9;
         d.ask("cuCtxGetStreamPriorityRange", &least, &greatest);
         d.say(std::to_string(least) + " " + std::to_string(greatest));
       }},
      {"stream_flags_of_default",
       [](Driver& d) {
         unsigned flags = 9;
         d.ask("cuStreamGetFlags", Handle{}, &flags);
         d.say(std::to_string(flags));
       }},
      {"stream_destroy_default", [](Driver& d) { d.ask("cuStreamDestroy_v2", Handle{}); }},
      {"event_flags",
       [](Driver& d) {
         Handle e = nullptr;
         d.ask("cuEventCreate", &e, 0x100U);
       }},
      {"event_interprocess_with_timing",
       [](Driver& d) {
         Handle e = nullptr;
         d.ask("cuEventCreate", &e, 4U);
       }},
      {"event_query_unrecorded", [](Driver& d) { d.ask("cuEventQuery", event(d)); }},
      {"event_synchronize_unrecorded", [](Driver& d) { d.ask("cuEventSynchronize", event(d)); }},
      {"event_wait_unrecorded", [](Driver& d) { d.ask("cuStreamWaitEvent", stream(d), event(d), 0U); }},
      {"event_wait_flags", [](Driver& d) { d.ask("cuStreamWaitEvent", stream(d), event(d), 7U); }},
      {"event_time_unrecorded",
       [](Driver& d) {
         float t = 0;
         d.ask("cuEventElapsedTime_v2", &t, event(d), event(d));
       }},
      {"event_time_disabled",
       [](Driver& d) {
         float t = 0;
         Handle a = event(d, 2), b = event(d, 2);
         d.call("cuEventRecord", a, Handle{});
         d.call("cuEventRecord", b, Handle{});
         d.call("cuCtxSynchronize");
         d.ask("cuEventElapsedTime_v2", &t, a, b);
       }},
      {"event_time",
       [](Driver& d) {
         float t = -1;
         Handle a = event(d), b = event(d);
         d.call("cuEventRecord", a, Handle{});
         d.call("cuEventRecord", b, Handle{});
         d.call("cuCtxSynchronize");
         d.ask("cuEventElapsedTime_v2", &t, a, b);
         d.say(t >= 0 ? "forwards" : "backwards");
       }},
      {"event_null",
       [](Driver& d) {
         d.ask("cuEventRecord", Handle{}, Handle{});
         d.ask("cuEventQuery", Handle{});
       }},
  };
}

std::vector<Case> capture_cases() {
  const auto begin = [](Driver& d, Handle s, int mode = 0) { d.ask("cuStreamBeginCapture_v2", s, mode); };
  const auto end = [](Driver& d, Handle s) {
    Handle g = nullptr;
    d.ask("cuStreamEndCapture", s, &g);
    return g;
  };
  return {
      {"capture_default_stream", [=](Driver& d) { begin(d, nullptr); }},
      {"capture_mode_unknown", [=](Driver& d) { begin(d, stream(d), 9); }},
      {"capture_twice",
       [=](Driver& d) {
         Handle s = stream(d);
         begin(d, s);
         begin(d, s);
         end(d, s);
       }},
      {"capture_end_without_begin", [=](Driver& d) { end(d, stream(d)); }},
      {"capture_nothing",
       [=](Driver& d) {
         Handle s = stream(d);
         begin(d, s);
         Handle g = end(d, s), x = nullptr;
         d.ask("cuGraphInstantiateWithFlags", &x, g, uint64_t{0});
         d.ask("cuGraphLaunch", x, s);
         d.ask("cuStreamSynchronize", s);
       }},
      {"capture_kernel",
       [=](Driver& d) {
         Handle f = d.kernel(nothing), s = stream(d);
         begin(d, s);
         launch_on(d, f, s);
         Handle g = end(d, s);
         size_t n = 0;
         d.ask("cuGraphGetNodes", g, static_cast<void**>(nullptr), &n);
         d.say(std::to_string(n));
       }},
      {"capture_synchronize_stream",
       [=](Driver& d) {
         Handle s = stream(d);
         begin(d, s);
         d.ask("cuStreamSynchronize", s);
         end(d, s);
       }},
      {"capture_query_stream",
       [=](Driver& d) {
         Handle s = stream(d);
         begin(d, s);
         d.ask("cuStreamQuery", s);
         end(d, s);
       }},
      {"capture_synchronize_context",
       [=](Driver& d) {
         Handle s = stream(d);
         begin(d, s);
         d.ask("cuCtxSynchronize");
         end(d, s);
       }},
      {"capture_alloc",
       [=](Driver& d) {
         Handle s = stream(d);
         begin(d, s);
         Pointer p = 0;
         d.ask("cuMemAlloc_v2", &p, size_t{4096});
         end(d, s);
       }},
      {"capture_alloc_relaxed",
       [=](Driver& d) {
         Handle s = stream(d);
         begin(d, s, 2);
         Pointer p = 0;
         d.ask("cuMemAlloc_v2", &p, size_t{4096});
         end(d, s);
       }},
      {"capture_default_launch",
       [=](Driver& d) {
         Handle f = d.kernel(nothing), s = stream(d);
         begin(d, s);
         launch_on(d, f, nullptr);
         end(d, s);
       }},
      {"capture_copy_synchronous",
       [=](Driver& d) {
         Pointer p = d.memory(4096);
         Handle s = stream(d);
         int x = 0;
         begin(d, s);
         d.ask("cuMemcpyHtoD_v2", p, static_cast<const void*>(&x), size_t{4});
         end(d, s);
       }},
      {"capture_unjoined",
       [=](Driver& d) {
         Handle f = d.kernel(nothing), s = stream(d), t = stream(d), e = event(d);
         begin(d, s);
         d.ask("cuEventRecord", e, s);
         d.ask("cuStreamWaitEvent", t, e, 0U);
         launch_on(d, f, t);
         end(d, s);
       }},
      {"capture_joined",
       [=](Driver& d) {
         Handle f = d.kernel(nothing), s = stream(d), t = stream(d), e = event(d);
         begin(d, s);
         d.ask("cuEventRecord", e, s);
         d.ask("cuStreamWaitEvent", t, e, 0U);
         launch_on(d, f, t);
         d.ask("cuEventRecord", e, t);
         d.ask("cuStreamWaitEvent", s, e, 0U);
         end(d, s);
       }},
      {"capture_wait_for_an_outer_event",
       [=](Driver& d) {
         Handle s = stream(d), t = stream(d), e = event(d);
         d.call("cuEventRecord", e, t);
         begin(d, s);
         d.ask("cuStreamWaitEvent", s, e, 0U);
         end(d, s);
       }},
      {"capture_query_captured_event",
       [=](Driver& d) {
         Handle s = stream(d), e = event(d);
         begin(d, s);
         d.ask("cuEventRecord", e, s);
         d.ask("cuEventQuery", e);
         end(d, s);
       }},
      {"capture_synchronize_captured_event",
       [=](Driver& d) {
         Handle s = stream(d), e = event(d);
         begin(d, s);
         d.ask("cuEventRecord", e, s);
         d.ask("cuEventSynchronize", e);
         end(d, s);
       }},
      {"capture_destroy_stream",
       [=](Driver& d) {
         Handle s = stream(d);
         begin(d, s);
         d.ask("cuStreamDestroy_v2", s);
       }},
      {"capture_end_on_another_stream",
       [=](Driver& d) {
         Handle s = stream(d), t = stream(d), e = event(d);
         begin(d, s);
         d.ask("cuEventRecord", e, s);
         d.ask("cuStreamWaitEvent", t, e, 0U);
         end(d, t);
         end(d, s);
       }},
      {"graph_launch_null", [](Driver& d) { d.ask("cuGraphLaunch", Handle{}, Handle{}); }},
      {"graph_cycle",
       [](Driver& d) {
         Handle g = nullptr, a = nullptr, b = nullptr, x = nullptr;
         d.ask("cuGraphCreate", &g, 0U);
         d.ask("cuGraphAddEmptyNode", &a, g, static_cast<void**>(nullptr), size_t{0});
         d.ask("cuGraphAddEmptyNode", &b, g, &a, size_t{1});
         d.ask("cuGraphInstantiateWithFlags", &x, g, uint64_t{0});
       }},
      {"graph_create_flags",
       [](Driver& d) {
         Handle g = nullptr;
         d.ask("cuGraphCreate", &g, 5U);
       }},
  };
}

}  // namespace palladion::answers
