#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.h"
#include "cli/execute/execute.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "isa/arch/clock.h"

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

// A kernel: all its sizes and settings.
void list_kernel(const kernels::KernelSpec& spec, bool color) {
  print_out("{}: {}\n", paint(spec.name, Style::bold, color), spec.doc);
  for (const kernels::SizeParam& p : spec.sizes)
    print_out("  --shape {:<14} {:<8} {}\n", p.name, p.fallback, p.doc);
  for (const kernels::Setting& s : spec.settings) {
    print_out("  --set   {:<14} {:<8} {}", s.name, s.fallback, s.doc);
    if (!s.allowed.empty()) print_out(" ({})", fmt::join(s.allowed, ", "));
    print_out("\n");
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

void list_zoo() {
  for (const zoo::Pair& pair : zoo::all_pairs())
    print_out("  {:<40} {} {} {}\n", "zoo/" + pair.name, pair.code, pair.entry, pair.title);
}

Outcome<void> list_one(const std::string& name, bool color) {
  if (name == "zoo") {
    list_zoo();
    return {};
  }
  if (const kernels::KernelSpec* spec = kernels::find_kernel(name)) {
    list_kernel(*spec, color);
    return {};
  }
  if (const isa::ArchSpec* arch = isa::find_arch(name)) {
    list_arch(*arch, color);
    return {};
  }
  return user_error(fmt::format("there is no kernel and no architecture `{}`", name),
                    "`palladion list` names them");
}

}  // namespace

Outcome<ExitCode> cmd_list(const Options& options) {
  const bool color = wants_color(stdout);
  for (const std::string& name : options.topics)
    if (const auto listed = list_one(name, color); !listed) return tl::make_unexpected(listed.error());
  if (!options.topics.empty()) return exit_clean;
  const auto heading = [&](std::string_view text) { print_out("{}\n", paint(text, Style::bold, color)); };
  heading("kernels");
  for (const kernels::KernelSpec& spec : kernels::all_kernels()) {
    print_out("  {:<22} {}\n", spec.name, spec.doc);
    print_out("  {:<22} {}\n", "", paint(settings_text(spec), Style::dim, color));
  }
  heading("zoo: broken kernels and, by zoo/NAME:good, right ones");
  list_zoo();
  heading("architectures");
  for (const isa::ArchSpec& arch : isa::architectures())
    print_out("  {:<22} {}, {} SMs, {}\n", arch.name, arch.chip, arch.sm_count, arch.ptx_target);
  heading("schedules");
  print_out("  {:<22} fair and fast\n", "functional");
  print_out("  {:<22} the chip's own, with its clock: cycles, and where they went\n", "hardware");
  print_out("  {:<22} asynchronous work is done as early as it may be\n", "earliest");
  print_out("  {:<22} asynchronous work waits until no warp can continue\n", "latest");
  print_out("  {:<22} random choices, repeated exactly by their seed\n", "seeded:N");
  heading("checks");
  for (const CheckWord& word : check_words()) print_out("  {:<22} {}\n", word.name, word.doc);
  return exit_clean;
}

}  // namespace palladion::cli
