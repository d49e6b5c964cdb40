#include "frontend/matrix/tensor_copies.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"
#include "frontend/matrix/operands.h"
#include "frontend/memory/tensor_memory.h"

namespace palladion::plgpu {

namespace {

int check_places(const Recorder& r, const Ref& smem, const Ref& tmem, const TensorCopyOptions& options,
                 std::string_view verb) {
  check_tcgen05(r, verb);
  if (smem.space() != MemorySpace::smem || tmem.space() != MemorySpace::tmem || smem.base().cluster_rank)
    fail(Code::bad_space,
         fmt::format("{} copies from SMEM to TMEM; these are {} and {}", verb, to_string(smem),
                     to_string(tmem)),
         "fetch the array with copy_gmem_to_smem first");
  if (smem.dtype() != tmem.dtype())
    fail(Code::copy_mismatch,
         fmt::format("{}: the dtypes differ: {} and {}", verb, to_string(smem), to_string(tmem)),
         "allocate both with the same dtype");
  const int ctas = ctas_of(options.collective_axis, verb);
  if (tmem.base().tensor.collective != (ctas == 2))
    fail(Code::bad_collective,
         fmt::format("{}: {} is {}collective, the copy is {}", verb, to_string(tmem),
                     tmem.base().tensor.collective ? "" : "not ",
                     ctas == 2 ? "by a pair of CTAs" : "by one CTA"),
         "TMEM(..., {.collective = true}) goes with .collective_axis");
  return ctas;
}

void check_layout(const Ref& tmem, TMEMLayout wanted, std::string_view verb) {
  if (tmem.base().tensor.layout == wanted) return;
  fail(Code::layout_mismatch, fmt::format("{}: {} is not in {}", verb, to_string(tmem), name(wanted)),
       fmt::format("allocate it with {{.layout = plgpu::TMEMLayout::{}}}", name(wanted)));
}

// A window of tiles, each contiguous: rows of 16 bytes, eight of which make a core matrix. mn and k count
// tiles.
MatrixOperand contiguous_tiles(Recorder& r, const Ref& smem, const Shape& wanted, std::string_view verb) {
  if (smem.shape() != wanted)
    fail(Code::copy_mismatch,
         fmt::format("{}: {} must have shape {}", verb, to_string(smem), pl::to_string(wanted)),
         "the shape follows from that of the TMEM window");
  const Ref bytes = smem.as_bytes();
  const auto& physical = bytes.base().physical;
  const auto dim = [&](size_t i) -> const PhysicalLayout::Dim& {
    return physical.dims[static_cast<size_t>(bytes.dims()[i].base)];
  };
  bool contiguous = physical.swizzle == 16 && !physical.tiled() && !bytes.is_transposed();
  for (const Ref::Dim& d : bytes.dims()) contiguous &= d.base >= 0;
  if (!contiguous || dim(3).outer != 1 || dim(2).outer != 16 || bytes.shape(3) != 16)
    fail(Code::copy_limits, fmt::format("{}: {} is not contiguous in shared memory", verb, to_string(smem)),
         "allocate it without transforms, and index its leading dimensions only");
  MatrixOperand o;
  o.mn = dim(0);
  o.k = dim(1);
  o.stride = 128;
  o.start16 = start_in_16_bytes(r, bytes);
  return o;
}

void emit_copy(Recorder& r, const std::string& shape, int ctas, const Operand& to, const Operand& from) {
  r.emit(fmt::format("tcgen05.cp.cta_group::{}.{}", ctas, shape), {to, from}, r.elected());
}

}  // namespace

void async_copy_scales_to_tmem(const Ref& smem, const Ref& tmem, const TensorCopyOptions& options,
                               std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  constexpr std::string_view verb = "async_copy_scales_to_tmem";
  const int ctas = check_places(r, smem, tmem, options, verb);
  check_layout(tmem, TMEMLayout::SCALES_LAYOUT, verb);
  const TensorAddress to = tensor_address(tmem, verb);
  const int64_t row_tiles = tmem.shape(0) / 128, k_tiles = tmem.shape(1) / 4;
  const MatrixOperand from = contiguous_tiles(r, smem, {row_tiles, k_tiles, 32, 16}, verb);
  const uint64_t fixed = isa::encode_tcgen05(from.format());
  for (int64_t k = 0; k < k_tiles; ++k)
    for (int64_t t = 0; t < row_tiles; ++t)
      emit_copy(r, "32x128b.warpx4", ctas, to.at(4 * (k * row_tiles + t)),
                matrix_descriptor(r, from, fixed, t, k));
}

void async_copy_sparse_metadata_to_tmem(const Ref& smem, const Ref& tmem, const TensorCopyOptions& options,
                                        std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  constexpr std::string_view verb = "async_copy_sparse_metadata_to_tmem";
  const int ctas = check_places(r, smem, tmem, options, verb);
  check_layout(tmem, TMEMLayout::SPARSE_METADATA_LAYOUT, verb);
  if (tmem.shape(1) % 64 != 0)
    fail(Code::unaligned_slice,
         fmt::format("{} to {}: 64 metadata of a row are copied together", verb, to_string(tmem)));
  const TensorAddress to = tensor_address(tmem, verb);
  const int64_t k_tiles = tmem.shape(1) / 64;
  const MatrixOperand from = contiguous_tiles(r, smem, {1, k_tiles, 128, 64}, verb);
  const uint64_t fixed = isa::encode_tcgen05(from.format());
  for (int64_t k = 0; k < k_tiles; ++k)
    emit_copy(r, "128x128b", ctas, to.at(4 * k), matrix_descriptor(r, from, fixed, 0, k));
}

void async_copy_smem_to_tmem(const Ref& smem, const Ref& tmem, const TensorCopyOptions& options,
                             std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  constexpr std::string_view verb = "async_copy_smem_to_tmem";
  const int ctas = check_places(r, smem, tmem, options, verb);
  const int64_t bits = pl::bits(tmem.dtype());
  if (tmem.base().tensor.layout || tmem.shape(0) != 128 || (bits < 32 && !tmem.base().tensor.packed))
    fail(Code::layout_mismatch,
         fmt::format("{} to {}: it must have 128 rows, and packed elements", verb, to_string(tmem)),
         "TMEM({128, n}, dtype, {.packed = true})");
  if (smem.shape() != tmem.shape())
    fail(Code::copy_mismatch,
         fmt::format("{}: the shapes differ: {} and {}", verb, to_string(smem), to_string(tmem)));
  const MatrixOperand from = matrix_operand(r, smem, 0, 1, verb, 'a');
  if (from.mn_major)
    fail(Code::mma_transform, fmt::format("{}: the rows of {} are not those of SMEM", verb, to_string(smem)),
         "copy a matrix that is not transposed");
  const uint64_t fixed = isa::encode_tcgen05(from.format());
  const TensorAddress to = tensor_address(tmem, verb);
  const int64_t step = 32 * 8 / bits;
  if (tmem.shape(1) % step != 0)
    fail(Code::mma_shape,
         fmt::format("{} of {}: the columns must be a multiple of {}", verb, to_string(tmem), step));
  for (int64_t k = 0; k < tmem.shape(1); k += step)
    emit_copy(r, "128x256b", ctas, to.at(k * bits / 32), matrix_descriptor(r, from, fixed, 0, k));
}

}  // namespace palladion::plgpu
