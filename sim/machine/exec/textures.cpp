// tex, tld4.
#include <cmath>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/texture_objects.h"
#include "sim/numerics/texture.h"

namespace palladion::sim {
namespace {

namespace nt = numerics::texture;
using isa::Geometry;

bool is_cube(Geometry g) { return g == Geometry::cube || g == Geometry::acube; }
// Of the coordinates that are filtered.
int dimensions(Geometry g) {
  if (g == Geometry::d1 || g == Geometry::a1d) return 1;
  return g == Geometry::d3 ? 3 : 2;
}

struct Value {
  uint32_t bits[4]{};
};

// One lane's look-up.
class Lookup {
 public:
  Lookup(Exec& x, const isa::TextureLoad& e, const Texture& t, int lane, TouchedTexels* touched)
      : x_(x), e_(e), t_(t), lane_(lane), touched_(touched) {}

  // False after a fault.
  bool run(const MicroOp& op, Value& out) {
    read_coordinates(op.operands[e_.texel]);
    if (e_.offset >= 0)
      for (int d = 0; d < dimensions(e_.geometry); ++d)
        offset_[d] = static_cast<int32_t>(x_.lane_value(op.operands[e_.offset].element(d), lane_));
    const auto last = static_cast<double>(t_.image.levels.size() - 1);
    double level = 0;
    if (e_.lod >= 0) {
      const auto bits = static_cast<uint32_t>(x_.lane_value(op.operands[e_.lod], lane_));
      level = e_.integer_coordinates ? static_cast<int32_t>(bits) : std::bit_cast<float>(bits);
    }
    const Sampling& s = t_.sampling;
    if (!e_.integer_coordinates && last > 0)
      level = std::clamp<double>(level + s.level_bias, s.least_level, std::max(s.least_level, s.most_level));
    level = std::isnan(level) ? 0 : std::clamp(level, 0.0, last);
    if (s.linear_levels && last > 0) {
      const auto fixed = static_cast<uint32_t>(level * nt::whole_weight);
      const uint32_t lower = fixed / nt::whole_weight, part = fixed % nt::whole_weight;
      gather(lower, part, false);
      if (part != 0) gather(lower + 1, part, true);
    } else {
      gather(static_cast<uint32_t>(std::floor(level + (last > 0 ? 0.5 : 0))), 0, false);
    }
    return finish(out);
  }

 private:
  struct Term {
    Address address;      // 0: the border
    uint32_t weight = 0;  // of 256
  };

  void read_coordinates(const DecodedOperand& o) {
    size_t first = 0;
    if (has_layers(e_.geometry)) layer_ = static_cast<int32_t>(x_.lane_value(o.elements[first++], lane_));
    const auto n = static_cast<size_t>(is_cube(e_.geometry) ? 3 : dimensions(e_.geometry));
    for (size_t d = 0; d < n; ++d) {
      const auto bits = static_cast<uint32_t>(x_.lane_value(o.elements[first + d], lane_));
      if (e_.integer_coordinates)
        at_[d] = static_cast<int32_t>(bits);
      else
        at_[d] = std::bit_cast<float>(bits);
    }
  }

  nt::Outside outside(int d) const {
    const AddressMode mode = t_.sampling.address[static_cast<size_t>(d)];
    const bool scaled = t_.sampling.normalized && !e_.integer_coordinates;
    if (t_.image.linear_memory) return nt::Outside::border;
    // Wrapping and mirroring are for normalised coordinates.
    if (!scaled && (mode == AddressMode::wrap || mode == AddressMode::mirror)) return nt::Outside::clamp;
    return static_cast<nt::Outside>(mode);
  }

  // In texels. What repeats is cut to a period of two images first, so that large numbers keep their
  // fraction.
  double texels(double u, uint32_t size, int d) const {
    if (!t_.sampling.normalized || e_.integer_coordinates || is_cube(e_.geometry)) return u;
    const nt::Outside mode = outside(d);
    if (mode == nt::Outside::wrap || mode == nt::Outside::mirror)
      u = std::isfinite(u) ? u - 2 * std::floor(u / 2) : 0;
    return nt::cut(u) * size;
  }

