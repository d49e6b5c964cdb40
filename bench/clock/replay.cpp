#include "bench/clock/replay.h"

#include "report/text/finding_text.h"
#include "verify/launch/runner.h"

namespace palladion::bench {
namespace {

constexpr double tensor_cores = 4;  // of an SM: Nsight Compute counts the cycles of each

SimOutcome run(const kernels::Case& c, const plgpu::Kernel& kernel, const sim::RunOptions& options) {
  const isa::ArchSpec& arch = *isa::find_arch("h200");
  sim::Machine machine(arch);
  std::vector<Array> inputs =
      options.values == sim::Values::none ? blank_inputs(kernel) : c.spec->make_inputs(c.choice, c.seed);
  return palladion::run(kernel, std::move(inputs), machine, options);
}

std::string problem_of(const sim::RunResult& result) {
  if (!result.errors.empty()) return result.errors.front().message;
  if (!result.findings.empty())
    return result.findings.front().code.name() + ": " + report::message_text(result.findings.front());
  if (!result.completed) return "the run did not end";
  return result.clock.cycles == 0 ? "no clock ran" : "";
}

}  // namespace

Replayed replay(const kernels::Case& c, const ReplayOptions& options) {
  isa::ClockParameters parameters = *isa::find_clock("h200");
  if (options.sm_clock_mhz > 0) parameters.sm_clock = options.sm_clock_mhz;
  const plgpu::Kernel kernel = c.spec->build(c.choice);
  sim::RunOptions run_options;
  run_options.schedule = *sim::schedule_named("hardware");
  run_options.threads = options.threads;
  run_options.l2 = options.l2;
  run_options.parameters = &parameters;
  run_options.values = sim::Values::none;
  SimOutcome outcome = run(c, kernel, run_options);
  Replayed replayed;
  if (!outcome.result.errors.empty()) {  // control flow or addresses depend on the contents
    run_options.values = sim::Values::full;
    replayed.values = true;
    outcome = run(c, kernel, run_options);
  }
  replayed.refused = problem_of(outcome.result);
  replayed.clock = outcome.result.clock;
  replayed.seconds = outcome.seconds;
  return replayed;
}

std::vector<CounterPair> counters(const Recorded& device, const sim::ClockCounters& s) {
  const auto pair = [&](const char* name, double simulated) {
    const auto at = device.counters.find(name);
    return CounterPair{name, at == device.counters.end() ? std::nullopt : std::optional(at->second),
                       simulated};
  };
  const double sms = isa::find_arch("h200")->sm_count;
  return {
      pair("sm__inst_executed.sum", static_cast<double>(s.instructions)),
      pair("sm__pipe_tensor_cycles_active.avg", static_cast<double>(s.tensor_cycles) * tensor_cores / sms),
      pair("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", static_cast<double>(s.smem_bank_conflicts)),
      pair("lts__t_sectors_op_read.sum", static_cast<double>(s.l2_read_sectors)),
      pair("lts__t_sectors_op_write.sum", static_cast<double>(s.l2_write_sectors)),
      pair("dram__bytes_read.sum", static_cast<double>(s.dram_read_bytes)),
      pair("dram__bytes_write.sum", static_cast<double>(s.dram_write_bytes))};
}

}  // namespace palladion::bench
