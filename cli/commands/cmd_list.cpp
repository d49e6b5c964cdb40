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
#include "kernels/files/kernel_file.h"
#include "report/explain/subject_text.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

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
  if (pair != nullptr) print_out(pair_text(*pair, program_name(), color));
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
    print_out(kernel_text(**spec, color));
    return {};
  }
  for (const kernels::KernelSpec& spec : *kernels) print_out(kernel_text(spec, color));
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
    print_out(kernel_text(*spec, color));
    return {};
  }
  if (const isa::ArchSpec* arch = isa::find_arch(name)) {
    print_out(arch_text(*arch, color));
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
