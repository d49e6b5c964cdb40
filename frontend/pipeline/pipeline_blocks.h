#pragma once
// What the pipelines are made of: the walk through a grid, the SMEM buffers of an input or output, the
// call of a body with as many references as there are.
#include <functional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/control/carry.h"
#include "frontend/core/recorder.h"
#include "frontend/memory/copies.h"
#include "frontend/memory/scoped.h"
#include "frontend/pipeline/block_spec.h"
#include "frontend/sync/barriers.h"

namespace palladion::frontend {

// --- the grid -----------------------------------------------------------------------------------------
struct PipelineGrid {
  pl::Indices sizes;
  pl::Scalar steps;  // their product

  // Checks that static sizes are at least 1.
  PipelineGrid(const pl::Indices& sizes, std::string_view verb);
  bool is_static() const { return steps.is_constant(); }
  size_t rank() const { return sizes.size(); }
  pl::Indices origin() const { return pl::Indices(rank(), pl::Scalar(0)); }
  // Row-major; the last step is followed by the first.
  pl::Indices next(const pl::Indices& indices) const;
};

// A place in a grid that moves on by one step an iteration of a loop. With one axis it is the number of
// the step and costs nothing; otherwise one register an axis.
class GridWalk {
 public:
  // `start`: the place at step 0 of the loop, `ahead` steps from the grid's origin.
  GridWalk(const PipelineGrid& grid, const pl::Indices& start, int64_t ahead);
  pl::Indices at(const pl::Scalar& step) const;
  void advance(const pl::Scalar& step);

 private:
  const PipelineGrid& grid_;
  int64_t ahead_;
  std::vector<size_t> axes_;  // those in registers
  Carry registers_;
};

// --- one input or output ------------------------------------------------------------------------------
struct PipelineBuffer {
  plgpu::BlockSpec spec;
  plgpu::Ref gmem;
  plgpu::Ref smem;  // (slots, block...); none for blocks in GMEM
  int64_t slots = 1;
  bool in_smem = true;
  bool invariant = false;  // the block does not depend on the grid
  bool moves = false;      // the block is another one at every step

  plgpu::Ref slot(const pl::Scalar& which) const { return smem.at(which); }
  // What the body gets at a step.
  plgpu::Ref visible(const pl::Scalar& slot, const pl::Indices& grid_indices) const;
  void copy_in(const pl::Scalar& slot, const pl::Indices& grid_indices,
               const plgpu::BarrierRef& barrier) const;
  void copy_out(const pl::Scalar& slot, const pl::Indices& grid_indices,
                const std::optional<pl::Scalar>& predicate) const;
  plgpu::SmemType smem_type() const;
};

// One buffer a reference; `slots` for those that are copied and depend on the grid.
std::vector<PipelineBuffer> make_buffers(const std::vector<plgpu::BlockSpec>& specs,
                                         const std::vector<plgpu::Ref>& gmem, const PipelineGrid& grid,
                                         int64_t slots, std::string_view verb);
void check_reference_count(size_t specs, size_t refs, std::string_view verb);

// The outputs of a pipeline: their slots, and when they are stored. A block is stored when the next step
// has another one; until then its contents stay.
class OutputBuffers {
 public:
  // `slots`: of those that change with the grid.
  OutputBuffers(const std::vector<PipelineBuffer>& outs, const PipelineGrid& grid, int64_t slots);
  bool any() const;
  bool any_in_loop() const;  // some are stored while the grid is walked
  // Before the body: the slots of this step are free.
  void acquire() const;
  pl::Scalar slot(size_t i, const pl::Scalar& step) const;
  // After the body and commit_smem.
  void store(const pl::Scalar& step, const pl::Indices& grid_indices);
  // At the end: blocks that never changed.
  void finish() const;