  // The texels of one level that take part, with their weights.
  // `part` of 256 belongs to the next smaller level; `next`: this is that level.
  void gather(uint32_t n, uint32_t part, bool next_level) {
    const ImageLevel& level = t_.image.levels[n];
    const uint32_t sizes[3] = {level.width, level.height, level.depth};
    double at[3] = {at_[0], at_[1], at_[2]};
    uint32_t slice = 0;
    if (is_cube(e_.geometry)) {
      const nt::CubePosition c = nt::cube_position(static_cast<float>(at_[0]), static_cast<float>(at_[1]),
                                                   static_cast<float>(at_[2]));
      at[0] = c.s * level.width;
      at[1] = c.t * level.height;
      slice = c.face;
    }
    if (has_layers(e_.geometry)) {
      const uint32_t per = is_cube(e_.geometry) ? 6 : 1;
      // As an unsigned number: -1 is the last layer.
      slice += std::min(static_cast<uint32_t>(layer_), level.depth / per - 1) * per;
    }
    const int dims = dimensions(e_.geometry);
    const bool linear = (t_.sampling.linear && !e_.integer_coordinates) || e_.component >= 0;
    nt::Position p[3];
    for (int d = 0; d < dims; ++d) {
      const double u = texels(at[d], sizes[d], d);
      p[d] = linear ? nt::linear_position(u) : nt::Position{nt::nearest(u), 0};
      p[d].index += offset_[d];
      const bool same = p[d].index + 1 <= 0 || p[d].index >= int64_t{sizes[d]} - 1;
      if (same && outside(d) == nt::Outside::clamp) p[d].weight = 0;  // both are the texel at the edge
    }
    const uint32_t total = next_level ? part : nt::whole_weight - part;
    int axes = dims;
    if (linear && dims == 1 && outside(1) == nt::Outside::border) {
      p[1] = {-1,
              nt::whole_weight / 2};  // the unit has two axes: half of the result is the border (measured)
      axes = 2;
    }
    const auto weights = linear ? nt::corner_weights(total, {p[0].weight, p[1].weight, p[2].weight}, axes)
                                : std::array<uint32_t, 8>{total};
    for (int corner = 0; corner < (linear ? 1 << axes : 1); ++corner) {
      const uint32_t weight = weights[static_cast<size_t>(corner)];
      std::optional<uint32_t> texel[3] = {0U, 0U, 0U};
      for (int d = 0; d < axes; ++d) {
        const bool next = (corner >> d & 1) != 0;
        texel[d] = nt::inside(p[d].index + (next ? 1 : 0), d < dims ? sizes[d] : 1, outside(d));
      }
      if (weight == 0 && e_.component < 0) continue;
      Term& term = terms_[count_++];
      term.weight = weight;
      if (!texel[0] || !texel[1] || !texel[2]) continue;
      const uint64_t z = dims == 3 ? *texel[2] : slice;
      term.address = level.address + z * level.slice + *texel[1] * level.pitch +
                     uint64_t{*texel[0]} * t_.image.format.bytes();
      if (touched_ != nullptr) touched_->add(lane_, term.address);
    }
  }

  // Channel c of a texel: as the register gets it, or of normalised integers as the filter takes it.
  uint32_t channel(const uint8_t* texel, int c) const {
    const TexelFormat& f = t_.image.format;
    if (c >= f.channels) return 0;
    uint32_t raw = 0;
    std::memcpy(&raw, texel + c * f.bits / 8, static_cast<size_t>(f.bits / 8));
    return value_of(raw);
  }

