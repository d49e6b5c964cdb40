#include "frontend/sync/barriers.h"

#include <fmt/format.h>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

using frontend::Address;

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

int64_t rank_stride(const Recorder& r, const std::string& axis) {
  int64_t stride = 1;
  for (size_t i = r.mesh().cluster.size(); i-- > 0;) {
    if (r.mesh().cluster[i].name == axis) return stride;
    stride *= r.mesh().cluster[i].size;
  }
  return 0;
}

// The ranks that an arrival reaches, own rank first.
std::vector<Scalar> target_ranks(Recorder& r, const std::vector<std::string>& axes) {
  const Scalar mine = frontend::cluster_rank();
  std::vector<Scalar> ranks{mine};
  for (const auto& name : axes) {
    const int64_t size = pl::axis_size(name), stride = rank_stride(r, name);
    const Scalar here = pl::axis_index(name);
    for (int64_t step = 1; step < size; ++step) {
      const Scalar other = size == 2 ? Scalar(1) - here : (here + step) % size;
      ranks.push_back(mine + (other - here) * stride);
    }
  }
  return ranks;
}

// The default semantics, acquire at CTA scope, also in a cluster: acquire.cluster would empty the L1 cache
// at every wait (measured on an H200: 475 instead of 745 TFLOP/s in matmul_ws), and what a cluster
// exchanges goes through the async proxy or through SMEM, which has no other copy. Barriers that are to order
// the threads' own accesses (`orders_memory`) pay for it.
void spin(Recorder& r, const Operand& address, int64_t offset, const Operand& parity, bool orders_memory) {
  const Operand again = r.label("wait");
  r.place(again);
  const Operand done = r.reg(Type::pred);
  r.emit(orders_memory ? "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
                       : "mbarrier.try_wait.parity.shared::cta.b64",
         {done, Operand::address(address, offset), parity});
  Operand not_done = done;
  not_done.negated = true;
  r.emit("bra", {again}, not_done);
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
  home_.check();
  frontend::check_alive(state_->scope, "barrier", state_->name);
  return *state_;
}

