#include "frontend/pipeline/warp_specialized.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/control/control.h"
#include "frontend/core/verbs.h"
#include "frontend/matrix/wgmma.h"
#include "frontend/memory/scoped.h"

namespace palladion::plgpu {

using frontend::GridWalk;
using frontend::OutputBuffers;
using frontend::PipelineBuffer;
using frontend::PipelineGrid;
using frontend::slot_of;
using frontend::when_within;
using pl::Indices;
using pl::Scalar;

namespace {

constexpr std::string_view specialized_verb = "emit_pipeline_warp_specialized";

[[noreturn]] void refuse(const std::string& what, const std::string& help = {}) {
  fail(Code::bad_pipeline, fmt::format("{}: {}", specialized_verb, what), help);
}

void check_threads(const WarpSpecializedOptions& o) {
  const Recorder& r = Recorder::current();
  if (o.num_compute_wgs < 1)
    refuse(fmt::format("num_compute_wgs is {}, it must be at least 1", o.num_compute_wgs));
  if (o.wg_axis.empty() || o.wg_axis != r.mesh().thread.name) {
    refuse(fmt::format("wg_axis \"{}\" is not the name of the kernel's threads (\"{}\")", o.wg_axis,
                       r.mesh().thread.name),
           "set .wg_axis to the kernel's .thread_name");
  }
  if (o.memory_thread_idx && *o.memory_thread_idx != o.num_compute_wgs) {
    refuse(fmt::format("Memory thread must be the last thread: memory_thread_idx is {}, num_compute_wgs {}",
                       *o.memory_thread_idx, o.num_compute_wgs));
  }
  if (r.thread_count() != o.num_compute_wgs + 1) {
    refuse(fmt::format("{} compute threads and the memory thread, but the kernel has {} threads",
                       o.num_compute_wgs, r.thread_count()),
           fmt::format("set .num_threads = {}", o.num_compute_wgs + 1));
  }
  if (const isa::ArchSpec& a = r.arch(); !isa::setmaxnreg_takes(a, o.memory_registers)) {
    refuse(fmt::format("memory_registers is {}, it must be a multiple of {} from {} to {}",
                       o.memory_registers, a.register_unit_per_thread, a.min_setmaxnreg, a.max_setmaxnreg));
  }
}

void check_specs(const WarpSpecializedOptions& o) {
  if (o.max_concurrent_steps < 1)
    refuse(fmt::format("max_concurrent_steps is {}, it must be at least 1", o.max_concurrent_steps));
  for (const BlockSpec& s : o.in_specs) {
    if (s.options.delay_release != o.in_specs.front().options.delay_release) {
      fail(Code::bad_pipeline,
           fmt::format("{}: all inputs must have the same delay_release, these are {} and {}",
                       specialized_verb, o.in_specs.front().options.delay_release, s.options.delay_release),
           s.loc);
    }
    if (s.options.delay_release >= o.max_concurrent_steps) {
      fail(Code::bad_pipeline,
           fmt::format("{}: max_concurrent_steps ({}) must be greater than delay_release ({})",
                       specialized_verb, o.max_concurrent_steps, s.options.delay_release),
           s.loc, "the memory thread would wait for a buffer that is never released");
    }
    if (s.options.collective_axes.size() > 1)
      fail(Code::bad_pipeline,
           fmt::format("{}: only a single collective axis is supported", specialized_verb), s.loc);
  }
  for (const BlockSpec& s : o.out_specs) {
    if (!s.options.collective_axes.empty())
      fail(Code::bad_pipeline, fmt::format("{}: outputs cannot have collective_axes", specialized_verb),
           s.loc);
    if (s.in_smem() && o.num_compute_wgs > 1) {
      fail(Code::bad_pipeline,
           fmt::format("{}: SMEM outputs are not supported with multiple compute warpgroups",
                       specialized_verb),
           s.loc, "they would write one buffer; use .memory_space = plgpu::GMEM and store from the body");
    }
  }
}

bool is_copied(const PipelineBuffer& b) { return b.in_smem; }

class WarpSpecialized {
 public:
  WarpSpecialized(const WarpSpecializedOptions& o, const std::vector<Ref>& gmem)
      : o_(o),
        loc_(Recorder::current().loc()),
        grid_(o.grid, specialized_verb),
        slots_(grid_.is_static() ? std::min(o.max_concurrent_steps, grid_.steps.as_int())
                                 : o.max_concurrent_steps) {
    frontend::check_reference_count(o.in_specs.size() + o.out_specs.size(), gmem.size(), specialized_verb);
    const auto middle = gmem.begin() + static_cast<int64_t>(o.in_specs.size());
    ins_ = frontend::make_buffers(o.in_specs, {gmem.begin(), middle}, grid_, slots_, specialized_verb);
    outs_ = frontend::make_buffers(o.out_specs, {middle, gmem.end()}, grid_, slots_, specialized_verb);
    copies_ = std::ranges::count_if(ins_, is_copied);
    delay_ = o.in_specs.empty() ? 0 : o.in_specs.front().options.delay_release;
    for (const PipelineBuffer& b : ins_) {
      if (b.in_smem && b.invariant) {
        fail(Code::bad_pipeline,
             fmt::format("{}: Only inputs with a dependency on the grid are supported.", specialized_verb),
             b.spec.loc, "copy what stays the same once, before the pipeline");
      }
    }
    check_state();
  }

