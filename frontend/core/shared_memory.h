#pragma once
// The dynamic shared memory of a kernel: arrays, whose bytes are used again when their scope ends, and behind
// them slots that the whole kernel keeps.
#include <functional>
#include <vector>

#include "frontend/core/emitter.h"

namespace palladion::frontend {

class SharedMemory {
 public:
  explicit SharedMemory(Emitter& emitter) : emitter_(emitter) {}

  Operand base();  // b32 register: shared address of byte 0
  // Offset from base(), in bytes. Released at the end of the scope that allocates.
  int64_t allocate(int64_t bytes, int64_t align);
  int64_t mark() const { return top_; }
  void release(int64_t mark) { top_ = mark; }
  // What findings call the bytes at an offset from base().
  void name(isa::BufferName buffer);

  bool used() const { return symbol_ != isa::no_id; }
  int64_t end() const;  // offset of the slots: behind all arrays

 private:
  Emitter& emitter_;
  isa::SymbolId symbol_ = isa::no_id;
  int64_t top_ = 0, high_ = 0;
};

// Slots of 8 bytes behind the arrays, never released: mbarriers, which are initialised at the kernel's entry,
// the address of tensor memory, the scratch of reductions. Where they begin is known when the kernel is
// complete.
class KernelSlots {
 public:
  KernelSlots(Emitter& emitter, SharedMemory& smem) : emitter_(emitter), smem_(smem) {}

  Operand base();                   // b32 register: shared address of slot 0
  int64_t allocate(int64_t count);  // offset from base(), in bytes
  void name(isa::BufferName buffer);
  // Offset of the scratch of thread 0; one a thread follows, of `bytes` each.
  int64_t reduction_scratch(int64_t bytes, int64_t threads);

  struct BarrierInit {
    int64_t offset;    // of the first mbarrier
    int64_t count;     // how many
    int64_t arrivals;  // expected by each
  };
  void initialise(std::function<BarrierInit()> init);  // evaluated when the kernel is complete
  bool has_barriers() const { return !inits_.empty(); }

  void record_inits(const Operand& tid);
  void settle();  // behind the arrays, which are all known now
  int64_t bytes() const { return 8 * count_; }

 private:
  Emitter& emitter_;
  SharedMemory& smem_;
  int64_t count_ = 0;
  int64_t reduction_scratch_ = -1;
  Operand base_;
  size_t base_at_ = 0;  // the instruction of the prologue that computes it
  std::vector<isa::BufferName> names_;
  std::vector<std::function<BarrierInit()>> inits_;
};

}  // namespace palladion::frontend
