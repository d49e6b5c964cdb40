// Where the elements of an array lie in a window: the addresses of each lane.
#include <algorithm>
#include <array>
#include <set>

#include "frontend/arrays/array.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

using frontend::Access;
using frontend::ThreadTerm;

namespace {

std::vector<ThreadTerm> thread_terms(const Layout& layout, const Shape& shape) {
  std::vector<ThreadTerm> terms;
  const int first = static_cast<int>(shape.size() - layout.tile().size());
  for (const auto& p : layout.parts()) {
    if (p.role == Layout::Part::Role::thread) terms.push_back({first + p.dim, p.place, p.size, p.stride});
  }
  return terms;
}

int vector_dim(const Layout& layout, const Shape& shape) {
  for (const auto& p : layout.parts()) {
    if (p.role == Layout::Part::Role::vector)
      return static_cast<int>(shape.size() - layout.tile().size()) + p.dim;
  }
  return static_cast<int>(shape.size()) - 1;
}

// A one-dimensional view of a flat window.
Ref flattened(const Ref& ref) {
  auto base = std::make_shared<Allocation>(ref.base());
  base->shape.push_back(pl::volume(ref.shape()));
  base->physical.dims.push_back({1, pl::bytes(ref.dtype()), 0});
  return ref.with_flat_dim(std::move(base));
}

using Visit = frontend::VisitElements;

void walk_tiled(Recorder& r, const Ref& ref, const Layout& layout, const Visit& visit,
                std::string_view* space) {
  Access access(r, ref, thread_terms(layout, ref.shape()));
  *space = access.space();
  const int64_t vector = layout.vector_length(), n = layout.elements(ref.shape());
  const int64_t width = vector == 1 ? 1 : access.contiguous(vector_dim(layout, ref.shape()), vector);
  for (int64_t e = 0; e < n; e += vector) {
    visit(e, [&](int64_t v) { return access.at(layout.element_index(ref.shape(), e + v)); }, width);
  }
}

void walk_strided(Recorder& r, const Ref& ref, const Layout& layout, const Visit& visit,
                  std::string_view* space) {
  const int64_t vector = layout.vector_length(), n = layout.elements(ref.shape());
  if (frontend::is_contiguous(ref)) {
    const Ref flat = flattened(ref);
    Access access(r, flat, {{0, 1, 128, vector}});
    *space = access.space();
    const int64_t width = access.contiguous(0, vector);
    for (int64_t e = 0; e < n; e += vector) {
      const int64_t first = e / vector * 128 * vector;
      const bool whole = layout.lanes_at(e) == warpgroup_size;
      const Scalar own = whole ? Scalar(0) : frontend::lane_that_holds(r, layout, e) * vector;
      visit(
          e,
          [&](int64_t v) { return whole ? access.at({first + v}) : access.at_dynamic({own + (first + v)}); },
          width);
    }
    return;
  }
  Access access(r, ref, {});
  *space = access.space();
  const bool rows = ref.shape().back() % vector == 0;
  const int64_t width = rows ? access.contiguous(static_cast<int>(ref.rank()) - 1, vector) : 1;
  for (int64_t e = 0; e < n; e += vector) {
    const Scalar first = frontend::lane_that_holds(r, layout, e) * vector + e / vector * 128 * vector;
    visit(
        e,
        [&](int64_t v) {
          Scalar flat = first + v;
          std::vector<Scalar> index(ref.rank());
          for (size_t d = ref.rank(); d-- > 0;) {
            index[d] = d == 0 ? flat : flat % ref.shape(d);
            flat = flat / ref.shape(d);
          }
          return access.at_dynamic(index);
        },
        width);
  }
}

}  // namespace

}  // namespace palladion::plgpu

namespace palladion::frontend {

void walk_elements(Recorder& r, const plgpu::Ref& ref, const plgpu::Layout& layout,
                   const VisitElements& visit, std::string_view* space) {
  if (layout.is_tiled())
    plgpu::walk_tiled(r, ref, layout, visit, space);
  else
    plgpu::walk_strided(r, ref, layout, visit, space);
}

// Bits of the thread's number that no part follows: those lanes hold copies.
Operand one_of_the_copies(Recorder& r, const plgpu::Layout& layout, int64_t e) {
  if (!layout.is_tiled()) {
    const int64_t lanes = layout.lanes_at(e);
    return lanes == plgpu::warpgroup_size ? Operand{} : (lane_scalar(r) < lanes).operand();
  }
  int64_t free = 127;
  for (const auto& p : layout.parts())
    if (p.role == plgpu::Layout::Part::Role::thread) free &= ~((p.size - 1) * p.place);
  if (free == 0) return {};
  return ((lane_scalar(r) & free) == 0).operand();
}

pl::Scalar lane_that_holds(Recorder& r, const plgpu::Layout& layout, int64_t e) {
  const int64_t lanes = layout.lanes_at(e);
  if (lanes == plgpu::warpgroup_size) return lane_scalar(r);
  if (lanes == 1) return pl::Scalar(0);
  const Operand last = r.pure("min.s32", {lane_scalar(r).operand(), Operand::imm(lanes - 1)}, Type::b32);
  return pl::Scalar::from_register(pl::DType::s32, last, true);
}

int64_t bank_conflicts(const plgpu::Ref& ref, const plgpu::Layout& layout) {
  const auto& base = ref.base().physical;
  const int64_t width = std::min<int64_t>(16, layout.vector_length() * pl::bytes(ref.dtype()));
  const int64_t together = width <= 4 ? 32 : width == 8 ? 16 : 8;
  int64_t worst = 1;
  for (int64_t first = 0; first < 32; first += together) {
    std::array<std::set<int64_t>, 32> words;
    for (int64_t lane = first; lane < first + together; ++lane) {
      const pl::Shape index = layout.index(ref.shape(), lane, 0);
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        const int b = ref.dims()[d].base;
        if (b >= 0) at += base.dims[static_cast<size_t>(b)].offset(index[d]);
      }
      at = isa::swizzle(static_cast<uint32_t>(at), base.mode());
      for (int64_t w = at / 4; w <= (at + width - 1) / 4; ++w) words[static_cast<size_t>(w % 32)].insert(w);
    }
    for (const auto& bank : words) worst = std::max(worst, static_cast<int64_t>(bank.size()));
  }
  return worst;
}

}  // namespace palladion::frontend
