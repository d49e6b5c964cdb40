#include "frontend/sync/barriers.h"

#include <fmt/format.h>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

namespace {

using frontend::warps_per_group;

// How many CTAs differ from one in at most one of the axes, itself included.
int64_t peers(const Recorder& r, const std::vector<std::string>& axes) {
  int64_t n = 1;
  for (const auto& name : axes) {
    for (const auto& a : r.mesh().cluster)
      if (a.name == name) n += a.size - 1;
  }
  return n;
}

// The default semantics, acquire at CTA scope, also in a cluster: acquire.cluster would empty the L1 cache
// at every wait (measured on an H200: 475 instead of 745 TFLOP/s in matmul_ws), and what a cluster
// exchanges goes through the async proxy or through SMEM, which has no other copy. Barriers that are to order
// the threads' own accesses (`orders_memory`) pay for it.
Operand try_wait(Recorder& r, const Operand& address, int64_t offset, const Operand& parity,
                 bool orders_memory) {
  const Operand done = r.reg(Type::pred);
  r.emit(orders_memory ? "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
                       : "mbarrier.try_wait.parity.shared::cta.b64",
         {done, Operand::address(address, offset), parity});
  return done;
}

void spin(Recorder& r, const Operand& address, int64_t offset, const Operand& parity, bool orders_memory) {
  const Operand again = r.label("wait");
  r.place(again);
  Operand not_done = try_wait(r, address, offset, parity, orders_memory);
  not_done.negated = true;
  r.emit("bra", {again}, not_done);
}

// What follows every wait.
void complete_wait(Recorder& r, const BarrierRef& barrier) {
  // The lane that goes on to reuse the stage would leave lanes behind that have not seen the phase yet.
  if (r.warp) r.emit("bar.warp.sync", {Operand::imm(-1)});
  if (barrier.state().type.options.orders_tensor_core) r.emit("tcgen05.fence::after_thread_sync", {});
  r.uses(&barrier.state(), frontend::BarrierUse::Kind::wait);
}

// The parity that this wait expects, and the mask of the bit that holds it.
struct Parity {
  Operand value, mask;
};
Parity parity_of(Recorder& r, const BarrierRef::State& s, const Scalar& which) {
  Parity p;
  p.value = r.reg(Type::b32);
  if (which.is_constant()) {
    const int64_t i = which.as_int();
    p.mask = Operand::imm(int64_t{uint32_t{1} << i});
    if (i == 0) {
      r.emit("and.b32", {p.value, s.phases, Operand::imm(1)});
      return p;
    }
    const Operand shifted = r.reg(Type::b32);
    r.emit("shr.u32", {shifted, s.phases, Operand::imm(i)});
    r.emit("and.b32", {p.value, shifted, Operand::imm(1)});
    return p;
  }
  const Operand shifted = r.reg(Type::b32);
  p.mask = r.pure("shl.b32", {r.pure("mov.b32", {Operand::imm(1)}, Type::b32), which.operand()}, Type::b32);
  r.emit("shr.u32", {shifted, s.phases, which.operand()});
  r.emit("and.b32", {p.value, shifted, Operand::imm(1)});
  return p;
}

// The mbarrier that a verb waits for, and the parity that it expects.
struct Phase {
  Operand address;
  int64_t offset = 0;
  Parity parity;
};
Phase phase_of(Recorder& r, const BarrierRef& barrier, const char* verb) {
  const Scalar which = barrier.single(verb);
  Phase phase;
  phase.address = barrier.address(verb, &phase.offset);
  barrier.state().counts_phases(false, verb);
  phase.parity = parity_of(r, barrier.state(), which);
  return phase;
}

}  // namespace

BarrierRef::BarrierRef(std::shared_ptr<State> state)
    : state_(std::move(state)), shape_(state_->type.options.num_barriers) {}

BarrierRef::State& BarrierRef::state() const {
  if (state_ == nullptr)
    fail(Code::bad_barrier, "a barrier that was never given is used",
         "barriers come from scratch and run_scoped");
  lifetime_.check();
  frontend::check_alive(state_->scope, "barrier", state_->name);
  return *state_;
}

void BarrierRef::State::counts_phases(bool author, std::string_view verb) {
  if (author_counts_phases.value_or(author) != author)
    fail(Code::bad_barrier,
         fmt::format("{}: barrier \"{}\" is waited for with a parity and without one", verb, name),
         "without a parity the waits themselves count the phases: give all waits for it a parity, or none");
  author_counts_phases = author;
}

