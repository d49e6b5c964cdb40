#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.h"
#include "cli/execute/execute.h"
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
  fmt::print("{}: {}\n", paint(spec.name, Style::bold, color), spec.doc);
  for (const kernels::SizeParam& p : spec.sizes)
    fmt::print("  --shape {:<14} {:<8} {}\n", p.name, p.fallback, p.doc);
  for (const kernels::Setting& s : spec.settings) {
    fmt::print("  --set   {:<14} {:<8} {}", s.name, s.fallback, s.doc);
    if (!s.allowed.empty()) fmt::print(" ({})", fmt::join(s.allowed, ", "));
    fmt::print("\n");
  }
}

void list_arch(const isa::ArchSpec& arch, bool color) {
  fmt::print("{}: {}\n", paint(arch.name, Style::bold, color), arch.chip);
  for (const isa::ArchFact& fact : isa::facts(arch))
    fmt::print("  {:<34} {:>14} {:<10} {}\n", fact.name, fact.value, fact.unit, fact.source);
  const std::string_view clock = isa::clock_file(arch.name);
  if (clock.empty()) {
    fmt::print("  the clock has no parameters for it\n");
    return;
  }
  fmt::print("{}\n",
             paint("the clock's parameters: key = value unit | spread | date | source; a file of these "
                   "lines is what --clock takes",
                   Style::bold, color));
  fmt::print("{}", clock);
}

void list_zoo() {
  for (const zoo::Pair& pair : zoo::all_pairs())
    fmt::print("  {:<40} {} {} {}\n", "zoo/" + pair.name, pair.code, pair.entry, pair.title);
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
  const auto heading = [&](std::string_view text) { fmt::print("{}\n", paint(text, Style::bold, color)); };
  heading("kernels");
  for (const kernels::KernelSpec& spec : kernels::all_kernels()) {
    fmt::print("  {:<22} {}\n", spec.name, spec.doc);
    fmt::print("  {:<22} {}\n", "", paint(settings_text(spec), Style::dim, color));
  }
  heading("zoo: broken kernels and, by zoo/NAME:good, right ones");
  list_zoo();
  heading("architectures");
  for (const isa::ArchSpec& arch : isa::architectures())
    fmt::print("  {:<22} {}, {} SMs, {}\n", arch.name, arch.chip, arch.sm_count, arch.ptx_target);
  heading("schedules");
  fmt::print("  {:<22} fair and fast\n", "functional");
  fmt::print("  {:<22} the chip's own, with its clock: cycles, and where they went\n", "hardware");
  fmt::print("  {:<22} asynchronous work is done as early as it may be\n", "earliest");
  fmt::print("  {:<22} asynchronous work waits until no warp can continue\n", "latest");
  fmt::print("  {:<22} random choices, repeated exactly by their seed\n", "seeded:N");
  heading("checks");
  for (const CheckWord& word : check_words()) fmt::print("  {:<22} {}\n", word.name, word.doc);
  return exit_clean;
}

}  // namespace palladion::cli
