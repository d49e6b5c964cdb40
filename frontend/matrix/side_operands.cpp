#include "frontend/matrix/side_operands.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

namespace {

using isa::Tcgen05Kind;

constexpr int64_t scales_in_a_column = 4, metadata_in_a_column = 16;

void check_place(const Ref& ref, const char* which, TMEMLayout layout, int ctas) {
  if (ref.space() != MemorySpace::tmem || ref.base().tensor.layout != layout)
    fail(Code::layout_mismatch,
         fmt::format("tcgen05_mma: {} must be in TMEM in {}, it is {}", which, name(layout), to_string(ref)),
         fmt::format("allocate it with TMEM(shape, dtype, {{.layout = plgpu::TMEMLayout::{}}})",
                     name(layout)));
  if (ref.base().tensor.collective != (ctas == 2))
    fail(Code::bad_collective,
         fmt::format("tcgen05_mma: {} {} is {}collective, the product is {}", which, to_string(ref),
                     ref.base().tensor.collective ? "" : "not ",
                     ctas == 2 ? "of a pair of CTAs" : "of one CTA"),
         "TMEM(..., {.collective = true}) goes with .collective_axis");
}

// Elements of K that share a scale, as the shape of A's scales says.
int64_t block_of(const OperandShape& p, const Ref& a_scale) {
  const int64_t count = a_scale.shape(1), block = p.k % count == 0 ? p.k / count : 0;
  const int64_t base = p.sparse ? block / 2 : block;
  const bool e4m3 = a_scale.dtype() == DType::e4m3, narrow = p.kind == Tcgen05Kind::mxf4nvf4;
  if (e4m3 && !narrow)
    fail(Code::mma_dtype, "tcgen05_mma: scales of e4m3 and e5m2 operands are ue8m0, not e4m3",
         "e4m3 scales are those of e2m1 operands");
  if (block > 0 && ((base == 32 && !e4m3) || (base == 16 && narrow))) return block;
  fail(Code::mma_shape,
       fmt::format("tcgen05_mma: {} scales for k = {}: a block of K has {} elements", count, p.k,
                   narrow     ? e4m3 ? "16" : "16 or 32"
                   : p.sparse ? "64"
                              : "32"),
       "a_scale is (128, k / block)");
}

void check_scale_shape(const Ref& scale, const char* which, int64_t rows, bool exactly, int64_t count) {
  if (scale.shape(1) == count && (exactly ? scale.shape(0) == rows : scale.shape(0) >= rows)) return;
  fail(Code::mma_shape,
       fmt::format("tcgen05_mma: {} is {}, it must be [{}, {}]", which, pl::to_string(scale.shape()),
                   exactly ? rows : pl::align_to(rows, 128), count),
       exactly ? "the rows of A in this CTA, and a column for each block of K"
               : "all columns of B, those of both CTAs of a pair, and a column for each block of K");
}

}  // namespace

std::string_view ScaledBlocks::words() const {
  switch (vectors) {
    case 1:
      return ".block_scale.scale_vec::1X";
    case 2:
      return ".block_scale.scale_vec::2X";
    case 4:
      return ".block_scale.scale_vec::4X";
    default:
      return "";
  }
}

ScaledBlocks check_scales(const OperandShape& p, const Ref& a_scale, const Ref& b_scale) {
  check_place(a_scale, "a_scale", TMEMLayout::SCALES_LAYOUT, p.ctas);
  check_place(b_scale, "b_scale", TMEMLayout::SCALES_LAYOUT, p.ctas);
  if (a_scale.dtype() != b_scale.dtype())
    fail(Code::mma_dtype, fmt::format("tcgen05_mma: scales of A are {}, those of B {}",
                                      pl::name(a_scale.dtype()), pl::name(b_scale.dtype())));
  if (p.m != 128 * p.ctas)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma: {} rows in a CTA: products with scales have 128", p.m / p.ctas));
  constexpr int64_t widest = 256;
  if (p.n > widest)
    fail(Code::mma_shape, fmt::format("tcgen05_mma: n is {}: with scales it is at most 256", p.n),
         "multiply by half of B's columns at a time");
  ScaledBlocks out;
  out.elements = block_of(p, a_scale);
  out.e4m3 = a_scale.dtype() == DType::e4m3;
  out.vectors = static_cast<int>(isa::tcgen05_k(p.kind, p.sparse) / out.elements);
  const int64_t count = p.k / out.elements;
  check_scale_shape(a_scale, "a_scale", 128, true, count);
  check_scale_shape(b_scale, "b_scale", p.n, false, count);
  return out;
}

