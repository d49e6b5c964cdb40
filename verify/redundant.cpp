#include "verify/redundant.h"

#include <algorithm>
#include <mutex>

#include "sim/schedule/worker_pool.h"

namespace palladion::verify {
namespace {

using sim::check::Mutant;

// A deletion may make warps poll for longer before the run is stopped.
constexpr uint64_t times_the_original = 10;

// Synchronisation is deleted, with its partner where it has one. (What initialises or announces is part of
// another instruction's synchronisation; registers synchronise nothing.)
bool deletes_synchronisation(const Mutant& m) {
  using M = sim::check::Mutation;
  switch (m.mutation) {
    case M::delete_wait:
    case M::delete_arrive:
    case M::delete_fence:
    case M::delete_proxy_fence:
    case M::delete_init_fence:
    case M::delete_barrier:
    case M::delete_warp_sync:
    case M::delete_cluster_barrier:
    case M::delete_wait_group:
    case M::delete_wgmma_fence:
    case M::delete_tensor_wait:
    case M::delete_tensor_fence:
      return true;
    default:
      return false;
  }
}

class Search {
 public:
  Search(const Job& job, const isa::ArchSpec& arch, const CheckRequest& request,
         const Progress<RedundancyStep>& progress)
      : job_(job), arch_(arch), request_(request), progress_(progress) {
    request_.first.clear();
    request_.compare = nullptr;
    request_.stop_at_problem = true;
  }

  tl::expected<RedundancyReport, NoRedundancy> run() {
    if (auto why = check_original()) return tl::make_unexpected(std::move(*why));
    std::vector<Mutant> deletions = sim::check::mutants_of(*job_.module, arch_, job_.entry);
    std::erase_if(deletions, [](const Mutant& m) { return !deletes_synchronisation(m); });
    RedundancyReport report{.examined = deletions.size(), .cycles = cycles_of(*job_.module)};
    RedundancyStep step{.deletions = deletions.size()};
    std::mutex stepping;
    sim::WorkerPool(request_.run.threads).for_each(deletions.size(), [&](size_t i, unsigned) {
      if (progress_.stopped()) return;
      auto found = try_deletion(std::move(deletions[i]), report.cycles);
      const std::lock_guard lock(stepping);
      if (found) report.redundant.push_back(std::move(*found));
      ++step.done;
      if (progress_.step) progress_.step(step);
    });
    std::ranges::sort(report.redundant, [](const Redundancy& a, const Redundancy& b) {
      if (a.cycles != b.cycles) return a.cycles > b.cycles;
      return std::pair(a.mutant.function, a.mutant.instruction) <
             std::pair(b.mutant.function, b.mutant.instruction);
    });
    report.interrupted = progress_.stopped();
    return report;
  }

 private:
  std::optional<NoRedundancy> check_original() {
    using Why = NoRedundancy::Why;
    auto checked = check(job_, arch_, request_, {.stop = progress_.stop, .step = {}});
    if (!checked) return NoRedundancy{Why::refused, checked.error()};
    if (checked->interrupted) return NoRedundancy{Why::interrupted};
    if (count_findings(checked->findings).errors != 0 || !checked->first_completed())
      return NoRedundancy{Why::not_right};
    if (!checked->knows_all_schedules()) return NoRedundancy{Why::not_decided};
    original_ = std::move(*checked);
    request_.run.max_instructions =
        times_the_original * original_.first_completed()->outcome.result.instructions + 100'000;
    return std::nullopt;
  }

  uint64_t cycles_of(const isa::Module& module) const {
    Job job = job_;
    job.module = &module;
    sim::RunOptions run = request_.run;
    run.schedule = {.kind = sim::Schedule::Kind::hardware};
    run.stop = progress_.stop;
    sim::Machine machine(arch_);
    return palladion::run(job, machine, run).result.clock.cycles;
  }

  std::optional<Redundancy> try_deletion(Mutant deletion, uint64_t cycles) const {
    const isa::Module module = sim::check::apply(*job_.module, arch_, deletion);
    Job job = job_;
    job.module = &module;
    auto checked = check(job, arch_, request_, {.stop = progress_.stop, .step = {}});
    if (!checked || checked->interrupted || !stays_right(*checked)) return std::nullopt;
    return Redundancy{std::move(deletion), std::move(checked->data),
                      int64_t(cycles) - int64_t(cycles_of(module))};
  }

  bool stays_right(const CheckReport& report) const {
    const Trial* const first = report.first_completed();
    return first != nullptr && report.knows_all_schedules() && !report.outputs_vary() &&
           report.findings.size() <= original_.findings.size() && report.incomplete.empty() &&
           report.verdict.word <= original_.verdict.word &&
           first->output_hashes == original_.first_completed()->output_hashes;
  }

  const Job& job_;
  const isa::ArchSpec& arch_;
  CheckRequest request_;
  const Progress<RedundancyStep>& progress_;
  CheckReport original_;
};

}  // namespace

tl::expected<RedundancyReport, NoRedundancy> find_redundant(const Job& job, const isa::ArchSpec& arch,
                                                            const CheckRequest& request,
                                                            const Progress<RedundancyStep>& progress) {
  return Search(job, arch, request, progress).run();
}

}  // namespace palladion::verify
