#include "report/run/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "report/text/finding_text.h"
#include "report/text/numbers.h"
#include "report/text/row.h"

namespace palladion::report {
namespace {

using sim::worth_a_change;

constexpr double sector = 32;        // bytes of L2
constexpr double read_again = 1.25;  // times that each byte of the inputs is read: above this, reuse is lost
constexpr double empty_wave = 0.05, idle_sms = 0.1, long_wait = 0.1;  // shares that are worth a statement
constexpr double as_fast = 0.005;                                     // of the time: no difference
constexpr std::string_view counters = "counters";

std::string percents(double share) { return fmt::format("{:.3g} %", share * 100); }
std::string bytes(double count) { return human_bytes(static_cast<uint64_t>(count)); }

// "a run with stages=5: 12 345 cycles, 3.2 % less"
std::string run_of(std::string_view change, uint64_t cycles, double saved) {
  return fmt::format("a run with {}: {} cycles, {} {}", change, grouped(cycles), percents(std::abs(saved)),
                     saved < 0 ? "more" : "less");
}

class Adviser {
 public:
  Adviser(const TimeReport& time, std::string_view folder) : time_(time), why_(*time.why), folder_(folder) {}

  std::vector<Advice> all() {
    peak();
    waves();
    reuse();
    occupancy();
    stages();
    for (const std::string& reason : time_.slower)
      add("machine code", reason, "ptxas, or the PTX where there is none");
    return std::move(out_);
  }

 private:
  void add(std::string_view about, std::string text, std::string_view from) {
    out_.push_back({about, std::move(text), std::string(from)});
  }

  double us() const { return time_.clock.microseconds(); }
  double hbm_bytes() const {
    const sim::ClockCounters& c = time_.clock.counters;
    return static_cast<double>(c.dram_read_bytes + c.dram_write_bytes);
  }

  void peak() {
    std::vector<std::string> parts;
    if (why_.peak_tflops > 0)
      parts.push_back(fmt::format(
          "{:.4g} of {:.4g} TFLOP/s: {} of the tensor cores' peak with {}-bit operands", time_.tflops(),
          why_.peak_tflops, percents(time_.tflops() / why_.peak_tflops), time_.where.operand_bits));
    const double rate = us() > 0 ? hbm_bytes() / us() * 1e-3 : 0, share = rate / why_.hbm_gb_per_s;
    if (parts.empty() || share >= 0.5)
      parts.push_back(fmt::format("{:.4g} of {:.4g} GB/s: {} of what HBM reads", rate, why_.hbm_gb_per_s,
                                  percents(share)));
    add("peak", fmt::format("{}", fmt::join(parts, "\n")), counters);
  }

  // "64 clusters of 4", "132 CTAs"
  std::string clusters(uint64_t n) const {
    const uint32_t ctas = why_.residency.ctas_per_cluster;
    return ctas == 1 ? plural(n, "CTA") : fmt::format("{} of {}", plural(n, "cluster"), ctas);
  }

  void waves() {
    const sim::Residency& r = why_.residency;
    if (r.at_once == 0) return;
    if (const uint64_t busy = std::min(r.sms, r.clusters * r.ctas_per_cluster);
        r.waves() == 1 && busy < r.sms && double(r.sms - busy) / double(r.sms) >= idle_sms)
      return add("waves",
                 fmt::format("{}: {} of {} SMs have none", clusters(r.clusters), r.sms - busy, r.sms),
                 "the launch");
    if (r.waves() < 2 || r.empty_share() < empty_wave) return;
    add("waves",
        fmt::format("{}, {} fit at a time: {} waves, the last one with {}; {} would need {}",
                    clusters(r.clusters), r.at_once, r.waves(), r.last_wave(), (r.waves() - 1) * r.at_once,
                    r.waves() - 1),
        "the launch and the room of the SMs");
  }

  // The relaxation of that name, if it helps.
  const sim::Gain* gain(std::string_view name) const {
    const auto& gains = why_.relaxed.gains;
    const auto at =
        std::ranges::find_if(gains, [&](const sim::Gain& g) { return g.relaxation->name == name; });
    return at != gains.end() && at->saved >= worth_a_change ? &*at : nullptr;
  }

