#pragma once
// emit_pipeline: a loop over a grid whose copies run ahead and behind, written by one Pallas thread.
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/pipeline/pipeline_blocks.h"

namespace palladion::plgpu {

struct PipelineOptions {  // the arguments of plgpu::emit_pipeline beside the body
  // Sequential, row-major; numbers or scalars.
  pl::Indices grid = {};
  std::vector<BlockSpec> in_specs = {}, out_specs = {};
  // Buffers of each block that changes: copies for so many steps are under way.
  int64_t max_concurrent_steps = 1;
};

// Records the whole pipeline; `body` is called once for the loop (or once in all, for one step).
void run_pipeline(const PipelineOptions& options, const std::vector<Ref>& gmem_refs,
                  const frontend::PipelineBody& body, std::source_location loc);

namespace detail {
struct NoCarry {};

template <class Body, class Init>
class Pipeline {
 public:
  Pipeline(Body body, PipelineOptions options, Init init, std::source_location loc)
      : body_(std::move(body)), options_(std::move(options)), init_(std::move(init)), loc_(loc) {}

  // The GMEM references in the order of in_specs and out_specs; gives the last carry.
  template <class... Refs>
  auto operator()(const Refs&... gmem_refs) const {
    return run({Ref(gmem_refs)...});
  }
  auto run(const std::vector<Ref>& gmem_refs) const {
    const frontend::VerbScope at(loc_);
    if constexpr (std::is_same_v<Init, NoCarry>) {
      run_pipeline(options_, gmem_refs, frontend::erase_body(body_, "emit_pipeline", loc_), loc_);
    } else {
      const frontend::Carry carry =
          frontend::copy_carry(frontend::Recorder::current(), frontend::flatten(init_));
      run_pipeline(options_, gmem_refs, frontend::erase_body(body_, carry, init_, "emit_pipeline", loc_),
                   loc_);
      return frontend::rebuild(carry, init_);
    }
  }

 private:
  mutable Body body_;  // bodies may be mutable functions
  PipelineOptions options_;
  Init init_;
  std::source_location loc_;
};
}  // namespace detail

// body(indices, input refs..., output refs...): SMEM buffers of the blocks at this step of the grid.
// Give it the arrays: emit_pipeline(body, options)(a, b, out).
template <class Body>
detail::Pipeline<Body, detail::NoCarry> emit_pipeline(
    Body body, PipelineOptions options, std::source_location loc = std::source_location::current()) {
  return {std::move(body), std::move(options), {}, loc};
}
// carry = body(indices, refs..., carry)
template <class Body, class Init>
  requires(!std::is_same_v<Init, std::source_location>)
detail::Pipeline<Body, Init> emit_pipeline(Body body, PipelineOptions options, Init init_carry,
                                           std::source_location loc = std::source_location::current()) {
  return {std::move(body), std::move(options), std::move(init_carry), loc};
}

}  // namespace palladion::plgpu
