#pragma once
// What an effect touches, stated once for each effect. Checkers, the clock, the lowering to SASS, mutation
// and traces use it for generic queries; only code for one particular instruction names that instruction's
// effect. The unit of the SM is stated by the op's definition (OpDef::timing), because it depends on the
// words.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "isa/core/effects.h"

namespace palladion::isa {

// A set of an instruction's operands, by index; -1 (absent) adds none.
class OperandSet {
 public:
  constexpr OperandSet() = default;
  constexpr OperandSet(std::initializer_list<int> operands) {
    for (const int k : operands)
      if (k >= 0) bits_ |= 1U << k;
  }
  constexpr bool has(int operand) const { return operand >= 0 && (bits_ >> operand & 1) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  uint32_t bits_ = 0;
};

// Where the results come from, in registers or in memory.
enum class Values : uint8_t {
  none,       // no results, or results that no operand's value becomes a part of
  lane_wise,  // made of the operands, lane by lane, in registers alone
  combined,   // made of the operands of several lanes, or of operands and the memory that is modified
  loaded,     // the contents of memory
  stored,     // the operands' values, stored to memory
  tensor,     // elements of matrices and tiles
};

// The kind of data in the memory that is used.
// `texels`: the bytes are those that a texture or surface object chooses.
enum class Content : uint8_t { data, tensor_map, texels };

struct MemoryUse {
  Space space = Space::generic;
  Proxy proxy = Proxy::generic;
  Content content = Content::data;
  bool reads = false, writes = false;
  int address = -1;      // operand: an address, a tensor with coordinates, or a matrix descriptor
  uint32_t bytes = 0;    // a lane; of a whole copy where one lane issues it; 0: `size` or a descriptor says
  int size = -1;         // operand that holds the number of bytes
  uint32_t lanes = ~0U;  // whose addresses count
  bool modifies() const { return reads && writes; }
};

class MemoryUses {
 public:
  constexpr MemoryUses() = default;
  constexpr MemoryUses(std::initializer_list<MemoryUse> uses) {
    for (const MemoryUse& use : uses) uses_[size_++] = use;
  }
  const MemoryUse* begin() const { return uses_.data(); }
  const MemoryUse* end() const { return uses_.data() + size_; }
  bool empty() const { return size_ == 0; }
  const MemoryUse& front() const { return uses_[0]; }

 private:
  std::array<MemoryUse, 6> uses_{};
  uint8_t size_ = 0;
};

enum class Control : uint8_t { next, branches, calls, returns, exits, traps };

// The threads that execute it together.
enum class Participants : uint8_t { lanes, warp, warpgroup, cta, cluster };

// Its role at a synchronisation object.
struct Sync {
  enum class Object : uint8_t {
    none,
    fence,  // orders what its own thread does
    warp,
    cta_barrier,
    cluster_barrier,
    mbarrier,
    registers,      // the CTA's pool of registers
    tensor_memory,  // the SM's columns of tensor memory
    grid,           // the grid that this one depends on
  };
  Object object = Object::none;
  bool arrives = false, waits = false;
  bool initialises = false;
  bool expects_bytes = false, completes_bytes = false;  // of an mbarrier's transaction count
  Space space = Space::generic;                         // of an mbarrier's address
  int operand = -1;                                     // that names the object
};

enum class AsyncFamily : uint8_t {
  none,
  cp_async,
  bulk,
  tensor,
  remote_store,      // st.async, red.async
  deferred_arrival,  // cp.async.mbarrier.arrive
  wgmma,
  tcgen05,         // mma, cp
  tcgen05_commit,  // the arrival when those before it have completed
  cluster_launch,  // clusterlaunchcontrol.try_cancel
};
// Groups that operations are committed to and waited for in.
enum class AsyncGroup : uint8_t { none, cp_async, bulk, wgmma };

// Its role for asynchronous operations.
struct Async {
  enum class Role : uint8_t { none, issues, orders, commits, waits };
  Role role = Role::none;
  AsyncFamily family = AsyncFamily::none;
  AsyncGroup group = AsyncGroup::none;  // that it joins, closes or waits for
  int mbarrier = -1;                    // operand: the mbarrier at which the operation completes
  bool reads_only = false;              // waits until the sources have been read
  int groups_left = 0;                  // that a wait lets be pending
};

struct Footprint {
  Values values = Values::none;
  MemoryUses memory;   // but for mbarriers and the objects of barriers
  OperandSet control;  // values that decide what happens: sizes, masks, counts, phases, ids, descriptors
  int members = -1;    // operand: the lanes that take part
  Participants participants = Participants::lanes;
  Control next = Control::next;
  Order order = Order::weak;  // of its accesses, its arrival or wait
  Scope scope = Scope::cta;
  Sync sync;
  Async async;
  bool reads_carry = false, writes_carry = false;
  bool hint = false;      // to the caches: no effect on values
  uint32_t products = 0;  // multiplications of a matrix instruction, by all participants

  bool reads(Space space) const;
  bool writes(Space space) const;
  bool uses(Proxy proxy) const;
  bool writes_memory() const;
  const MemoryUse* read() const;     // the first use that reads; nullptr: none
  const MemoryUse* written() const;  // the first use that writes
  // It uses only its own registers, parameters and constants: no other thread can observe when it is
  // executed.
  bool registers_only() const;
  bool issues() const { return async.role == Async::Role::issues; }
  bool issues(AsyncFamily family) const { return issues() && async.family == family; }
  bool commits_group() const { return async.role == Async::Role::commits; }
  bool waits_for_group() const { return async.role == Async::Role::waits; }
  bool at(Sync::Object object) const { return sync.object == object; }
  // It, or the operation that it issues, arrives at an mbarrier or completes transactions.
  bool signals_mbarrier() const {
    return async.mbarrier >= 0 || (at(Sync::Object::mbarrier) && (sync.arrives || sync.completes_bytes));
  }
  bool waits_for_mbarrier() const { return at(Sync::Object::mbarrier) && sync.waits; }
  // Leaves the function or the kernel.
  bool ends() const { return next == Control::returns || next == Control::exits; }
  bool acquires() const;
  bool releases() const;
};

// Each effect has one, stated beside its decoder in isa/ops: an effect without one does not compile.
Footprint footprint(const Effect& effect);

}  // namespace palladion::isa
