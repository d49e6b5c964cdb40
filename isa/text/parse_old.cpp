#include "isa/text/parse_old.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "isa/arch/target.h"

namespace palladion::isa::detail {
namespace {

bool has_any(const std::vector<std::string_view>& words, std::initializer_list<std::string_view> wanted) {
  return std::ranges::any_of(wanted,
                             [&](std::string_view w) { return std::ranges::find(words, w) != words.end(); });
}

// The word that PTX before 1.4 implies (PTX, "Floating Point Instructions": notes on PTX ISA 1.0 to 1.3).
std::string_view implied_before_1_4(std::string_view op, bool is_f64) {
  const bool approximate = op == "rsqrt" || op == "sin" || op == "cos" || op == "lg2" || op == "ex2";
  const bool rounded = op == "div" || op == "rcp" || op == "sqrt";
  if (approximate || (rounded && !is_f64)) return "approx";
  return rounded || op == "mad" ? "rn" : "";
}

}  // namespace

void Dialect::settle() {
  const int number = parse_target(module_.target).number;
  is_for_sm_1x_ = number >= 10 && number < 20;
  leaves_words_out_ = is_for_sm_1x_ || is_before(3, 2);
}

bool Dialect::is_before(uint32_t major, uint32_t minor) const {
  return std::tie(module_.version_major, module_.version_minor) < std::tie(major, minor);
}

// `mad.f32` rounds its product and sum once where it runs on sm_20 and later (PTX, "Floating Point
// Instructions: mad"); on sm_20 text it lacks its rounding up to PTX 3.1.
void Dialect::write_out_words(std::string_view op, std::vector<std::string_view>& words) const {
  if (!leaves_words_out_) return;
  const bool is_f32 = has_any(words, {"f32"}), is_f64 = has_any(words, {"f64"});
  if ((!is_f32 && !is_f64) || has_any(words, {"rn", "rz", "rm", "rp", "approx", "full"})) return;
  std::string_view word;
  if (op == "mad" && is_f32) word = "rn";
  if (is_before(1, 4) && word.empty()) word = implied_before_1_4(op, is_f64);
  if (!word.empty()) words.insert(words.begin(), word);
}

// Single precision flushes subnormal numbers on sm_1x. Conversions from and to 64 bits did not before
// PTX 1.5.
void Dialect::write_out_flush(Candidates::One& one) const {
  if (!is_for_sm_1x_) return;
  const int ftz = one.form->slot("ftz");
  if (ftz < 0) return;
  bool is_f32 = false, is_wide = false;
  for (size_t s = 0; s < one.form->slots.size(); ++s) {
    if (one.mods[s] < 0) continue;
    const std::string_view word = one.form->slots[s].words[static_cast<size_t>(one.mods[s])];
    is_f32 |= word == "f32";
    is_wide |= word == "f64" || word == "u64" || word == "s64";
  }
  if (is_f32 && !(is_wide && one.form->op == "cvt" && is_before(1, 5)))
    one.mods[static_cast<size_t>(ftz)] = 0;
}

void Dialect::finish() {
  if (!is_for_sm_1x_) return;
  module_.target = "sm_20";
  if (is_before(2, 0)) std::tie(module_.version_major, module_.version_minor) = std::tuple(2u, 0u);
}

}  // namespace palladion::isa::detail
