#include "bench/device/micro_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace palladion::bench {
namespace {

struct Group {
  const char* title;
  std::array<const char*, 3> prefixes;
};

// The first that fits; the last takes the rest.
constexpr Group groups[] = {
    {"Issue and pipes", {"pipe.", "clock."}},
    {"Tensor core", {"wgmma."}},
    {"mbarriers", {"mbarrier."}},
    {"Barriers", {"barrier."}},
    {"Fences", {"fence."}},
    {"Shared memory", {"shared."}},
    {"TMA", {"tma."}},
    {"Global memory", {"global."}},
    {"Bandwidth", {"L1.", "L2.", "HBM."}},
    {"Whole kernels that stream", {"stream."}},
    {"Shared ports", {"port."}},
    {"Main loops", {"ring."}},
    {"Distributed shared memory", {"dsmem."}},
    {"Launches", {"launch."}},
    {"Others", {""}},
};

size_t group_of(const std::string& id) {
  const auto fits = [&](const char* prefix) { return prefix != nullptr && id.starts_with(prefix); };
  const auto* const found =
      std::ranges::find_if(groups, [&](const Group& g) { return std::ranges::any_of(g.prefixes, fits); });
  return static_cast<size_t>(found - std::begin(groups));
}

struct Counts {
  size_t all = 0, within_5 = 0, within_10 = 0, failed = 0;
  double mean = 0, median = 0;
};

Counts counts_of(const std::vector<Replayed>& rows) {
  Counts c{.all = rows.size()};
  std::vector<double> errors;
  for (const Replayed& r : rows) {
    if (!r.problem.empty())
      ++c.failed;
    else
      errors.push_back(r.error());
  }
  if (errors.empty()) return c;
  std::ranges::sort(errors);
  c.within_5 = static_cast<size_t>(std::ranges::upper_bound(errors, 0.05) - errors.begin());
  c.within_10 = static_cast<size_t>(std::ranges::upper_bound(errors, 0.10) - errors.begin());
  for (const double e : errors) c.mean += e / static_cast<double>(errors.size());
  c.median = errors[errors.size() / 2];
  return c;
}

std::string summary_row(const char* title, const std::vector<Replayed>& rows) {
  const Counts c = counts_of(rows);
  return fmt::format("| {} | {} | {} | {} | {:.1f} % | {:.1f} % |\n", title, c.all, c.within_5, c.within_10,
                     100 * c.mean, 100 * c.median);
}

std::string table_row(const Replayed& r) {
  if (!r.problem.empty()) return fmt::format("| {} | {} | {:.4g} | - | not run |\n", r.id, r.unit, r.device);
  return fmt::format("| {} | {} | {:.4g} | {:.4g} | {:.3f} |\n", r.id, r.unit, r.device, r.machine,
                     r.ratio());
}

}  // namespace

double Replayed::error() const { return std::abs(ratio() - 1); }

std::string line_of(const Replayed& r) {
  if (!r.problem.empty()) return fmt::format("FAIL {}\n{}\n", r.id, r.problem);
  return fmt::format("{:<64} {:>10.4g} {:>10.4g} {:>6.3f}{}\n", r.id, r.device, r.machine, r.ratio(),
                     r.error() > 0.05 ? " *" : "");
}

std::string summary_of(const std::vector<Replayed>& all) {
  const Counts c = counts_of(all);
  return fmt::format("{} of {} cases within 5 %, mean absolute error {:.1f} %, median {:.1f} %{}\n",
                     c.within_5, c.all, 100 * c.mean, 100 * c.median,
                     c.failed == 0 ? "" : fmt::format(", {} not run", c.failed));
}

std::string page_of(const std::vector<Replayed>& all) {
  std::vector<std::vector<Replayed>> parts(std::size(groups));
  for (const Replayed& r : all) parts[group_of(r.id)].push_back(r);
  std::string out =
      "# Microbenchmarks: an H200 and the machine\n\n"
      "Written by `bench_micro --table`. Device: `micro_h200.csv`; machine: the `hardware` schedule with\n"
      "`isa/arch/clock/h200.clock`, whose numbers were fitted to these rows: this page shows how well the "
      "model can follow\n"
      "each of them, not how well it predicts kernels. What it leaves out:\n"
      "`docs/concepts/clock_model.md`.\n\n"
      "| group | cases | within 5 % | within 10 % | mean absolute error | median "
      "|\n|---|---|---|---|---|---|\n";
  for (size_t g = 0; g < parts.size(); ++g)
    if (!parts[g].empty()) out += summary_row(groups[g].title, parts[g]);
  out += summary_row("all", all);
  for (size_t g = 0; g < parts.size(); ++g) {
    if (parts[g].empty()) continue;
    out += fmt::format("\n## {}\n\n| case | unit | device | machine | ratio |\n|---|---|---|---|---|\n",
                       groups[g].title);
    for (const Replayed& r : parts[g]) out += table_row(r);
  }
  return out;
}

}  // namespace palladion::bench
