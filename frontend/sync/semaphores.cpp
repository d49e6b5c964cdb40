// Semaphores: numbers in GMEM that CTAs signal and wait for.
#include <fmt/format.h>

#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

using frontend::Address;

Ref make_semaphores(const SemaphoreType& type, const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
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
  const VerbScope at(loc);
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
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check_scope(options.memory_scope, "semaphore_wait");
  const Address a = semaphore_address(r, semaphore, "semaphore_wait");
  const Operand wanted = value.astype(DType::s32).as_register();
  (options.decrement ? take_value : wait_for_value)(r, a, wanted, options.memory_scope);
  r.warpgroup_barrier();
}

Scalar semaphore_read(const Ref& semaphore, std::source_location loc) {
  const VerbScope at(loc);
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
  const frontend::VerbScope at(loc);
  if (!is_integer(nanoseconds.dtype()) || (nanoseconds.is_constant() && nanoseconds.as_int() < 0))
    frontend::fail(frontend::Code::dtype_mismatch,
                   "delay takes a number of nanoseconds: an integer that is not negative",
                   "convert a computed number with .astype(pl::s32)");
  frontend::Recorder::current().emit("nanosleep.u32", {nanoseconds.operand()});
}

}  // namespace palladion::pl
