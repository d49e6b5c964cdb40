#include "frontend/pipeline/async_pipelines.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

PipelineState::PipelineState(int64_t stages, Scalar index, Scalar phase, Scalar count,
                             std::source_location loc)
    : stages_(stages), index_(std::move(index)), phase_(std::move(phase)), count_(std::move(count)) {
  const VerbScope at(loc);
  if (stages < 1 || stages > 32)
    fail(Code::bad_pipeline, fmt::format("PipelineState: {} stages, it must be 1 to 32", stages));
}

PipelineState PipelineState::advance(const Scalar& steps, std::source_location loc) const {
  const VerbScope at(loc);
  const Scalar next = index_ + steps;
  if (steps.is_constant() && steps.as_int() == 1) {
    const Scalar wraps = next == stages_;
    return PipelineState(stages_, pl::where(wraps, 0, next), phase_ ^ wraps.astype(DType::s32), count_ + 1);
  }
  return PipelineState(stages_, next % stages_, phase_ ^ (next / stages_ & 1), count_ + steps);
}

PipelineState& PipelineState::operator++() { return *this = advance(); }

PipelineState make_producer_start_state(int64_t stages, std::source_location loc) {
  return PipelineState(stages, 0, 1, 0, loc);
}

namespace {

BarrierType empty_barriers(const PipelineParams& p, std::source_location loc) {
  if (p.collective_axes.empty())
    return Barrier({.num_arrivals = p.num_consumers,
                    .num_barriers = {p.stages},
                    .orders_tensor_core = p.orders_tensor_core},
                   loc);
  return ClusterBarrier({.collective_axes = p.collective_axes,
                         .num_barriers = {p.stages},
                         .num_arrivals = p.num_consumers,
                         .orders_tensor_core = p.orders_tensor_core},
                        loc);
}

}  // namespace

Pipeline::Pipeline(PipelineParams params, const std::string& name, Loc loc)
    : params_(std::move(params)),
      full_(make_barrier(Barrier({.num_arrivals = params_.num_producers,
                                  .num_barriers = {params_.stages},
                                  .orders_tensor_core = params_.orders_tensor_core},
                                 loc),
                         name + ".full", loc)),
      empty_(make_barrier(empty_barriers(params_, loc), name + ".empty", loc)) {}

BarrierRef Pipeline::slot(const BarrierRef& barriers, const PipelineState& state) const {
  if (state.stages() != params_.stages)
    fail(Code::bad_pipeline, fmt::format("a PipelineState of {} stages is used in a pipeline of {}",
                                         state.stages(), params_.stages));
  return barriers.at(state.index());
}

BarrierRef Pipeline::producer_get_barrier(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  return slot(full_, state);
}
void Pipeline::producer_acquire(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  barrier_wait(slot(empty_, state), state.phase(), loc);
  Recorder::current().warpgroup_barrier();
}
BarrierToken Pipeline::producer_try_acquire(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  return barrier_try_wait(slot(empty_, state), state.phase(), loc);
}
void Pipeline::producer_acquire(const PipelineState& state, const BarrierToken& token, Loc loc) const {
  const VerbScope at(loc);
  barrier_wait(slot(empty_, state), state.phase(), token, loc);
  Recorder::current().warpgroup_barrier();
}
void Pipeline::producer_tail(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  for (int64_t i = 0; i < stages(); ++i) {
    const PipelineState later = state.advance(i, loc);
    barrier_wait(slot(empty_, later), later.phase(), loc);
  }
}
void Pipeline::consumer_wait(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  barrier_wait(slot(full_, state), state.phase(), loc);
}
BarrierToken Pipeline::consumer_try_wait(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  return barrier_try_wait(slot(full_, state), state.phase(), loc);
}
void Pipeline::consumer_wait(const PipelineState& state, const BarrierToken& token, Loc loc) const {
  const VerbScope at(loc);
  barrier_wait(slot(full_, state), state.phase(), token, loc);
}
void Pipeline::consumer_release(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  barrier_arrive(slot(empty_, state), loc);
}

PipelineAsync::PipelineAsync(PipelineParams params, const std::string& name, Loc loc)
    : Pipeline(std::move(params), name, loc) {}

void PipelineAsync::producer_commit(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  barrier_arrive(slot(full(), state), loc);
}

OrderedSequenceBarrier::OrderedSequenceBarrier(int64_t depth, int64_t length, Scalar group,
                                               const std::string& name, Loc loc)
    : depth_(depth),
      length_(length),
      group_(std::move(group)),
      barriers_(make_barrier(Barrier({.num_barriers = {depth, length}}, loc), name, loc)) {}

PipelineState OrderedSequenceBarrier::start_state(Loc loc) const {
  const VerbScope at(loc);
  return PipelineState(depth_, 0, (group_ == 0).astype(DType::s32), 0, loc);
}

void OrderedSequenceBarrier::wait(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  barrier_wait(barriers_.at(state.index(), group_), state.phase(), loc);
}

void OrderedSequenceBarrier::arrive(const PipelineState& state, Loc loc) const {
  const VerbScope at(loc);
  barrier_arrive(barriers_.at(state.index(), (group_ + 1) % length_), loc);
}

NamedBarrier::NamedBarrier(int64_t threads, const Scalar& id, Loc loc) {
  const VerbScope at(loc);
  const Recorder& r = Recorder::current();
  // Barrier 0 is the CTA's, and each Pallas thread has one.
  const int64_t reserved = r.thread_count() == 1 ? 1 : r.thread_count() + 1,
                most = r.arch().named_barriers_per_cta - reserved;
  lanes_ = threads * frontend::group_threads;
  number_ = id + reserved;
  if (id.is_constant() && (id.as_int() < 0 || id.as_int() >= most))
    fail(Code::bad_barrier, fmt::format("NamedBarrier: id {} is outside of [0, {})", id.as_int(), most),
         fmt::format("a CTA has {} barriers, {} of them are the kernel's own",
                     r.arch().named_barriers_per_cta, reserved));
  if (threads < 1 || threads > r.thread_count())
    fail(Code::bad_barrier,
         fmt::format("NamedBarrier: {} Pallas threads meet, the kernel has {}", threads, r.thread_count()));
}

void NamedBarrier::arrive_and_wait(Loc loc) const {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  r.needs_warpgroup("a NamedBarrier");
  r.emit("bar.sync", {number_.operand(), Operand::imm(lanes_)});
}

void NamedBarrier::arrive(Loc loc) const {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  r.needs_warpgroup("a NamedBarrier");
  r.emit("bar.arrive", {number_.operand(), Operand::imm(lanes_)});
}

}  // namespace palladion::plgpu
