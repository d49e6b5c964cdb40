// Loads, stores, fences.
#include <optional>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/own_stores.h"
#include "sim/machine/exec/values_checked.h"

namespace palladion::sim {
namespace {

// Strong accesses of GMEM are performed at the quantum boundary, in a fixed order, so that every thread count
// gives the same values.
bool waits_for_quantum_boundary(const Exec& x, isa::Space space, isa::Order order,
                                const uint64_t* addresses) {
  if (order == isa::Order::weak || x.at_boundary) return false;
  if (space == isa::Space::global) return true;
  if (space != isa::Space::generic) return false;
  return space_of(addresses[std::countr_zero(x.active)]) == isa::Space::global;
}

void notify(const Exec& x, Access::Kind kind, isa::Space space, uint64_t size, const uint64_t* addresses,
            isa::Order order, isa::Scope scope, uint32_t unchanged = 0) {
  if (x.wants<Access>())
    x.emit(Access{x.origin(), kind, space, static_cast<uint32_t>(size), addresses, x.active, order, scope,
                  unchanged});
}

// The address of each lane's bytes; false after a fault.
struct Pointers {
  uint8_t* at[32];
  bool global = false;     // some may be in GMEM
  uint8_t copies[32][32];  // of those that do not lie in one piece
};

// The first active lane whose address is no multiple of `alignment`, a power of two; -1: none.
int misaligned_lane(const Exec& x, const uint64_t* addresses, uint64_t alignment) {
  uint64_t low = 0;
  for (uint32_t i = 0; i < 32; ++i) low |= (x.active >> i & 1) != 0 ? addresses[i] : 0;
  if ((low & (alignment - 1)) == 0) return -1;
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if ((addresses[std::countr_zero(m)] & (alignment - 1)) != 0) return std::countr_zero(m);
  return -1;
}

// The space of all lanes, where it is the same for all.
isa::Space common_space(const Exec& x, isa::Space stated, const uint64_t* addresses) {
  if (stated != isa::Space::generic) return stated;
  const isa::Space first = space_of(addresses[std::countr_zero(x.active)]);
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (space_of(addresses[std::countr_zero(m)]) != first) return stated;
  return first;
}

bool resolve_params(Exec& x, const uint64_t* addresses, uint64_t size, Pointers& p, const char* what) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    if (size > x.launch.params.size() || addresses[i] > x.launch.params.size() - size) {
      x.fault(Code::parameter_bounds,
              say<Phrase::outside_parameters>(what, size, addresses[i], x.launch.params.size()));
      return false;
    }
    p.at[i] = const_cast<uint8_t*>(x.launch.params.data()) + addresses[i];
  }
  return true;
}

// Where `bytes` + `offsets` lie, for all 32 lanes without a branch; the lanes that leave `places` are
// returned.
uint32_t place_all(uint8_t* bytes, const uint64_t* offsets, uint64_t places, Pointers& p) {
  const auto base = reinterpret_cast<uintptr_t>(bytes);
  uint32_t outside = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    p.at[i] = reinterpret_cast<uint8_t*>(base + offsets[i]);
    outside |= static_cast<uint32_t>(offsets[i] >= places) << i;
  }
  return outside;
}

// One look-up for the warp while its lanes stay in one allocation.
bool resolve_global(Exec& x, const uint64_t* addresses, uint64_t size, Pointers& p, const char* what) {
  uint32_t left = x.active;
  const Allocation* a = x.memory.lookup(Address(addresses[std::countr_zero(x.active)]));
  if (a != nullptr && size <= a->size) {
    uint64_t offsets[32];
    for (int i = 0; i < 32; ++i) offsets[i] = addresses[i] - a->base;
    left &= place_all(a->bytes, offsets, a->size - size + 1, p);
  }
  for (uint32_t m = left; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    p.at[i] = x.global(Address(addresses[i]), size, what);
    if (p.at[i] == nullptr) return false;
  }
  return true;
}

// One look-up for the warp where its lanes access one CTA's shared memory, and inside of it; false: lane by
// lane.
bool resolve_shared(const Exec& x, isa::Space space, const uint64_t* addresses, uint64_t size, Pointers& p) {
  const uint32_t first = Exec::shared_address(addresses[std::countr_zero(x.active)]);
  const uint32_t rank = first >> cta_rank_shift;
  if (rank >= x.cluster.ctas.size()) return false;
  if (space == isa::Space::shared_cta && rank != x.cta->rank) return false;
  auto& bytes = x.cluster.ctas[rank].shared;
  const uint64_t begin = x.program.reserved_shared;
  if (bytes.size() < begin + size) return false;
  uint64_t offsets[32];
  const uint32_t from = (rank << cta_rank_shift) + static_cast<uint32_t>(begin);
  for (int i = 0; i < 32; ++i) offsets[i] = Exec::shared_address(addresses[i]) - from;
  return (place_all(bytes.data() + begin, offsets, bytes.size() - size - begin + 1, p) & x.active) == 0;
}

