#pragma once
// Synchronisation: mbarriers in shared memory, barriers of a cluster, semaphores in global memory,
// fences, registers, waiting.
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "frontend/core/scalar.h"
#include "frontend/core/words.h"
#include "frontend/refs/ref.h"

namespace palladion::plgpu {

// --- what is allocated ------------------------------------------------------------------------------
struct BarrierOptions {
  int64_t num_arrivals = 1;         // arrivals of a phase: of copies and warpgroups
  Shape num_barriers = {1};         // shape of an array of barriers; {4}: a ring of four
  bool orders_tensor_core = false;  // waits order accesses of tensor memory too
};
struct ClusterBarrierOptions {      // of plgpu::ClusterBarrier
  AxisNames collective_axes = {};   // axes whose CTAs arrive and wait together
  Shape num_barriers = {1};         // shape of an array of barriers
  int64_t num_arrivals = 1;         // arrivals of each CTA in a phase
  bool orders_tensor_core = false;  // waits order accesses of tensor memory too
  // A waiting thread sees what threads of other CTAs loaded and stored before they arrived: release and
  // acquire of cluster scope, a fence each. Not needed where copies and wgmma alone touch what is exchanged.
  // No word of Pallas', whose barriers stay at CTA scope.
  bool orders_memory = false;
};
// The mbarriers that plgpu::Barrier and plgpu::ClusterBarrier ask for.
struct BarrierType {
  BarrierOptions options;          // arrivals, number
  bool cluster = false;            // of a cluster
  bool orders_memory = false;      // arrivals release and waits acquire what was written
  AxisNames collective_axes = {};  // of a cluster's barrier
  std::source_location loc;        // the author's line
};
// An mbarrier of a CTA, or an array of them.
inline BarrierType Barrier(BarrierOptions options = {},
                           std::source_location loc = std::source_location::current()) {
  return {std::move(options), false, false, {}, loc};
}
// An mbarrier at which CTAs of a cluster arrive.
inline BarrierType ClusterBarrier(ClusterBarrierOptions o,
                                  std::source_location loc = std::source_location::current()) {
  return {{o.num_arrivals, std::move(o.num_barriers), o.orders_tensor_core},
          true,
          o.orders_memory,
          std::move(o.collective_axes),
          loc};
}

// --- a barrier, or an array of barriers -------------------------------------------------------------
class BarrierRef {
 public:
  struct State;  // shared by all views of one allocation
  BarrierRef() = default;
  BarrierRef(const BarrierRef&) = default;
  BarrierRef(BarrierRef&&) = default;
  ~BarrierRef() = default;
  // An Error where *this was declared outside of the body of control flow that is being recorded.
  BarrierRef& operator=(const BarrierRef&) & = default;
  BarrierRef& operator=(BarrierRef&&) & = default;  // NOLINT: it may throw
  template <class T>
  void operator=(const T&) const&& {
    static_assert(frontend::never<T>,
                  "an assignment to barriers.at(i) changes nothing: barriers are allocated once");
  }
  explicit BarrierRef(std::shared_ptr<State> state);

  // Of the array of barriers; () of one.
  const Shape& shape() const { return shape_; }
  // Integers and scalars only; missing trailing ones stay.
  template <class... Rest>
  BarrierRef at(pl::ScalarArg first, const Rest&... rest) const {
    return indexed({first.value, Scalar(rest)...}, first.loc);
  }
  BarrierRef indexed(const std::vector<Scalar>& index,
                     std::source_location loc = std::source_location::current()) const;  // as `at`

  // --- for other verbs
  // An Error for a barrier that was never given (default-constructed, moved away), or whose scope has ended.
  State& state() const;
  // The number of the one barrier that is meant; an error names the rule when there are several.
  Scalar single(std::string_view verb) const;
  // Its shared address.
  isa::Operand address(std::string_view verb, int64_t* offset) const;

 private:
  frontend::Lifetime<frontend::Handle::barrier> lifetime_;
  std::shared_ptr<State> state_;
  Scalar linear_;
  Shape shape_;
};

struct BarrierRef::State {  // one allocation of mbarriers, of which a BarrierRef is a view
  std::string name;         // the author's name of it
  BarrierType type;         // as it was asked for
  int64_t offset = 0;       // from the first barrier of the kernel
  int64_t count = 1;        // barriers of the array
  isa::Operand phases;      // bit i: parity that the next wait for barrier i expects
  frontend::RegionId scope = frontend::current_scope;  // they end with it
  // Copies arrive once, warpgroups with each of their warps; where both do, copies make up for it.
  bool tma_arrivals = false, group_arrivals = false;
  using Aside = std::pair<frontend::Recorder::Mark, std::vector<isa::Instruction>>;
  std::vector<Aside> copy_arrivals;
  // Who counts the phases that waits expect: the first wait decides.
  std::optional<bool> author_counts_phases;
  void counts_phases(bool author, std::string_view verb);
  // The parities of warps that waited for themselves become the warpgroup's where they join; left out when
  // the warpgroup never waits.
  bool group_waits = false;
  std::vector<Aside> joins;
  std::optional<size_t> joined_fork;

  void waits(frontend::Recorder& r);  // records the parities of waits
  // Joins the parities of warps that waited apart.
  void join_phases(frontend::Recorder& r, frontend::Recorder::Mark fork);