BarrierRef BarrierRef::indexed(const std::vector<Scalar>& index, std::source_location loc) const {
  const At at(loc);
  state();
  if (index.size() > shape_.size()) {
    fail(Code::barrier_index, fmt::format("{} indices for barrier \"{}\" of shape {}", index.size(),
                                          state_->name, pl::to_string(shape_)));
  }
  BarrierRef out = *this;
  out.home_.derive();
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

BarrierRef make_barrier(const BarrierType& type, const std::string& name, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
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
  auto state = std::make_shared<BarrierRef::State>();
  state->name = r.distinct_name(name);
  state->type = type;
  state->count = count;
  state->offset = r.slots.allocate(count);
  r.slots.name({.offset = static_cast<uint64_t>(state->offset),
                .bytes = static_cast<uint64_t>(count) * 8,
                .name = state->name,
                .element = "mbarrier",
                .shape = {count}});
  r.in_prologue([&] {
    state->phases = r.reg(Type::b32);
    r.emit("mov.b32", {state->phases, Operand::imm(0)});
  });
  r.slots.initialise([state, loc, &r]() -> frontend::KernelSlots::BarrierInit {
    const int64_t per_arrival = state->group_arrivals ? warps_per_group : 1;
    if (state->group_arrivals) {
      for (auto& [mark, extra] : state->copy_arrivals) r.insert_after(mark, extra);
    }
    if (state->group_waits)
      for (auto& [mark, extra] : state->joins) r.insert_after(mark, extra);
    const int64_t arrivals =
        state->type.options.num_arrivals * per_arrival * peers(r, state->type.collective_axes);
    if (arrivals > r.arch().max_mbarrier_count)
      fail(Code::bad_barrier,
           fmt::format("barrier \"{}\" expects {} arrivals, it counts up to {}", state->name, arrivals,
                       r.arch().max_mbarrier_count),
           loc);
    return {state->offset, state->count, arrivals};
  });
  return BarrierRef(std::move(state));
}

namespace {

// Recorded aside: three more arrivals, used only if warpgroups arrive at the barrier too.
void remember_arrival(Recorder& r, BarrierRef::State& s, const std::string& mnemonic, const Operand& address,
                      const Operand& guard) {
  const auto mark = r.last_instruction();
  r.emit(mnemonic, {Operand::sink(), address, Operand::imm(warps_per_group - 1)}, guard);
  s.copy_arrivals.push_back({mark, {r.take_last()}});
}

}  // namespace

void BarrierRef::State::copy_arrival(Recorder& r, const Operand& address, int64_t address_offset,
                                     const Operand& bytes, const Operand& guard) {
  tma_arrivals = true;
  r.begins_copy(this);
  const Operand where = Operand::address(address, address_offset);
  r.emit("mbarrier.arrive.expect_tx.shared::cta.b64", {Operand::sink(), where, bytes}, guard);
  remember_arrival(r, *this, "mbarrier.arrive.shared::cta.b64", where, guard);
}

void BarrierRef::State::commit_arrival(Recorder& r, const Operand& address, int64_t address_offset, int ctas,
                                       const Operand& cta_mask) {
  tma_arrivals = true;
  r.begins_copy(this);
  const Operand where = Operand::address(address, address_offset);
  const std::string mnemonic =
      fmt::format("tcgen05.commit.cta_group::{}.mbarrier::arrive::one.shared::cluster{}.b64", ctas,
                  ctas == 2 ? ".multicast::cluster" : "");
  std::vector<Operand> operands{where};
  if (ctas == 2) operands.push_back(cta_mask);
  r.emit(mnemonic, std::move(operands), r.elected());
  remember_arrival(r, *this, "mbarrier.arrive.shared::cta.b64", where, r.elected());
}

void BarrierRef::State::remote_arrivals(Recorder& r, const Operand& remote, int64_t bytes) {
  const Operand where = Operand::address(remote);
  r.emit("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64",
         {Operand::sink(), where, Operand::imm(bytes)}, r.elected());
  remember_arrival(r, *this, "mbarrier.arrive.release.cluster.shared::cluster.b64", where, r.elected());
}

namespace {

// `guard`: holds in the lane of a warp that arrives for it.
void arrive(Recorder& r, const BarrierRef& barrier, const Operand& guard) {
  int64_t offset = 0;
  const Operand address = barrier.address("barrier_arrive", &offset);
  barrier.state().group_arrivals = true;
  if (barrier.state().type.options.orders_tensor_core) r.emit("tcgen05.fence::before_thread_sync", {});
  // The other lanes' accesses come before the arrival of the lane that arrives for all.
  r.emit("bar.warp.sync", {Operand::imm(-1)});
  if (!barrier.state().type.cluster) {
    std::vector<Operand> operands{Operand::sink(), Operand::address(address, offset)};
    if (r.warp) operands.push_back(Operand::imm(warps_per_group));  // for the other warps too
    r.emit("mbarrier.arrive.shared::cta.b64", std::move(operands), guard);
    return;
  }
  r.needs_warpgroup("an arrival at a ClusterBarrier");
  const Operand own = offset == 0 ? address : r.pure("add.s32", {address, Operand::imm(offset)}, Type::b32);
  for (const Scalar& rank : target_ranks(r, barrier.state().type.collective_axes)) {
    const Operand remote = r.pure("mapa.shared::cluster.u32", {own, rank.operand()}, Type::b32);
    r.emit(barrier.state().type.orders_memory ? "mbarrier.arrive.release.cluster.shared::cluster.b64"
                                              : "mbarrier.arrive.shared::cluster.b64",
           {Operand::sink(), Operand::address(remote)}, guard);
  }
}

}  // namespace

void barrier_arrive(const BarrierRef& barrier, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  arrive(r, barrier, r.thread.elected_in_warp());
}

void barrier_arrive(const BarrierRef& barrier, const ArriveOptions& options, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  const Scalar holds = options.predicate ? options.predicate->astype(DType::bool_) : Scalar(true);
  if (holds.is_constant()) {
    if (holds.as_int() != 0) arrive(r, barrier, r.thread.elected_in_warp());
    return;
  }
  arrive(r, barrier, r.pure("and.pred", {r.thread.elected_in_warp(), holds.operand()}, Type::pred));
}

void barrier_wait(const BarrierRef& barrier, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  const Phase phase = phase_of(r, barrier, "barrier_wait");
  barrier.state().waits(r);
  spin(r, phase.address, phase.offset, phase.parity.value, barrier.state().type.orders_memory);
  if (barrier.state().type.options.orders_tensor_core) r.emit("tcgen05.fence::after_thread_sync", {});
  r.waits_for(&barrier.state());
  r.emit("xor.b32", {barrier.state().phases, barrier.state().phases, phase.parity.mask});
}

Scalar barrier_test(const BarrierRef& barrier, std::source_location loc) {
  const At at(loc);
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
  const At at(loc);
  Recorder& r = Recorder::current();
  r.emit("fence.proxy.async.shared::cta", {});
  r.warpgroup_barrier();
}

void set_max_registers(int n, const std::string& action, std::source_location loc) {
  const At at(loc);
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
  const At at(loc);
  Recorder::current().uses_dependency_wait = true;
  Recorder::current().emit("griddepcontrol.wait", {});
}

void griddepcontrol_launch_dependents(std::source_location loc) {
  const At at(loc);
  Recorder::current().emit("griddepcontrol.launch_dependents", {});
}

// --- semaphores ---------------------------------------------------------------------------------------

Ref make_semaphores(const SemaphoreType& type, const std::string& name, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  auto a = std::make_shared<Allocation>();
  a->space = MemorySpace::gmem;
  a->name = r.distinct_name(name);
  a->dtype = DType::s32;
  a->shape = type.shape;
  a->physical = physical_layout({DType::s32, type.shape}, {}, loc);
  a->scope = r.regions.root();  // GMEM of the whole kernel
  a->pointer = r.params.scratch_array(4 * pl::volume(type.shape), a->name);
  return Ref(std::move(a));
}

namespace {

Address semaphore_address(Recorder& r, const Ref& semaphore, std::string_view verb) {
  if (semaphore.space() != MemorySpace::gmem || semaphore.dtype() != DType::s32 ||
      pl::volume(semaphore.shape()) != 1) {
    fail(Code::bad_semaphore, fmt::format("{} takes one semaphore, this is {}", verb, to_string(semaphore)),
         "allocate semaphores with pl::get_global(plgpu::SemaphoreType::REGULAR(shape)) and index one");
  }
  frontend::Access access(r, semaphore, {});
  return access.at(Shape(semaphore.rank(), 0));
}

void check_scope(const std::string& scope, std::string_view verb) {
  if (scope != "sys" && scope != "gpu")
    fail(Code::bad_semaphore, fmt::format("{}: memory_scope is \"sys\" or \"gpu\", not \"{}\"", verb, scope));
}

}  // namespace

void semaphore_signal_parallel(const std::vector<SemaphoreSignal>& signals, const SignalOptions& options,
                               std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  check_scope(options.memory_scope, "semaphore_signal");
  // Everything that the warpgroup did comes before the signals.
  r.warpgroup_barrier();
  for (const SemaphoreSignal& s : signals) {
    const Address a = semaphore_address(r, s.ref, "semaphore_signal");
    r.emit(fmt::format("red.release.{}.global.add.s32", options.memory_scope),
           {a.operand(), s.inc.astype(DType::s32).operand()}, r.elected());
  }
}

void semaphore_signal(const Ref& semaphore, const Scalar& inc, const SignalOptions& options,
                      std::source_location loc) {
  semaphore_signal_parallel({{semaphore, inc}}, options, loc);
}

namespace {

// Every lane waits for itself: the counter keeps its value.
void wait_for_value(Recorder& r, const Address& a, const Operand& wanted, const std::string& scope) {
  const Operand seen = r.reg(Type::b32), again = r.label("semaphore"), short_of = r.reg(Type::pred);
  r.place(again);
  r.emit(fmt::format("ld.acquire.{}.global.b32", scope), {seen, a.operand()});
  r.emit("setp.lt.s32", {short_of, seen, wanted});
  r.emit("bra", {again}, short_of);
}

// One lane sees enough and subtracts in one step, so that each unit that was signalled is taken once.
void take_value(Recorder& r, const Address& a, const Operand& wanted, const std::string& scope) {
  const Operand again = r.label("semaphore"), end = r.label("taken"), expected = r.reg(Type::b32),
                rest = r.reg(Type::b32), seen = r.reg(Type::b32), failed = r.reg(Type::pred);
  Operand others = r.elected();
  others.negated = !others.negated;
  r.emit("bra", {end}, others);
  r.emit("mov.b32", {expected, wanted});
  r.place(again);
  r.emit("sub.s32", {rest, expected, wanted});
  r.emit(fmt::format("atom.acquire.{}.global.cas.b32", scope), {seen, a.operand(), expected, rest});
  r.emit("setp.ne.s32", {failed, seen, expected});
  r.emit("max.s32", {expected, seen, wanted});
  r.emit("bra", {again}, failed);
  r.place(end);
}

}  // namespace

void semaphore_wait(const Ref& semaphore, const Scalar& value, const WaitOptions& options,
                    std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  check_scope(options.memory_scope, "semaphore_wait");
  const Address a = semaphore_address(r, semaphore, "semaphore_wait");
  const Operand wanted = value.astype(DType::s32).as_register();
  (options.decrement ? take_value : wait_for_value)(r, a, wanted, options.memory_scope);
  r.warpgroup_barrier();
}

Scalar semaphore_read(const Ref& semaphore, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  const Address a = semaphore_address(r, semaphore, "semaphore_read");
  const Operand seen = r.reg(Type::b32);
  r.emit("ld.relaxed.sys.global.b32", {seen, a.operand()});
  return Scalar::from_register(DType::s32, seen);
}

}  // namespace palladion::plgpu

namespace palladion::pl {

plgpu::Ref get_global(const plgpu::SemaphoreType& type, std::source_location loc) {
  return plgpu::make_semaphores(type, fmt::format("semaphore ({})", frontend::short_place(loc)), loc);
}

void delay(const Scalar& nanoseconds, std::source_location loc) {
  const frontend::At at(loc);
  if (!is_integer(nanoseconds.dtype()) || (nanoseconds.is_constant() && nanoseconds.as_int() < 0))
    frontend::fail(frontend::Code::dtype_mismatch,
                   "delay takes a number of nanoseconds: an integer that is not negative",
                   "convert a computed number with .astype(pl::s32)");
  frontend::Recorder::current().emit("nanosleep.u32", {nanoseconds.operand()});
}

}  // namespace palladion::pl