  uint32_t value_of(uint32_t raw) const {
    const TexelFormat& f = t_.image.format;
    const bool is_signed = f.kind == TexelKind::signed_int;
    if (f.kind == TexelKind::floating)
      return f.bits == 32 ? raw : std::bit_cast<uint32_t>(half(static_cast<uint16_t>(raw)));
    if (t_.sampling.as_float) {
      if (precision() == nt::Precision::f32)  // of 8 bits, the nearest texel: not widened
        return std::bit_cast<uint32_t>(std::max(static_cast<float>(static_cast<int8_t>(raw) / 127.0), -1.0F));
      return static_cast<uint32_t>(nt::widened(raw, f.bits, is_signed));
    }
    return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(raw << (32 - f.bits)) >> (32 - f.bits))
                     : raw;
  }

  static float half(uint16_t h) {
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const float sign = (h & 0x8000) != 0 ? -1.0F : 1.0F;
    if (exponent == 31) return fraction != 0 ? std::nanf("") : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }

  uint32_t border(int c) const {
    if (t_.image.linear_memory || c >= t_.image.format.channels) return 0;
    const float colour = t_.sampling.border[static_cast<size_t>(c)];
    const TexelFormat& f = t_.image.format;
    if (f.kind == TexelKind::floating) return std::bit_cast<uint32_t>(colour);
    const bool is_signed = f.kind == TexelKind::signed_int;
    auto bits = std::bit_cast<uint32_t>(colour);  // of integers the low bits of the colour (measured)
    if (t_.sampling.as_float) {
      const auto most = static_cast<double>((1U << (f.bits - (is_signed ? 1 : 0))) - 1);
      bits = static_cast<uint32_t>(
          static_cast<int32_t>(std::floor(std::clamp<double>(colour, is_signed ? -1 : 0, 1) * most + 0.5)));
    }
    return value_of(bits & (~0U >> (32 - f.bits)));
  }

  bool fetch(const Term& term, Value& v) {
    const uint8_t* texel = nullptr;
    uint8_t copy[16];
    if (term.address != 0) {
      texel =
          x_.read(isa::Space::global, term.address, t_.image.format.bytes(), lane_, "read of a texel", copy);
      if (texel == nullptr) return false;
    }
    for (int c = 0; c < 4; ++c) v.bits[c] = texel == nullptr ? border(c) : channel(texel, c);
    return true;
  }

  bool filters() const { return t_.sampling.linear && !e_.integer_coordinates; }
  bool integers_as_float() const {
    return t_.image.format.kind != TexelKind::floating && t_.sampling.as_float;
  }

  nt::Precision precision() const {
    const TexelFormat& f = t_.image.format;
    if (f.kind == TexelKind::floating) return f.bits == 16 ? nt::Precision::f16 : nt::Precision::f32;
    if (f.kind == TexelKind::signed_int && f.bits == 8 && !filters()) return nt::Precision::f32;
    return f.kind == TexelKind::signed_int ? nt::Precision::snorm16 : nt::Precision::unorm16;
  }

  // A channel as the filter takes it.
  double number(uint32_t bits) const {
    const bool integer = precision() == nt::Precision::unorm16 || precision() == nt::Precision::snorm16;
    return integer ? static_cast<int32_t>(bits) : static_cast<double>(std::bit_cast<float>(bits));
  }

  bool finish(Value& out) {
    Value values[TouchedTexels::most];
    for (int k = 0; k < count_; ++k)
      if (!fetch(terms_[k], values[k])) return false;
    const auto mix = [&](int c, int first, int count, bool alone) {
      const bool present = c < t_.image.format.channels;
      if (alone && !(integers_as_float() && present)) return values[first].bits[c];
      if (!present) return values[first].bits[c];
      nt::Weighted sum[TouchedTexels::most];
      for (int k = 0; k < count; ++k)
        sum[k] = {number(values[first + k].bits[c]), alone ? nt::whole_weight : terms_[first + k].weight};
      return std::bit_cast<uint32_t>(nt::filtered({sum, static_cast<size_t>(count)}, precision()));
    };
    if (e_.component >= 0) {
      static constexpr int order[] = {2, 3, 1, 0};  // counter-clockwise from the lower left
      for (int k = 0; k < 4; ++k) out.bits[k] = mix(e_.component, order[k], 1, true);
      return true;
    }
    for (int c = 0; c < 4; ++c) out.bits[c] = mix(c, 0, count_, count_ == 1);
    return true;
  }

