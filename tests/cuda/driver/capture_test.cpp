// Stream capture through the driver API: what its rules forbid, and what is left of a sequence then.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

enum : int { global = 0, thread_local_ = 1, relaxed = 2 };  // CUstreamCaptureMode
enum : int { none = 0, active = 1, invalidated = 2 };       // CUstreamCaptureStatus
constexpr unsigned blocking = 0, non_blocking = 1;

class StreamCapture : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped()) return;
    p_ = memory(64);
    stream_ = stream();
    other_ = stream();
  }
  void* stream(unsigned flags = non_blocking) {
    void* s = nullptr;
    EXPECT_EQ(call("cuStreamCreate", &s, flags), success);
    return owned(s, "cuStreamDestroy_v2");
  }
  void* event() {
    void* e = nullptr;
    EXPECT_EQ(call("cuEventCreate", &e, 0U), success);
    return owned(e, "cuEventDestroy_v2");
  }
  void* new_graph() {
    void* graph = nullptr;
    EXPECT_EQ(call("cuGraphCreate", &graph, 0U), success);
    return owned(graph, "cuGraphDestroy");
  }
  Status begin(void* s, int mode = global) { return call("cuStreamBeginCapture_v2", s, mode); }
  // The sequence's end; its graph is the test's.
  Status end(void* s, void*& graph) {
    const Status status = ended(s, graph);
    if (status == success) owned(graph, "cuGraphDestroy");
    return status;
  }
  Status ended(void* s, void*& graph) { return call("cuStreamEndCapture", s, &graph); }
  Status fills(void* s) { return call("cuMemsetD32Async", p_, 1U, size_t{1}, s); }
  Status record(void* e, void* s) { return call("cuEventRecord", e, s); }
  Status waits(void* s, void* e) { return call("cuStreamWaitEvent", s, e, 0U); }
  Status allocates() {
    Pointer p = 0;
    return call("cuMemAlloc_v2", &p, size_t{16});
  }
  int status_of(void* s) {
    int status = -1;
    EXPECT_EQ(call("cuStreamIsCapturing", s, &status), success);
    return status;
  }
  int exchanged(int mode) {
    EXPECT_EQ(call("cuThreadExchangeStreamCaptureMode", &mode), success);
    return mode;
  }
  // The sequence is invalid, says so until its end, and leaves the stream as it was.
  void expect_invalid(void* s) {
    EXPECT_EQ(status_of(s), invalidated);
    EXPECT_EQ(fills(s), stream_capture_invalidated);
    void* graph = s;
    EXPECT_EQ(end(s, graph), stream_capture_invalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status_of(s), none);
    EXPECT_EQ(fills(s), success);
  }
  size_t nodes_of(void* graph) {
    size_t count = 0;
    EXPECT_EQ(call("cuGraphGetNodes", graph, static_cast<void**>(nullptr), &count), success);
    return count;
  }
  void *stream_ = nullptr, *other_ = nullptr, *graph_ = nullptr;
  Pointer p_ = 0;
};

TEST_F(StreamCapture, a_call_that_capture_does_not_see_is_refused_to_the_thread_that_captures) {
  for (const int mode : {global, thread_local_}) {
    ASSERT_EQ(begin(stream_, mode), success);
    EXPECT_EQ(status_of(stream_), active);
    EXPECT_EQ(allocates(), stream_capture_unsupported);
    expect_invalid(stream_);
  }
  ASSERT_EQ(begin(stream_, relaxed), success);
  EXPECT_EQ(allocates(), success);
  EXPECT_EQ(end(stream_, graph_), success);
  EXPECT_EQ(nodes_of(graph_), 0U);
}

TEST_F(StreamCapture, a_thread_may_change_its_own_mode) {
  EXPECT_EQ(exchanged(relaxed), global);
  ASSERT_EQ(begin(stream_, global), success);
  EXPECT_EQ(allocates(), success);
  EXPECT_EQ(exchanged(global), relaxed);
  EXPECT_EQ(allocates(), stream_capture_unsupported);
  expect_invalid(stream_);
  int none_such = 3;
  EXPECT_EQ(call("cuThreadExchangeStreamCaptureMode", &none_such), invalid_value);
}

TEST_F(StreamCapture, other_threads_are_concerned_by_global_sequences) {
  ASSERT_EQ(begin(stream_, thread_local_), success);
  std::thread([&] {
    use_context();
    EXPECT_EQ(allocates(), success);
  }).join();
  EXPECT_EQ(end(stream_, graph_), success);

  ASSERT_EQ(begin(stream_, global), success);
  std::thread([&] {
    use_context();
    exchanged(thread_local_);
    EXPECT_EQ(allocates(), success);
    exchanged(global);
    EXPECT_EQ(allocates(), stream_capture_unsupported);
  }).join();
  expect_invalid(stream_);
}

