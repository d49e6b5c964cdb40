#include "frontend/memory/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/verbs.h"
#include "frontend/memory/tma.h"

namespace palladion::plgpu {

namespace {

constexpr int64_t rows_at_once = 4;  // of a copy

void check_rows(const Array& rows) {
  if (rows.rank() != 1 || (rows.dtype() != DType::s32 && rows.dtype() != DType::u32))
    fail(Code::bad_index, fmt::format("rows of a matrix are picked by an {}", to_string(rows)),
         "an array of one dimension, of s32 or u32");
  if (rows.layout() != Layout::TMA_INDICES && rows.layout() != Layout::TMA_INDICES_4)
    fail(Code::layout_mismatch,
         fmt::format("rows of a matrix are picked by an {} of layout {}", to_string(rows),
                     to_string(rows.layout())),
         "load it with plgpu::load(ref, {.layout = plgpu::Layout::TMA_INDICES}); plgpu::load(ref, {indices}) "
         "and "
         "plgpu::store(ref, {indices}, values) gather and scatter single elements");
}

void check_chip(const Recorder& r) {
  if (r.arch().sm < 100)
    frontend::unsupported(
        fmt::format(
            "a reference indexed with an array: {} has no TMA gathers and scatters of rows, Blackwell "
            "(sm_100) has",
            r.arch().name),
        "plgpu::load(ref, {indices}) and plgpu::store(ref, {indices}, values) gather and scatter single "
        "elements");
}

void check_matrix(const Ref& matrix) {
  if (matrix.space() != MemorySpace::gmem || matrix.base().array < 0 || matrix.rank() != 2 ||
      matrix.base().shape.size() != 2 || matrix.is_transposed())
    fail(Code::bad_index, fmt::format("rows of {}: they are those of a matrix in GMEM", to_string(matrix)),
         "a kernel's argument of two dimensions, not transposed");
  if (pl::bits(matrix.dtype()) < 8)
    frontend::unsupported(
        fmt::format("rows of {}: elements of {} bits", to_string(matrix), pl::bits(matrix.dtype())));
  if (!matrix.starts()[0].is_constant() || matrix.starts()[0].as_int() != 0 ||
      matrix.shape(0) != matrix.base().shape[0])
    fail(Code::bad_index, fmt::format("rows of {}: it has not all rows of the array", to_string(matrix)),
         "slice columns only; add the first row to the row numbers");
}

// Rows of SMEM, four at a time, in tiles of columns.
struct Blocks {
  int64_t columns;     // of a tile
  int64_t tiles;       // along the columns
  int64_t tile_bytes;  // from one to the next
  int64_t row_tile, row_tile_bytes, row_bytes;
  int64_t offset(int64_t row) const { return row / row_tile * row_tile_bytes + row % row_tile * row_bytes; }
};

Blocks blocks_of(const Ref& smem, std::string_view verb) {
  const int64_t size = pl::bytes(smem.dtype());
  Blocks b{smem.shape(1), 1, 0, smem.shape(0), 0, 0};
  for (size_t d = 0; d < 2; ++d) {
    const int base = smem.dims()[d].base;
    if (base < 0) continue;
    const auto& p = smem.base().physical.dims[static_cast<size_t>(base)];
    if (d == 0) {
      b.row_bytes = p.tile == 1 ? p.outer : p.inner;
      if (p.tile != 1) b.row_tile = p.tile, b.row_tile_bytes = p.outer;
    } else if (p.tile != 1) {
      b.columns = p.tile;
      b.tiles = smem.shape(1) / p.tile;
      b.tile_bytes = p.outer;
    }
  }
  if (b.row_bytes != b.columns * size || b.row_tile % rows_at_once != 0)
    fail(
        Code::copy_limits,
        fmt::format("{} of picked rows: four rows of {} do not lie behind each other", verb, to_string(smem)),
        "TilingTransform({8, n}), or none");
  if (rows_at_once * b.row_bytes % 128 != 0)
    fail(Code::copy_limits,
         fmt::format("{} of picked rows: four rows of {} are {} bytes, they must be a multiple of 128", verb,
                     to_string(smem), rows_at_once * b.row_bytes),
         "copy more columns");
  return b;
}

// A window of one row, as wide as a tile: what the tensor map describes.
frontend::TmaBox box_of_row(const Ref& matrix, const Ref& smem, const Blocks& b, std::string_view verb) {
  const Ref row = matrix.at(pl::ds(0, 1), pl::ds(0, b.columns));
  frontend::TmaBox box = frontend::make_box(row, {}, verb);
  box.map.swizzle = smem.base().physical.mode();
  for (const std::string& rule : isa::validate(box.map, Recorder::current().arch()))
    fail(Code::copy_limits, fmt::format("{} of rows of {}: {}", verb, to_string(matrix), rule));
  return box;
}

void check_windows(const PickedRows& gmem, const Ref& smem, std::string_view verb) {
  if (smem.space() != MemorySpace::smem || smem.base().cluster_rank)
    fail(Code::bad_space,
         fmt::format("{} copies rows between GMEM and this CTA's SMEM, this is {}", verb, to_string(smem)));
  if (smem.rank() != 2 || smem.is_transposed() || smem.shape() != gmem.shape() ||
      smem.dtype() != gmem.matrix().dtype())
    fail(Code::copy_mismatch,
         fmt::format("{}: {} rows of {} and {}", verb, gmem.rows().shape(0), to_string(gmem.matrix()),
                     to_string(smem)),
         "SMEM of the same dtype, with a row for each row number");
}

// Calls emit(tensor, smem, guard) for each instruction.
template <class Emit>
void for_each_copy(Recorder& r, const PickedRows& gmem, const Ref& smem, std::string_view verb, Emit&& emit) {
  check_windows(gmem, smem, verb);
  const Blocks b = blocks_of(smem, verb);
  const frontend::TmaBox box = box_of_row(gmem.matrix(), smem, b, verb);
  const Operand map = r.params.tensor_map(gmem.matrix().base().array, box.map);
  const bool all_warps = gmem.rows().layout() == Layout::TMA_INDICES;
  const Operand guard = all_warps ? r.thread.elected_in_warp() : r.elected();
  Scalar first = frontend::aligned_address(smem, verb);
  // Of 16 rows each warp has four: they are in one tile, or two warps' in each.
  const int64_t step = all_warps ? 4 * rows_at_once : rows_at_once;
  if (all_warps) {
    const Scalar warp = Scalar::from_register(DType::s32, r.thread.warp_index(), true);
    const Scalar row = warp * rows_at_once;
    first = first + row / b.row_tile * b.row_tile_bytes + row % b.row_tile * b.row_bytes;
  }
  const std::vector<Operand> rows = gmem.rows().elements();
  const Scalar column = gmem.matrix().starts()[1];
  for (int64_t row = 0, e = 0; row < smem.shape(0); row += step, e += rows_at_once)
    for (int64_t tile = 0; tile < b.tiles; ++tile) {
      std::vector<Operand> at{(column + tile * b.columns).astype(DType::s32).as_register()};
      for (int64_t i = 0; i < rows_at_once; ++i) at.push_back(rows[static_cast<size_t>(e + i)]);
      const Scalar to = first + (b.offset(row) + tile * b.tile_bytes);
      emit(Operand::address(map, 0, std::move(at)),
           Operand::address(to.without_offset().as_register(), to.offset()), guard);
    }
}

}  // namespace

PickedRows::PickedRows(const Ref& matrix, Array rows, const std::vector<Indexer>& columns,
                       std::source_location loc)
    : rows_(std::move(rows)) {
  const VerbScope at(loc);
  rows_.check_assigned(loc);
  check_chip(Recorder::current());
  check_rows(rows_);
  check_matrix(matrix);
  std::vector<Indexer> indices{pl::all};
  indices.insert(indices.end(), columns.begin(), columns.end());
  matrix_ = matrix.index(indices, loc);
  if (matrix_.rank() != 2)
    fail(Code::bad_index, fmt::format("rows of {}: the columns are a slice", to_string(matrix)),
         "x.at(rows, pl::ds(start, size)), or x.at(rows) for all columns");
}

void copy_gmem_to_smem(const PickedRows& src, const Ref& dst, const BarrierRef& barrier,
                       std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  constexpr std::string_view verb = "copy_gmem_to_smem";
  r.needs_warpgroup("copy_gmem_to_smem of picked rows");
  int64_t mbar_offset = 0;
  const Operand mbar = barrier.address(verb, &mbar_offset);
  const int64_t bytes = pl::volume(dst.shape()) * pl::bytes(dst.dtype());
  check_windows(src, dst, verb);
  barrier.state().copy_arrival(r, mbar, mbar_offset, Operand::imm(bytes), r.elected());
  for_each_copy(r, src, dst, verb, [&](const Operand& tensor, const Operand& to, const Operand& guard) {
    r.emit("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes",
           {to, tensor, Operand::address(mbar, mbar_offset)}, guard);
  });
}

void copy_smem_to_gmem(const Ref& src, const PickedRows& dst, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  r.needs_warpgroup("copy_smem_to_gmem of picked rows");
  Operand issuer;
  for_each_copy(r, dst, src, "copy_smem_to_gmem",
                [&](const Operand& tensor, const Operand& from, const Operand& guard) {
                  issuer = guard;
                  r.emit("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group",
                         {tensor, from}, guard);
                });
  r.emit("cp.async.bulk.commit_group", {}, issuer);
}

}  // namespace palladion::plgpu
