#pragma once
// emit_pipeline_warp_specialized: the last Pallas thread copies, the others compute.
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/pipeline/pipeline_blocks.h"

namespace palladion::plgpu {

// For `.pipeline_state`: pipelines that follow each other in the same buffers. START does not wait for
// buffers to be free, STEADY and STOP do; only STOP waits until all are consumed. Numbers, so that a
// loop can compute it.
struct PipelinePipeline {
  static constexpr int START = 0, STEADY = 1, STOP = 2;  // before the first step, between, after the last one
};

struct WarpSpecializedOptions {  // of plgpu::emit_pipeline_warp_specialized
  // Sequential, row-major; numbers or scalars.
  pl::Indices grid = {};
  // Registers of a lane of the memory thread; the compute threads share the rest.
  int memory_registers = 40;
  std::vector<BlockSpec> in_specs = {}, out_specs = {};
  int64_t max_concurrent_steps = 2;
  std::string wg_axis = {};  // of the kernel's threads
  int num_compute_wgs = 1;
  std::optional<pl::Scalar> pipeline_state = {};
  // The body itself waits until an input is there, or arrives when it is done with it: it gets one barrier
  // an input, first those to wait for, then those to arrive at. Every compute thread uses each once a step.
  bool manual_ready_barriers = false;
  bool manual_consumed_barriers = false;
  std::optional<int> memory_thread_idx = {};  // num_compute_wgs
};

// Buffers and barriers of a pipeline, to be shared by several (get_allocations).
struct PipelineAllocations {
  std::vector<Ref> inputs, outputs;  // (slots, block...)
  // One for all inputs; where the body handles them one an input.
  std::vector<BarrierRef> ready, consumed;
};

// The slots and barriers of a pipeline, for several emit_pipeline_warp_specialized that share them.
PipelineAllocations allocate_pipeline(const WarpSpecializedOptions& options,
                                      const std::vector<Ref>& gmem_refs, std::source_location loc);

// Runs `steps` steps of the compute side.
using ComputeSteps = std::function<void(const frontend::PipelineBody& body)>;
// `compute` is called once, in the compute threads, and must call its argument once.
void run_warp_specialized(const WarpSpecializedOptions& options, const std::vector<Ref>& gmem_refs,
                          const std::optional<PipelineAllocations>& allocations,
                          const std::function<void(const ComputeSteps&)>& compute, std::source_location loc);

namespace detail {
struct NoContext {};

// What a compute_context calls: pipeline(initial carry) gives the last one; pipeline() without a carry.
template <class Body>
class ComputePipeline {
 public:
  ComputePipeline(Body& body, const ComputeSteps& steps, std::source_location loc)
      : body_(body), steps_(steps), loc_(loc) {}
  void operator()() const { steps_(frontend::erase_body(body_, verb, loc_)); }
  template <class Init>
  frontend::CarryResult<Init> operator()(const Init& init) const {
    const frontend::Carry carry =
        frontend::copy_carry(frontend::Recorder::current(), frontend::flatten(init));
    steps_(frontend::erase_body(body_, carry, init, verb, loc_));
    return frontend::rebuild(carry, init);
  }

 private:
  static constexpr std::string_view verb = "emit_pipeline_warp_specialized";
  Body& body_;
  const ComputeSteps& steps_;
  std::source_location loc_;
};

template <class Body, class Context>
class WarpSpecializedPipeline {
 public:
  WarpSpecializedPipeline(Body body, WarpSpecializedOptions options, Context context,
                          std::source_location loc)
      : body_(std::move(body)), options_(std::move(options)), context_(std::move(context)), loc_(loc) {}

  // Called by all threads, with the GMEM references in the order of in_specs and out_specs.
  template <class... Refs>
  void operator()(const Refs&... gmem_refs) const {
    run({Ref(gmem_refs)...});
  }
  void run(const std::vector<Ref>& gmem_refs) const {
    run_warp_specialized(
        options_, gmem_refs, allocations_,
        [&](const ComputeSteps& steps) {
          const ComputePipeline<Body> pipeline(body_, steps, loc_);
          if constexpr (std::is_same_v<Context, NoContext>) {
            pipeline();
          } else {
            const frontend::UserCode user;
            context_(pipeline);
          }
        },
        loc_);
  }
  // Allocated in the scope of the call, by all threads.
  template <class... Refs>
  PipelineAllocations get_allocations(const Refs&... gmem_refs) const {
    return allocate_pipeline(options_, {Ref(gmem_refs)...}, loc_);
  }
  WarpSpecializedPipeline with_allocations(PipelineAllocations allocations) const {
    WarpSpecializedPipeline out = *this;
    out.allocations_ = std::move(allocations);
    return out;
  }

 private:
  mutable Body body_;  // bodies may be mutable functions
  WarpSpecializedOptions options_;
  mutable Context context_;
  std::source_location loc_;
  std::optional<PipelineAllocations> allocations_;
};
}  // namespace detail

// body(indices, input refs..., output refs...[, ready barriers...][, consumed barriers...]) in each compute
// thread.
template <class Body>
detail::WarpSpecializedPipeline<Body, detail::NoContext> emit_pipeline_warp_specialized(
    Body body, WarpSpecializedOptions options, std::source_location loc = std::source_location::current()) {
  return {std::move(body), std::move(options), {}, loc};
}
// compute_context(pipeline) runs in each compute thread and calls pipeline(init_carry) once; then
// carry = body(indices, refs...[, barriers...], carry).
template <class Body, class Context>
  requires(!std::is_same_v<Context, std::source_location>)
detail::WarpSpecializedPipeline<Body, Context> emit_pipeline_warp_specialized(
    Body body, WarpSpecializedOptions options, Context compute_context,
    std::source_location loc = std::source_location::current()) {
  return {std::move(body), std::move(options), std::move(compute_context), loc};
}

}  // namespace palladion::plgpu