// A vector load that begins in the CTA's shared memory and ends behind it: the chip gives memory in units,
// and there is nothing to stop it within the last one. What is behind the end is 0, as on a chip that nothing
// else has used. LLVM makes such loads of the last elements of an array.
bool read_past_the_end(Exec& x, isa::Space space, uint64_t address, uint64_t size, uint8_t* copy,
                       uint8_t*& at) {
  constexpr uint64_t unit = 128;  // of an H100: it faults beyond
  const uint32_t a = Exec::shared_address(address), rank = a >> cta_rank_shift;
  const uint64_t begin = a & shared_offset_mask;
  if (rank >= x.cluster.ctas.size() || begin < x.program.reserved_shared) return false;
  if (space == isa::Space::shared_cta && rank != x.cta->rank) return false;
  const auto& bytes = x.cluster.ctas[rank].shared;
  if (begin >= bytes.size() || begin + size > (bytes.size() + unit - 1) / unit * unit) return false;
  std::memset(copy, 0, size);
  std::memcpy(copy, bytes.data() + begin, std::min<uint64_t>(size, bytes.size() - begin));
  at = copy;
  return true;
}

bool resolve_all(Exec& x, isa::Space space, const uint64_t* addresses, uint64_t size, uint64_t alignment,
                 Pointers& p, Access::Kind kind) {
  const char* const what = kind == Access::Kind::read ? "read" : "write";
  if (const int i = misaligned_lane(x, addresses, alignment); i >= 0) {
    x.fault(Code::misaligned_access, say<Phrase::misaligned>(what, size, addresses[i], alignment));
    return false;
  }
  space = common_space(x, space, addresses);
  p.global = space == isa::Space::global || space == isa::Space::generic;
  if (space == isa::Space::param && addresses[std::countr_zero(x.active)] < local_window)  // the kernel's own
    return resolve_params(x, addresses, size, p, what);
  if (space == isa::Space::global) return resolve_global(x, addresses, size, p, what);
  if (is_shared(space) && resolve_shared(x, space, addresses, size, p)) return true;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    if (kind == Access::Kind::read && is_shared(space_of(space, addresses[i])) &&
        read_past_the_end(x, space, addresses[i], size, p.copies[i], p.at[i]))
      continue;
    p.at[i] = x.resolve(space, addresses[i], size, i, what);
    if (p.at[i] == nullptr) return false;
  }
  return true;
}

// visit(lane) for each active lane.
void for_each_active(uint32_t active, auto visit) {
  if (active == ~0U) {
    for (int i = 0; i < 32; ++i) visit(i);
    return;
  }
  for (uint32_t m = active; m != 0; m &= m - 1) visit(std::countr_zero(m));
}

// Reads one element of the memory type and widens it to the register: sign for .s, zeros otherwise.
template <class Memory, class Register>
void gather(const Exec& x, const Pointers& p, size_t offset, const DecodedOperand& d) {
  auto* out = x.lanes<Register>(d);
  for_each_active(x.active, [&](int i) {
    Memory v;
    std::memcpy(&v, p.at[i] + offset, sizeof v);
    out[i] = static_cast<Register>(v);
  });
}

template <class Memory>
void gather_into(const Exec& x, const Pointers& p, size_t offset, const DecodedOperand& d) {
  switch (d.width) {
    case 8:
      return gather<Memory, uint8_t>(x, p, offset, d);
    case 16:
      return gather<Memory, uint16_t>(x, p, offset, d);
    case 32:
      return gather<Memory, uint32_t>(x, p, offset, d);
    default:
      return gather<Memory, uint64_t>(x, p, offset, d);
  }
}

void load_element(const Exec& x, isa::Type type, const Pointers& p, size_t offset, const DecodedOperand& d) {
  const bool is_signed = isa::is_signed(type);
  switch (isa::bytes(type)) {
    case 1:
      return is_signed ? gather_into<int8_t>(x, p, offset, d) : gather_into<uint8_t>(x, p, offset, d);
    case 2:
      return is_signed ? gather_into<int16_t>(x, p, offset, d) : gather_into<uint16_t>(x, p, offset, d);
    case 4:
      return is_signed ? gather_into<int32_t>(x, p, offset, d) : gather_into<uint32_t>(x, p, offset, d);
    case 8:
      return gather_into<uint64_t>(x, p, offset, d);
    default:
      for (uint32_t m = x.active; m != 0; m &= m - 1) {
        const int i = std::countr_zero(m);
        std::memcpy(x.lanes<uint64_t>(d) + 2 * i, p.at[i] + offset, 16);
      }
  }
}

