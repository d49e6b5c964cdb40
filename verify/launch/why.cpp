#include "verify/launch/why.h"

#include <algorithm>
#include <chrono>

#include "sim/clock/report/where.h"
#include "verify/launch/timed_run.h"

namespace palladion::verify {
namespace {

using Clock = std::chrono::steady_clock;

double bytes_of_inputs(const Job& job) {
  double bytes = 0;
  for (const Buffer& b : job.buffers)
    if (b.role == Role::in || b.role == Role::inout) bytes += static_cast<double>(b.type.bytes());
  return bytes;
}

class Why {
 public:
  Why(const WhyQuestion& question, const WhyEvents& events)
      : q_(question), events_(events), plain_(question.run), base_(question.clock) {}

  WhyReport answer() {
    out_.plan.seconds = q_.seconds;
    plain_.values = sim::Values::none;
    if (q_.run.values == sim::Values::full) run_without_values();
    out_.values = plain_.values;
    out_.cycles = base_.cycles;
    take_chip();
    plan();
    out_.relaxed = sim::try_relaxations(
        *q_.run.parameters, base_,
        [&](const isa::ClockParameters& p, unsigned threads) { return cycles_with(p, threads); },
        {.uses = uses_, .threads = plain_.threads, .done = [&](uint64_t done) { tell(done); }});
    out_.runs = out_.relaxed.runs;
    if (waits_for_room()) out_.one_more = with_one_more();
    for (const Variant& v : q_.variants)
      if (auto changed = changed_to(v.setting, v.cycles(plain_), v.fewer))
        out_.variants.push_back(std::move(*changed));
    out_.interrupted = plain_.stop != nullptr && plain_.stop->load();
    return std::move(out_);
  }

 private:
  // Once: is it possible?
  void run_without_values() {
    const auto start = Clock::now();
    const sim::RunResult probe = timed_run(*q_.job, *q_.arch, plain_);
    if (refused_for_values(probe)) {
      plain_.values = sim::Values::full;
    } else if (probe.completed) {
      base_.cycles = probe.clock.cycles;
      out_.plan.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }
  }

  void take_chip() {
    const isa::ClockParameters& clock = *q_.run.parameters;
    const Job& job = *q_.job;
    out_.residency = sim::residency_of({.module = job.module,
                                        .entry = job.entry,
                                        .grid = job.grid,
                                        .block = job.block,
                                        .cluster = job.cluster,
                                        .dynamic_shared = job.dynamic_shared,
                                        .registers = q_.registers},
                                       *q_.arch, clock);
    const sim::Where program = sim::where_time_went(*job.module, job.entry, *q_.arch, {});
    uses_ = {.atomics = program.atomics, .clusters = job.cluster.count() > 1};
    if (program.operand_bits != 0) out_.peak_tflops = sim::peak_tflops(*q_.arch, clock, program.operand_bits);
    out_.hbm_gb_per_s = clock.hbm_read;
    out_.input_bytes = bytes_of_inputs(job);
  }

  void plan() {
    const sim::RelaxPlan relaxations = sim::plan_relaxations(base_, uses_);
    const uint64_t others = q_.variants.size() + (waits_for_room() ? 1 : 0);
    out_.plan.least = relaxations.least + others;
    out_.plan.most = relaxations.most + others;
    if (events_.planned) events_.planned(out_.plan);
  }

  // More CTAs an SM change nothing for a launch that fits at once, and no setting makes more warps fit.
  bool waits_for_room() const {
    const sim::Residency& r = out_.residency;
    if (r.clusters <= r.at_once || r.scarce.empty()) return false;
    return std::ranges::all_of(r.scarce, [](const sim::ScarceResource& s) {
      return s.most != 0 && s.resource != sim::SmResource::warps;
    });
  }

  std::optional<uint64_t> cycles_of(const isa::ArchSpec& arch, const sim::RunOptions& run) const {
    const sim::RunResult result = timed_run(*q_.job, arch, run);
    return result.completed ? std::optional(result.clock.cycles) : std::nullopt;
  }

  std::optional<uint64_t> cycles_with(const isa::ClockParameters& parameters, unsigned threads) const {
    sim::RunOptions run = plain_;
    run.parameters = &parameters;
    run.threads = threads;
    return cycles_of(*q_.arch, run);
  }

  std::optional<Changed> with_one_more() {
    const isa::ArchSpec roomy = sim::with_room_for_one_more(*q_.arch, out_.residency);
    sim::RunOptions run = plain_;
    run.registers = q_.registers;
    return changed_to("one CTA more an SM", cycles_of(roomy, run));
  }

  std::optional<Changed> changed_to(std::string change, std::optional<uint64_t> cycles, bool fewer = false) {
    tell(++out_.runs);
    if (!cycles) return std::nullopt;
    const auto before = static_cast<double>(out_.cycles);
    return Changed{std::move(change), fewer, *cycles, (before - static_cast<double>(*cycles)) / before};
  }

  void tell(uint64_t done) const {
    if (events_.done) events_.done(done);
  }

  const WhyQuestion& q_;
  const WhyEvents& events_;
  sim::RunOptions plain_;
  sim::ClockReport base_;
  sim::LaunchUses uses_;
  WhyReport out_;
};

}  // namespace

WhyReport ask_why(const WhyQuestion& question, const WhyEvents& events) {
  return Why(question, events).answer();
}

}  // namespace palladion::verify
