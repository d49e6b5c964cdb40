#pragma once
// The order of all operations of the program, and what is reported of those that meet without one. The lock
// of the state is held.
#include <memory>
#include <string>

#include "cuda/driver/order/footprint.h"
#include "cuda/order/in_flight.h"

namespace palladion::cuda::driver {

// An operation of a stream, and how findings name it (null: nothing is judged).
struct Doing {
  order::Place place;
  order::OperationRef as;
};

order::Streams& streams();
bool judges();            // whether the order of operations is judged: `--check race`
bool names_operations();  // or findings name them for another reason

// Operations that are over.
void finished(const order::Place& place);
bool is_over(const order::Clock& until);
// The host has waited for these.
void host_knows(const order::Clock& over);
void host_knows_all();
// While it lives this thread runs a function of a stream: there these are over, too.
class InHostFunction {
 public:
  explicit InHostFunction(const order::Clock& before);
  ~InHostFunction();
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;

 private:
  order::Clock outer_;  // of a function within which this one runs
};

// How findings name an operation that this call asks for.
order::OperationRef named(order::Operation::Does does, std::string text, std::string stream);
// What it touches, when it is over.
void judge(const Doing& doing, order::Touched touched);
void judge_kernel(const Doing& doing, Footprint& footprint);
// The host touches a byte of pinned or managed memory; false: an operation in flight does, too.
bool judge_host(uint64_t byte, bool writes);
// The instruction at `from` touches memory that is not the host's.
void tell_host_fault(uint64_t byte, bool writes, const void* from);

// A stream waits for an event that was not recorded since; the event is recorded: such a wait had no effect
// on what this record stands for.
void waited_before_record(order::Line waiting, order::Line recorded);

}  // namespace palladion::cuda::driver
