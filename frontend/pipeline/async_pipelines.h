#pragma once
// CUTLASS' pipeline classes: the two mbarriers of each slot of a ring in shared memory, one that says that it
// is full, one that it is empty, and who waits for which phase. emit_pipeline does the same unseen.
//
//   producer                                   consumer
//   state = make_producer_start_state(stages)  state = PipelineState(stages)
//   pipe.producer_acquire(state)               pipe.consumer_wait(state)
//   copies to slot state.index()               reads slot state.index()
//   pipe.producer_commit(state)                pipe.consumer_release(state)
//   state = state.advance()                    state = state.advance()
//   ...                                        ...
//   pipe.producer_tail(state)
//
// A barrier's phases have the parities 0, 1, 0, ... A consumer starts with parity 0: the first phase of
// `full` completes when the slot is filled. A producer starts with parity 1: the phase before the first one
// counts as completed, so that it does not wait for slots that nobody has used.
#include <source_location>
#include <string>
#include <vector>

#include "frontend/control/carry.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

// A place in a ring. A carry of loops, as numbers are.
class PipelineState {
 public:
  // Slot, parity of the phase to wait for, steps so far.
  explicit PipelineState(int64_t stages, Scalar index = 0, Scalar phase = 0, Scalar count = 0,
                         std::source_location loc = std::source_location::current());

  int64_t stages() const { return stages_; }      // of the ring
  const Scalar& index() const { return index_; }  // the slot
  const Scalar& phase() const { return phase_; }  // the parity to wait for
  const Scalar& count() const { return count_; }  // steps so far
  // The place `steps` later.
  PipelineState advance(const Scalar& steps = 1,
                        std::source_location loc = std::source_location::current()) const;
  // Where the body of a loop is a host's: a recorded loop carries the state.
  PipelineState& operator++();

 private:
  int64_t stages_;
  Scalar index_, phase_, count_;
};
// Of a producer, which finds all slots empty: parity 1.
PipelineState make_producer_start_state(int64_t stages,
                                        std::source_location loc = std::source_location::current());

struct PipelineParams {       // of plgpu::PipelineTmaAsync and plgpu::PipelineAsync
  int64_t stages = 2;         // slots of the ring
  int64_t num_producers = 1;  // arrivals that fill a slot: TMA copies, or Pallas threads of a PipelineAsync
  int64_t num_consumers = 1;  // Pallas threads of a CTA that release a slot
  // Axes of the cluster along which copies are multicast: a slot is empty when the consumers of all CTAs that
  // differ in at most one of them have released theirs.
  AxisNames collective_axes = {};
  bool orders_tensor_core = false;  // the consumers of tcgen05, as in BarrierOptions
};

// What the classes share. Made in the body, by all threads; it ends with the scope where it was made.
class Pipeline {
 public:
  using Loc = std::source_location;                  // the author's line
  int64_t stages() const { return params_.stages; }  // of the ring
  // For copies that fill the slot: the barrier at which they arrive.
  BarrierRef producer_get_barrier(const PipelineState& state, Loc loc = Loc::current()) const;
  // Until the slot is empty. The warps of this thread meet behind it: one of them issues the copies, and
  // another that came a round late would wait for a phase that is over.
  void producer_acquire(const PipelineState& state, Loc loc = Loc::current()) const;
  BarrierToken producer_try_acquire(const PipelineState& state, Loc loc = Loc::current()) const;
  void producer_acquire(const PipelineState& state, const BarrierToken& token,
                        Loc loc = Loc::current()) const;
  // Until all slots are empty: no consumer of another CTA arrives at a CTA that has exited.
  void producer_tail(const PipelineState& state, Loc loc = Loc::current()) const;
  // Until the slot is full.
  void consumer_wait(const PipelineState& state, Loc loc = Loc::current()) const;
  BarrierToken consumer_try_wait(const PipelineState& state, Loc loc = Loc::current()) const;
  void consumer_wait(const PipelineState& state, const BarrierToken& token, Loc loc = Loc::current()) const;
  // This thread has done with the slot.
  void consumer_release(const PipelineState& state, Loc loc = Loc::current()) const;

 protected:
  Pipeline(PipelineParams params, const std::string& name, Loc loc);
  const BarrierRef& full() const { return full_; }
  // The slot of a barrier that a state means.
  BarrierRef slot(const BarrierRef& barriers, const PipelineState& state) const;

 private:
  PipelineParams params_;
  BarrierRef full_, empty_;
};

// Slots that TMA copies fill: they arrive at producer_get_barrier(state) with their bytes.
class PipelineTmaAsync : public Pipeline {
 public:
  explicit PipelineTmaAsync(PipelineParams params, const std::string& name = "pipeline",
                            Loc loc = Loc::current())
      : Pipeline(std::move(params), name, loc) {}
  // Nothing: the copies commit. It stands where the producer has issued them.
  void producer_commit(const PipelineState&) const {}
};

// Slots that Pallas threads fill with stores.
class PipelineAsync : public Pipeline {
 public:
  explicit PipelineAsync(PipelineParams params, const std::string& name = "pipeline",
                         Loc loc = Loc::current());
  // This thread's stores to the slot are done.
  void producer_commit(const PipelineState& state, Loc loc = Loc::current()) const;
};

// Groups that take turns: each of the `depth` parts of a round (main loop, epilogue) is done by group 0, then
// by group 1, ... and by group 0 again; different parts do not wait for each other. Ping-pong of two
// consumers has length 2.
class OrderedSequenceBarrier {
 public:
  using Loc = std::source_location;  // the author's line
  // `group`: which of `length` this Pallas thread is, 0 is first.
  OrderedSequenceBarrier(int64_t depth, int64_t length, Scalar group, const std::string& name = "order",
                         Loc loc = Loc::current());
  // Where each group starts.
  PipelineState start_state(Loc loc = Loc::current()) const;
  // Until it is this group's turn; then the next group's.
  void wait(const PipelineState& state, Loc loc = Loc::current()) const;
  void arrive(const PipelineState& state, Loc loc = Loc::current()) const;

 private:
  int64_t depth_, length_;
  Scalar group_;
  BarrierRef barriers_;  // (depth, length)
};

// A barrier of the CTA's hardware (PTX barrier.cta) for some of its Pallas threads.
class NamedBarrier {
 public:
  using Loc = std::source_location;  // the author's line
  // `threads` Pallas threads meet; `id`: from 0, of the kernel's own. One that is known when the kernel runs
  // must be in the same range.
  NamedBarrier(int64_t threads, const Scalar& id, Loc loc = Loc::current());
  void arrive_and_wait(Loc loc = Loc::current()) const;  // CUTLASS' sync
  void arrive(Loc loc = Loc::current()) const;           // another thread waits

 private:
  int64_t lanes_;
  Scalar number_;
};

}  // namespace palladion::plgpu

namespace palladion::frontend {

template <>
struct CarryTraits<plgpu::PipelineState> {
  using Result = plgpu::PipelineState;
  static void add(Carry& c, const plgpu::PipelineState& s) {
    for (const pl::Scalar& x : {s.index(), s.phase(), s.count()}) add_leaf(c, x);
  }
  static Result get(const Carry& c, size_t& i, const plgpu::PipelineState& like) {
    const pl::Scalar index = scalar_of(c[i++]), phase = scalar_of(c[i++]);
    return plgpu::PipelineState(like.stages(), index, phase, scalar_of(c[i++]));
  }
};

}  // namespace palladion::frontend