// Lanes of a warp that store at one address: PTX leaves open which value stays. An H100 performs
// a store of up to 4 bytes a lane at once, of 8 bytes in halves of the warp, of 16 bytes in quarters, one
// after the other, and of each such part the lowest lane's value stays (bench/device/store_lanes.cu).
constexpr int lanes_at_once(uint64_t bytes_of_lane) {
  return bytes_of_lane <= 4 ? 32 : static_cast<int>(std::max<uint64_t>(128 / bytes_of_lane, 1));
}

// visit(lane) for each active lane, so that what is visited last stays.
void for_each_storing(uint32_t active, int at_once, auto visit) {
  for (int first = 0; first < 32; first += at_once) {
    if (active == ~0U) {
      for (int i = first + at_once; i-- > first;) visit(i);
      continue;
    }
    uint32_t part = active >> first << first;
    if (first + at_once < 32) part &= (1U << (first + at_once)) - 1;
    for (; part != 0; part &= ~(1U << (31 - std::countl_zero(part)))) visit(31 - std::countl_zero(part));
  }
}

template <size_t Size>
void scatter(const Exec& x, const Pointers& p, size_t offset, const uint8_t* lanes, size_t stride,
             int at_once) {
  for_each_storing(x.active, at_once, [&](int i) {
    std::memcpy(p.at[i] + offset, lanes + stride * static_cast<size_t>(i), Size);
  });
}

void store_element(const Exec& x, isa::Type type, const Pointers& p, size_t offset, const DecodedOperand& s,
                   int at_once) {
  const size_t stride = s.width / 8;
  const uint8_t* lanes = x.lanes<uint8_t>(s);
  switch (isa::bytes(type)) {
    case 1:
      return scatter<1>(x, p, offset, lanes, stride, at_once);
    case 2:
      return scatter<2>(x, p, offset, lanes, stride, at_once);
    case 4:
      return scatter<4>(x, p, offset, lanes, stride, at_once);
    case 8:
      return scatter<8>(x, p, offset, lanes, stride, at_once);
    default:
      return scatter<16>(x, p, offset, lanes, stride, at_once);
  }
}

// Where element k of a lane begins.
size_t offset_of(isa::Type type, int k) {
  return static_cast<size_t>(k) * static_cast<size_t>(isa::bytes(type));
}

// The lanes whose values are in memory already.
uint32_t unchanged_lanes(const Exec& x, const MicroOp& op, const isa::Store& e, const Pointers& p) {
  if (!op.moves || !x.wants<Access>()) return 0;
  const auto size = static_cast<size_t>(isa::bytes(e.type));
  uint32_t equal = x.active;
  for (int k = 0; k < e.elements; ++k) {
    const DecodedOperand& s = op.operands[e.src].element(k);
    const size_t stride = s.width / 8;
    const uint8_t* lanes = x.lanes<uint8_t>(s);
    for (uint32_t m = equal; m != 0; m &= m - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(m));
      if (std::memcmp(p.at[i] + offset_of(e.type, k), lanes + stride * i, size) != 0) equal &= ~(1U << i);
    }
  }
  return equal;
}

// The active lanes whose addresses are in GMEM.
uint32_t global_lanes(const Exec& x, isa::Space space, const uint64_t* addresses) {
  if (space == isa::Space::global) return x.active;
  uint32_t lanes = 0;
  for (uint32_t m = space == isa::Space::generic ? x.active : 0; m != 0; m &= m - 1)
    if (space_of(addresses[std::countr_zero(m)]) == isa::Space::global) lanes |= m & (0 - m);
  return lanes;
}

