#include "kernels/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "isa/core/diagnostic.h"
#include "kernels/reference_examples/examples.h"
#include "kernels/specs.h"

namespace palladion::kernels {
namespace {

std::optional<int64_t> integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

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
    const auto value = integer(text);
    if (!value || *value <= 0)
      return wrong(fmt::format("size `{}` must be a positive integer, not `{}`", name, text));
    choice_.sizes[name] = *value;
  }

  void setting(const std::string& name, const std::string& text) {
    std::vector<std::string> known;
    for (const Setting& s : spec_.settings) known.push_back(s.name);
    const auto at = std::ranges::find(spec_.settings, name, &Setting::name);
    if (at == spec_.settings.end()) return unknown("setting", name, known);
    if (at->allowed.empty() && !integer(text))
      return wrong(fmt::format("setting `{}` must be an integer, not `{}`", name, text));
    if (!at->allowed.empty() && std::ranges::find(at->allowed, text) == at->allowed.end())
      return wrong(
          fmt::format("setting `{}` cannot be `{}`; it can be {}", name, text, fmt::join(at->allowed, ", ")));
    choice_.settings[name] = text;
  }

  Choice finish() {
    if (!problems_.empty()) throw isa::Error(std::move(problems_));
    return std::move(choice_);
  }

 private:
  void unknown(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
    const std::string there =
        known.empty() ? fmt::format("it has no {}s", what) : fmt::format("it has {}", fmt::join(known, ", "));
    wrong(fmt::format("kernel `{}` has no {} `{}`; {}", spec_.name, what, name, there),
          did_you_mean(name, known));
  }
  void wrong(std::string message, std::string help = {}) {
    problems_.push_back({.code = "PLD5003", .message = std::move(message), .help = std::move(help)});
  }

  const KernelSpec& spec_;
  Choice choice_;
  isa::Diagnostics problems_;
};

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row[b.size()];
}

// One line a kernel, in the order of the list that people read.
std::vector<KernelSpec> make_kernels() {
  std::vector<KernelSpec> specs;
  specs.push_back(vector_add_spec());
  specs.push_back(iota_spec());
  specs.push_back(stream_copy_spec());
  specs.push_back(transpose_spec());
  specs.push_back(reduce_sum_spec());
  specs.push_back(histogram_spec());
  specs.push_back(softmax_spec());
  specs.push_back(rms_norm_spec());
  specs.push_back(cluster_exchange_spec());
  specs.push_back(matmul_blockspec_spec());
  specs.push_back(matmul_pipelined_spec());
  specs.push_back(matmul_split_k_spec());
  specs.push_back(matmul_ws_spec());
  for (const auto theme :
       {reference_examples::quickstart, reference_examples::block_specs, reference_examples::meshes,
        reference_examples::copies, reference_examples::synchronisation, reference_examples::layouts,
        reference_examples::matrix_products}) {
    for (KernelSpec& spec : theme()) specs.push_back(std::move(spec));
  }
  for (KernelSpec& spec : specs) {
    spec.build = [record = std::move(spec.build)](const Choice& choice) {
      const plgpu::ForArch target(*choice.arch);
      return record(choice);
    };
  }
  return specs;
}

}  // namespace

Setting profile_setting() { return {"profile", "0", "1: scopes are recorded, for --trace", {"0", "1"}}; }

Setting ctas_setting(std::string name, int per_sm, std::string doc) {
  return {.name = std::move(name),
          .fallback = std::to_string(per_sm * isa::default_arch().sm_count),
          .doc = std::move(doc),
          .per_sm = per_sm};
}

int64_t Choice::number(const std::string& name) const { return integer(settings.at(name)).value_or(0); }
pl::DType Choice::dtype(const std::string& name) const { return dtype_named(settings.at(name)).value(); }

std::span<const KernelSpec> all_kernels() {
  static const std::vector<KernelSpec> specs = make_kernels();
  return specs;
}

const KernelSpec* find_kernel(std::string_view name) {
  const auto at = std::ranges::find(all_kernels(), name, &KernelSpec::name);
  return at == all_kernels().end() ? nullptr : &*at;
}

Choice choose(const KernelSpec& spec, const std::map<std::string, std::string>& sizes,
              const std::map<std::string, std::string>& settings, const isa::ArchSpec& arch) {
  Chooser chooser(spec, arch);
  for (const auto& [name, text] : sizes) chooser.size(name, text);
  for (const auto& [name, text] : settings) chooser.setting(name, text);
  return chooser.finish();
}

std::optional<pl::DType> dtype_named(std::string_view name) {
  const std::string spelled = name.starts_with('i') ? "s" + std::string(name.substr(1))
                              : name == "pred"      ? "bool"
                                                    : std::string(name);
  for (int i = 0; i <= int(pl::DType::e5m2); ++i)
    if (pl::name(pl::DType(i)) == spelled) return pl::DType(i);
  return std::nullopt;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  size_t best_distance =
      std::min(std::max<size_t>(1, word.size() / 3) + 1, word.size());  // never a wholly different word
  for (const std::string& k : known) {
    const bool starts = !word.empty() && k.starts_with(word);
    const size_t distance = starts ? 1 : edit_distance(word, k);
    if (distance >= best_distance) continue;
    best = &k;
    best_distance = distance;
  }
  return best == nullptr ? "" : *best;
}

}  // namespace palladion::kernels