BarrierRef BarrierRef::indexed(const std::vector<Scalar>& index, std::source_location loc) const {
  const VerbScope at(loc);
  state();
  if (index.size() > shape_.size()) {
    fail(Code::barrier_index, fmt::format("{} indices for barrier \"{}\" of shape {}", index.size(),
                                          state_->name, pl::to_string(shape_)));
  }
  BarrierRef out = *this;
  out.lifetime_.derive();
  out.shape_.assign(shape_.begin() + static_cast<int64_t>(index.size()), shape_.end());
  Scalar linear(0);
  for (size_t i = 0; i < index.size(); ++i) {
    if (!pl::is_integer(index[i].dtype()))
      fail(Code::barrier_index,
           fmt::format("an index of barrier \"{}\" is of dtype {}: it must be an integer", state_->name,
                       pl::name(index[i].dtype())));
    if (index[i].is_constant() && (index[i].as_int() < 0 || index[i].as_int() >= shape_[i])) {
      fail(Code::barrier_index,
           fmt::format("index {} is out of bounds of barrier \"{}\" of shape {}", index[i].as_int(),
                       state_->name, pl::to_string(shape_)),
           "barriers count from 0");
    }
    linear = linear * shape_[i] + index[i];
  }
  out.linear_ = linear_ + linear * pl::volume(out.shape_);
  return out;
}

Scalar BarrierRef::single(std::string_view verb) const {
  if (state_ == nullptr)
    fail(Code::bad_barrier, fmt::format("{}: no barrier was given", verb),
         "pass a barrier of the scratch: s.barrier(name), or .at(slot) of an array of barriers");
  state();
  if (pl::volume(shape_) != 1) {
    fail(Code::barrier_index,
         fmt::format("{}: \"{}\" is an array of {} barriers", verb, state_->name, pl::to_string(shape_)),
         "index it to a single barrier with .at(slot)");
  }
  return linear_;
}

Operand BarrierRef::address(std::string_view verb, int64_t* offset) const {
  Recorder& r = Recorder::current();
  const Scalar which = single(verb);
  const Scalar at = Scalar::from_register(DType::s32, r.slots.base(), true, 8) + which * 8;
  *offset = at.offset() + state_->offset;
  return at.without_offset().as_register();
}

namespace {

void check_barrier(const Recorder& r, const BarrierType& type, const std::string& name) {
  const BarrierOptions& o = type.options;
  const int64_t count = pl::volume(o.num_barriers);
  if (o.num_arrivals < 1)
    fail(Code::bad_barrier,
         fmt::format("barrier \"{}\": num_arrivals is {}, it must be at least 1", name, o.num_arrivals),
         "count the arrivals that complete a phase: one for each thread that arrives");
  if (count < 1 || count > 32) {
    fail(Code::too_many_barriers,
         fmt::format("barrier \"{}\": {} barriers in one array, at most 32 are possible", name, count),
         "split them over several Barrier entries of scratch_types");
  }
  if (o.orders_tensor_core && !r.arch().has_tcgen05())
    frontend::unsupported(
        fmt::format("orders_tensor_core: the tensor cores of Blackwell (tcgen05) are not supported on {}",
                    r.arch().ptx_target));
  if (o.num_arrivals > r.arch().max_mbarrier_count)
    fail(Code::bad_barrier,
         fmt::format("barrier \"{}\": num_arrivals is {}, a barrier counts up to {}", name, o.num_arrivals,
                     r.arch().max_mbarrier_count),
         "let fewer threads arrive, or use several barriers");
  if (type.cluster && type.collective_axes.empty())
    fail(Code::bad_barrier, fmt::format("barrier \"{}\": a ClusterBarrier over no axis", name),
         "name axes of the cluster in collective_axes, or use plgpu::Barrier");
  frontend::check_distinct(type.collective_axes, fmt::format("barrier \"{}\"", name));
  for (const auto& axis : type.collective_axes) {
    bool known = false;
    for (const auto& a : r.mesh().cluster) known |= a.name == axis;
    if (!known)
      fail(Code::unknown_axis,
           fmt::format("barrier \"{}\": the cluster has no axis named \"{}\"", name, axis),
           "name an axis of cluster_names");
  }
}

// When the kernel is complete: how many arrivals complete a phase.
frontend::KernelSlots::BarrierInit init_of(Recorder& r, BarrierRef::State& state,
                                           const std::source_location& loc) {
  const int64_t per_arrival = state.group_arrivals ? warps_per_group : 1;
  if (state.group_arrivals) {
    for (auto& [mark, extra] : state.copy_arrivals) r.insert_after(mark, extra);
  }
  if (state.group_waits)
    for (auto& [mark, extra] : state.joins) r.insert_after(mark, extra);
  const int64_t arrivals =
      state.type.options.num_arrivals * per_arrival * peers(r, state.type.collective_axes);
  if (arrivals > r.arch().max_mbarrier_count)
    fail(Code::bad_barrier,
         fmt::format("barrier \"{}\" expects {} arrivals, it counts up to {}", state.name, arrivals,
                     r.arch().max_mbarrier_count),
         loc);
  return {state.offset, state.count, arrivals};
}

}  // namespace

BarrierRef make_barrier(const BarrierType& type, const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check_barrier(r, type, name);
  auto state = std::make_shared<BarrierRef::State>();
  state->name = r.distinct_name(name);
  state->type = type;
  state->count = pl::volume(type.options.num_barriers);
  state->offset = r.slots.allocate(state->count);
  r.slots.name({.offset = static_cast<uint64_t>(state->offset),
                .bytes = static_cast<uint64_t>(state->count) * 8,
                .name = state->name,
                .element = "mbarrier",
                .shape = {state->count}});
  r.in_prologue([&] {
    state->phases = r.reg(Type::b32);
    r.emit("mov.b32", {state->phases, Operand::imm(0)});
  });
  r.slots.initialise([state, loc, &r] { return init_of(r, *state, loc); });
  return BarrierRef(std::move(state));
}

