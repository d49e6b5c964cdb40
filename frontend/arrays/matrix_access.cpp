#include "frontend/arrays/matrix_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace palladion::frontend {

using pl::DType;
using pl::Shape;
using plgpu::Array;
using plgpu::Layout;
using plgpu::MemorySpace;
using plgpu::Ref;

namespace {

using Part = Layout::Part;

constexpr int64_t matrix_row_bytes = 16;

// The part of a layout that the bits of the thread's number from `place` on give; none when absent.
const Part* part_at(const Layout& layout, int64_t place) {
  const auto it = std::ranges::find_if(
      layout.parts(), [&](const Part& p) { return p.role == Part::Role::thread && p.place == place; });
  return it == layout.parts().end() ? nullptr : &*it;
}

// Dimensions of the array: 4 lanes share a row of 16 bytes along `run`, 8 such rows follow along `rows`.
struct FragmentDims {
  int run, rows;
};

std::optional<FragmentDims> fragment_dims(const Layout& layout, const Ref& ref) {
  const DType d = ref.dtype();
  if (!layout.is_tiled() || d == DType::bool_ || pl::bits(d) > 16) return std::nullopt;
  // Bytes of a wgmma operand are read by plain loads of 4, which a swizzle keeps free of conflicts.
  if (layout == Layout::WGMMA_8BIT) return std::nullopt;
  const int64_t pack = layout.vector_length();
  if (pack * pl::bits(d) != 32) return std::nullopt;
  const Part *run = part_at(layout, 1), *rows = part_at(layout, 4);
  const auto vector = std::ranges::find(layout.parts(), Part::Role::vector, &Part::role);
  if (run == nullptr || rows == nullptr || vector == layout.parts().end()) return std::nullopt;
  if (run->size != 4 || run->stride != pack || run->dim != vector->dim) return std::nullopt;
  if (rows->size != 8 || rows->stride != 1 || rows->dim == run->dim) return std::nullopt;
  const int first = static_cast<int>(ref.rank() - layout.tile().size());
  return FragmentDims{first + run->dim, first + rows->dim};
}

// Whether 16 bytes along view dimension `dim` lie together, and so aligned.
bool holds_rows(const Ref& ref, int dim) {
  const int b = ref.dims()[static_cast<size_t>(dim)].base;
  if (b < 0) return false;
  const auto& d = ref.base().physical.dims[static_cast<size_t>(b)];
  const int64_t size = pl::bytes(ref.dtype()), step = d.tile == 1 ? d.outer : d.inner;
  if (step != size || (d.tile != 1 && d.tile % (matrix_row_bytes / size) != 0)) return false;
  for (const auto& other : ref.dims()) {
    if (other.base < 0 || other.base == b || other.size == 1) continue;
    const auto& o = ref.base().physical.dims[static_cast<size_t>(other.base)];
    if (o.outer % matrix_row_bytes != 0 || o.inner % matrix_row_bytes != 0) return false;
  }
  return std::gcd(window_offset(ref).multiple(), matrix_row_bytes) == matrix_row_bytes;
}

// The steps between the matrices of a group, when they are the same in every group.
std::optional<std::vector<ThreadTerm>> group_terms(const Layout& layout, const Shape& shape, int64_t group) {
  const int64_t pack = layout.vector_length(), registers = layout.elements(shape) / pack;
  if (registers % group != 0) return std::nullopt;
  const auto index = [&](int64_t q) { return layout.element_index(shape, q * pack); };
  const Shape origin = index(0);
  std::vector<ThreadTerm> terms;
  for (int64_t b = 1; b < group; b *= 2) {
    const Shape step = index(b);
    int differs = -1;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (step[d] == origin[d]) continue;
      if (differs >= 0 || step[d] < origin[d]) return std::nullopt;
      differs = static_cast<int>(d);
    }
    const auto d = static_cast<size_t>(differs);
    terms.push_back({differs, 8 * b, 2, step[d] - origin[d]});
  }
  for (int64_t q = 0; q < registers; ++q) {
    Shape expected = index(q / group * group);
    for (const ThreadTerm& t : terms)
      expected[static_cast<size_t>(t.dim)] += q % group * 8 / t.place % 2 * t.stride;
    if (index(q) != expected) return std::nullopt;
  }
  return terms;
}

void walk_matrices(Recorder& r, const Ref& ref, const Layout& layout, const MatrixWay& way,
                   const std::function<void(int64_t first, const Address& at)>& visit) {
  Access access(r, ref, way.terms);
  const int64_t pack = layout.vector_length(), registers = layout.elements(ref.shape()) / pack;
  for (int64_t q = 0; q < registers; q += way.group)
    visit(q, access.at(layout.element_index(ref.shape(), q * pack)));
}

}  // namespace

std::optional<MatrixWay> matrix_load_way(const Ref& ref, const Layout& layout) {
  if (ref.space() != MemorySpace::smem || ref.base().cluster_rank || !layout.misfit(ref.shape()).empty())
    return std::nullopt;
  const auto dims = fragment_dims(layout, ref);
  if (!dims) return std::nullopt;
  MatrixWay way;
  way.transposed = !holds_rows(ref, dims->run);
  // Transposing keeps pairs of bytes together.
  if (way.transposed && (pl::bits(ref.dtype()) != 16 || !holds_rows(ref, dims->rows))) return std::nullopt;
  auto between = group_terms(layout, ref.shape(), 4);
  if (!between) {
    way.group = 2;
    between = group_terms(layout, ref.shape(), 2);
  }
  if (!between) return std::nullopt;
  way.terms = {{way.transposed ? dims->run : dims->rows, 1, 8, 1}};
  way.terms.insert(way.terms.end(), between->begin(), between->end());
  const int first = static_cast<int>(ref.rank() - layout.tile().size());
  for (const Part& p : layout.parts()) {
    if (p.role == Part::Role::thread && p.place >= plgpu::warp_size)
      way.terms.push_back({first + p.dim, p.place, p.size, p.stride});
  }
  return way;
}

std::optional<MatrixWay> matrix_store_way(const Ref& ref, const Layout& layout) {
  int64_t warps = 1;
  for (const Part& p : layout.parts())
    if (p.role == Part::Role::thread && p.place >= plgpu::warp_size) warps *= p.size;
  // Several warps with the same elements would all store them.
  if (warps != plgpu::warpgroup_size / plgpu::warp_size) return std::nullopt;
  return matrix_load_way(ref, layout);
}

void store_matrices(Recorder& r, const Ref& ref, const Array& value, const MatrixWay& way) {
  walk_matrices(r, ref, value.layout(), way, [&](int64_t first, const Address& at) {
    const auto& regs = value.registers();
    r.emit(
        fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16", way.group, way.transposed ? ".trans" : ""),
        {at.operand(), Operand::vector({regs.begin() + first, regs.begin() + first + way.group})});
  });
}

Array load_matrices(Recorder& r, const Ref& ref, const Layout& layout, const MatrixWay& way) {
  std::vector<Operand> registers;
  walk_matrices(r, ref, layout, way, [&](int64_t, const Address& at) {
    std::vector<Operand> group;
    for (int64_t i = 0; i < way.group; ++i) group.push_back(r.reg(Type::b32));
    r.emit(
        fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16", way.group, way.transposed ? ".trans" : ""),
        {Operand::vector(group), at.operand()});
    registers.insert(registers.end(), group.begin(), group.end());
  });
  return Array(ref.dtype(), ref.shape(), layout, std::move(registers));
}

}  // namespace palladion::frontend
