#pragma once
// What the tcgen05 operations share: their instructions and descriptors, and the checks of their operands.
#include <algorithm>

#include "sim/machine/async/tcgen05_operands.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/pairs.h"

namespace palladion::sim {

inline constexpr uint32_t max_pair = 2;  // CTAs of an operation

// What the instruction of a product states, and the words of its descriptor.
struct StatedProduct {
  StatedProduct(const isa::Tcgen05Mma& instruction, uint32_t idesc)
      : mma(instruction),
        d(isa::decode_tcgen05_descriptor(idesc, mma.kind)),
        path(isa::data_path(d.m, mma.ctas, mma.weight_stationary, mma.sparse)) {}
  StatedProduct(const ClusterRun& run, const AsyncOp& op, uint32_t idesc)
      : StatedProduct(effect<isa::Tcgen05Mma>(run.program.code[op.pc]), idesc) {}

  int rows() const { return isa::rows_of_cta(d.m, mma.ctas); }
  uint32_t ctas() const { return static_cast<uint32_t>(mma.ctas); }
  int element_bytes() const { return std::max(1, isa::tcgen05_element_bits(mma.kind) / 8); }
  // Of K in a row of A as it is stored, and of B: a sparse A has half of its elements.
  size_t a_bytes() const { return 32; }
  size_t b_bytes() const { return mma.sparse ? 64 : 32; }
  int k() const { return 256 / isa::tcgen05_element_bits(mma.kind) * (mma.sparse ? 2 : 1); }
  // Columns that D takes in a lane.
  int d_columns() const { return d.n / isa::column_parts(path); }

  const isa::Tcgen05Mma& mma;
  isa::Tcgen05Descriptor d;
  isa::DataPath path;
};

SharedMatrix shared_a(const TensorProduct& p, const StatedProduct& s);
// Each CTA of a pair has half of B's columns.
SharedMatrix shared_b(const TensorProduct& p, const StatedProduct& s);
MetadataOperand metadata_of(const TensorProduct& p, const StatedProduct& s);
ScaleOperand scales_of_a(const TensorProduct& p, const StatedProduct& s);
ScaleOperand scales_of_b(const TensorProduct& p, const StatedProduct& s);

// --- at issue: each is false after a fault ---
// One thread issues it.
bool check_one_thread(Exec& x, const char* what);
bool has_tensor_memory(Exec& x, uint32_t leader, int ctas, const char* what);
// An operand's columns exist, and it begins at lane 0, or where it leaves half of each quarter free at 16.
bool check_place(Exec& x, const char* what, const char* operand, uint32_t address, int columns,
                 bool may_begin_at_16 = false);
bool check_matrix(Exec& x, const char* what, const char* operand, uint64_t descriptor);

// The address in tensor memory that an operand names; 0 when it is absent.
uint32_t tensor_operand(const Exec& x, const MicroOp& op, int index);

// LayoutTag of a shared-memory descriptor.
uint8_t layout_of(uint64_t descriptor);

}  // namespace palladion::sim
