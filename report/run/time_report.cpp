#include "report/run/time_report.h"

#include <algorithm>

#include "report/text/finding_text.h"
#include "sim/launch/launch.h"

namespace palladion::report {
namespace {

double bytes_in_and_out(const Job& job) {
  double bytes = 0;
  for (const Buffer& b : job.buffers) {
    if (b.role == Role::scratch) continue;
    bytes += double(b.type.bytes()) * (b.role == Role::inout ? 2 : 1);
  }
  return bytes;
}

}  // namespace

TimeReport time_report(const Job& job, const isa::ArchSpec& arch, const Registers& registers, sim::L2Start l2,
                       sim::Values values, const sim::RunResult& result) {
  TimeReport time;
  time.clock = result.clock;
  time.measured = arch.measured;
  time.ctas_per_sm = result.resident_ctas_per_sm;
  time.registers = registers;
  time.registers.count = result.registers_per_thread;
  time.l2 = l2;
  time.values = values;
  time.where = sim::where_time_went(*job.module, job.entry, arch, result.clock);
  time.array_bytes = bytes_in_and_out(job);
  time.warps = static_cast<uint32_t>((job.block.count() + 31) / 32);
  return time;
}

NoTime why_no_time(const sim::RunResult& result) {
  if (!result.errors.empty()) return {result.errors.front().code, result.errors.front().message};
  const auto ends = [](const sim::Finding& f) { return f.fatal; };
  auto at = std::ranges::find_if(result.findings, ends);
  if (at == result.findings.end() && !result.completed) at = result.findings.begin();
  if (at != result.findings.end()) return {at->code.name(), message_text(*at)};
  if (result.interrupted) return {"", "interrupted"};
  if (!result.completed) return {"", "it did not come to its end"};
  return result.clock.cycles == 0 ? NoTime{"", "the clock did not run"} : NoTime{};
}

}  // namespace palladion::report
