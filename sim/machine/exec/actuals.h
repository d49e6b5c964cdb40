#pragma once
// The arguments and results of a call, as the calling instruction states them.
#include <algorithm>

#include "sim/machine/exec/exec.h"
#include "sim/machine/state/local_address.h"

namespace palladion::sim {

// A list of the call's arguments or results, as written and as decoded.
struct Actuals {
  const std::vector<isa::Operand>* written = nullptr;
  const std::vector<DecodedOperand>* decoded = nullptr;
  size_t size() const { return written == nullptr ? 0 : written->size(); }
};

Actuals actuals(const MicroOp& op, int index);
// A parameter block in local memory, not a register or a constant.
bool is_block(const Program& program, const isa::Operand& o);

// A block is in local memory; anything else is a value of at most 8 bytes.
void read_actual(const Exec& x, const Actuals& list, size_t i, int lane, uint64_t size, uint8_t* to);
void write_actual(const Exec& x, const Actuals& list, size_t i, int lane, uint64_t size, const uint8_t* from);

// One lane of a register of `width` bits (1: a predicate) whose lanes begin at `block`.
void put_register(uint8_t* block, int width, int lane, const uint8_t* from);

template <class T>
T argument(const Exec& x, const Actuals& list, size_t i, int lane) {
  uint64_t v = 0;
  read_actual(x, list, i, lane, sizeof(T), reinterpret_cast<uint8_t*>(&v));
  return static_cast<T>(v);
}

// The call's result.
template <class T>
void give(const Exec& x, const Actuals& results, int lane, T value) {
  if (results.size() != 0)
    write_actual(x, results, 0, lane, sizeof value, reinterpret_cast<const uint8_t*>(&value));
}

}  // namespace palladion::sim