TEST_F(StreamCapture, a_relaxed_sequence_alone_may_be_ended_by_another_thread) {
  for (const int mode : {global, thread_local_, relaxed}) {
    ASSERT_EQ(begin(stream_, mode), success);
    Status status = unknown;
    std::thread([&] { status = end(stream_, graph_); }).join();
    EXPECT_EQ(status, mode == relaxed ? success : stream_capture_wrong_thread);
    if (mode != relaxed) {
      EXPECT_EQ(end(stream_, graph_), success);
    }
  }
}

TEST_F(StreamCapture, what_is_captured_cannot_be_waited_for) {
  void* const e = event();
  const auto captured = [&](Status expected, auto&& wait) {
    ASSERT_EQ(begin(stream_, relaxed), success);
    EXPECT_EQ(record(e, stream_), success);
    EXPECT_EQ(wait(), expected);
    expect_invalid(stream_);
  };
  captured(stream_capture_unsupported, [&] { return call("cuStreamSynchronize", stream_); });
  captured(stream_capture_unsupported, [&] { return call("cuStreamQuery", stream_); });
  captured(stream_capture_unsupported, [&] { return call("cuCtxSynchronize"); });
  captured(captured_event, [&] { return call("cuEventSynchronize", e); });
  captured(captured_event, [&] { return call("cuEventQuery", e); });
  EXPECT_EQ(record(e, stream_), success);
  EXPECT_EQ(call("cuEventSynchronize", e), success) << "recorded anew";
}

TEST_F(StreamCapture, operations_that_no_graph_has_are_refused) {
  ASSERT_EQ(begin(stream_), success);
  EXPECT_EQ(call("cuStreamAttachMemAsync", stream_, p_, size_t{0}, 1U), stream_capture_unsupported);
  expect_invalid(stream_);
}

TEST_F(StreamCapture, a_fork_becomes_a_part_of_the_sequence_and_must_be_joined) {
  void *const fork = event(), *const join = event();
  const auto forked = [&] {
    EXPECT_EQ(begin(stream_), success);
    EXPECT_EQ(fills(stream_), success);
    EXPECT_EQ(record(fork, stream_), success);
    EXPECT_EQ(waits(other_, fork), success);
    EXPECT_EQ(status_of(other_), active);
    EXPECT_EQ(fills(other_), success);
    EXPECT_EQ(record(join, other_), success);
  };
  forked();
  EXPECT_EQ(waits(stream_, join), success);
  EXPECT_EQ(end(stream_, graph_), success);
  EXPECT_EQ(nodes_of(graph_), 2U);
  EXPECT_EQ(status_of(other_), none);

  forked();
  EXPECT_EQ(end(stream_, graph_), stream_capture_unjoined);
  EXPECT_EQ(graph_, nullptr);
  EXPECT_EQ(status_of(stream_), none);

  forked();
  EXPECT_EQ(waits(stream_, join), success);
  EXPECT_EQ(fills(other_), success) << "behind the event";
  EXPECT_EQ(end(stream_, graph_), stream_capture_unjoined);

  forked();
  EXPECT_EQ(waits(stream_, join), success);
  void* gone = nullptr;
  EXPECT_EQ(call("cuStreamCreate", &gone, non_blocking), success);
  EXPECT_EQ(waits(gone, fork), success);
  EXPECT_EQ(fills(gone), success);
  EXPECT_EQ(call("cuStreamDestroy_v2", gone), success);
  EXPECT_EQ(end(stream_, graph_), stream_capture_unjoined) << "its work is not joined by its end";
}

TEST_F(StreamCapture, only_the_first_stream_ends_the_sequence) {
  void* const fork = event();
  ASSERT_EQ(begin(stream_), success);
  EXPECT_EQ(record(fork, stream_), success);
  EXPECT_EQ(waits(other_, fork), success);
  EXPECT_EQ(end(other_, graph_), stream_capture_unmatched);
  EXPECT_EQ(end(stream(), graph_), illegal_state) << "not captured";
  EXPECT_EQ(begin(stream_), illegal_state) << "captured already";
}

TEST_F(StreamCapture, two_sequences_are_not_merged) {
  void* const e = event();
  ASSERT_EQ(begin(stream_), success);
  ASSERT_EQ(begin(other_), success);
  EXPECT_EQ(record(e, other_), success);
  EXPECT_EQ(waits(stream_, e), stream_capture_merge);
  expect_invalid(stream_);
  expect_invalid(other_);
}

TEST_F(StreamCapture, nothing_captured_waits_for_what_is_not) {
  void* const e = event();
  EXPECT_EQ(record(e, other_), success);
  ASSERT_EQ(begin(stream_), success);
  EXPECT_EQ(waits(stream_, e), stream_capture_isolation);
  expect_invalid(stream_);

  ASSERT_EQ(begin(stream_), success);
  EXPECT_EQ(call("cuStreamWaitEvent", stream_, e, 1U), success) << "CU_EVENT_WAIT_EXTERNAL";
  EXPECT_EQ(end(stream_, graph_), success);
  EXPECT_EQ(nodes_of(graph_), 1U);
}

