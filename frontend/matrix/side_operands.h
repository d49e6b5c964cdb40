#pragma once
// What tcgen05.mma takes beside its matrices, from tensor memory: scales of blocks, metadata of a sparse A.
#include <string_view>
#include <vector>

#include "frontend/matrix/tcgen05.h"
#include "isa/formats/tcgen05_descriptor.h"

namespace palladion::plgpu {

// Of the whole product, of the pair if there is one.
struct OperandShape {
  isa::Tcgen05Kind kind;  // element types of the product
  int ctas;               // 1, or 2 of a pair
  int64_t m, n, k;        // sizes of the product
  bool sparse;            // A has two of four elements
};
// Block scaling of an operand of tcgen05.mma.
struct ScaledBlocks {
  int64_t elements = 0;  // of K that share a scale; 0: no scales
  int vectors = 0;       // scales for the K of one instruction
  bool e4m3 = false;     // else ue8m0
  // The instruction's words, ".block_scale.scale_vec::1X".
  std::string_view words() const;
};

// Errors name the rule.
ScaledBlocks check_scales(const OperandShape& p, const Ref& a_scale, const Ref& b_scale);
void check_metadata(const OperandShape& p, const Ref& metadata);

// Operands and descriptor fields of the instructions of one product, which count along K.
class SideOperands {
 public:
  SideOperands(const OperandShape& p, const ScaledBlocks& blocks, const Tcgen05Options& options);
  // Puts the scale factors' and metadata's places into the instruction descriptor.
  void describe(int64_t step, isa::Tcgen05Descriptor& descriptor) const;
  // The operand of the metadata of a step along k.
  void add_metadata(int64_t step, std::vector<isa::Operand>& operands) const;
  // The operands of the scale factors of a step along k.
  void add_scales(int64_t step, std::vector<isa::Operand>& operands) const;

 private:
  ScaledBlocks blocks_;
  std::optional<TensorAddress> a_scale_, b_scale_, metadata_;
  int64_t a_columns_ = 0, b_columns_ = 0;  // of four scales a row
  int64_t metadata_columns_ = 0;           // of one instruction
};

}  // namespace palladion::plgpu
