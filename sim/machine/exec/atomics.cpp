// atom and red (PTX, "Parallel Synchronization and Communication Instructions").
#include "sim/machine/exec/atomics.h"

#include <algorithm>
#include <bit>
#include <span>

#include "isa/num/arith.h"
#include "isa/num/order.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/shuffle.h"

namespace palladion::sim {
namespace {

using isa::AtomicOp;
using isa::Type;
namespace num = isa::num;

template <class T, class F>
void each(uint8_t* memory, const uint8_t* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T old, operand;
    std::memcpy(&old, memory + i * sizeof(T), sizeof(T));
    std::memcpy(&operand, b + i * sizeof(T), sizeof(T));
    const T result = static_cast<T>(F{}(old, operand));
    std::memcpy(memory + i * sizeof(T), &result, sizeof(T));
  }
}

// --- integers ---
struct Add {
  auto operator()(auto a, auto b) const { return a + b; }
};
struct Sub {
  auto operator()(auto a, auto b) const { return a - b; }
};
struct And {
  auto operator()(auto a, auto b) const { return a & b; }
};
struct Or {
  auto operator()(auto a, auto b) const { return a | b; }
};
struct Xor {
  auto operator()(auto a, auto b) const { return a ^ b; }
};
struct Min {
  auto operator()(auto a, auto b) const { return a < b ? a : b; }
};
struct Max {
  auto operator()(auto a, auto b) const { return a > b ? a : b; }
};
// Counting up to and down from b, wrapping around.
struct Inc {
  auto operator()(auto a, auto b) const { return a >= b ? decltype(a){0} : static_cast<decltype(a)>(a + 1); }
};
struct Dec {
  auto operator()(auto a, auto b) const { return a == 0 || a > b ? b : static_cast<decltype(a)>(a - 1); }
};

// T: unsigned for arithmetic that wraps, S: as the type compares.
template <class T, class S>
ReduceFn integer(AtomicOp op) {
  switch (op) {
    case AtomicOp::add:
      return each<T, Add>;
    case AtomicOp::sub:
      return each<T, Sub>;
    case AtomicOp::and_:
      return each<T, And>;
    case AtomicOp::or_:
      return each<T, Or>;
    case AtomicOp::xor_:
      return each<T, Xor>;
    case AtomicOp::min:
      return each<S, Min>;
    case AtomicOp::max:
      return each<S, Max>;
    case AtomicOp::inc:
      return each<T, Inc>;
    case AtomicOp::dec:
      return each<T, Dec>;
    default:
      return nullptr;
  }
}

// --- floating point: round to nearest even ---
template <class F, bool flush = false>
struct FloatAdd {
  auto operator()(auto a, auto b) const { return num::add<F, num::ArithMods{.ftz = flush}>(a, b); }
};
template <class F>
struct FloatMin {
  auto operator()(auto a, auto b) const { return num::min<F>(a, b); }
};
template <class F>
struct FloatMax {
  auto operator()(auto a, auto b) const { return num::max<F>(a, b); }
};

template <class F>
ReduceFn half(AtomicOp op) {
  switch (op) {
    case AtomicOp::add:
      return each<uint16_t, FloatAdd<F>>;
    case AtomicOp::min:
      return each<uint16_t, FloatMin<F>>;
    case AtomicOp::max:
      return each<uint16_t, FloatMax<F>>;
    default:
      return nullptr;
  }
}

}  // namespace

// Packed types are two elements of their half.
ReduceFn reduction(AtomicOp op, Type type, bool flush) {
  switch (type) {
    case Type::u32:
    case Type::b32:
      return integer<uint32_t, uint32_t>(op);
    case Type::s32:
      return integer<uint32_t, int32_t>(op);
    case Type::u64:
    case Type::b64:
      return integer<uint64_t, uint64_t>(op);
    case Type::s64:
      return integer<uint64_t, int64_t>(op);
    case Type::f16:
    case Type::f16x2:
      return half<num::F16>(op);
    case Type::bf16:
    case Type::bf16x2:
      return half<num::Bf16>(op);
    case Type::f32:
      if (op != AtomicOp::add) return nullptr;
      return flush ? each<uint32_t, FloatAdd<num::F32, true>> : each<uint32_t, FloatAdd<num::F32>>;
    case Type::f64:
      return op == AtomicOp::add ? each<uint64_t, FloatAdd<num::F64>> : nullptr;
    default:
      return nullptr;
  }
}

std::optional<AtomicOp> atomic_op(isa::BulkOp op) {
  switch (op) {
    case isa::BulkOp::copy:
      return std::nullopt;
    case isa::BulkOp::add:
      return AtomicOp::add;
    case isa::BulkOp::min:
      return AtomicOp::min;
    case isa::BulkOp::max:
      return AtomicOp::max;
    case isa::BulkOp::inc:
      return AtomicOp::inc;
    case isa::BulkOp::dec:
      return AtomicOp::dec;
    case isa::BulkOp::and_:
      return AtomicOp::and_;
    case isa::BulkOp::or_:
      return AtomicOp::or_;
    case isa::BulkOp::xor_:
      return AtomicOp::xor_;
  }
  return std::nullopt;
}

