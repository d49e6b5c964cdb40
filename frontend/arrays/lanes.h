#pragma once
// Elements on their way from lane to lane: shuffles within a warp, the scratch in shared memory across warps.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/core/recorder.h"

namespace palladion::frontend {

// An element as what shuffles and the scratch move: 32 bits for bool and everything shorter.
Operand to_word(Recorder& r, pl::DType d, const Operand& e);
Operand from_word(Recorder& r, pl::DType d, const Operand& w);

// The element of the lane of the warp whose number differs in the bits of `mask`.
Operand shuffle(Recorder& r, pl::DType d, const Operand& e, int64_t mask);

// The type of an element in the scratch, and how many bytes it takes there.
std::string scratch_type(pl::DType d);
int64_t scratch_bytes(pl::DType d);
// The register that is stored there and loaded from there, and an element as one.
Type scratch_register(pl::DType d);
Operand in_scratch_register(Recorder& r, pl::DType d, const Operand& e);
Operand from_scratch_register(Recorder& r, pl::DType d, const Operand& e);

// The scratch of this Pallas thread, of CompilerParams::reduction_scratch_bytes: a register, and an offset.
Operand scratch_address(Recorder& r, int64_t* offset);

// Of every element of a lane, its index along one dimension of the array.
std::vector<pl::Scalar> index_scalars(Recorder& r, const pl::Shape& shape, const plgpu::Layout& layout,
                                      size_t dimension);

// All elements of an array, in row-major order, in the scratch of its Pallas thread, until the next use of
// the scratch. `what` needs it, in messages. An Error where they do not fit.
class InScratch {
 public:
  InScratch(Recorder& r, const plgpu::Array& x, std::string_view what);
  // The first `most` alone.
  InScratch(Recorder& r, const plgpu::Array& x, std::string_view what, int64_t most);
  // The element with this number, which may differ from lane to lane.
  Operand load(const pl::Scalar& number);

 private:
  Recorder& r_;
  pl::DType dtype_;
  pl::Scalar base_;
  int64_t offset_ = 0;
  std::map<std::pair<uint32_t, int64_t>, Operand> loaded_;  // by register and offset of the number
};

}  // namespace palladion::frontend