 private:
  const std::vector<PipelineBuffer>& outs_;
  const PipelineGrid& grid_;
  int64_t slots_;
  std::vector<Carry> counters_;  // slot of outputs that do not move at every step
};

pl::Scalar slot_of(const pl::Scalar& step, int64_t slots);
// record_when and record_loop, for verbs: what the body records has the place of the outer verb.
void when_within(const pl::Scalar& condition, const std::function<void()>& body);
void loop_within(const pl::Scalar& steps, const std::function<void(const pl::Scalar&)>& body);

// --- the body -----------------------------------------------------------------------------------------
[[noreturn]] void wrong_body(size_t refs, size_t barriers, bool carry, std::string_view verb, const Loc& loc);

[[noreturn]] void no_carry(std::string_view verb, const Loc& loc);

struct BodyArguments {
  pl::Indices indices;
  std::vector<plgpu::Ref> refs;
  std::vector<plgpu::BarrierRef> barriers;  // that the body handles itself: ready, then consumed
};
using PipelineBody = std::function<void(const BodyArguments&)>;

namespace detail {
template <size_t>
using AsRef = const plgpu::Ref&;
template <size_t>
using AsBarrier = const plgpu::BarrierRef&;

template <class Body, class Sink, size_t... i, size_t... j, class... C>
bool try_body(Body& body, const BodyArguments& a, Sink& sink, std::index_sequence<i...>,
              std::index_sequence<j...>, const C&... carry) {
  if (a.refs.size() != sizeof...(i) || a.barriers.size() != sizeof...(j)) return false;
  if constexpr (std::is_invocable_v<Body&, const pl::Indices&, AsRef<i>..., AsBarrier<j>..., const C&...>) {
    sink([&]() -> decltype(auto) { return body(a.indices, a.refs[i]..., a.barriers[j]..., carry...); });
    return true;
  } else {
    return false;
  }
}
template <class Body, class Sink, size_t... n, class... C>
bool try_bodies(Body& body, const BodyArguments& a, Sink& sink, std::index_sequence<n...>,
                const C&... carry) {
  // Barriers: none, or one or two for each of a few inputs.
  return (try_body(body, a, sink, std::make_index_sequence<n>{}, std::index_sequence<>{}, carry...) || ...) ||
         (try_body(body, a, sink, std::make_index_sequence<n>{}, std::make_index_sequence<1>{}, carry...) ||
          ...) ||
         (try_body(body, a, sink, std::make_index_sequence<n>{}, std::make_index_sequence<2>{}, carry...) ||
          ...) ||
         (try_body(body, a, sink, std::make_index_sequence<n>{}, std::make_index_sequence<3>{}, carry...) ||
          ...) ||
         (try_body(body, a, sink, std::make_index_sequence<n>{}, std::make_index_sequence<4>{}, carry...) ||
          ...);
}
}  // namespace detail

// body(indices, refs..., barriers..., carry), or body(indices, vector of refs, carry), or
// body(indices, vector of refs, vector of barriers, carry); sink(f): f calls it and gives its result.
template <class Body, class Sink, class... C>
void call_body(Body& body, const BodyArguments& a, Sink&& sink, std::string_view verb, const Loc& loc,
               const C&... carry) {
  using Refs = const std::vector<plgpu::Ref>&;
  using Barriers = const std::vector<plgpu::BarrierRef>&;
  if constexpr (std::is_invocable_v<Body&, const pl::Indices&, Refs, const C&...>) {
    sink([&]() -> decltype(auto) { return body(a.indices, a.refs, carry...); });
  } else if constexpr (std::is_invocable_v<Body&, const pl::Indices&, Refs, Barriers, const C&...>) {
    sink([&]() -> decltype(auto) { return body(a.indices, a.refs, a.barriers, carry...); });
  } else if (!detail::try_bodies(body, a, sink, std::make_index_sequence<9>{}, carry...)) {
    wrong_body(a.refs.size(), a.barriers.size(), sizeof...(C) > 0, verb, loc);
  }
}

// Runs a body without a carry, or one that keeps its carry in registers.
template <class Body>
PipelineBody erase_body(Body& body, std::string_view verb, Loc loc) {
  return [&body, verb, loc](const BodyArguments& a) {
    call_body(body, a, [](auto&& call) { call(); }, verb, loc);
  };
}
template <class Body, class Init>
PipelineBody erase_body(Body& body, const Carry& carry, const Init& like, std::string_view verb, Loc loc) {
  return [&body, &carry, &like, verb, loc](const BodyArguments& a) {
    const auto state = rebuild(carry, like);
    call_body(
        body, a,
        [&](auto&& call) {
          using Next = decltype(call());
          if constexpr (std::is_void_v<Next>) {
            no_carry(verb, loc);
          } else {
            const Next next = call();
            assign_carry(Recorder::current(), carry, flatten(next), verb);
          }
        },
        verb, loc, state);
  };
}

}  // namespace palladion::frontend
