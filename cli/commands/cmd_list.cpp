#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "cli/execute/execute.h"
#include "cli/options/command.h"
#include "cli/options/run_words.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/arch/clock.h"
#include "kernels/files/kernel_file.h"
#include "report/json/document.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

std::string settings_text(const kernels::KernelSpec& spec) {
  std::vector<std::string> parts;
  for (const kernels::SizeParam& p : spec.sizes) parts.push_back(fmt::format("{}={}", p.name, p.fallback));
  for (const kernels::Setting& s : spec.settings)
    parts.push_back(s.allowed.empty()
                        ? fmt::format("{}={}", s.name, s.fallback)
                        : fmt::format("{}={} ({})", s.name, s.fallback, fmt::join(s.allowed, "|")));
  return fmt::format("{}", fmt::join(parts, "  "));
}

std::string range_text(const kernels::Range& range) {
  const std::string text = kernels::describe(range);
  return text.empty() ? text : fmt::format(" ({})", text);
}

// A kernel: all its sizes and settings.
void list_kernel(const kernels::KernelSpec& spec, bool color) {
  print_out("{}: {}\n", paint(spec.name, Style::bold, color), spec.doc);
  for (const kernels::SizeParam& p : spec.sizes)
    print_out("  --shape {:<14} {:<8} {}{}\n", p.name, p.fallback, p.doc, range_text(p.range));
  for (const kernels::Setting& s : spec.settings) {
    print_out("  --set   {:<14} {:<8} {}", s.name, s.fallback, s.doc);
    if (!s.allowed.empty()) print_out(" ({})", fmt::join(s.allowed, ", "));
    print_out("{}\n", range_text(s.range));
  }
}

void list_arch(const isa::ArchSpec& arch, bool color) {
  print_out("{}: {}\n", paint(arch.name, Style::bold, color), arch.chip);
  for (const isa::ArchFact& fact : isa::facts(arch))
    print_out("  {:<34} {:>14} {:<10} {}\n", fact.name, fact.value, fact.unit, fact.source);
  const std::string_view clock = isa::clock_file(arch.name);
  if (clock.empty()) {
    print_out("  the clock has no parameters for it\n");
    return;
  }
  print_out("{}\n",
            paint("the clock's parameters: key = value unit | spread | date | source; a file of these "
                  "lines is what --clock takes",
                  Style::bold, color));
  print_out(clock);
}

void list_word(std::string_view name, std::string_view doc) { print_out("  {:<22} {}\n", name, doc); }

void list_kernels(std::span<const kernels::KernelSpec> kernels, bool color) {
  for (const kernels::KernelSpec& spec : kernels) {
    list_word(spec.name, spec.doc);
    list_word("", paint(settings_text(spec), Style::dim, color));
  }
}

void list_zoo() {
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs())
    print_out("  {:<40} {} {} {}\n", "zoo/" + pair.name, pair.code, pair.entry, pair.title);
}

void list_architectures() {
  for (const isa::ArchSpec& arch : isa::architectures())
    list_word(arch.name, fmt::format("{}, {} SMs, {}", arch.chip, arch.sm_count, arch.ptx_target));
}

void list_words(std::span<const NameAndDoc> words) {
  for (const NameAndDoc& word : words) list_word(word.name, word.doc);
}

struct ListRequest {
  std::vector<std::string> names;
  std::string json;  // a file
  std::span<const kernels::KernelSpec> kernels;

  void state(Words& words) {
    words.texts("NAME", names,
                fmt::format("whatever `{} list` names, or a file of kernels, add.cpp", program_name()),
                Value::kernel);
    words.text("--json", json, "a file for all of the list as JSON", Value::output);
  }
  Outcome<ListRequest> request(const Invocation& invocation) const {
    ListRequest request = *this;
    request.kernels = invocation.kernels;
    return request;
  }
};

