#include "frontend/pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/control/control.h"
#include "frontend/core/verbs.h"
#include "frontend/memory/scoped.h"

namespace palladion::plgpu {

using frontend::GridWalk;
using frontend::OutputBuffers;
using frontend::PipelineBuffer;
using frontend::PipelineGrid;
using pl::Indices;
using pl::Scalar;

namespace {

constexpr std::string_view verb = "emit_pipeline";

void check(const PipelineOptions& o, size_t refs) {
  frontend::check_reference_count(o.in_specs.size() + o.out_specs.size(), refs, verb);
  if (Recorder::current().thread_count() > 1) {
    fail(Code::bad_pipeline,
         "emit_pipeline: its buffers belong to one Pallas thread, but the kernel has several",
         "use plgpu::emit_pipeline_warp_specialized");
  }
  if (o.max_concurrent_steps < 1)
    fail(Code::bad_pipeline, fmt::format("emit_pipeline: max_concurrent_steps is {}, it must be at least 1",
                                         o.max_concurrent_steps));
  for (const BlockSpec& s : o.in_specs) {
    if (o.max_concurrent_steps <= s.options.delay_release) {
      fail(Code::bad_pipeline,
           fmt::format("emit_pipeline: max_concurrent_steps ({}) must be greater than all delay_release "
                       "values, one is {}",
                       o.max_concurrent_steps, s.options.delay_release),
           s.loc, "a buffer would be overwritten while it is in use, or never");
    }
  }
  for (const auto* specs : {&o.in_specs, &o.out_specs}) {
    for (const BlockSpec& s : *specs) {
      if (!s.options.collective_axes.empty())
        fail(Code::bad_pipeline, "emit_pipeline: collective_axes are not supported", s.loc,
             "use plgpu::emit_pipeline_warp_specialized");
    }
  }
}

class SingleThreadPipeline {
 public:
  SingleThreadPipeline(const PipelineOptions& o, const std::vector<Ref>& gmem)
      : grid_(o.grid, verb),
        slots_(grid_.is_static() ? std::min(o.max_concurrent_steps, grid_.steps.as_int())
                                 : o.max_concurrent_steps) {
    const auto middle = gmem.begin() + static_cast<int64_t>(o.in_specs.size());
    ins_ = frontend::make_buffers(o.in_specs, {gmem.begin(), middle}, grid_, slots_, verb);
    outs_ = frontend::make_buffers(o.out_specs, {middle, gmem.end()}, grid_, slots_, verb);
  }

  void run(const frontend::PipelineBody& body, std::source_location loc) {
    allocate(loc);
    // What SMEM held before (an earlier round of an outer loop, another scope) has been read and written.
    if (has_ins() || outs_in_smem()) plgpu::commit_smem();
    std::vector<Indices> places = prologue();
    OutputBuffers outputs(outs_, grid_, slots_);
    GridWalk here(grid_, grid_.origin(), 0);
    std::vector<Level> levels = fetch_levels(places);
    frontend::loop_within(grid_.steps, [&](const Scalar& step) {
      const Indices indices = here.at(step);
      if (copies_ > 0) barrier_wait(barrier_.at(frontend::slot_of(step, slots_)));
      outputs.acquire();
      call(body, outputs, step, indices);
      if (outputs.any_in_loop() || !levels.empty()) plgpu::commit_smem();
      outputs.store(step, indices);
      for (Level& level : levels) fetch(level, step);
      here.advance(step);
      for (Level& level : levels) level.walk.advance(step);
    });
    outputs.finish();
  }

 private:
  // Inputs that are fetched the same number of steps ahead.
  struct Level {
    int64_t delay;
    GridWalk walk;
  };

  static bool is_fetched(const PipelineBuffer& b) { return b.in_smem && !b.invariant; }
  bool has_ins() const { return std::ranges::any_of(ins_, &PipelineBuffer::in_smem); }
  bool outs_in_smem() const { return std::ranges::any_of(outs_, &PipelineBuffer::in_smem); }