namespace {

const uint8_t* lane_bytes(const Exec& x, const DecodedOperand& o, int lane) {
  return x.lanes<uint8_t>(o) + static_cast<size_t>(lane) * (o.width / 8);
}

// What one instruction does to one element; `touched`: whether memory has changed.
struct Performer {
  Exec& x;
  const MicroOp& op;
  const isa::Atomic& e;
  size_t size;   // bytes of an element
  size_t count;  // of `reduce` in an element: 2 for packed types
  bool changed = false;

  // The previous value goes to `old`.
  void perform(uint8_t* at, int k, int lane, ReduceFn reduce, uint8_t* old) {
    std::memcpy(old, at, size);
    const uint8_t* b = lane_bytes(x, op.operands[e.b].element(k), lane);
    if (e.op == AtomicOp::exch) {
      std::memcpy(at, b, size);
    } else if (e.op == AtomicOp::cas) {
      if (std::memcmp(old, b, size) == 0)
        std::memcpy(at, lane_bytes(x, op.operands[e.c].element(k), lane), size);
    } else {
      reduce(at, b, count);
    }
    changed |= std::memcmp(old, at, size) != 0;
  }

  void put(int k, int lane, const uint8_t* old) const {
    if (e.dst < 0) return;
    const DecodedOperand& d = op.operands[e.dst].element(k);
    const size_t width = d.width / 8U;
    uint8_t* out = x.lanes<uint8_t>(d) + static_cast<size_t>(lane) * width;
    std::memset(out, 0, width);
    std::memcpy(out, old, std::min(width, size));
  }
};

// Where each active lane's bytes are, and which lanes are in GMEM; false after a fault.
struct Targets {
  uint8_t* at[32];
  uint32_t global = 0;
};

bool resolve(Exec& x, const isa::Atomic& e, const uint64_t* addresses, uint64_t size, Targets& t) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const isa::Space space = space_of(e.space, addresses[i]);
    if (addresses[i] % size != 0) {
      x.fault(Code::misaligned_access, say<Phrase::misaligned>("atomic access", size, addresses[i], size));
      return false;
    }
    if (space == isa::Space::global) t.global |= 1U << i;
    t.at[i] = x.resolve(space, addresses[i], size, i, "atomic access");
    if (t.at[i] == nullptr) return false;
  }
  return true;
}

// Of the active lanes; another one for each execution where the run has a seed. Gives their number.
int order_of_lanes(const Exec& x, uint8_t order[32]) {
  int n = 0;
  for (uint32_t m = x.active; m != 0; m &= m - 1) order[n++] = static_cast<uint8_t>(std::countr_zero(m));
  if (x.launch.options.lanes == 0) return n;
  const uint64_t warp = uint64_t{x.cluster.index} << 32 | uint64_t{x.cta->rank} << 16 | x.warp->id;
  shuffle(std::span(order, static_cast<size_t>(n)),
          scramble(x.launch.options.lanes ^ warp) ^ x.warp->instructions);
  return n;
}

}  // namespace

// Lanes are serialised: the lowest first, as on an H100, or in an order of the run's seed; PTX leaves it
// open.
Step exec(Exec& x, const MicroOp& op, const isa::Atomic& e) {
  const auto size = static_cast<uint64_t>(isa::bytes(e.type));
  const bool swaps = e.op == AtomicOp::exch || e.op == AtomicOp::cas;
  const ReduceFn flushing = swaps ? nullptr : reduction(e.op, e.type, true),
                 plain = swaps ? nullptr : reduction(e.op, e.type, false);
  if (!swaps && plain == nullptr)
    return x.unsupported(say<Phrase::operation_of_no_type>("an atomic operation"));
  uint64_t addresses[32];
  x.addresses(op.operands[e.address], addresses);
  Targets targets;
  if (!resolve(x, e, addresses, size * static_cast<uint64_t>(e.elements), targets)) return Step::fault;
  // GMEM is shared with other clusters: atomics on it are performed in a fixed order, between quanta.
  if (targets.global != 0 && !x.at_boundary) return x.wait(Wait::Kind::quantum_boundary);
  if (x.wants<Access>())
    x.emit(Access{x.origin(), Access::Kind::atomic, e.space,
                  static_cast<uint32_t>(size * static_cast<uint64_t>(e.elements)), addresses, x.active,
                  e.order, e.scope});
  if (!op.moves) {
    x.changed();
    return Step::next;
  }
  const bool packed = e.type == Type::f16x2 || e.type == Type::bf16x2;
  Performer performer{x, op, e, size, packed ? size_t{2} : size_t{1}};
  uint8_t order[32];
  const int lanes = order_of_lanes(x, order);
  for (int n = 0; n < lanes; ++n) {
    const int i = order[n];
    const ReduceFn reduce = (targets.global >> i & 1) != 0 ? flushing : plain;
    uint8_t old[8][16];
    for (int k = 0; k < e.elements; ++k)
      performer.perform(targets.at[i] + size * static_cast<size_t>(k), k, i, reduce, old[k]);
    // Written last: a register may be the result of one element and the operand of the next.
    for (int k = 0; k < e.elements; ++k) performer.put(k, i, old[k]);
  }
  if (performer.changed) x.changed();
  // A swap that changed nothing is most likely a spin on a lock: other warps execute first.
  return swaps && !performer.changed ? Step::yield : Step::next;
}

}  // namespace palladion::sim
