#include "report/explain/subject_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isa/arch/clock.h"
#include "report/text/paint.h"

namespace palladion::report {

std::string range_text(const kernels::Range& range) {
  const std::string text = kernels::describe(range);
  return text.empty() ? text : fmt::format(" ({})", text);
}

std::string range_text(const kernels::RealRange& range) {
  const std::string text = kernels::describe(range);
  return text.empty() ? " (any number)" : fmt::format(" (a number, {})", text);
}

std::string settings_text(const kernels::KernelSpec& spec) {
  std::vector<std::string> parts;
  for (const kernels::SizeParam& p : spec.sizes) parts.push_back(fmt::format("{}={}", p.name, p.fallback));
  for (const kernels::Setting& s : spec.settings)
    parts.push_back(s.allowed.empty()
                        ? fmt::format("{}={}", s.name, s.fallback)
                        : fmt::format("{}={} ({})", s.name, s.fallback, fmt::join(s.allowed, "|")));
  return fmt::format("{}", fmt::join(parts, "  "));
}

std::string kernel_text(const kernels::KernelSpec& spec, bool color) {
  std::string out = fmt::format("{}: {}\n", paint(spec.name, Style::bold, color), spec.doc);
  for (const kernels::SizeParam& p : spec.sizes)
    out += fmt::format("  --shape {:<14} {:<8} {}{}\n", p.name, p.fallback, p.doc, range_text(p.range));
  for (const kernels::Setting& s : spec.settings) {
    out += fmt::format("  --set   {:<14} {:<8} {}", s.name, s.fallback, s.doc);
    if (!s.allowed.empty()) out += fmt::format(" ({})", fmt::join(s.allowed, ", "));
    out += (s.real ? range_text(*s.real) : range_text(s.range)) + "\n";
  }
  return out;
}

std::string arch_text(const isa::ArchSpec& arch, bool color) {
  std::string out = fmt::format("{}: {}\n", paint(arch.name, Style::bold, color), arch.chip);
  for (const isa::ArchFact& fact : isa::facts(arch))
    out += fmt::format("  {:<34} {:>14} {:<10} {}\n", fact.name, fact.value, fact.unit, fact.source);
  const std::string_view clock = isa::clock_file(arch.name);
  if (clock.empty()) return out + "  the clock has no parameters for it\n";
  return out +
         paint(
             "the clock's parameters: key = value unit | spread | date | source; a file of these "
             "lines is what --clock takes",
             Style::bold, color) +
         "\n" + std::string(clock);
}

std::string pair_text(const kernels::zoo::Pair& pair, std::string_view program, bool color) {
  std::string out = fmt::format("{}: {}\n", paint("zoo/" + pair.name, Style::bold, color), pair.title);
  const std::string more = pair.needs_exploration ? " --explore 1000000" : "";
  out += fmt::format("  its finding is {}; `{} explain {}` has the meaning and both texts\n", pair.code,
                     program, pair.code);
  return out + fmt::format("  {0} check zoo/{1}{2}\n  {0} check zoo/{1}:good{2}\n", program, pair.name, more);
}

namespace {

json::object range_json(const kernels::Range& range) {
  constexpr kernels::Range all;
  json::object out;
  if (range.min != all.min) out.emplace("min", range.min);
  if (range.max != all.max) out.emplace("max", range.max);
  if (range.multiple_of != 1) out.emplace("multiple_of", range.multiple_of);
  return out;
}

json::object range_json(const kernels::RealRange& range) {
  constexpr kernels::RealRange all;
  json::object out{{"real", true}};
  if (range.min != all.min) out.emplace("min", range.min);
  if (range.max != all.max) out.emplace("max", range.max);
  return out;
}

}  // namespace

json::object kernel_json(const kernels::KernelSpec& spec) {
  const auto size = [](const kernels::SizeParam& p) {
    return json::object{
        {"name", p.name}, {"default", p.fallback}, {"doc", p.doc}, {"range", range_json(p.range)}};
  };
  const auto setting = [](const kernels::Setting& s) {
    return json::object{{"name", s.name},
                        {"default", s.fallback},
                        {"doc", s.doc},
                        {"allowed", array_of(s.allowed)},
                        {"range", s.real ? range_json(*s.real) : range_json(s.range)}};
  };
  return {{"name", spec.name},
          {"doc", spec.doc},
          {"chip", kernels::chip_of(spec).name},
          {"sizes", array_of(spec.sizes, size)},
          {"settings", array_of(spec.settings, setting)},
          {"inputs", array_of(spec.inputs)},
          {"outputs", array_of(spec.outputs)}};
}

}  // namespace palladion::report
