#pragma once
// What a copy between windows of GMEM and SMEM becomes: a tensor map and coordinates, or a run of bytes.
#include <optional>
#include <vector>

#include "frontend/refs/access.h"
#include "frontend/refs/ref.h"
#include "isa/formats/tensor_map.h"

namespace palladion::frontend {

struct TmaBox {
  isa::TensorMap map;
  std::vector<pl::Scalar> coordinates;  // innermost first
  int64_t bytes = 0;                    // of the box
};

// One digit of the SMEM window's byte order: `size` steps of `gmem_stride` elements of GMEM dimension
// `dim`. Outermost first.
struct CopyDigit {
  int dim;                  // view dimension
  int64_t size, gmem_step;  // steps of so many indices along `dim`
  int64_t smem_stride;      // bytes
};

// Checks that the windows match and that TMA can do it; errors name the rule. Elements that share a byte
// count as bytes.
std::vector<CopyDigit> copy_digits(const plgpu::Ref& gmem, const plgpu::Ref& smem, std::string_view verb);

// The box of the whole window, or of part `part` of `parts` along its outermost divisible digit.
struct Partition {
  int64_t parts = 1;
  pl::Scalar part;
};
struct Transfer {
  TmaBox box;
  pl::Scalar smem_address;  // shared address of the part
};
Transfer make_transfer(Recorder& r, const plgpu::Ref& gmem, const plgpu::Ref& smem,
                       const Partition& partition, std::string_view verb);
// The same box without a place in shared memory (prefetch).
TmaBox make_box(const plgpu::Ref& gmem, const Partition& partition, std::string_view verb);

}  // namespace palladion::frontend