// A part of the list, by its heading.
struct Part {
  std::string_view name, more;
  void (*list)(const ListRequest& request, bool color);
};
constexpr Part parts[] = {
    {"kernels", "", [](const ListRequest& r, bool color) { list_kernels(r.kernels, color); }},
    {"zoo", ": broken kernels and, by zoo/NAME:good, right ones",
     [](const ListRequest&, bool) { list_zoo(); }},
    {"architectures", "", [](const ListRequest&, bool) { list_architectures(); }},
    {"schedules", "", [](const ListRequest&, bool) { list_words(schedule_words()); }},
    {"checks", "", [](const ListRequest&, bool) { list_words(check_words()); }},
};

void list_pair(const kernels::zoo::Pair& pair, bool color) {
  print_out("{}: {}\n", paint("zoo/" + pair.name, Style::bold, color), pair.title);
  const std::string more = pair.needs_exploration ? " --explore 1000000" : "";
  print_out("  its finding is {}; `{} explain {}` has the meaning and both texts\n", pair.code,
            program_name(), pair.code);
  print_out("  {0} check zoo/{1}{2}\n  {0} check zoo/{1}:good{2}\n", program_name(), pair.name, more);
}

// All kernels that have a size or a setting of this name.
bool list_setting(std::span<const kernels::KernelSpec> kernels, std::string_view name, bool color) {
  bool found = false;
  const auto print = [&](const kernels::KernelSpec& spec, std::string_view option, const auto& value,
                         const std::string& doc) {
    if (!found) print_out("{}\n", paint(fmt::format("{} {}=", option, name), Style::bold, color));
    found = true;
    print_out("  {:<22} {:<8} {}\n", spec.name, value, doc);
  };
  for (const kernels::KernelSpec& spec : kernels) {
    for (const kernels::SizeParam& p : spec.sizes)
      if (p.name == name) print(spec, "--shape", p.fallback, p.doc + range_text(p.range));
    for (const kernels::Setting& s : spec.settings)
      if (s.name == name) {
        const std::string words =
            s.allowed.empty() ? range_text(s.range) : fmt::format(" ({})", fmt::join(s.allowed, ", "));
        print(spec, "--set", s.fallback, s.doc + words);
      }
  }
  return found;
}

bool list_word_of(std::string_view name) {
  const auto is_seeded = [&](const NameAndDoc& w) {
    return w.name == "seeded:N" && name.starts_with("seeded");
  };
  for (const NameAndDoc& word : schedule_words())
    if (word.name == name || is_seeded(word)) {
      list_word(word.name, word.doc);
      print_out("  {} run KERNEL --schedule {}\n", program_name(), name == "seeded" ? "seeded:7" : name);
      return true;
    }
  for (const NameAndDoc& word : check_words())
    if (word.name == name) {
      list_word(word.name, word.doc);
      print_out("  {} check KERNEL --check {}\n", program_name(), name);
      return true;
    }
  return false;
}

bool list_twin(std::string_view name, bool color) {
  if (!name.starts_with("zoo/")) return false;
  const kernels::zoo::Pair* pair = kernels::zoo::find_pair(name.substr(4, name.substr(4).find(':')));
  if (pair != nullptr) list_pair(*pair, color);
  return pair != nullptr;
}

std::vector<std::string> names_of_all(const ListRequest& request) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.emplace_back(part.name);
  for (const kernels::KernelSpec& spec : request.kernels) names.push_back(spec.name);
  for (const isa::ArchSpec& arch : isa::architectures()) names.emplace_back(arch.name);
  for (const NameAndDoc& word : schedule_words()) names.emplace_back(word.name);
  for (const NameAndDoc& word : check_words()) names.emplace_back(word.name);
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs()) names.push_back("zoo/" + pair.name);
  return names;
}

