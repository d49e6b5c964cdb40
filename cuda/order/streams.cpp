#include "cuda/order/streams.h"

namespace palladion::cuda::order {

Clock Place::after() const {
  Clock over = before;
  over.raise(line, number);
  return over;
}

Line Streams::add(Kind kind) {
  streams_[next_].kind = kind;
  return next_++;
}

void Streams::remove(Line stream) {
  const Clock over = of(stream);
  (streams_.at(stream).kind == Kind::blocking ? removed_blocking_ : removed_).join(over);
  streams_.erase(stream);
}

// The legacy stream and the blocking ones wait for each other.
Clock Streams::beyond(const Stream& stream) const {
  Clock over;
  if (stream.kind == Kind::non_blocking) return over;
  if (stream.kind == Kind::legacy) over.join(removed_blocking_);
  const Kind other = stream.kind == Kind::legacy ? Kind::blocking : Kind::legacy;
  for (const auto& [line, s] : streams_)
    if (s.kind == other) over.join(s.over);
  return over;
}

Place Streams::put(Line stream, bool is_kernel, bool programmatic) {
  Stream& s = streams_.at(stream);
  Place place{.stream = stream, .line = stream, .number = ++numbers_[stream]};
  place.before = host_;
  place.before.join(beyond(s));
  place.programmatic = is_kernel && ((programmatic && s.trigger) || !s.late.empty());
  if (place.programmatic) {
    place.early = place.before;
    place.early.join(programmatic && s.trigger ? *s.trigger : s.over);
  }
  place.before.join(s.over);
  place.before.join(s.late);
  s.over = place.after();
  s.late = {};
  s.trigger.reset();
  if (is_kernel) s.trigger = place.before;
  return place;
}

Place Streams::put_branch(Line stream, Line line, Clock before) {
  return {.stream = stream, .line = line, .number = ++numbers_[line], .before = std::move(before)};
}

void Streams::triggers_early(const Place& kernel) {
  const auto at = streams_.find(kernel.stream);
  if (at != streams_.end() && at->second.trigger && kernel.programmatic) at->second.trigger = kernel.early;
}

void Streams::extend(Line stream, const Clock& over) { streams_.at(stream).over.join(over); }

Clock Streams::of(Line stream) const {
  const Stream& s = streams_.at(stream);
  Clock over = s.over;
  over.join(s.late);
  over.join(beyond(s));
  return over;
}

Mark Streams::record(Line stream) const { return {of(stream), {}}; }

void Streams::wait(Line stream, const Mark& mark) {
  Stream& s = streams_.at(stream);
  s.over.join(mark.over);
  s.late.join(mark.late);
  if (s.trigger) s.trigger->join(mark.over);
}

Clock Streams::all() const {
  Clock over = removed_;
  over.join(removed_blocking_);
  over.join(host_);
  for (const auto& [line, s] : streams_) over.join(s.over), over.join(s.late);
  return over;
}

}  // namespace palladion::cuda::order
