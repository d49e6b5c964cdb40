#pragma once
// What the handlers of textures and surfaces share: the object behind an operand, and the texels that lanes
// touch.

#include <cstring>

#include "isa/formats/sampler.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

inline bool has_layers(isa::Geometry g) {
  return g == isa::Geometry::a1d || g == isa::Geometry::a2d || g == isa::Geometry::acube;
}

// The handle in a register, or in the .texref or .surfref variable that it points to.
inline uint64_t handle_of(const Exec& x, uint64_t value) {
  if (x.launch.textures->texture(value) != nullptr || x.launch.textures->surface(value) != nullptr)
    return value;
  uint64_t stored = 0;
  uint8_t copy[sizeof stored];
  if (const uint8_t* at = x.seen(Address(value), sizeof stored, copy); at != nullptr)
    std::memcpy(&stored, at, sizeof stored);
  return stored;
}

// The sampler that a word is, or that the variable at this address holds.
std::optional<isa::Sampler> sampler_of(const Exec& x, uint64_t value);
// What a look-up with so many coordinates takes from the sampler that `value` names instead of the texture.
Step take_sampler(Exec& x, uint64_t value, int dimensions, bool filtered, Sampling& sampling);

// The texels that the lanes touch: at most `most` each, reported as one access for each of them.
class TouchedTexels {
 public:
  static constexpr int most = 16;
  void add(int lane, Address address) {
    int& n = count_[lane];
    if (n == most) return;
    addresses_[n][lane] = address;
    lanes_[n++] |= 1U << lane;
  }
  void emit(const Exec& x, Access::Kind kind, uint32_t size, isa::Order order, isa::Scope scope) const {
    for (int n = 0; n < most && lanes_[n] != 0; ++n)
      x.emit(Access{x.origin(lanes_[n]), kind, isa::Space::global, size, addresses_[n], lanes_[n], order,
                    scope});
  }

 private:
  uint64_t addresses_[most][32]{};
  uint32_t lanes_[most]{};
  int count_[32]{};
};

// In a recorded launch the use of an object that is not in the bundle is unsupported.
inline Step no_such_object(Exec& x, std::string_view kind, uint64_t value) {
  if (x.launch.recorded) return x.unsupported(say<Phrase::object_not_recorded>(kind, value));
  const std::string_view word = kind == "texture" ? "tex" : "surf";  // .texref, .surfref; tex:, surf:
  if (x.memory.find(Address(value), sizeof value) != nullptr)
    return x.fault(Code::no_texture_object, say<Phrase::no_object_nor_variable>(value, kind, word, word));
  return x.fault(Code::no_texture_object, say<Phrase::no_object>(value, kind));
}

}  // namespace palladion::sim