  void allocate(std::source_location loc) {
    for (auto* buffers : {&ins_, &outs_}) {
      for (int64_t n = 0; PipelineBuffer & b : *buffers) {
        const std::string name = fmt::format("{} {}", buffers == &ins_ ? "input" : "output", n++);
        if (b.in_smem) b.smem = make_smem(b.smem_type(), "pipeline " + name, loc);
      }
    }
    copies_ = std::ranges::count_if(ins_, is_fetched);
    once_ = std::ranges::count_if(ins_, [](const PipelineBuffer& b) { return b.in_smem && b.invariant; });
    if (copies_ > 0)
      barrier_ =
          make_barrier(Barrier({.num_arrivals = copies_, .num_barriers = {slots_}}), "pipeline inputs", loc);
    if (once_ > 0)
      once_barrier_ = make_barrier(Barrier({.num_arrivals = once_}), "pipeline invariant inputs", loc);
  }

  // Fetches for the first steps; gives the places in the grid of steps 0 .. slots.
  std::vector<Indices> prologue() {
    std::vector<Indices> places{grid_.origin()};
    if (once_ > 0) {
      frontend::when_within(grid_.steps > 0, [&] {
        for (const PipelineBuffer& b : ins_)
          if (b.in_smem && b.invariant) b.copy_in(0, grid_.origin(), once_barrier_);
      });
    }
    for (int64_t k = 0; k < slots_; ++k) {
      if (copies_ > 0) {
        frontend::when_within(Scalar(k) < grid_.steps, [&] {
          for (const PipelineBuffer& b : ins_)
            if (is_fetched(b)) b.copy_in(k, places.back(), barrier_.at(k));
        });
      }
      places.push_back(grid_.next(places.back()));
    }
    if (once_ > 0) frontend::when_within(grid_.steps > 0, [&] { barrier_wait(once_barrier_); });
    return places;
  }

  std::vector<Level> fetch_levels(const std::vector<Indices>& places) {
    std::vector<Level> levels;
    if (grid_.is_static() && slots_ == grid_.steps.as_int()) return levels;  // the prologue fetched all
    std::set<int64_t> delays;
    for (const PipelineBuffer& b : ins_)
      if (is_fetched(b)) delays.insert(b.spec.options.delay_release);
    for (int64_t delay : delays) {
      const int64_t ahead = slots_ - delay;
      levels.push_back({delay, GridWalk(grid_, places[static_cast<size_t>(ahead)], ahead)});
    }
    return levels;
  }

  void fetch(const Level& level, const Scalar& step) {
    const Scalar target = step + (slots_ - level.delay);
    Scalar wanted = target < grid_.steps;
    if (level.delay > 0) wanted = wanted && step >= level.delay;
    frontend::when_within(wanted, [&] {
      const Indices place = level.walk.at(step);
      for (const PipelineBuffer& b : ins_)
        if (is_fetched(b) && b.spec.options.delay_release == level.delay)
          b.copy_in(frontend::slot_of(target, slots_), place, barrier_.at(frontend::slot_of(target, slots_)));
    });
  }

  void call(const frontend::PipelineBody& body, const OutputBuffers& outputs, const Scalar& step,
            const Indices& indices) {
    frontend::BodyArguments a{indices, {}, {}};
    for (const PipelineBuffer& b : ins_)
      a.refs.push_back(b.visible(frontend::slot_of(step, b.slots), indices));
    for (size_t i = 0; i < outs_.size(); ++i)
      a.refs.push_back(outs_[i].visible(outputs.slot(i, step), indices));
    const frontend::UserCode user;
    body(a);
  }

  PipelineGrid grid_;
  int64_t slots_;
  std::vector<PipelineBuffer> ins_, outs_;
  int64_t copies_ = 0, once_ = 0;
  BarrierRef barrier_, once_barrier_;
};

}  // namespace

void run_pipeline(const PipelineOptions& options, const std::vector<Ref>& gmem_refs,
                  const frontend::PipelineBody& body, std::source_location loc) {
  const VerbScope at(loc);
  check(options, gmem_refs.size());
  const pl::detail::AllocationScope scope("the pipeline", loc);
  SingleThreadPipeline(options, gmem_refs).run(body, loc);
}

}  // namespace palladion::plgpu
