// Launches: the run of a kernel on the machine, and what its end means for the program.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <list>
#include <utility>

#include "cuda/driver/launch/other_schedules.h"
#include "cuda/driver/launch/other_values.h"
#include "cuda/driver/order/judge.h"
#include "cuda/driver/order/undefined.h"
#include "cuda/driver/order/written.h"
#include "cuda/driver/reporting.h"
#include "cuda/driver/session.h"
#include "cuda/driver/signals.h"
#include "cuda/driver/sources.h"
#include "isa/core/symbol_name.h"
#include "report/text/finding_text.h"
#include "sim/check/core/merge.h"
#include "sim/launch/codes.h"
#include "sim/machine/exec/heap.h"
#include "sim/machine/state/grid_workspace.h"
#include "sim/program/compile/call_graph.h"
#include "sim/schedule/results.h"
#include "verify/verdict/verdict.h"
#include "verify/verdict/watch.h"

namespace palladion::cuda::driver {
namespace {

// The error that the driver gives for this fault (tests/cuda/driver/answers_h200.txt).
Status status_of(const sim::Finding& f) {
  using enum sim::Code;
  const auto is = [&](auto... codes) { return ((f.code == codes) || ...); };
  if (f.severity == sim::FindingSeverity::unsupported) return not_supported;
  if (is(failed_assertion)) return assert_failed;
  if (is(shared_bounds, global_bounds, local_bounds, stack_full, tensor_map_address)) return illegal_address;
  if (is(misaligned_access, misaligned_mbarrier, misaligned_matrix_row, misaligned_copy, bulk_copy_size,
         misaligned_tile))
    return misaligned_address;
  if (is(no_such_cta, remote_as_own, no_function, barrier_count, bad_tensor_map)) return illegal_instruction;
  if (is(gave_up)) return launch_timeout;
  return launch_failed;
}

LaunchRecord& record_of(State& s, const LaunchWork& w) {
  for (LaunchRecord& r : s.launches)
    if (r.kernel == w.kernel->name && r.grid == w.grid && r.block == w.block) return r;
  s.launches.push_back({.kernel = w.kernel->name, .grid = w.grid, .block = w.block});
  return s.launches.back();
}

void keep(LaunchRecord& record, const sim::RunResult& result, const std::vector<std::string>& incomplete) {
  const size_t reasons = record.incomplete.size();
  record.incomplete.insert(incomplete.begin(), incomplete.end());
  if (result.findings.empty() && record.incomplete.size() == reasons) return;
  record.findings += result.findings.size();
  record.found.insert(record.found.end(), result.findings.begin(), result.findings.end());
  record.found = sim::check::merge(std::move(record.found));
  report_findings(state(), record);
}

void tell(const std::string& text) {
  if (prints_findings()) fmt::print(stderr, "{}\n", text);
}

bool counts(const sim::Finding& f) {
  return f.fatal || f.severity == sim::FindingSeverity::error ||
         f.severity == sim::FindingSeverity::unsupported;
}

std::vector<Pointer> free_workspaces;  // of cooperative launches

Pointer take_workspace(State& s) {
  if (free_workspaces.empty())
    return s.machine->memory().allocate(sim::grid_workspace_bytes, "workspace of a cooperative launch");
  const Pointer p = free_workspaces.back();
  return free_workspaces.pop_back(), p;
}

bool allocates(const isa::Module& module) {
  return std::ranges::any_of(module.functions,
                             [](const isa::Function& f) { return !f.defined && sim::uses_heap(f.name); });
}

sim::Launch launch_of(State& s, const LaunchWork& work) {
  sim::Launch launch;
  launch.module = work.kernel->image->module.get();
  launch.entry = work.kernel->name;
  launch.grid = work.grid;
  launch.block = work.block;
  launch.cluster = work.cluster;
  launch.dynamic_shared = work.shared;
  launch.params = work.params;
  launch.stack_bytes = s.limits[limit_stack];
  launch.heap_bytes = s.limits[limit_heap];
  if (allocates(*launch.module)) s.heap_used = true;
  if (launches_kernels(*launch.module)) give_queue(s, launch);
  if (sets_conditions(*launch.module)) give_conditions(s, launch);
  return launch;
}

sim::RunOptions options_of(const State& s, const LaunchWork& work) {
  sim::RunOptions options;
  options.schedule = sim::schedule_named(s.settings.schedule).value_or(sim::Schedule{});
  options.threads = s.settings.threads;
  options.max_warp_instructions = s.settings.max_instructions;
  // All of its CTAs wait for each other: check_launch has seen that the chip has room for them.
  if (work.cooperative) options.resident_clusters = work.grid.count() / work.cluster.count();
  options.fmad = s.settings.fmad;
  options.stop = &s.stop;
  return options;
}

sim::check::Options checks_of(const State& s) {
  return sim::check::options_named(s.settings.check, nullptr).value_or(verify::no_checks);
}

// What observes a launch besides its checkers.
struct Beside {
  Beside(const State& s, sim::GlobalMemory& memory)
      : others(schedules_asked(s.settings.schedules), checks_of(s)), changes(memory) {}
  std::vector<sim::Observer*> observers() {
    std::vector<sim::Observer*> all;
    if (sim::Observer* const recorder = others.recorder()) all.push_back(recorder);
    if (judges()) all.push_back(&footprint);
    if (follows_writes()) all.insert(all.end(), {&reads, &changes});
    return all;
  }
  OtherSchedules others;
  Footprint footprint;
  UnwrittenReads reads;
  Changes changes;
};

// A launch from its begin to its end.
class Running {
 public:
  Running(State& s, const LaunchWork& work, const Doing& doing)
      : work_(work),
        doing_(doing),
        beside_(s, s.machine->memory()),
        watch_(checks_of(s), beside_.observers()),
        launch_(launch_of(s, work)),
        options_(options_of(s, work)),
        run_(sim::Run(sim::RunResult{})) {
    if (work.cooperative) workspace_ = take_workspace(s);
    options_.observer = watch_.observer();
    has_clock_ = options_.schedule.kind == sim::Schedule::Kind::hardware;
    const auto start = std::chrono::steady_clock::now();
    LaunchRecord& record = record_of(s, work);
    ++record.begun;
    report_launches(s, record);
    run_ = begin(s, options_);
    beside_.others.begin(*s.machine);
    seconds_ += since(start);
  }
  ~Running() {
    if (workspace_ != 0) free_workspaces.push_back(workspace_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // To its end, or until it waits for what is outside; false then.
  bool go_on(bool may_wait) {
    const auto start = std::chrono::steady_clock::now();
    auto step = sim::Run::Step::on;
    while (step == sim::Run::Step::on)
      step = may_wait && !has_clock_ ? run_.step()
             : run_.advance()        ? sim::Run::Step::on
                                     : sim::Run::Step::over;
    seconds_ += since(start);
    waited_ |= step == sim::Run::Step::waits;
    return step == sim::Run::Step::over;
  }
  // Why its checks are no whole answer.
  std::vector<std::string> incomplete_of(const sim::RunResult& result) const {
    if (watch_.coverage() == nullptr) return {};
    const verify::Watched watched{*watch_.coverage(), {}};
    return verify::incomplete_reasons(result, &watched);
  }
  uint64_t outside_changes() const { return run_.outside_changes(); }
  const std::string& kernel() const { return work_.kernel->name; }
  Status end(State& s);

 private:
  static double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  sim::Run begin(State& s, const sim::RunOptions& options) {
    if (workspace_ != 0) sim::set_grid_workspace(s.machine->memory(), sim::Address(workspace_), launch_);
    return s.machine->start(launch_, options);
  }
  bool can_repeat() const;
  sim::RunResult repeat(State& s, sim::Observer& observer, uint64_t instructions);
  Status tell_findings(const State& s, const LaunchRecord& record, const sim::RunResult& result);
  void judge(State& s, LaunchRecord& record, bool completed);

  LaunchWork work_;
  Doing doing_;
  Beside beside_;
  verify::Watch watch_;
  sim::Launch launch_;
  sim::RunOptions options_;
  sim::Run run_;
  Pointer workspace_ = 0;
  bool has_clock_ = false;
  bool waited_ = false;  // for what is outside
  double seconds_ = 0;
};

// Whether it did nothing but to read and write memory by itself.
bool Running::can_repeat() const {
  const isa::Module& module = *work_.kernel->image->module;
  return !waited_ && !some_launch_waits() && !allocates(module) && !launches_kernels(module) &&
         !sets_conditions(module);
}

// The launch again, which executed so many instructions: with other values it may loop for ever.
sim::RunResult Running::repeat(State& s, sim::Observer& observer, uint64_t instructions) {
  sim::RunOptions options = options_;
  options.observer = &observer;
  options.max_warp_instructions = 2 * instructions + 100'000;
  options.stop = nullptr;  // an answer of a part would be wrong
  sim::Run run = begin(s, options);
  while (run.advance()) {
  }
  return run.take_result();
}

Status Running::tell_findings(const State& s, const LaunchRecord& record, const sim::RunResult& result) {
  Status status = success;
  const std::vector<sim::Finding> merged = sim::check::merge(result.findings);
  count_errors(static_cast<uint64_t>(std::ranges::count_if(merged, counts)));
  for (const sim::Finding& f : merged) {
    if (!sim::check::is_remark(f)) note_finding({f, {s.settings.schedule}}, &record);
    if ((record.launches == 1 || counts(f)) && !sim::check::is_remark(f))
      tell(report::finding_text(f, {.ptx = {}, .source_line = source_line}));
    if (f.fatal && status == success) status = status_of(f);
  }
  if (result.deadlocked && status == success) status = launch_timeout;
  if (!result.completed && status == success) status = launch_failed;
  return status;
}

// Under other schedules, with what the launch found in memory; not one that was ended.
void Running::judge(State& s, LaunchRecord& record, bool completed) {
  if (watch_.coverage() == nullptr && !schedules_asked(s.settings.schedules).several()) return;
  if (waited_ || !completed) beside_.others.forget();
  sim::RunOptions whole = options_;
  whole.stop = nullptr;
  Judged judged = beside_.others.judge(*s.machine, launch_, whole, watch_.coverage());
  judged.waited = waited_;
  for (const auto& seen : with_others(record.found, s.settings.schedule, judged)) {
    const bool counted = counts(seen.finding);
    if (seen.schedules.front() == s.settings.schedule) continue;
    ++record.findings;
    count_errors(counted ? 1 : 0);
    note_finding(seen, &record, judged.tried);
    if (record.launches == 1 || counted)
      tell(report::finding_text(seen, {.schedules = judged.tried, .source_line = source_line}));
  }
  if (record.judged)
    record.judged->unite(judged);
  else
    record.judged = std::move(judged);
  report_launches(s, record);
  report_findings(s, record);
}

Status Running::end(State& s) {
  sim::RunResult result = run_.take_result();
  if (result.interrupted) result.findings.push_back(sim::given_up(result.instructions));
  finished(doing_.place);
  if (judges()) judge_kernel(doing_, beside_.footprint);
  if (follows_writes() && doing_.as) {
    const Launched launched{*doing_.as,
                            work_.kernel->name,
                            beside_.reads,
                            beside_.changes,
                            result,
                            can_repeat() ? [&](sim::Observer& o) { return repeat(s, o, result.instructions); } : Again{}};
    judge_reads(launched);
    examine_values(launched, result.findings);
  }
  LaunchRecord& record = record_of(s, work_);
  ++record.launches;
  record.seconds += seconds_;
  record.instructions += result.instructions;
  record.cycles += result.clock.cycles;
  record.microseconds += result.clock.microseconds();
  report_launches(s, record);
  keep(record, result, incomplete_of(result));
  s.clock_us += result.clock.microseconds();
  s.printed += result.printed;
  std::fwrite(result.asserted.data(), 1, result.asserted.size(), stderr);
  if (!result.errors.empty()) {
    for (const isa::Diagnostic& d : result.errors)
      tell(fmt::format("{}: {}", isa::readable_name(work_.kernel->name), isa::render(isa::Diagnostics{d})));
    count_errors(1);
    return result.errors.front().severity == isa::Severity::unsupported ? not_supported
                                                                        : launch_out_of_resources;
  }
  const Status status = tell_findings(s, record, result);
  judge(s, record, result.completed);
  if (status != success) s.sticky = status;
  if (status == success && launches_kernels(*work_.kernel->image->module))
    return perform_launched(s, work_, doing_);
  return success;  // as on a GPU, the next call that waits gives the kernel's error
}

std::list<std::unique_ptr<Running>> waiting;  // for what another stream or the host writes

}  // namespace

Status perform(const LaunchWork& work, const Doing& doing) {
  State& s = state();
  if (s.sticky != success) return s.sticky;
  ++s.performed;
  auto running = std::make_unique<Running>(s, work, doing);
  const bool launches = launches_kernels(*work.kernel->image->module);
  if (running->go_on(s.nested == 0 && !launches)) return running->end(s);
  waiting.push_back(std::move(running));
  heed_signals();
  return success;
}

bool resume_launches() {
  State& s = state();
  bool any = false;
  for (auto at = waiting.begin(); at != waiting.end();) {
    Running& running = **at;
    const uint64_t before = running.outside_changes();
    const bool over = running.go_on(true);
    any |= over || running.outside_changes() != before;
    const auto next = std::next(at);
    if (over) {
      const std::unique_ptr<Running> ended = std::move(*at);
      waiting.erase(at);
      ended->end(s);
    }
    at = next;
  }
  if (waiting.empty()) leave_signals();
  return any;
}

bool some_launch_waits() { return !waiting.empty(); }

std::vector<std::string> waiting_kernels() {
  std::vector<std::string> names;
  for (const auto& running : waiting) names.push_back(isa::readable_name(running->kernel()));
  return names;
}

void end_waiting_launches() {
  State& s = state();
  for (auto all = std::exchange(waiting, {}); !all.empty(); all.pop_front()) {
    all.front()->go_on(false);
    all.front()->end(s);
  }
  leave_signals();
}

}  // namespace palladion::cuda::driver
