// Tensor memory: allocation, and the loads and stores of warps (PTX, "Tensor Memory Allocation and Management
// Instructions", "Tensor Memory Data Movement Instructions").
#include "isa/formats/tensor_memory.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/pairs.h"
#include "sim/machine/exec/values_checked.h"

namespace palladion::sim {
namespace {

// .sync.aligned: the threads of the warp that have not exited.
std::optional<Step> gather_whole_warp(Exec& x) {
  if (x.converged(x.warp->alive)) return std::nullopt;
  return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
}

bool is_power_of_two(uint64_t n) { return (n & (n - 1)) == 0; }

// Columns that an instruction may allocate or free; false after a fault.
bool check_columns(Exec& x, uint64_t columns, const char* what) {
  if (columns >= TensorMemory::unit && columns <= TensorMemory::columns && is_power_of_two(columns))
    return true;
  x.fault(Code::bad_tcgen05_alloc,
          say<Phrase::columns_beyond_limits>(what, columns, TensorMemory::unit, TensorMemory::columns));
  return false;
}

// The columns that this CTA gets, allocated; TensorMemory::columns while it must wait.
uint32_t take_columns(TensorMemory& t, uint32_t count) {
  const uint32_t first = TensorMemory::find_free(t.taken(), count);
  if (first != TensorMemory::columns) t.take(first, count);
  return first;
}

// The same columns in both CTAs of a pair: the one that comes first waits for the other.
uint32_t take_columns_of_pair(TensorMemory& t, TensorMemory& peer, uint32_t count) {
  if (t.granted != 0) {
    const uint32_t first = t.granted - 1U;
    t.granted = 0;
    return first;
  }
  t.wanted = static_cast<uint16_t>(count);
  if (peer.wanted != count) return TensorMemory::columns;
  const uint32_t first = TensorMemory::find_free(t.taken() | peer.taken(), count);
  if (first == TensorMemory::columns) return first;
  t.take(first, count);
  peer.take(first, count);
  peer.granted = static_cast<uint16_t>(first + 1);
  t.wanted = peer.wanted = 0;
  return first;
}

Step allocate(Exec& x, const MicroOp& op, const isa::TensorMemoryAllocation& e) {
  TensorMemory& t = x.cta->tensor;
  if (!x.same_in_lanes(op.operands[e.columns], "the number of columns of tcgen05.alloc") ||
      !x.same_in_lanes(op.operands[e.address], "the address of tcgen05.alloc"))
    return Step::fault;
  const uint64_t columns = x.uniform_value(op.operands[e.columns]);
  if (!check_columns(x, columns, "tcgen05.alloc")) return Step::fault;
  if (t.relinquished)
    return x.fault(Code::bad_tcgen05_alloc, say<Phrase::alloc_after_permit>(),
                   say<Phrase::alloc_before_permit>());
  const uint64_t at = x.address_of_lane(op.operands[e.address], std::countr_zero(x.active));
  if (at % 4 != 0)
    return x.fault(Code::bad_tcgen05_alloc, say<Phrase::misaligned_in_shared>("the result of tcgen05.alloc",
                                                                              at & shared_offset_mask, 4));
  uint8_t* const to = x.shared(at, 4, "tcgen05.alloc write");
  if (to == nullptr) return Step::fault;
  uint32_t leader = 0;
  if (!find_pair(x, e.ctas, "tcgen05.alloc", leader)) return Step::fault;
  const auto count = static_cast<uint32_t>(columns);
  const uint32_t first = e.ctas == 1 ? take_columns(t, count)
                                     : take_columns_of_pair(t, x.cluster.ctas[x.cta->rank ^ 1].tensor, count);
  if (first == TensorMemory::columns)
    return x.wait(Wait::Kind::tensor_memory, static_cast<uint64_t>(e.ctas), columns);
  x.take_resumed();
  std::memcpy(to, &first, 4);
  note_shared(x.cluster, Exec::shared_address(at), 4, true);
  if (x.wants<Access>()) {
    uint64_t addresses[32];
    x.addresses(op.operands[e.address], addresses);
    const uint32_t lane = x.active & -x.active;
    x.emit(Access{x.origin(), Access::Kind::write, isa::Space::shared_cta, 4, addresses, lane});
  }
  if (x.wants<TensorAllocated>()) x.emit(TensorAllocated{x.origin(), false, first, count, e.ctas});
  x.changed();
  return Step::next;
}

Step deallocate(Exec& x, const MicroOp& op, const isa::TensorMemoryAllocation& e) {
  TensorMemory& t = x.cta->tensor;
  if (!x.same_in_lanes(op.operands[e.columns], "the number of columns of tcgen05.dealloc") ||
      !x.same_in_lanes(op.operands[e.address], "the address of tcgen05.dealloc"))
    return Step::fault;
  const uint64_t columns = x.uniform_value(op.operands[e.columns]);
  if (!check_columns(x, columns, "tcgen05.dealloc")) return Step::fault;
  const auto address = static_cast<uint32_t>(x.uniform_value(op.operands[e.address]));
  const isa::TensorPlace place = isa::tensor_place(address);
  const auto first = static_cast<uint32_t>(place.column), count = static_cast<uint32_t>(columns);
  // Exactly the columns of one allocation.
  bool matches = place.lane == 0 && first % TensorMemory::unit == 0 && first + count <= TensorMemory::columns;
  const uint16_t owner = matches ? t.owner[first / TensorMemory::unit] : 0;
  matches = matches && owner != 0;
  for (uint32_t u = 0; matches && u < t.owner.size(); ++u) {
    const bool inside = u >= first / TensorMemory::unit && u < (first + count) / TensorMemory::unit;
    matches = (t.owner[u] == owner) == inside;
  }
  if (!matches) return x.fault(Code::bad_tcgen05_dealloc, say<Phrase::no_allocation>(columns, address));
  for (uint16_t& o : t.owner)
    if (o == owner) o = 0;
  if (x.wants<TensorAllocated>()) x.emit(TensorAllocated{x.origin(), true, first, count, e.ctas});
  x.changed();
  return Step::next;
}

// Where a warp's load or store goes; false after a fault.
struct Block {
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
  int split = 0;
};

struct Request {
  isa::TensorShape shape;
  int repeat;
  bool halves;  // two columns of 16 bits in a register
  int address, split;
};

bool place_block(Exec& x, const MicroOp& op, const Request& r, const char* what, Block& block) {
  if (!x.same_in_lanes(op.operands[r.address], "the address of a tcgen05.ld or tcgen05.st")) return false;
  const auto at =
      static_cast<uint32_t>(x.address_of_lane(op.operands[r.address], std::countr_zero(x.active)));
  const isa::TensorPlace place = isa::tensor_place(at);
  const isa::TensorShapeSize size = isa::size_of(r.shape);
  const int scale = r.halves ? 2 : 1;
  block.split = r.split < 0 ? 0 : static_cast<int>(op.operands[r.split].offset);
  block.lane = static_cast<uint32_t>(place.lane);
  block.lanes = static_cast<uint32_t>(size.lanes);
  block.column = static_cast<uint32_t>(place.column);
  block.columns = static_cast<uint32_t>((size.columns * r.repeat + block.split) * scale);
  const auto first = static_cast<uint32_t>(isa::first_lane_of_warp(x.warp->id));
  // The chip takes the warp's own lanes where the address has none; PTX wants them stated.
  if (block.lane + block.lanes <= isa::lanes_of_a_warp) block.lane += first;
  if (block.lane < first || block.lane + block.lanes > first + isa::lanes_of_a_warp || block.lane % 16 != 0) {
    x.fault(Code::tensor_memory_lanes,
            say<Phrase::lanes_not_reached>(what, x.warp->id, block.lane, block.lane + block.lanes - 1, first,
                                           first + isa::lanes_of_a_warp - 1),
            say<Phrase::lane_in_address>());
    return false;
  }
  if (block.column + block.columns > TensorMemory::columns || x.cta->tensor.words.empty()) {
    const uint32_t last = block.column + block.columns - 1;
    x.fault(Code::tensor_memory_columns, x.cta->tensor.words.empty()
                                             ? say<Phrase::columns_without_memory>(what, block.column, last)
                                             : say<Phrase::columns_beyond_memory>(what, block.column, last));
    return false;
  }
  return true;
}

void notify_access(Exec& x, const Block& b, bool writes) {
  if (x.wants<TensorAccess>()) x.emit(TensorAccess{x.origin(), writes, b.lane, b.lanes, b.column, b.columns});
}

// One register of all threads: 32 words of tensor memory, or pairs of 16-bit columns.
template <class Visit>
void for_each_word(Exec& x, const Request& r, const Block& b, int reg, Visit&& visit) {
  for (int thread = 0; thread < 32; ++thread) {
    const isa::TensorPlace p = isa::tensor_fragment(r.shape, thread, reg, b.split);
    uint32_t* const row = x.cta->tensor.row(b.lane + static_cast<uint32_t>(p.lane)) + b.column;
    visit(thread, row + (r.halves ? 2 * p.column : p.column));
  }
}

void load_register(Exec& x, const Request& r, const Block& b, int reg, uint32_t* to) {
  for_each_word(x, r, b, reg, [&](int thread, const uint32_t* from) {
    to[thread] = r.halves ? (from[0] & 0xFFFF) | from[1] << 16 : from[0];
  });
}

void store_register(Exec& x, const Request& r, const Block& b, int reg, const uint32_t* from) {
  for_each_word(x, r, b, reg, [&](int thread, uint32_t* to) {
    if (!r.halves) {
      to[0] = from[thread];
      return;
    }
    to[0] = from[thread] & 0xFFFF;
    to[1] = from[thread] >> 16;
  });
}

// --- tcgen05.ld.red ---------------------------------------------------------------------------------------

bool is_nan(uint32_t bits) { return (bits & 0x7FFF'FFFF) > 0x7F80'0000; }

// Floats in an order of integers: -0 is below +0.
int32_t ordered(uint32_t bits) { return static_cast<int32_t>(bits >> 31 != 0 ? bits ^ 0x7FFF'FFFF : bits); }

// The smaller or larger of two values, as min and max of that type have it.
uint32_t chosen(const isa::TensorMemoryLoad& e, uint32_t a, uint32_t b) {
  constexpr uint32_t nan = 0x7FFF'FFFF;
  if (e.type == isa::Type::f32 && (is_nan(a) || is_nan(b)))
    return e.nan || (is_nan(a) && is_nan(b)) ? nan : is_nan(a) ? b : a;
  const bool less = e.type == isa::Type::f32   ? ordered(a) < ordered(b)
                    : e.type == isa::Type::s32 ? static_cast<int32_t>(a) < static_cast<int32_t>(b)
                                               : a < b;
  return less == e.maximum ? b : a;
}

// Each lane's registers to one value.
void reduce_lanes(Exec& x, const MicroOp& op, const isa::TensorMemoryLoad& e) {
  const auto& registers = op.operands[e.dst].elements;
  uint32_t* const reduced = x.lanes<uint32_t>(op.operands[e.reduced]);
  const uint32_t mask = e.absolute ? 0x7FFF'FFFF : ~0U;
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t value = x.lanes<uint32_t>(registers[0])[lane] & mask;
    for (size_t r = 1; r < registers.size(); ++r)
      value = chosen(e, value, x.lanes<uint32_t>(registers[r])[lane] & mask);
    reduced[lane] = value;
  }
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::TensorMemoryAllocation& e) {
  if (const auto step = gather_whole_warp(x)) return *step;
  if (e.action == isa::TensorMemoryAction::alloc) return allocate(x, op, e);
  if (e.action == isa::TensorMemoryAction::dealloc) return deallocate(x, op, e);
  x.cta->tensor.relinquished = true;
  if (x.wants<TensorAllocated>()) x.emit(TensorAllocated{x.origin(), false, 0, 0, e.ctas});
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::TensorMemoryLoad& e) {
  if (const auto step = gather_whole_warp(x)) return *step;
  if (e.reduces && e.shape != isa::TensorShape::l32x32b)
    return x.unsupported(say<Phrase::load_of_halves_reduces>());
  const Request request{e.shape, e.repeat, e.pack, e.address, e.split};
  Block block;
  if (!place_block(x, op, request, "tcgen05.ld", block)) return Step::fault;
  notify_access(x, block, false);
  if (!op.moves) return Step::next;
  const auto& registers = op.operands[e.dst].elements;
  for (size_t r = 0; r < registers.size(); ++r)
    load_register(x, request, block, static_cast<int>(r), x.lanes<uint32_t>(registers[r]));
  if (e.reduces) reduce_lanes(x, op, e);
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::TensorMemoryStore& e) {
  if (const auto step = gather_whole_warp(x)) return *step;
  const Request request{e.shape, e.repeat, e.unpack, e.address, e.split};
  Block block;
  if (!place_block(x, op, request, "tcgen05.st", block)) return Step::fault;
  notify_access(x, block, true);
  if (!op.moves) return Step::next;
  const auto& registers = op.operands[e.src].elements;
  for (size_t r = 0; r < registers.size(); ++r)
    store_register(x, request, block, static_cast<int>(r), x.lanes<uint32_t>(registers[r]));
  x.changed();
  return Step::next;
}

// Loads and stores are performed at once; what must not be relied on before the wait is the checkers' affair.
Step exec(Exec& x, const MicroOp&, const isa::TensorMemoryWait&) {
  if (const auto step = gather_whole_warp(x)) return *step;
  if (x.wants<Fenced>()) x.emit(Fenced{x.origin()});
  return Step::next;
}

Step exec(Exec& x, const MicroOp&, const isa::TensorMemoryFence&) {
  if (x.wants<Fenced>()) x.emit(Fenced{x.origin()});
  return Step::next;
}

}  // namespace palladion::sim
