#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/term.h"

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

}  // namespace

Outcome<ExitCode> cmd_list(const Options&) {
  const bool color = wants_color(stdout);
  const auto heading = [&](std::string_view text) { fmt::print("{}\n", paint(text, Style::bold, color)); };
  heading("kernels");
  for (const kernels::KernelSpec& spec : kernels::all_kernels()) {
    fmt::print("  {:<22} {}\n", spec.name, spec.doc);
    fmt::print("  {:<22} {}\n", "", paint(settings_text(spec), Style::dim, color));
  }
  heading("zoo: broken kernels and, by zoo/NAME:good, right ones");
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs())
    fmt::print("  {:<40} {} {} {}\n", "zoo/" + pair.name, pair.code, pair.entry, pair.title);
  heading("architectures");
  for (const isa::ArchSpec& arch : isa::architectures())
    fmt::print("  {:<22} {}, {} SMs, {}\n", arch.name, arch.chip, arch.sm_count, arch.ptx_target);
  heading("schedules");
  fmt::print("  {:<22} fair and fast\n", "functional");
  fmt::print("  {:<22} asynchronous work is done as early as it may be\n", "earliest");
  fmt::print("  {:<22} asynchronous work waits until nothing else can move\n", "latest");
  fmt::print("  {:<22} random choices, repeated exactly by their seed\n", "seeded:N");
  heading("checks");
  for (const CheckWord& word : check_words()) fmt::print("  {:<22} {}\n", word.name, word.doc);
  return exit_clean;
}

}  // namespace palladion::cli