void barrier_wait(const BarrierRef& barrier, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const Phase phase = phase_of(r, barrier, "barrier_wait");
  barrier.state().waits(r);
  spin(r, phase.address, phase.offset, phase.parity.value, barrier.state().type.orders_memory);
  complete_wait(r, barrier);
  r.emit("xor.b32", {barrier.state().phases, barrier.state().phases, phase.parity.mask});
}

namespace {

// Of a wait with a parity.
struct CountedPhase {
  Operand address;
  int64_t offset = 0;
  Operand parity;
  bool orders_memory = false;
};
CountedPhase counted_phase(const BarrierRef& barrier, const Scalar& parity, const char* verb) {
  if (!pl::is_integer(parity.dtype()))
    fail(Code::bad_barrier,
         fmt::format("{}: the parity is of dtype {}: it must be an integer", verb, pl::name(parity.dtype())));
  if (parity.is_constant() && parity.as_int() != 0 && parity.as_int() != 1)
    fail(Code::bad_barrier, fmt::format("{}: the parity is {}, it must be 0 or 1", verb, parity.as_int()),
         "the phases of a barrier alternate: phase 0 has parity 0, phase 1 has parity 1, phase 2 has 0");
  CountedPhase phase;
  phase.address = barrier.address(verb, &phase.offset);
  barrier.state().counts_phases(true, verb);
  phase.parity = parity.astype(DType::s32).operand();
  phase.orders_memory = barrier.state().type.orders_memory;
  return phase;
}

}  // namespace

void barrier_wait(const BarrierRef& barrier, const Scalar& parity, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const CountedPhase p = counted_phase(barrier, parity, "barrier_wait");
  spin(r, p.address, p.offset, p.parity, p.orders_memory);
  complete_wait(r, barrier);
}

BarrierToken barrier_try_wait(const BarrierRef& barrier, const Scalar& parity, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const CountedPhase p = counted_phase(barrier, parity, "barrier_try_wait");
  return {try_wait(r, p.address, p.offset, p.parity, p.orders_memory)};
}

void barrier_wait(const BarrierRef& barrier, const Scalar& parity, const BarrierToken& token,
                  std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const CountedPhase p = counted_phase(barrier, parity, "barrier_wait");
  const Operand done = r.label("waited");
  r.emit("bra", {done}, token.done);
  spin(r, p.address, p.offset, p.parity, p.orders_memory);
  r.place(done);
  complete_wait(r, barrier);
}

Scalar barrier_test(const BarrierRef& barrier, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const Phase phase = phase_of(r, barrier, "barrier_test");
  const Operand mine = r.reg(Type::pred), any = r.reg(Type::pred);
  r.emit(barrier.state().type.orders_memory ? "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64"
                                            : "mbarrier.test_wait.parity.shared::cta.b64",
         {mine, Operand::address(phase.address, phase.offset), phase.parity.value});
  barrier.state().waits(r);
  // Lanes may see different answers; when one has seen the completion, the barrier orders all others after
  // it.
  if (r.warp) {
    r.emit("vote.sync.any.pred", {any, mine, Operand::imm(-1)});
    r.warpgroup_barrier();
  } else {
    r.emit("bar.red.or.pred", {any, r.thread.named_barrier(), Operand::imm(frontend::group_threads), mine});
  }
  r.emit("xor.b32", {barrier.state().phases, barrier.state().phases, phase.parity.mask}, any);
  return Scalar::from_register(DType::bool_, any);
}

void commit_smem(std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  r.emit("fence.proxy.async.shared::cta", {});
  r.warpgroup_barrier();
}

void set_max_registers(int n, const std::string& action, std::source_location loc) {
  const VerbScope at(loc);
  if (const isa::ArchSpec& a = Recorder::current().arch(); !isa::setmaxnreg_takes(a, n)) {
    fail(Code::bad_registers,
         fmt::format("set_max_registers({}): the number must be a multiple of {} from {} to {}", n,
                     a.register_unit_per_thread, a.min_setmaxnreg, a.max_setmaxnreg));
  }
  if (action != "increase" && action != "decrease") {
    fail(Code::bad_registers,
         fmt::format("set_max_registers: the action is \"increase\" or \"decrease\", not \"{}\"", action));
  }
  Recorder::current().needs_warpgroup("set_max_registers");
  Recorder::current().emit(
      action == "increase" ? "setmaxnreg.inc.sync.aligned.u32" : "setmaxnreg.dec.sync.aligned.u32",
      {Operand::imm(n)});
}

void griddepcontrol_wait(std::source_location loc) {
  const VerbScope at(loc);
  Recorder::current().uses_dependency_wait = true;
  Recorder::current().emit("griddepcontrol.wait", {});
}

void griddepcontrol_launch_dependents(std::source_location loc) {
  const VerbScope at(loc);
  Recorder::current().emit("griddepcontrol.launch_dependents", {});
}

}  // namespace palladion::plgpu
