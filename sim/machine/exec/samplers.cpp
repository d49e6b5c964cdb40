// Samplers of the independent texturing mode.
#include "isa/formats/sampler.h"
#include "sim/launch/phrases/phrase.h"

#include "sim/machine/exec/texture_objects.h"

namespace palladion::sim {
namespace {

// By index into Sampler::address_words; clamp_ogl is not modelled.
constexpr AddressMode address_modes[] = {AddressMode::wrap, AddressMode::mirror, AddressMode::border,
                                         AddressMode::clamp, AddressMode::border};
constexpr uint32_t clamp_ogl = 2;

Statement refusal(const isa::Sampler& s, int dimensions, bool filtered) {
  for (size_t d = 0; d < static_cast<size_t>(dimensions); ++d) {
    if (!s.address[d]) return say<Phrase::no_address_mode>(d);
    if (*s.address[d] == clamp_ogl) return say<Phrase::clamp_ogl>();
  }
  return filtered && !s.filter ? say<Phrase::no_filter_mode>() : Statement();
}

}  // namespace

std::optional<isa::Sampler> sampler_of(const Exec& x, uint64_t value) {
  if (const auto sampler = isa::Sampler::unpacked(value)) return sampler;
  uint64_t stored = 0;
  uint8_t copy[sizeof stored];
  if (const uint8_t* at = x.seen(Address(value), sizeof stored, copy); at != nullptr)
    std::memcpy(&stored, at, sizeof stored);
  return isa::Sampler::unpacked(stored);
}

Step take_sampler(Exec& x, uint64_t value, int dimensions, bool filtered, Sampling& sampling) {
  const auto sampler = sampler_of(x, value);
  if (!sampler) return x.fault(Code::no_texture_object, say<Phrase::no_sampler>(value));
  if (Statement why = refusal(*sampler, dimensions, filtered)) return x.unsupported(std::move(why));
  for (size_t d = 0; d < 3; ++d) sampling.address[d] = address_modes[sampler->address[d].value_or(0)];
  sampling.linear = sampler->filter == 1;
  sampling.normalized = sampling.normalized && !sampler->force_unnormalized;
  return Step::next;
}

}  // namespace palladion::sim