void check_metadata(const OperandShape& p, const Ref& metadata) {
  if (p.kind == Tcgen05Kind::tf32 || p.kind == Tcgen05Kind::mxf4nvf4)
    frontend::unsupported(
        fmt::format("tcgen05_mma of sparse {} operands", p.kind == Tcgen05Kind::tf32 ? "f32" : "e2m1"),
        "sparse operands are f16, bf16, e4m3, e5m2, s8 or u8");
  check_place(metadata, "a_sparse_metadata", TMEMLayout::SPARSE_METADATA_LAYOUT, p.ctas);
  if (p.m != 128 * p.ctas)
    frontend::unsupported(fmt::format("tcgen05_mma of a sparse operand with {} rows in a CTA", p.m / p.ctas),
                          "work on 128 rows");
  const int64_t step = p.kind == Tcgen05Kind::i8 && p.ctas == 2 ? 64 : 16 * p.ctas;
  constexpr int64_t widest = 256;
  if (p.n > widest || p.n % step != 0)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma of a sparse operand: n is {}, it must be a multiple of {} up to 256", p.n,
                     step));
  if (metadata.shape(0) != 128 || metadata.shape(1) != p.k / 2)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma: a_sparse_metadata is {}, it must be [128, {}]",
                     pl::to_string(metadata.shape()), p.k / 2),
         "two indices for each four elements of K");
}

SideOperands::SideOperands(const OperandShape& p, const ScaledBlocks& blocks, const Tcgen05Options& options)
    : blocks_(blocks), metadata_columns_(isa::tcgen05_k(p.kind, p.sparse) / 2 / metadata_in_a_column) {
  constexpr std::string_view verb = "tcgen05_mma";
  const auto columns = [](const Ref& scale) {
    return scale.base().tensor.group(scale.dtype(), scale.base().shape[0]).columns;
  };
  if (options.a_sparse_metadata) metadata_ = tensor_address(*options.a_sparse_metadata, verb);
  if (!options.a_scale) return;
  a_scale_ = tensor_address(*options.a_scale, verb);
  b_scale_ = tensor_address(*options.b_scale, verb);
  a_columns_ = columns(*options.a_scale);
  b_columns_ = columns(*options.b_scale);
}

// An instruction names a pair of metadata columns; one that needs a single one says which.
void SideOperands::describe(int64_t step, isa::Tcgen05Descriptor& descriptor) const {
  if (metadata_) descriptor.sparsity_selector = static_cast<int>(step * metadata_columns_ % 2);
  if (!a_scale_) return;
  descriptor.scale_ue4m3 = blocks_.e4m3;
  descriptor.scale_a_id = descriptor.scale_b_id =
      static_cast<int>(step * blocks_.vectors % scales_in_a_column);
}

void SideOperands::add_metadata(int64_t step, std::vector<Operand>& operands) const {
  if (metadata_) operands.push_back(metadata_->at(step * metadata_columns_ / 2 * 2));
}

void SideOperands::add_scales(int64_t step, std::vector<Operand>& operands) const {
  if (!a_scale_) return;
  const int64_t column = step * blocks_.vectors / scales_in_a_column;
  operands.push_back(a_scale_->at(column * a_columns_));
  operands.push_back(b_scale_->at(column * b_columns_));
}

}  // namespace palladion::plgpu
