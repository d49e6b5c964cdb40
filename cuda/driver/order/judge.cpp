#include "cuda/driver/order/judge.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cuda/driver/order/call_site.h"
#include "cuda/driver/order/findings.h"
#include "cuda/driver/order/host_access.h"
#include "cuda/driver/order/undefined.h"
#include "cuda/driver/order/written.h"
#include "cuda/driver/reporting.h"
#include "cuda/driver/state.h"
#include "sim/check/catalogue/catalogue.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::cuda::driver {
namespace {

using sim::check::Code, sim::Phrase, sim::say;
using Does = order::Operation::Does;

struct Order {
  order::Streams streams;
  order::InFlight in_flight;
  order::Clock over;                                         // operations that are
  order::Clock behind_functions;                             // in front of host functions that began
  std::set<std::pair<order::Line, order::Line>> vain_waits;  // who waited, where was recorded later
};
Order& all() {
  static auto* const order = new Order;
  return *order;
}

// In front of the host function that this thread runs.
thread_local order::Clock in_function;

const char* verb(Does does, bool writes) {
  if (does == Does::free || does == Does::free_pinned) return "frees";
  if (does == Does::allocate) return "allocates";
  return writes ? "writes" : "reads";
}

sim::Statement place_of(const order::Range& bytes) {
  State& s = state();
  const sim::Allocation* const a = s.machine->memory().lookup(sim::Address(bytes.begin));
  if (a == nullptr) return say<Phrase::host_bytes>(bytes.end - bytes.begin, bytes.begin);
  return say<Phrase::host_bytes_of>(bytes.begin - a->base, bytes.end - 1 - a->base, a->name, a->size,
                                    uint64_t{a->base});
}

sim::Finding finding_of(Code code, sim::Statement message, const order::Range& bytes) {
  sim::Finding f;
  sim::check::complete(f, code);
  f.message = std::move(message);
  f.notes.push_back(place_of(bytes));
  return f;
}

void add_calls(sim::Finding& f, const order::Operation& later, const order::Operation& earlier) {
  for (const order::Operation* o : {&later, &earlier})
    if (sim::Statement note = called(*o)) f.notes.push_back(std::move(note));
}

Code code_of(const order::Operation& later, const order::Conflict& c, bool vain) {
  const auto is = [&](Does does) { return later.does == does || c.earlier->does == does; };
  if (is(Does::free) || is(Does::free_pinned) || is(Does::allocate)) return Code::memory_freed_in_flight;
  return vain ? Code::wait_before_record : Code::unordered_operations;
}

// What a host function says to other threads of the host, by a flag or a lock, is not seen: what follows may
// be ordered behind the operation by that.
void weaken_behind_function(sim::Finding& f, const order::Conflict& c) {
  if (all().behind_functions.of(c.earlier_line) < c.earlier_number) return;
  f.severity = sim::FindingSeverity::strict;
  f.notes.push_back(say<Phrase::host_function_ran>());
}

void tell_conflict(const Doing& later, const order::Conflict& c) {
  const bool vain = all().vain_waits.contains({later.place.stream, c.earlier_stream});
  sim::Finding f =
      finding_of(code_of(*later.as, c, vain),
                 say<Phrase::operations_meet>(text_of(*later.as), verb(later.as->does, c.later_writes),
                                              text_of(*c.earlier), verb(c.earlier->does, c.earlier_writes)),
                 c.bytes);
  if (later.as->does == Does::free_pinned) f.severity = sim::FindingSeverity::strict;
  weaken_behind_function(f, c);
  if (vain) f.missing = say<Phrase::vain_wait>(later.as->stream, c.earlier->stream);
  add_calls(f, *later.as, *c.earlier);
  tell(std::move(f));
}

void tell_early(const Doing& later, const order::Conflict& c) {
  sim::Finding f = finding_of(
      Code::access_before_dependency_wait,
      say<Phrase::before_dependency_wait>(text_of(*later.as), verb(later.as->does, c.later_writes),
                                          text_of(*c.earlier), verb(c.earlier->does, c.earlier_writes)),
      c.bytes);
  // Without a trigger the second kernel begins when the first one's CTAs have ended: their stores may be on
  // their way.
  if (!c.earlier->triggers) f.severity = sim::FindingSeverity::strict;
  add_calls(f, *later.as, *c.earlier);
  tell(std::move(f));
}

void keep(const Doing& doing, order::Touched touched) {
  Order& o = all();
  close_to_host(touched);
  o.in_flight.keep(doing.as, doing.place, std::move(touched));
  if (o.in_flight.incomplete()) tell_incomplete();
}

}  // namespace