// Resolves and reports the lanes' accesses; a step where they are not performed now.
template <class E>
std::optional<Step> begin_access(Exec& x, const MicroOp& op, const E& e, Access::Kind kind, Pointers& p) {
  const auto size = static_cast<uint64_t>(isa::bytes(e.type)) * static_cast<uint64_t>(e.elements);
  const uint64_t alignment = e.space == isa::Space::param ? 1 : size;
  uint64_t addresses[32];
  x.addresses(op.operands[e.address], addresses);
  if (waits_for_quantum_boundary(x, e.space, e.order, addresses)) return x.wait(Wait::Kind::quantum_boundary);
  if (!resolve_all(x, e.space, addresses, size, alignment, p, kind)) return Step::fault;
  uint32_t lanes = x.delays_stores() ? global_lanes(x, e.space, addresses) : 0;
  uint32_t unchanged = 0;
  if constexpr (std::is_same_v<E, isa::Store>) {
    x.count_stores(static_cast<uint64_t>(std::popcount(lanes)) * size);
    if (!op.moves) lanes = 0;
    uint8_t* in_memory[32];
    if (lanes != 0) std::copy_n(p.at, 32, in_memory);
    if (lanes != 0 && x.wants<Access>()) see_own_stores(x, addresses, lanes, size, p.at, p.copies);
    unchanged = unchanged_lanes(x, op, e, p);
    if (lanes != 0) delay_stores(x, addresses, lanes, size, in_memory);
    for (uint32_t m = lanes; m != 0; m &= m - 1) p.at[std::countr_zero(m)] = in_memory[std::countr_zero(m)];
  } else if (lanes != 0 && op.moves) {
    see_own_stores(x, addresses, lanes, size, p.at, p.copies);
  }
  p.global &= unchanged != x.active;
  notify(x, kind, e.space, size, addresses, e.order, e.scope, unchanged);
  return std::nullopt;
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::Load& e) {
  Pointers p;
  if (const auto instead = begin_access(x, op, e, Access::Kind::read, p)) return *instead;
  for (int k = 0; k < e.elements && op.moves; ++k)
    load_element(x, e.type, p, offset_of(e.type, k), op.operands[e.dst].element(k));
  return x.at_boundary ? Step::yield : Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::Store& e) {
  Pointers p;
  if (const auto instead = begin_access(x, op, e, Access::Kind::write, p)) return *instead;
  const int at_once =
      lanes_at_once(static_cast<uint64_t>(isa::bytes(e.type)) * static_cast<uint64_t>(e.elements));
  for (int k = 0; k < e.elements && op.moves; ++k)
    store_element(x, e.type, p, offset_of(e.type, k), op.operands[e.src].element(k), at_once);
  if (p.global)
    x.changed();
  else if (e.space != isa::Space::local)  // which no other thread can wait for
    x.changed_inside();
  return Step::next;
}

// Each lane has a range of its own. Its place and its size are multiples of 8 bytes.
Step exec(Exec& x, const MicroOp& op, const isa::StoreBulk& e) {
  constexpr uint64_t unit = 8, most = 16'777'216;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t address = x.address_of_lane(op.operands[e.address], lane);
    const uint64_t size = x.lane_value(op.operands[e.size], lane);
    if (address % unit != 0 || size % unit != 0 || size > most)
      return x.fault(Code::misaligned_access, say<Phrase::misaligned_bulk_store>(size, address, unit, most));
    if (e.space == isa::Space::generic && space_of(address) != isa::Space::shared_cta)
      return x.fault(Code::misaligned_access, say<Phrase::bulk_store_outside_shared>(address));
    if (size == 0) continue;
    uint8_t* const bytes = x.shared(address, size, "st.bulk");
    if (bytes == nullptr) return Step::fault;
    if (op.moves) std::memset(bytes, 0, size);
    note_shared(x.cluster, Exec::shared_address(address), static_cast<uint32_t>(size), op.moves);
    if (!x.wants<Access>()) continue;
    uint64_t addresses[32]{};
    addresses[lane] = address;
    x.emit(Access{x.origin(1U << lane), Access::Kind::write, e.space, static_cast<uint32_t>(size), addresses,
                  1U << lane, isa::Order::weak, isa::Scope::cta});
  }
  x.changed();
  return Step::next;
}

Step exec(Exec&, const MicroOp&, const isa::Prefetch&) { return Step::next; }

// The machine's memory is sequentially consistent between lane groups, so fences order nothing here;
// checkers read them from the instruction stream.
// tensormap.cp_fenceproxy copies a tensor map first.
Step exec(Exec& x, const MicroOp& op, const isa::Fence& e) {
  if (e.copy_from < 0) {
    if (x.wants<Fenced>()) x.emit(Fenced{x.origin()});
    return Step::next;
  }
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  const int lane = std::countr_zero(x.active);
  const uint64_t size = x.lane_value(op.operands[e.size], lane);
  const uint64_t target = x.address_of_lane(op.operands[e.address], lane);
  uint8_t* const to = x.global(Address(target), size, "tensormap.cp_fenceproxy");
  if (to == nullptr) return Step::fault;
  const uint8_t* from =
      x.shared(x.address_of_lane(op.operands[e.copy_from], lane), size, "tensormap.cp_fenceproxy");
  if (from == nullptr) return Step::fault;
  x.store(Address(target), to, from, size);
  x.changed();
  if (x.wants<Fenced>()) x.emit(Fenced{x.origin()});
  return Step::next;
}

}  // namespace palladion::sim