  PipelineAllocations allocate(std::source_location loc) const {
    PipelineAllocations a;
    for (const auto* buffers : {&ins_, &outs_}) {
      for (const PipelineBuffer& b : *buffers) {
        auto& list = buffers == &ins_ ? a.inputs : a.outputs;
        const std::string name =
            fmt::format("pipeline {} {}", buffers == &ins_ ? "input" : "output", list.size());
        list.push_back(b.in_smem ? make_smem(b.smem_type(), name, loc) : Ref());
      }
    }
    if (copies_ == 0) return a;
    const auto make_ready = [&](int64_t copies, const std::string& name) {
      a.ready.push_back(make_barrier(Barrier({.num_arrivals = copies, .num_barriers = {slots_}}), name, loc));
    };
    if (!o_.manual_ready_barriers) make_ready(copies_, "pipeline inputs ready");
    if (!o_.manual_consumed_barriers)
      a.consumed.push_back(make_consumed(all_axes(), "pipeline inputs consumed", loc));
    for (size_t i = 0; i < ins_.size(); ++i) {
      const PipelineBuffer& b = ins_[i];
      if (!b.in_smem) continue;
      if (o_.manual_ready_barriers) make_ready(1, fmt::format("pipeline input {} ready", i));
      if (o_.manual_consumed_barriers)
        a.consumed.push_back(
            make_consumed(b.spec.options.collective_axes, fmt::format("pipeline input {} consumed", i), loc));
    }
    return a;
  }

  void use(const PipelineAllocations& a) {
    check_allocations(a);
    for (size_t i = 0; i < ins_.size(); ++i) ins_[i].smem = a.inputs[i];
    for (size_t i = 0; i < outs_.size(); ++i) outs_[i].smem = a.outputs[i];
    ready_ = a.ready;
    consumed_ = a.consumed;
  }

  void run(const std::function<void(const ComputeSteps&)>& compute) {
    const Scalar thread = pl::axis_index(o_.wg_axis);
    when_within(thread < o_.num_compute_wgs, [&] {
      set_max_registers(compute_registers(), "increase");
      int runs = 0;
      compute([&](const frontend::PipelineBody& body) {
        ++runs;
        const VerbScope at(loc_);
        compute_steps(body);
      });
      if (runs != 1)
        refuse(fmt::format("the compute_context called its pipeline {} times, it must call it exactly once",
                           runs),
               "call pipeline(body) once, in no branch and no loop");
    });
    when_within(thread == o_.num_compute_wgs, [&] {
      set_max_registers(o_.memory_registers, "decrease");
      memory_steps();
    });
  }

