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

// The second half of copy_digits: those of a window of SMEM, which is contiguous.
std::vector<CopyDigit> window_digits(const plgpu::Ref& smem, std::string_view verb);
// TMA's type for the elements, bytes for those of 8 bits. An Error where it carries none such.
isa::TensorDataType tensor_data_type(const plgpu::Ref& gmem, std::string_view verb);
// The window's shared address; an Error where it is no multiple of 128.
pl::Scalar aligned_address(const plgpu::Ref& smem, std::string_view verb);

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
// The tensor map, a parameter of the kernel, with the coordinates.
isa::Operand tensor_operand(Recorder& r, const plgpu::Ref& gmem, const TmaBox& box);
// The same box without a place in shared memory (prefetch).
TmaBox make_box(const plgpu::Ref& gmem, const Partition& partition, std::string_view verb);

}  // namespace palladion::frontend