  Exec& x_;
  const isa::TextureLoad& e_;
  const Texture& t_;
  int lane_;
  TouchedTexels* touched_;
  double at_[3]{};
  int32_t layer_ = 0;
  int64_t offset_[3]{};
  Term terms_[TouchedTexels::most];
  int count_ = 0;
};

// What the machine does not do with this object; none: nothing.
Statement refusal(const isa::TextureLoad& e, const Texture& t) {
  if (std::string problem = problem_of(t); !problem.empty())
    return say<Phrase::stated_reason>(std::move(problem));
  if (t.sampling.srgb) return say<Phrase::srgb_texture>();
  const bool linear = t.sampling.linear && !e.integer_coordinates;
  if (linear && t.image.format.kind == TexelKind::signed_int && t.image.format.bits == 8)
    return say<Phrase::filter_signed_bytes>();
  if (linear && t.sampling.linear_levels && t.image.geometry == Geometry::d3 && t.image.levels.size() > 1)
    return say<Phrase::filter_levels_of_3d>();
  if (e.ddx >= 0 && t.image.levels.size() > 1) return say<Phrase::levels_by_gradients>();
  if (e.ddx >= 0 && t.sampling.anisotropy > 1) return say<Phrase::anisotropic_filter>();
  if (e.type == isa::Type::f32 && t.image.format.kind != TexelKind::floating && !t.sampling.as_float)
    return say<Phrase::integers_as_f32>();
  return {};
}

bool texture_fits(Geometry instruction, const Image& image) {
  if (instruction == image.geometry) return true;
  return instruction == Geometry::a2d && is_cube(image.geometry);  // its faces are layers
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::TextureLoad& e) {
  TouchedTexels touched;
  uint32_t texel_bytes = 4;
  Texture sampled;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint64_t value = x.address_of_lane(op.operands[e.texel], lane);
    const Texture* t = x.launch.textures->texture(handle_of(x, value));
    if (t == nullptr) return no_such_object(x, "texture", value);
    if (e.sampled) {
      sampled = *t;
      const uint64_t sampler = x.lane_value(op.operands[e.texel].elements.back(), lane);
      const int planar = is_cube(e.geometry) ? 0 : dimensions(e.geometry);
      const bool filtered = !e.integer_coordinates && e.component < 0;
      const Step step = take_sampler(x, sampler, planar, filtered, sampled.sampling);
      if (step != Step::next) return step;
      t = &sampled;
    }
    if (!t->image.unsupported.empty()) return x.unsupported(say<Phrase::stated_reason>(t->image.unsupported));
    if (!texture_fits(e.geometry, t->image))
      return x.fault(Code::no_texture_object, say<Phrase::other_dimensions>("texture"));
    if (Statement why = refusal(e, *t)) return x.unsupported(std::move(why));
    texel_bytes = t->image.format.bytes();
    Value result;
    if (!Lookup(x, e, *t, lane, x.wants<Access>() ? &touched : nullptr).run(op, result)) return Step::fault;
    if (!op.moves) continue;
    for (int c = 0; c < 4; ++c) x.lanes<uint32_t>(op.operands[e.dst].element(c))[lane] = result.bits[c];
  }
  if (e.resident >= 0) x.predicate(op.operands[e.resident]) |= x.active;
  if (x.wants<Access>()) touched.emit(x, Access::Kind::read, texel_bytes, isa::Order::weak, isa::Scope::cta);
  return Step::next;
}

}  // namespace palladion::sim