 private:
  void check_state() const {
    if (!o_.pipeline_state) return;
    if (!grid_.is_static()) refuse("pipelines of pipelines need a static grid");
    if (grid_.steps.as_int() % o_.max_concurrent_steps != 0) {
      refuse(fmt::format(
          "in a pipeline of pipelines max_concurrent_steps ({}) must divide the number of steps ({})",
          o_.max_concurrent_steps, grid_.steps.as_int()));
    }
    if (delay_ != 0) refuse("a pipeline of pipelines has no delay_release");
  }

  void check_allocations(const PipelineAllocations& a) const {
    bool ok = a.inputs.size() == ins_.size() && a.outputs.size() == outs_.size();
    const auto fits = [](const PipelineBuffer& b, const Ref& smem) {
      return !b.in_smem || smem.shape() == b.smem_type().shape;
    };
    for (size_t i = 0; ok && i < ins_.size(); ++i) ok = fits(ins_[i], a.inputs[i]);
    for (size_t i = 0; ok && i < outs_.size(); ++i) ok = fits(outs_[i], a.outputs[i]);
    const size_t barriers = static_cast<size_t>(copies_);
    ok = ok && (copies_ == 0 || (a.ready.size() == (o_.manual_ready_barriers ? barriers : 1) &&
                                 a.consumed.size() == (o_.manual_consumed_barriers ? barriers : 1)));
    if (!ok)
      refuse("the allocations are those of a pipeline with other blocks",
             "get_allocations of a pipeline with the same specs and max_concurrent_steps");
  }

  std::vector<std::string> all_axes() const {
    std::vector<std::string> axes;
    for (const PipelineBuffer& b : ins_)
      for (const auto& a : b.spec.options.collective_axes)
        if (std::ranges::find(axes, a) == axes.end()) axes.push_back(a);
    return axes;
  }

  BarrierRef make_consumed(const std::vector<std::string>& axes, const std::string& name,
                           std::source_location loc) const {
    if (axes.empty())
      return make_barrier(Barrier({.num_arrivals = o_.num_compute_wgs, .num_barriers = {slots_}}), name, loc);
    ClusterBarrierOptions options;
    options.collective_axes = axes;
    options.num_barriers = {slots_};
    options.num_arrivals = o_.num_compute_wgs;
    return make_barrier(ClusterBarrier(options), name, loc);
  }

  // Registers are allocated in units a lane; what the launch gave to all threads is divided.
  int compute_registers() const {
    const isa::ArchSpec& a = Recorder::current().arch();
    const int threads = o_.num_compute_wgs + 1, unit = a.register_unit_per_thread;
    const int pool = a.registers_per_sm / frontend::group_threads / threads / unit * unit * threads;
    return std::min(a.max_setmaxnreg, (pool - o_.memory_registers) / o_.num_compute_wgs / unit * unit);
  }

  void compute_steps(const frontend::PipelineBody& body) {
    OutputBuffers outputs(outs_, grid_, slots_);
    GridWalk here(grid_, grid_.origin(), 0);
    frontend::loop_within(grid_.steps, [&](const Scalar& step) {
      const Indices indices = here.at(step);
      const Scalar slot = slot_of(step, slots_);
      if (copies_ > 0 && !o_.manual_ready_barriers) barrier_wait(ready_.front().at(slot));
      outputs.acquire();
      call(body, outputs, step, indices);
      if (outputs.any_in_loop()) commit_smem();
      if (copies_ > 0 && !o_.manual_consumed_barriers)
        release(step - delay_, delay_ == 0 ? Scalar(true) : step >= delay_);
      outputs.store(step, indices);
      here.advance(step);
    });
    if (copies_ > 0 && !o_.manual_consumed_barriers && delay_ > 0) {
      // The last wgmmas may still read what is released now.
      wgmma_wait(0);
      for (int64_t d = delay_; d > 0; --d) release(grid_.steps - d, grid_.steps >= d);
    }
    outputs.finish();
  }

  void release(const Scalar& step, const Scalar& condition) {
    when_within(condition, [&] { barrier_arrive(consumed_.front().at(slot_of(step, slots_))); });
  }

