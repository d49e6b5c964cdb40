#pragma once
// The tensor memory of a kernel: all its columns are one tcgen05.alloc at its entry, freed at its end.
#include "frontend/core/shared_memory.h"

namespace palladion::frontend {

class TensorColumns {
 public:
  // `unit`: the fewest columns that tcgen05.alloc takes.
  TensorColumns(Emitter& emitter, KernelSlots& slots, int64_t unit)
      : emitter_(emitter), slots_(slots), unit_(unit) {}

  Operand base();  // b32 register: the address of the first column
  // Columns from base() on. `ctas`: 2 when pairs of CTAs work on them. Released at the end of the scope that
  // allocates.
  int64_t allocate(int64_t columns, int ctas);
  int64_t mark() const { return top_; }
  void release(int64_t mark) { top_ = mark; }
  int64_t columns() const;            // what tcgen05.alloc takes: a power of two, at least its unit
  int ctas() const { return ctas_; }  // .cta_group of the kernel; 0: it has no tensor memory

  void record_allocation(const Operand& tid);  // before the threads of the CTA meet: its first warp allocates
  void record_address();                       // behind that
  void record_waits();                         // no load or store may be under way when the columns are freed
  void record_release(const Operand& tid);     // behind the last use by any warp

 private:
  Operand first_warp(const Operand& tid);

  Emitter& emitter_;
  KernelSlots& slots_;
  int64_t unit_;
  int64_t top_ = 0, high_ = 0;
  int64_t slot_ = 0;  // where the address is stored
  int ctas_ = 0;
  Operand base_;
};

}  // namespace palladion::frontend
