#pragma once
// A sampler of the independent texturing mode (PTX, "Texture Sampler and Surface Types"): its fields in one
// word, which a variable or a parameter of type .samplerref holds. PTX hides how the hardware packs them.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace palladion::isa {

struct Sampler {
  // Indices into `address_words` and `filter_words`; none: not set.
  std::array<std::optional<uint32_t>, 3> address;
  std::optional<uint32_t> filter;
  bool force_unnormalized = false;  // coordinates count texels, whatever the texture says

  static constexpr std::array<std::string_view, 5> address_words = {"wrap", "mirror", "clamp_ogl",
                                                                    "clamp_to_edge", "clamp_to_border"};
  static constexpr std::array<std::string_view, 2> filter_words = {"nearest", "linear"};

  // Sets a field by its name and word; false: a sampler has no such field, or it does not take this word.
  bool set(std::string_view field, std::string_view word);
  // `{ filter_mode = linear }`
  std::string text() const;
  uint64_t packed() const;                                // never 0, nor an address
  static std::optional<Sampler> unpacked(uint64_t word);  // none: the word is no sampler

  friend bool operator==(const Sampler&, const Sampler&) = default;
};

}  // namespace palladion::isa
