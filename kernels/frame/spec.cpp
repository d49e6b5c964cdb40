#include "kernels/frame/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "isa/core/whole_error.h"
#include "verify/arrays/codes.h"
#include "verify/arrays/words.h"

namespace palladion::kernels {
namespace {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : fmt::format("did you mean `{}`?", near);
}

class Chooser {
 public:
  Chooser(const KernelSpec& spec, const isa::ArchSpec& arch) : spec_(spec) {
    choice_.arch = &arch;
    for (const SizeParam& p : spec.sizes) choice_.sizes[p.name] = p.fallback;
    for (const Setting& s : spec.settings)
      choice_.settings[s.name] = s.per_sm != 0 ? std::to_string(s.per_sm * arch.sm_count) : s.fallback;
  }

  void size(const std::string& name, const std::string& text) {
    std::vector<std::string> known;
    for (const SizeParam& p : spec_.sizes) known.push_back(p.name);
    if (!choice_.sizes.contains(name)) return unknown("size", name, known);
    const auto value = number_in<int64_t>(text);
    if (!value || *value <= 0)
      return wrong(fmt::format("size `{}` must be a positive integer, not `{}`", name, text));
    if (in_range("size", name, std::ranges::find(spec_.sizes, name, &SizeParam::name)->range, *value))
      choice_.sizes[name] = *value;
  }

  void setting(const std::string& name, const std::string& text) {
    std::vector<std::string> known;
    for (const Setting& s : spec_.settings) known.push_back(s.name);
    const auto at = std::ranges::find(spec_.settings, name, &Setting::name);
    if (at == spec_.settings.end()) return unknown("setting", name, known);
    if (const auto flag = boolean_in(text); flag && at->allowed == std::vector<std::string>{"0", "1"}) {
      choice_.settings[name] = *flag ? "1" : "0";
      return;
    }
    if (at->real) return real(*at, text);
    const auto value = number_in<int64_t>(text);
    if (at->allowed.empty() && !value)
      return wrong(fmt::format("setting `{}` must be an integer, not `{}`", name, text));
    if (at->allowed.empty() && !in_range("setting", name, at->range, *value)) return;
    if (!at->allowed.empty() && std::ranges::find(at->allowed, text) == at->allowed.end())
      return wrong(
          fmt::format("setting `{}` cannot be `{}`; it can be {}", name, text, fmt::join(at->allowed, ", ")));
    choice_.settings[name] = text;
  }

  Choice finish() {
    if (!problems_.empty()) throw isa::WholeError(std::move(problems_));
    return std::move(choice_);
  }

 private:
  void real(const Setting& setting, const std::string& text) {
    const auto value = number_in<double>(text);
    if (!value || !std::isfinite(*value))
      return wrong(fmt::format("setting `{}` must be a number, not `{}`", setting.name, text));
    if (!setting.real->contains(*value))
      return wrong(fmt::format("setting `{}` cannot be {}; it can be {}", setting.name, text,
                               describe(*setting.real)));
    choice_.settings[setting.name] = text;
  }
  bool in_range(std::string_view what, const std::string& name, const Range& range, int64_t value) {
    if (range.contains(value)) return true;
    wrong(fmt::format("{} `{}` cannot be {}; it can be {}", what, name, value, describe(range)));
    return false;
  }
  void unknown(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
    const std::string there =
        known.empty() ? fmt::format("it has no {}s", what) : fmt::format("it has {}", fmt::join(known, ", "));
    wrong(fmt::format("kernel `{}` has no {} `{}`; {}", spec_.name, what, name, there),
          did_you_mean(name, known));
  }
  void wrong(std::string message, std::string help = {}) {
    problems_.push_back(
        {.code = LaunchCode::unknown_setting, .message = std::move(message), .help = std::move(help)});
  }

  const KernelSpec& spec_;
  Choice choice_;
  isa::Diagnostics problems_;
};

}  // namespace

std::string describe(const Range& range) {
  constexpr Range all;
  std::string text;
  if (range.min != all.min && range.max != all.max)
    text = fmt::format("{} to {}", range.min, range.max);
  else if (range.min != all.min)
    text = fmt::format("{} or more", range.min);
  else if (range.max != all.max)
    text = fmt::format("{} or less", range.max);
  if (range.multiple_of == 1) return text;
  return fmt::format("{}{}multiples of {}", text, text.empty() ? "" : ", ", range.multiple_of);
}

std::string describe(const RealRange& range) {
  constexpr RealRange all;
  if (range.min != all.min && range.max != all.max) return fmt::format("{} to {}", range.min, range.max);
  if (range.min != all.min) return fmt::format("{} or more", range.min);
  return range.max != all.max ? fmt::format("{} or less", range.max) : "";
}

Setting real_setting(std::string name, double fallback, std::string doc, RealRange range) {
  Setting setting;
  setting.name = std::move(name);
  setting.fallback = fmt::format("{}", fallback);
  setting.doc = std::move(doc);
  setting.real = range;
  return setting;
}

Setting profile_setting() { return {"profile", "0", "1: scopes are recorded, for --trace", {"0", "1"}}; }

Setting ctas_setting(std::string name, int per_sm, std::string doc) {
  return {.name = std::move(name),
          .fallback = std::to_string(per_sm * isa::default_arch().sm_count),
          .doc = std::move(doc),
          .per_sm = per_sm};
}

int64_t Choice::number(const std::string& name) const {
  return number_in<int64_t>(settings.at(name)).value_or(0);
}
double Choice::real(const std::string& name) const {
  return number_in<double>(settings.at(name)).value_or(0);
}
pl::DType Choice::dtype(const std::string& name) const { return dtype_named(settings.at(name)).value(); }

const isa::ArchSpec& chip_of(const KernelSpec& spec) {
  return spec.chip.empty() ? isa::default_arch() : *isa::find_arch(spec.chip);
}

std::vector<std::string> input_names(const KernelSpec& spec, const Choice& choice) {
  return spec.chosen_inputs ? spec.chosen_inputs(choice) : spec.inputs;
}

Choice choose(const KernelSpec& spec, const std::map<std::string, std::string>& sizes,
              const std::map<std::string, std::string>& settings, const isa::ArchSpec* arch) {
  Chooser chooser(spec, arch != nullptr ? *arch : chip_of(spec));
  for (const auto& [name, text] : sizes) chooser.size(name, text);
  for (const auto& [name, text] : settings) chooser.setting(name, text);
  return chooser.finish();
}

std::vector<Array> normal_inputs(const std::vector<pl::ShapeDtype>& types, uint64_t seed) {
  std::vector<Array> inputs;
  for (const pl::ShapeDtype& type : types)
    inputs.push_back(filled(type, {.kind = Fill::Kind::randn, .seed = seed++}));
  return inputs;
}

std::vector<Array> inputs_of(const KernelSpec& spec, const plgpu::Kernel& kernel, const Choice& choice,
                             uint64_t seed) {
  if (spec.make_inputs) return spec.make_inputs(choice, seed);
  const std::vector<pl::ShapeDtype>& types = kernel.launch.inputs;
  return normal_inputs(types, seed * types.size());
}

}  // namespace palladion::kernels
