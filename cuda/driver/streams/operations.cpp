// When operations are done: at once when what they depend on is over, else as soon as it is.
#include <list>

#include "cuda/driver/streams/streams.h"

namespace palladion::cuda::driver {
namespace {

struct Pending {
  Doing doing;
  Work work;
};
std::list<Pending> pending;  // in the order of their calls

// What the program may change, or destroy, before it is done.
Work copy_of(const Work& work) {
  if (const auto* launch = std::get_if<std::shared_ptr<LaunchWork>>(&work))
    return std::make_shared<LaunchWork>(**launch);
  return work;
}

// One that can be done.
bool do_one() {
  for (auto p = pending.begin(); p != pending.end(); ++p) {
    if (!is_over(p->doing.place.before)) continue;
    Pending next = std::move(*p);
    pending.erase(p);
    State& s = state();
    const Status status = run(next.work, next.doing);
    if (status != success) finished(next.doing.place);
    if (status != success && s.sticky == success) s.sticky = status;
    return true;
  }
  return false;
}

}  // namespace

Status submit(Doing& doing, const Work& work) {
  go_on();
  const bool inside = kind_of(work) == NodeKind::graph;  // its nodes are put, each by itself
  if (kind_of(work) == NodeKind::conditional)
    if (const Status status = complete(doing.place.before); status != success) return status;
  if (inside || is_over(doing.place.before)) {
    const Status status = run(work, doing);
    if (status != success) finished(doing.place);
    return status;
  }
  pending.push_back({doing, copy_of(work)});
  return success;
}

void go_on() {
  while (resume_launches() || do_one()) {
  }
}

Status complete(const order::Clock& until) {
  for (go_on(); !is_over(until) && some_launch_waits(); go_on()) end_waiting_launches();
  return state().sticky;
}

void end_all_operations() {
  const Guard guard(state().lock);
  complete(streams().all());
}

Synchronous begin_synchronous(order::Operation::Does does, std::string text) {
  Stream* const stream = synchronous_stream();
  Synchronous operation;
  operation.doing.place = streams().put(line_of(stream));
  operation.doing.as = named(does, std::move(text), name_of(stream));
  operation.status = complete(operation.doing.place.before);
  return operation;
}

void end_synchronous(const Synchronous& operation, order::Touched touched, bool host_waits) {
  judge(operation.doing, std::move(touched));
  finished(operation.doing.place);
  if (host_waits) host_knows(operation.doing.place.after());
}

}  // namespace palladion::cuda::driver