TEST_F(StreamCapture, the_legacy_stream_would_wait_for_a_blocking_stream) {
  void* const legacy = nullptr;
  void* const s = stream(blocking);
  EXPECT_EQ(begin(legacy), stream_capture_unsupported);
  ASSERT_EQ(begin(s, relaxed), success);
  int status = 0;
  EXPECT_EQ(call("cuStreamIsCapturing", legacy, &status), stream_capture_implicit);
  EXPECT_EQ(status_of(s), active) << "asking is allowed";
  EXPECT_EQ(fills(legacy), stream_capture_implicit);
  expect_invalid(s);
  ASSERT_EQ(begin(s, relaxed), success);
  EXPECT_EQ(call("cuMemsetD32_v2", p_, 1U, size_t{1}), stream_capture_implicit);
  expect_invalid(s);

  ASSERT_EQ(begin(stream_, relaxed), success);
  EXPECT_EQ(fills(legacy), success) << "this one does not block";
  EXPECT_EQ(end(stream_, graph_), success);
}

TEST_F(StreamCapture, each_thread_captures_its_own_default_stream) {
  void* const own = reinterpret_cast<void*>(2);  // CU_STREAM_PER_THREAD
  ASSERT_EQ(begin(own, thread_local_), success);
  EXPECT_EQ(fills(own), success);
  std::thread([&] {
    use_context();
    EXPECT_EQ(status_of(own), none);
    EXPECT_EQ(fills(own), success);
  }).join();
  EXPECT_EQ(end(own, graph_), success);
  EXPECT_EQ(nodes_of(graph_), 1U);
}

TEST_F(StreamCapture, goes_into_a_graph_of_the_program) {
  void *const graph = new_graph(), *const strange_graph = new_graph();
  void *node = nullptr, *strange = nullptr;
  ASSERT_EQ(call("cuGraphAddEmptyNode", &node, graph, static_cast<void**>(nullptr), size_t{0}), success);
  const auto into = [&](void** after, size_t count) {
    return call("cuStreamBeginCaptureToGraph", stream_, graph, after, static_cast<const void*>(nullptr),
                count, static_cast<int>(global));
  };
  ASSERT_EQ(call("cuGraphAddEmptyNode", &strange, strange_graph, static_cast<void**>(nullptr), size_t{0}),
            success);
  EXPECT_EQ(into(&strange, 1), invalid_value) << "of another graph";
  ASSERT_EQ(into(&node, 1), success);
  EXPECT_EQ(fills(stream_), success);
  EXPECT_EQ(call("cuStreamUpdateCaptureDependencies", stream_, &strange, size_t{1}, 1U), invalid_value);
  EXPECT_EQ(call("cuStreamUpdateCaptureDependencies", stream_, &node, size_t{1}, 1U), success);
  EXPECT_EQ(fills(stream_), success);
  void* exec = nullptr;
  EXPECT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0}), invalid_value) << "not yet";
  void* given = nullptr;
  EXPECT_EQ(ended(stream_, given), success);
  EXPECT_EQ(given, graph);
  EXPECT_EQ(nodes_of(graph), 3U);
  size_t count = 0;
  EXPECT_EQ(call("cuGraphNodeGetDependentNodes_v2", node, static_cast<void**>(nullptr),
                 static_cast<void*>(nullptr), &count),
            success);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0}), success);
  owned(exec, "cuGraphExecDestroy");
}

TEST_F(StreamCapture, older_programs_get_the_functions_of_their_toolkit) {
  const auto function = [&](const char* name, int version) {
    void* f = nullptr;
    int status = 0;
    EXPECT_EQ(call("cuGetProcAddress_v2", name, &f, version, uint64_t{0}, &status), success);
    return f;
  };
  const auto exported = [&](const char* name) { return dlsym(library_, name); };
  EXPECT_EQ(function("cuStreamGetCaptureInfo", 11000), exported("cuStreamGetCaptureInfo"));
  EXPECT_EQ(function("cuStreamGetCaptureInfo", 12020), exported("cuStreamGetCaptureInfo_v2"));
  EXPECT_EQ(function("cuStreamGetCaptureInfo", 13000), exported("cuStreamGetCaptureInfo_v3"));
  EXPECT_EQ(function("cuGraphAddNode", 12020), exported("cuGraphAddNode"));
  EXPECT_EQ(function("cuGraphAddNode", 13000), exported("cuGraphAddNode_v2"));
  EXPECT_EQ(function("cuStreamUpdateCaptureDependencies", 12000),
            exported("cuStreamUpdateCaptureDependencies"));
}

}  // namespace