  // One arrival by this thread's elected lane that announces `bytes`, here or (`remote`: an address in
  // the cluster's window) at another CTA's barrier.
  void copy_arrival(frontend::Recorder& r, const isa::Operand& address, int64_t address_offset,
                    const isa::Operand& bytes, const isa::Operand& guard);
  // One arrival, by the tensor core, when this thread's tcgen05 operations so far have completed; with 2 CTAs
  // at the barrier of each of `cta_mask`.
  void commit_arrival(frontend::Recorder& r, const isa::Operand& address, int64_t address_offset, int ctas,
                      const isa::Operand& cta_mask);
  void remote_arrivals(frontend::Recorder& r, const isa::Operand& remote, int64_t bytes);
};

// The barriers themselves, initialised in the prologue.
BarrierRef make_barrier(const BarrierType& type, const std::string& name, std::source_location loc);

// One arrival of this Pallas thread (release); at a ClusterBarrier, at those of all CTAs that differ
// in at most one collective axis.
void barrier_arrive(const BarrierRef& barrier, std::source_location loc = std::source_location::current());
struct ArriveOptions {  // of plgpu::barrier_arrive
  // False: there is no arrival. The same in all lanes of the Pallas thread.
  std::optional<Scalar> predicate = std::nullopt;
};
void barrier_arrive(const BarrierRef& barrier, const ArriveOptions& options,
                    std::source_location loc = std::source_location::current());
// Until the barrier's next phase completes (acquire).
void barrier_wait(const BarrierRef& barrier, std::source_location loc = std::source_location::current());
// Whether it has; then this counts as the wait.
Scalar barrier_test(const BarrierRef& barrier, std::source_location loc = std::source_location::current());

// The same where the author counts phases: until the phase of this parity, 0 or 1, has completed. A barrier
// starts in a phase of parity 0, and the one before it, of parity 1, counts as completed (PTX,
// "mbarrier.test_wait/try_wait"). All waits for a barrier have a parity, or none has.
void barrier_wait(const BarrierRef& barrier, const Scalar& parity,
                  std::source_location loc = std::source_location::current());
struct BarrierToken {  // what a lane learned from barrier_try_wait
  isa::Operand done;   // a predicate: the phase has completed
};
// One try, which may suspend for a while (PTX mbarrier.try_wait): a later barrier_wait with the token and the
// same parity waits where the phase had not completed.
BarrierToken barrier_try_wait(const BarrierRef& barrier, const Scalar& parity,
                              std::source_location loc = std::source_location::current());
void barrier_wait(const BarrierRef& barrier, const Scalar& parity, const BarrierToken& token,
                  std::source_location loc = std::source_location::current());

// Writes (and reads) of SMEM before it are ordered before copies and wgmmas issued after it.
void commit_smem(std::source_location loc = std::source_location::current());

// Registers a thread of this warpgroup, 24 to 256, a multiple of 8 (PTX setmaxnreg); "increase" waits until
// there are enough.
void set_max_registers(int n, const std::string& action = "increase",
                       std::source_location loc = std::source_location::current());
// Waits for the kernels before this one in the stream (PTX griddepcontrol.wait).
void griddepcontrol_wait(std::source_location loc = std::source_location::current());
// Lets the next kernel of the stream start (PTX griddepcontrol.launch_dependents).
void griddepcontrol_launch_dependents(std::source_location loc = std::source_location::current());

// --- semaphores ---------------------------------------------------------------------------------------
// 32-bit counters in global memory, zero when the kernel starts, shared by all its CTAs.
struct SemaphoreType {
  Shape shape;  // of the array of semaphores
  // Counts up and down.
  static SemaphoreType REGULAR(Shape shape = {}) { return {std::move(shape)}; }
  // As REGULAR, of pl::get_barrier_semaphore.
  static SemaphoreType BARRIER(Shape shape = {}) { return {std::move(shape)}; }
};
// Semaphores in GMEM, zero at the start.
Ref make_semaphores(const SemaphoreType& type, const std::string& name, std::source_location loc);
// The options of plgpu::semaphore_signal.
struct SignalOptions {
  std::string memory_scope = "sys";  // as PTX names it: cta, cluster, gpu, sys
};
struct WaitOptions {                 // of plgpu::semaphore_wait
  bool decrement = true;             // takes the amount off the semaphore
  std::string memory_scope = "sys";  // as PTX names it: cta, cluster, gpu, sys
};
// Adds to a semaphore, releasing what this warpgroup wrote.
void semaphore_signal(const Ref& semaphore, const Scalar& inc = 1, const SignalOptions& options = {},
                      std::source_location loc = std::source_location::current());
struct SemaphoreSignal {  // one signal of plgpu::semaphore_signal_parallel
  Ref ref;                // the semaphore
  Scalar inc = 1;         // what is added
};
// Many signals after one synchronisation, in no order.
void semaphore_signal_parallel(const std::vector<SemaphoreSignal>& signals, const SignalOptions& options = {},
                               std::source_location loc = std::source_location::current());
// Until the counter is at least `value`; then subtracts `value`, unless an option forbids it.
void semaphore_wait(const Ref& semaphore, const Scalar& value = 1, const WaitOptions& options = {},
                    std::source_location loc = std::source_location::current());
Scalar semaphore_read(const Ref& semaphore, std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu

namespace palladion::pl {
// Semaphores that all programs of the grid share, zero at the start.
plgpu::Ref get_global(const plgpu::SemaphoreType& type,
                      std::source_location loc = std::source_location::current());
// About so many nanoseconds.
void delay(const Scalar& nanoseconds, std::source_location loc = std::source_location::current());
}  // namespace palladion::pl