order::Streams& streams() { return all().streams; }

bool judges() {
  static const bool on = [] {
    const auto checks = sim::check::options_named(state().settings.check, nullptr);
    return checks && checks->race;
  }();
  return on;
}

bool names_operations() { return judges() || follows_writes(); }

void finished(const order::Place& place) { all().over.raise(place.line, place.number); }
bool is_over(const order::Clock& until) { return all().over.covers(until); }

void host_knows(const order::Clock& over) {
  Order& o = all();
  if (o.streams.host().covers(over)) return;
  o.streams.host_waits(over);
  o.in_flight.forget(o.streams.host());
  open_to_host(o.in_flight);
}
void host_knows_all() { host_knows(streams().all()); }

// Other threads may hear of it as soon as the function begins, and go on before it has returned.
InHostFunction::InHostFunction(const order::Clock& before) : outer_(std::exchange(in_function, before)) {
  const Guard guard(state().lock);
  all().behind_functions.join(before);
}
InHostFunction::~InHostFunction() { in_function = std::move(outer_); }

order::OperationRef named(Does does, std::string text, std::string stream) {
  if (!names_operations()) return nullptr;
  auto operation = std::make_shared<order::Operation>();
  operation->does = does;
  operation->text = std::move(text);
  operation->stream = std::move(stream);
  operation->calls = call_stack();
  return operation;
}

void judge(const Doing& doing, order::Touched touched) {
  if (!doing.as) return;
  touched.unite();
  if (doing.as->does == Does::copy) judge_copied(*doing.as, touched);
  if (!judges()) return;
  for (const order::Conflict& c : all().in_flight.meetings(doing.place, doing.place.before, touched))
    tell_conflict(doing, c);
  keep(doing, std::move(touched));
}

void judge_kernel(const Doing& doing, Footprint& footprint) {
  if (!doing.as) return;
  if (!footprint.waits || footprint.triggers_early) streams().triggers_early(doing.place);
  auto as = std::make_shared<order::Operation>(*doing.as);
  as->triggers = footprint.triggers;
  const Doing kernel{doing.place, as};
  order::Touched touched = std::move(footprint.waited), early = std::move(footprint.early);
  if (doing.place.programmatic && !footprint.waits) early.add(touched);
  early.unite();
  if (doing.place.programmatic)
    for (const order::Conflict& c : all().in_flight.meetings(doing.place, doing.place.early, early))
      tell_early(kernel, c);
  touched.add(early);
  judge(kernel, std::move(touched));
}

bool judge_host(uint64_t byte, bool writes) {
  Order& o = all();
  order::Clock known = o.streams.host(), published;
  known.join(in_function);
  const auto c = o.in_flight.host_meets(byte, writes, known, published);
  if (!c) {
    host_knows(published);
    return true;
  }
  sim::Finding f = finding_of(Code::host_access_in_flight,
                              say<Phrase::host_meets>(writes ? "writes" : "reads", text_of(*c->earlier),
                                                      verb(c->earlier->does, c->earlier_writes)),
                              c->bytes);
  weaken_behind_function(f, *c);
  if (const std::string site = call_site(call_stack()); !site.empty())
    f.notes.push_back(say<Phrase::host_call>(std::string("the host's access"), site));
  if (sim::Statement note = called(*c->earlier)) f.notes.push_back(std::move(note));
  tell(std::move(f));
  return false;
}

void tell_host_fault(uint64_t byte, bool writes, const void* from) {
  const sim::GlobalMemory& memory = state().machine->memory();
  if (!is_given_out(byte) && memory.lookup(sim::Address(byte)) == nullptr) return;
  sim::Finding f;
  sim::check::complete(f, Code::host_in_device_memory);
  f.message =
      say<Phrase::host_in_device_memory>(writes ? "writes" : "reads", memory.describe(sim::Address(byte)));
  if (const std::string site = call_site(call_stack(from)); !site.empty())
    f.notes.push_back(say<Phrase::host_call>(std::string("the host's access"), site));
  tell(std::move(f));
}

void waited_before_record(order::Line waiting, order::Line recorded) {
  all().vain_waits.insert({waiting, recorded});
}

}  // namespace palladion::cuda::driver
