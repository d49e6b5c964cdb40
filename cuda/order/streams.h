#pragma once
// Which operations are over when another one begins: the rules of streams, events and waits of the host (CUDA
// guide, "Streams", "Events", "Programmatic Dependent Launch and Synchronization"). All threads of the host
// count as one.
#include <map>
#include <optional>

#include "cuda/order/clock.h"

namespace palladion::cuda::order {

// An operation's place: the `number`-th of its line.
struct Place {
  Line stream = 0, line = 0;
  uint64_t number = 0;
  Clock before;  // is over when it begins; of a programmatic launch, behind its griddepcontrol.wait
  bool programmatic = false;
  Clock early;  // of a programmatic launch: is over when it begins

  Clock after() const;  // what is over when it is over
};

struct Mark {  // a recorded event
  Clock over;  // who waits for it waits for these
  Clock late;  // of an event that a kernel triggers: behind griddepcontrol.wait of who waits
};

enum class Kind : uint8_t { legacy, blocking, non_blocking };

class Streams {
 public:
  Line add(Kind kind);
  Line add_branch() { return next_++; }  // of a graph
  void remove(Line stream);              // its operations go on

  // Puts an operation into the stream. `programmatic`: a kernel that may begin before the kernel in front of
  // it is over.
  Place put(Line stream, bool is_kernel = false, bool programmatic = false);
  // A branch's next operation.
  Place put_branch(Line stream, Line line, Clock before);
  // Of the stream's last kernel: whether what follows may begin before what it waits for is over.
  void triggers_early(const Place& kernel);
  // What was put as one operation is over when this is.
  void extend(Line stream, const Clock& over);

  Mark record(Line stream) const;
  void wait(Line stream, const Mark& mark);
  Clock of(Line stream) const;  // all that was put there, and what it depends on
  Clock all() const;

  void host_waits(const Clock& over) { host_.join(over); }
  const Clock& host() const { return host_; }  // what the host knows to be over

 private:
  struct Stream {
    Kind kind{};
    Clock over, late;
    std::optional<Clock> trigger;  // the last operation is a kernel: over when it lets the next one begin
  };
  Clock beyond(const Stream& stream) const;  // of other streams, that it waits for by itself

  std::map<Line, Stream> streams_;
  std::map<Line, uint64_t> numbers_;
  Clock host_;
  Clock removed_, removed_blocking_;  // what was put into streams that are gone
  Line next_ = 1;
};

}  // namespace palladion::cuda::order
