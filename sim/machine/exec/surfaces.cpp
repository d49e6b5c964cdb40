// suld, sust, sured.
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/texture_objects.h"

namespace palladion::sim {
namespace {

using isa::Geometry;
using isa::SurfaceAction;
using isa::SurfaceBounds;

// Where a lane's bytes are.
struct Place {
  enum class Kind : uint8_t { here, nowhere, fault } kind = Kind::here;
  Address address;
};

Place place_of(Exec& x, const isa::SurfaceAccess& e, const DecodedOperand& o, const Image& s, uint32_t size,
               int lane) {
  const ImageLevel& level = s.levels.front();
  const bool layered = e.geometry == Geometry::a1d || e.geometry == Geometry::a2d;
  const int planar = e.geometry == Geometry::d1 || e.geometry == Geometry::a1d ? 1
                     : e.geometry == Geometry::d3                              ? 3
                                                                               : 2;
  int64_t at[3] = {0, 0, 0};
  size_t next = 0;
  if (layered) at[2] = static_cast<int32_t>(x.lane_value(o.elements[next++], lane));
  for (int d = 0; d < planar; ++d) at[d] = static_cast<int32_t>(x.lane_value(o.elements[next++], lane));
  if (e.texels) at[0] *= s.format.bytes();
  const int64_t row = int64_t{level.width} * s.format.bytes();
  if (at[0] % size != 0) {
    x.fault(Code::surface_bounds, say<Phrase::surface_misaligned>(at[0], size));
    return {Place::Kind::fault};
  }
  const int64_t most[3] = {row - size, int64_t{level.height} - 1, int64_t{level.depth} - 1};
  for (int d = 0; d < 3; ++d) {
    if (at[d] >= 0 && at[d] <= most[d]) continue;
    if (e.bounds == SurfaceBounds::zero) return {Place::Kind::nowhere};
    if (e.bounds == SurfaceBounds::clamp) {
      at[d] = std::clamp<int64_t>(at[d], 0, std::max<int64_t>(most[d], 0));
      continue;
    }
    x.fault(Code::surface_bounds,
            say<Phrase::outside_surface>(at[0], at[1], at[2], row, level.height, level.depth));
    return {Place::Kind::fault};
  }
  return {Place::Kind::here, level.address + static_cast<uint64_t>(at[2]) * level.slice +
                                 static_cast<uint64_t>(at[1]) * level.pitch + static_cast<uint64_t>(at[0])};
}

uint32_t reduced(isa::AtomicOp op, isa::Type type, uint32_t a, uint32_t b) {
  const bool less = isa::is_signed(type) ? static_cast<int32_t>(b) < static_cast<int32_t>(a) : b < a;
  switch (op) {
    case isa::AtomicOp::add:
      return a + b;
    case isa::AtomicOp::min:
      return less ? b : a;
    case isa::AtomicOp::max:
      return less ? a : b;
    case isa::AtomicOp::and_:
      return a & b;
    default:
      return a | b;
  }
}

// Element k of a lane between memory and its register; `at`: where `address` is, null: outside.
void move_element(const Exec& x, const isa::SurfaceAccess& e, const DecodedOperand& r, Address address,
                  uint8_t* at, int lane) {
  const auto size = static_cast<size_t>(isa::bytes(e.type));
  const size_t width = r.width / 8;
  uint8_t* const reg = x.lanes<uint8_t>(r) + width * static_cast<size_t>(lane);
  if (e.action == SurfaceAction::store) {
    x.store(address, at, reg, size);
  } else if (e.action == SurfaceAction::load) {
    uint64_t value = 0;
    uint8_t copy[sizeof value];
    if (at != nullptr) std::memcpy(&value, x.cluster.stores.visible(address, at, size, copy), size);
    std::memcpy(reg, &value, width);
  } else {
    uint32_t a = 0, b = 0;
    std::memcpy(&a, at, sizeof a);
    std::memcpy(&b, reg, sizeof b);
    a = reduced(e.op, e.type, a, b);
    std::memcpy(at, &a, sizeof a);
  }
}

// Why a formatted store (sust.p) to texels of this format is not performed; none: it is.
Statement refusal_of_format(const isa::SurfaceAccess& e, const TexelFormat& f) {
  if (f.bits != 32) return say<Phrase::store_to_small_channels>(f.bits);
  if (e.elements < f.channels) return say<Phrase::store_of_some_channels>(e.elements, f.channels);
  return {};
}

bool surface_fits(Geometry instruction, const Image& s) {
  if (instruction == s.geometry) return true;
  return instruction == Geometry::a2d && (s.geometry == Geometry::cube || s.geometry == Geometry::acube);
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::SurfaceAccess& e) {
  const bool reduces = e.action == SurfaceAction::reduce;
  if (reduces && !x.at_boundary) return x.wait(Wait::Kind::quantum_boundary);
  const bool formatted = e.action == SurfaceAction::store && e.texels;  // sust.p
  const auto element = static_cast<uint32_t>(isa::bytes(e.type));
  uint32_t size = element * static_cast<uint32_t>(e.elements);
  uint64_t addresses[32]{};
  uint32_t touched = 0;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t value = x.address_of_lane(op.operands[e.texel], lane);
    const Image* s = x.launch.textures->surface(handle_of(x, value));
    if (s == nullptr) return no_such_object(x, "surface", value);
    if (!s->unsupported.empty()) return x.unsupported(say<Phrase::stated_reason>(s->unsupported));
    if (!surface_fits(e.geometry, *s))
      return x.fault(Code::no_texture_object, say<Phrase::other_dimensions>("surface"));
    if (formatted) {
      if (Statement why = refusal_of_format(e, s->format)) return x.unsupported(std::move(why));
      size = s->format.bytes();
    }
    const Place place = place_of(x, e, op.operands[e.texel], *s, size, lane);
    if (place.kind == Place::Kind::fault) return Step::fault;
    uint8_t* bytes = nullptr;
    if (place.kind == Place::Kind::here) {
      bytes = x.global(place.address, size, "access to a surface");
      if (bytes == nullptr) return Step::fault;
      addresses[lane] = place.address;
      touched |= 1U << lane;
    } else if (e.action != SurfaceAction::load) {
      continue;
    }
    // What the texel does not have is not stored.
    const int elements = formatted ? s->format.channels : e.elements;
    for (int k = 0; k < elements && op.moves; ++k)
      move_element(x, e, op.operands[e.data].element(k), place.address + static_cast<uint64_t>(k) * element,
                   bytes == nullptr ? nullptr : bytes + k * element, lane);
  }
  if (touched != 0 && x.wants<Access>()) {
    const Access::Kind kind = reduces                           ? Access::Kind::atomic
                              : e.action == SurfaceAction::load ? Access::Kind::read
                                                                : Access::Kind::write;
    x.emit(Access{x.origin(touched), kind, isa::Space::global, size, addresses, touched,
                  reduces ? isa::Order::relaxed : isa::Order::weak,
                  reduces ? isa::Scope::gpu : isa::Scope::cta});
  }
  if (e.action != SurfaceAction::load) x.changed();
  return reduces ? Step::yield : Step::next;
}

}  // namespace palladion::sim