  void call(const frontend::PipelineBody& body, const OutputBuffers& outputs, const Scalar& step,
            const Indices& indices) {
    frontend::BodyArguments a{indices, {}, {}};
    for (const PipelineBuffer& b : ins_) a.refs.push_back(b.visible(slot_of(step, b.slots), indices));
    for (size_t i = 0; i < outs_.size(); ++i)
      a.refs.push_back(outs_[i].visible(outputs.slot(i, step), indices));
    if (o_.manual_ready_barriers) {
      for (const BarrierRef& b : ready_) a.barriers.push_back(b.at(slot_of(step, slots_)));
    }
    if (o_.manual_consumed_barriers) {
      for (const BarrierRef& b : consumed_) a.barriers.push_back(b.at(slot_of(step, slots_)));
    }
    const frontend::UserCode user;
    body(a);
  }

  void wait_consumed(const Scalar& slot) {
    for (const BarrierRef& b : consumed_) barrier_wait(b.at(slot));
  }

  void memory_steps() {
    if (copies_ == 0) return;
    GridWalk here(grid_, grid_.origin(), 0);
    const Scalar follows = o_.pipeline_state ? *o_.pipeline_state != PipelinePipeline::START : Scalar(false);
    frontend::loop_within(grid_.steps, [&](const Scalar& step) {
      const Scalar slot = slot_of(step, slots_);
      when_within(follows || step >= slots_, [&] { wait_consumed(slot); });
      const Indices place = here.at(step);
      size_t copy = 0;
      for (const PipelineBuffer& b : ins_)
        if (b.in_smem) b.copy_in(slot, place, ready_[o_.manual_ready_barriers ? copy++ : 0].at(slot));
      here.advance(step);
    });
    // Every completion is waited for: the barriers serve again, and other CTAs may arrive until then.
    const Scalar ends = o_.pipeline_state ? *o_.pipeline_state == PipelinePipeline::STOP : Scalar(true);
    when_within(ends, [&] {
      for (int64_t d = slots_; d > 0; --d)
        when_within(grid_.steps >= d, [&] { wait_consumed(slot_of(grid_.steps - d, slots_)); });
    });
  }

  const WarpSpecializedOptions& o_;
  std::source_location loc_;
  PipelineGrid grid_;
  int64_t slots_;
  std::vector<PipelineBuffer> ins_, outs_;
  int64_t copies_ = 0, delay_ = 0;
  std::vector<BarrierRef> ready_, consumed_;
};

void all_threads_meet() { Recorder::current().emit("bar.sync", {isa::Operand::imm(0)}); }

}  // namespace

PipelineAllocations allocate_pipeline(const WarpSpecializedOptions& options,
                                      const std::vector<Ref>& gmem_refs, std::source_location loc) {
  const VerbScope at(loc);
  check_threads(options);
  check_specs(options);
  return WarpSpecialized(options, gmem_refs).allocate(loc);
}

void run_warp_specialized(const WarpSpecializedOptions& options, const std::vector<Ref>& gmem_refs,
                          const std::optional<PipelineAllocations>& allocations,
                          const std::function<void(const ComputeSteps&)>& compute, std::source_location loc) {
  const VerbScope at(loc);
  check_threads(options);
  check_specs(options);
  if (options.pipeline_state && !allocations) {
    refuse("a pipeline of pipelines needs manual allocations",
           "share pipeline.get_allocations(refs...) through with_allocations");
  }
  WarpSpecialized pipeline(options, gmem_refs);
  if (allocations) {
    pipeline.use(*allocations);
    pipeline.run(compute);
    return;
  }
  const pl::detail::AllocationScope scope("the pipeline", loc);
  pipeline.use(pipeline.allocate(loc));
  // The buffers may have served another scope before, and may serve the next one.
  Recorder::current().emit("fence.proxy.async.shared::cta", {});
  all_threads_meet();
  pipeline.run(compute);
  all_threads_meet();
}

}  // namespace palladion::plgpu