Outcome<void> list_file(const KernelFileWord& word, bool color) {
  const auto kernels = kernels::kernels_of_file(word.file, print_err);
  if (!kernels) return tl::make_unexpected(kernels.error());
  if (!word.kernel.empty()) {
    const auto spec = kernels::kernel_of_file(word.file, word.kernel, print_err);
    if (!spec) return tl::make_unexpected(spec.error());
    list_kernel(**spec, color);
    return {};
  }
  for (const kernels::KernelSpec& spec : *kernels) list_kernel(spec, color);
  return {};
}

Outcome<void> list_one(const ListRequest& request, const std::string& name, bool color) {
  if (const auto file = kernel_file_word(name)) return list_file(*file, color);
  const auto part = std::ranges::find(parts, name, &Part::name);
  if (part != std::end(parts)) {
    part->list(request, color);
    return {};
  }
  const auto spec = std::ranges::find(request.kernels, name, &kernels::KernelSpec::name);
  if (spec != request.kernels.end()) {
    list_kernel(*spec, color);
    return {};
  }
  if (const isa::ArchSpec* arch = isa::find_arch(name)) {
    list_arch(*arch, color);
    return {};
  }
  if (list_twin(name, color) || list_word_of(name) || list_setting(request.kernels, name, color)) return {};
  const std::string near = nearest(name, names_of_all(request));
  return user_error(fmt::format("`{} list` names no `{}`", program_name(), name),
                    near.empty()
                        ? "kernels, architectures, schedules, checks, sizes, settings, zoo, zoo/NAME, "
                          "or a file of kernels"
                        : fmt::format("did you mean `{}`?", near));
}

json::object range_json(const kernels::Range& range) {
  constexpr kernels::Range all;
  json::object out;
  if (range.min != all.min) out.emplace("min", range.min);
  if (range.max != all.max) out.emplace("max", range.max);
  if (range.multiple_of != 1) out.emplace("multiple_of", range.multiple_of);
  return out;
}

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
                        {"range", range_json(s.range)}};
  };
  return {{"name", spec.name},
          {"doc", spec.doc},
          {"chip", kernels::chip_of(spec).name},
          {"sizes", array_of(spec.sizes, size)},
          {"settings", array_of(spec.settings, setting)},
          {"inputs", array_of(spec.inputs)},
          {"outputs", array_of(spec.outputs)}};
}

std::string list_json(const ListRequest& request) {
  const auto pair = [](const kernels::zoo::Pair& p) {
    return json::object{{"name", "zoo/" + p.name}, {"code", p.code}, {"entry", p.entry}, {"title", p.title}};
  };
  const auto arch = [](const isa::ArchSpec& a) {
    return json::object{{"name", a.name}, {"chip", a.chip}, {"sms", a.sm_count}, {"target", a.ptx_target}};
  };
  const auto word = [](const NameAndDoc& w) { return json::object{{"name", w.name}, {"doc", w.doc}}; };
  return json_text(json::object{{"palladion", version},
                                {"kernels", array_of(request.kernels, kernel_json)},
                                {"zoo", array_of(kernels::zoo::all_pairs(), pair)},
                                {"architectures", array_of(isa::architectures(), arch)},
                                {"schedules", array_of(schedule_words(), word)},
                                {"checks", array_of(check_words(), word)}});
}

Outcome<ExitCode> list(const ListRequest& request) {
  const bool color = wants_color(stdout);
  for (const std::string& name : request.names)
    if (const auto listed = list_one(request, name, color); !listed)
      return tl::make_unexpected(listed.error());
  for (const Part& part : parts) {
    if (!request.names.empty()) break;
    print_out("{}\n", paint(fmt::format("{}{}", part.name, part.more), Style::bold, color));
    part.list(request, color);
  }
  Deliveries deliveries;
  deliveries.take(write_if_named(request.json, [&] { return list_json(request); }));
  return deliveries.code(exit_clean);
}

}  // namespace

Command list_command() {
  return {"list", "list kernels, architectures, schedules, checks; with a name (h200, matmul_ws) its details",
          stated<ListRequest, list>};
}

}  // namespace palladion::cli
