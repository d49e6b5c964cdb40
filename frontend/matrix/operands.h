#pragma once
// Matrices in SMEM as operands of wgmma and tcgen05.mma: tiles of 8 rows and a swizzle, named by descriptors.
#include <string>
#include <string_view>

#include "frontend/core/recorder.h"
#include "frontend/refs/ref.h"
#include "isa/formats/matrix_descriptor.h"

namespace palladion::plgpu {

// Where its descriptor points and how it moves.
struct MatrixOperand {
  Scalar start16;                             // address / 16 of the window
  uint32_t leading = 0, stride = 0;           // bytes between core matrices, of the descriptor
  bool mn_major = false;                      // M or N runs along the rows
  PhysicalLayout::Dim mn, k;                  // how the operand's two dimensions lie in SMEM
  isa::Swizzle swizzle = isa::Swizzle::none;  // of its rows

  // The descriptor without its address.
  isa::MatrixDescriptor format() const { return {.leading = leading, .stride = stride, .swizzle = swizzle}; }
};

// Address / 16 of a window's first byte, as descriptors hold it.
Scalar start_in_16_bytes(frontend::Recorder& r, const Ref& ref);

// An Error on a chip without tcgen05.
void check_tcgen05(const frontend::Recorder& r, std::string_view verb);
// 2 where `axis` names a pair of CTAs, 1 where it is empty.
int ctas_of(const std::string& axis, std::string_view verb);

// `mn` and `k` are the view's dimensions; `which` is what messages call the operand. Of elements that share a
// byte, k counts bytes.
MatrixOperand matrix_operand(frontend::Recorder& r, const Ref& ref, int mn, int k, std::string_view verb,
                             char which);

// The 64-bit descriptor of the part that starts `mn` rows and `k` elements into the window; `fixed`: its bits
// without the address.
isa::Operand matrix_descriptor(frontend::Recorder& r, const MatrixOperand& o, uint64_t fixed, int64_t mn,
                               int64_t k);

}  // namespace palladion::plgpu
