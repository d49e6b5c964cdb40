#include "frontend/arrays/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "frontend/arrays/lanes.h"
#include "frontend/refs/access.h"

namespace palladion::frontend {

using pl::Scalar;
using pl::Shape;
using plgpu::Array;
using plgpu::Layout;

namespace {

bool power_of_two(int64_t n) { return n > 0 && std::has_single_bit(static_cast<uint64_t>(n)); }
int log2_of(int64_t n) { return std::countr_zero(static_cast<uint64_t>(n)); }

[[noreturn]] void no_lines(const Array& x, size_t axis, std::string_view verb, std::string_view why) {
  fail(Code::layout_mismatch,
       fmt::format("{} of an {} along dimension {}: {}", verb, plgpu::to_string(x), axis, why),
       "load it with a tiled layout, e.g. Layout::WGMMA, or one row as an array of one dimension");
}

// Lines of a map from the other dimensions to places.
using ByOthers = std::map<Shape, std::map<int64_t, int64_t>>;

Lines assemble(LineBits bits, const ByOthers& found) {
  Lines out{std::move(bits), {}, false};
  for (const auto& [others, elements] : found) {
    Line line;
    for (int64_t place = 0; place < int64_t{1} << out.bits.bits(); ++place) {
      bool of_registers = true;
      for (int b = 0; b < out.bits.bits(); ++b)
        of_registers &= (place >> b & 1) == 0 || !out.bits.of_thread(b);
      if (!of_registers) continue;
      const auto at = elements.find(place);
      line.places.push_back(place);
      line.elements.push_back(at == elements.end() ? -1 : at->second);
    }
    out.lines.push_back(std::move(line));
  }
  return out;
}

Lines lines_of_tiles(const Array& x, size_t axis, std::string_view verb) {
  const Layout& layout = x.layout();
  const size_t first = x.rank() - layout.tile().size();
  LineBits bits{x.shape(axis), {}};
  bits.thread_mask.resize(static_cast<size_t>(log2_of(pl::next_power_of_2(x.shape(axis)))));
  for (const auto& p : layout.parts()) {
    if (p.role != Layout::Part::Role::thread || first + static_cast<size_t>(p.dim) != axis) continue;
    if (!power_of_two(p.size) || !power_of_two(p.stride) || !power_of_two(p.place))
      no_lines(x, axis, verb, "its lanes do not hold powers of two of it");
    for (int b = 0; b < log2_of(p.size); ++b)
      bits.thread_mask[static_cast<size_t>(log2_of(p.stride) + b)] = p.place << b;
  }
  ByOthers found;
  for (int64_t e = 0; e < layout.elements(x.shape()); ++e) {
    Shape index = layout.element_index(x.shape(), e);
    const int64_t place = std::exchange(index[axis], 0);
    found[index][place] = e;
  }
  return assemble(std::move(bits), found);
}

Lines lines_of_vectors(const Array& x, size_t axis, std::string_view verb) {
  const int64_t vector = x.layout().vector_length(), all = pl::volume(x.shape());
  const bool one = x.rank() == 1;
  if (axis + 1 != x.rank()) no_lines(x, axis, verb, "of this layout only the last dimension is possible");
  if (!power_of_two(vector)) no_lines(x, axis, verb, "its vectors are no power of two");
  if (!one && !power_of_two(x.shape(axis)))
    no_lines(x, axis, verb, "in this layout its size must be a power of two");
  const int64_t lanes = plgpu::warpgroup_size * vector;
  const int64_t whole = one ? pl::next_power_of_2(std::max(all, lanes)) : x.shape(axis);
  LineBits bits{x.shape(axis), {}};
  for (int b = 0; b < log2_of(whole); ++b) {
    const int64_t flat = int64_t{1} << b;
    bits.thread_mask.push_back(flat >= vector && flat < lanes ? flat / vector : 0);
  }
  ByOthers found;
  for (int64_t e = 0; e < x.layout().elements(x.shape()); ++e) {
    const int64_t flat = e / vector * lanes + e % vector;  // of lane 0
    found[{flat / whole}][flat % whole] = e;
  }
  Lines out = assemble(std::move(bits), found);
  out.padded |= all % lanes != 0;
  return out;
}

}  // namespace

bool Lines::complete() const {
  return !padded && std::ranges::all_of(lines, [](const Line& l) {
    return std::ranges::find(l.elements, -1) == l.elements.end();
  });
}

Lines lines_of(const Array& x, int axis, std::string_view verb) {
  const int a = axis < 0 ? axis + static_cast<int>(x.rank()) : axis;
  if (a < 0 || static_cast<size_t>(a) >= x.rank())
    fail(Code::bad_axis,
         fmt::format("{} of an {}: there is no dimension {}", verb, plgpu::to_string(x), axis),
         "dimensions count from 0; -1 is the last");
  const auto at = static_cast<size_t>(a);
  return x.layout().is_tiled() ? lines_of_tiles(x, at, verb) : lines_of_vectors(x, at, verb);
}

Operand thread_bit(Recorder& r, const LineBits& bits, int bit) {
  const int64_t mask = bits.thread_mask[static_cast<size_t>(bit)];
  return ((lane_scalar(r) & mask) != 0).operand();
}

Scalar place_of(Recorder& r, const LineBits& bits, int64_t registers_part) {
  const Scalar lane = lane_scalar(r);
  Scalar place(0);
  for (int b = 0; b < bits.bits(); ++b) {
    if (!bits.of_thread(b)) continue;
    // Neighbouring bits of both are moved together.
    const int64_t mask = bits.thread_mask[static_cast<size_t>(b)];
    int more = 1;
    while (b + more < bits.bits() && bits.thread_mask[static_cast<size_t>(b + more)] == mask << more) ++more;
    place = place + ((lane >> log2_of(mask)) & ((int64_t{1} << more) - 1)) * (int64_t{1} << b);
    b += more - 1;
  }
  return place + registers_part;
}

namespace {

// Through the scratch: each lane puts its values down and takes those of another one.
std::vector<Operand> through_scratch(Recorder& r, pl::DType d, const std::vector<Operand>& values,
                                     int64_t mask) {
  const int64_t size = scratch_bytes(d), row = plgpu::warpgroup_size * size;
  const int64_t room = r.options().reduction_scratch_bytes / row;
  if (room < 1)
    fail(Code::no_scratch,
         fmt::format("an exchange across warps needs {} bytes of scratch, reduction_scratch_bytes is {}", row,
                     r.options().reduction_scratch_bytes),
         "raise compiler_params.reduction_scratch_bytes");
  int64_t offset = 0;
  const Scalar base = Scalar::from_register(pl::DType::s32, scratch_address(r, &offset), true);
  const Scalar lane = lane_scalar(r);
  const Operand mine = (base + lane * size).as_register(),
                theirs = (base + (lane ^ mask) * size).as_register();
  std::vector<Operand> out;
  for (size_t begin = 0; begin < values.size(); begin += static_cast<size_t>(room)) {
    const size_t end = std::min(values.size(), begin + static_cast<size_t>(room));
    r.warpgroup_barrier();
    for (size_t i = begin; i < end; ++i)
      emit_store(r, "shared::cta", {in_scratch_register(r, d, values[i])}, scratch_type(d),
                 {mine, offset + static_cast<int64_t>(i - begin) * row});
    r.warpgroup_barrier();
    for (size_t i = begin; i < end; ++i) {
      const Operand reg = r.reg(scratch_register(d));
      emit_load(r, "shared::cta", {reg}, scratch_type(d),
                {theirs, offset + static_cast<int64_t>(i - begin) * row});
      out.push_back(from_scratch_register(r, d, reg));
    }
  }
  return out;
}

}  // namespace

std::vector<Operand> from_partner(Recorder& r, pl::DType d, const std::vector<Operand>& values,
                                  int64_t mask) {
  if (mask >= plgpu::warp_size) return through_scratch(r, d, values, mask);
  std::vector<Operand> out;
  for (const Operand& v : values) out.push_back(shuffle(r, d, v, mask));
  return out;
}

Operand element_at(Recorder& r, const Array& x, const Lines& lines, const Line& line, size_t i,
                   const std::vector<Operand>& elements, const Operand& instead) {
  if (line.elements[i] < 0) return instead;
  const Operand& own = elements[static_cast<size_t>(line.elements[i])];
  if (!lines.padded) return own;
  const Scalar inside = place_of(r, lines.bits, line.places[i]) < lines.bits.size;
  return element_select(r, x.dtype(), inside.operand(), own, instead);
}

Array with_copies(Recorder& r, const Array& x) {
  const int64_t n = x.layout().elements(x.shape()), vector = x.layout().vector_length();
  const int64_t lanes = x.layout().lanes_at(n - 1);
  if (lanes == plgpu::warpgroup_size) return x;
  // The last lane that holds a vector of its own puts it down.
  std::vector<Operand> elements = x.elements();
  int64_t offset = 0;
  const Operand base = scratch_address(r, &offset);
  const Operand last = (lane_scalar(r) == lanes - 1).operand(), behind = (lane_scalar(r) >= lanes).operand();
  const int64_t size = scratch_bytes(x.dtype());
  const std::string type = scratch_type(x.dtype());
  r.warpgroup_barrier();
  for (int64_t v = 0; v < vector; ++v)
    emit_store(r, "shared::cta",
               {in_scratch_register(r, x.dtype(), elements[static_cast<size_t>(n - vector + v)])}, type,
               {base, offset + v * size}, last);
  r.warpgroup_barrier();
  for (int64_t v = 0; v < vector; ++v) {
    Operand& e = elements[static_cast<size_t>(n - vector + v)];
    const Operand reg = r.reg(scratch_register(x.dtype()));
    emit_load(r, "shared::cta", {reg}, type, {base, offset + v * size});
    e = element_select(r, x.dtype(), behind, from_scratch_register(r, x.dtype(), reg), e);
  }
  return Array::from_elements(x.dtype(), x.shape(), x.layout(), elements);
}

}  // namespace palladion::frontend