  void reuse() {
    const sim::ClockCounters& c = time_.clock.counters;
    if (why_.input_bytes == 0) return;
    const double from_hbm = double(c.dram_read_bytes), from_l2 = double(c.l2_read_sectors) * sector;
    if (const auto* g = gain("HBM without limit"); g != nullptr && from_hbm > read_again * why_.input_bytes)
      add("grid order",
          fmt::format(
              "HBM reads {} for {} of inputs, each byte {:.1f} times; L2 has {} of what SMs read: CTAs "
              "that run at the same time should share more of the inputs",
              bytes(from_hbm), bytes(why_.input_bytes), from_hbm / why_.input_bytes,
              percents(double(c.l2_hit_sectors) / std::max(1.0, double(c.l2_read_sectors)))),
          fmt::format("counters, and {}", run_of(g->relaxation->name, g->cycles, g->saved)));
    if (const auto* g = gain("L2 without limit"); g != nullptr && from_l2 > read_again * why_.input_bytes)
      add("reuse",
          fmt::format(
              "SMs read {} from L2 for {} of inputs, each byte {:.1f} times: larger tiles, or multicast "
              "in a cluster, read it less often",
              bytes(from_l2), bytes(why_.input_bytes), from_l2 / why_.input_bytes),
          fmt::format("counters, and {}", run_of(g->relaxation->name, g->cycles, g->saved)));
  }

  void occupancy() {
    const auto& more = why_.one_more;
    if (!more || more->saved < worth_a_change) return;
    std::vector<std::string> limits, needed;
    for (const sim::ScarceResource& s : why_.residency.scarce) {
      limits.emplace_back(sim::name(s.resource));
      needed.push_back(
          fmt::format("{} {} instead of {}", grouped(s.most), sim::unit(s.resource), grouped(s.taken)));
    }
    add("occupancy",
        fmt::format("{} an SM, limited by {}: at most {} would admit one more",
                    plural(why_.residency.ctas_per_sm, "CTA"), fmt::join(limits, " and "),
                    fmt::join(needed, " and ")),
        run_of(more->change, more->cycles, more->saved));
  }

  // "waits of warps 0-7 for full stages: 30 % of their time (k.cpp:138); of warps 8-11 for free ones: 2 %"
  std::string waits(const sim::PipelineWaits& p) const {
    const std::string at = p.line.known() ? fmt::format("{}:{}", within(folder_, p.line.file), p.line.line)
                                          : fmt::format("PTX line {}", p.ptx_line);
    return fmt::format("waits of {} for full stages: {} of their time ({}); of {} for free ones: {}",
                       sim::warps_text(p.consumers, time_.warps), percents(p.for_full), at,
                       sim::warps_text(p.producers, time_.warps), percents(p.for_free));
  }

  void stages() {
    const auto waiting = sim::pipeline_waits(time_.where);
    if (!waiting) return;
    if (!why_.variants.empty()) return of_variant(why_.variants.front(), *waiting);
    if (waiting->for_full < long_wait || waiting->for_free < long_wait) return;
    for (const std::string_view name :
         {"TMA without latency or limit", "HBM latency hidden", "L2 latency halved"})
      if (const auto* g = gain(name))
        return add("stages", fmt::format("too few: {}", waits(*waiting)),
                   fmt::format("counters, and {}", run_of(name, g->cycles, g->saved)));
  }

  void of_variant(const verify::Changed& v, const sim::PipelineWaits& waiting) {
    if (v.saved >= worth_a_change)
      add("stages", fmt::format("too few: {}", waits(waiting)), run_of(v.change, v.cycles, v.saved));
    else if (waiting.for_full < long_wait && v.saved > -as_fast && v.fewer)
      add("stages", fmt::format("{} takes as long, nothing needs more: {}", v.change, waits(waiting)),
          run_of(v.change, v.cycles, v.saved));
  }

  const TimeReport& time_;
  const WhyReport& why_;
  std::string folder_;
  std::vector<Advice> out_;
};

}  // namespace

std::vector<Advice> advice_of(const TimeReport& time, std::string_view folder) {
  return Adviser(time, folder).all();
}

}  // namespace palladion::report
