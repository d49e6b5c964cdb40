#include "cuda/driver/order/findings.h"

#include <fmt/format.h>

#include <utility>

#include "cuda/driver/order/call_site.h"
#include "cuda/driver/reporting.h"
#include "cuda/driver/session.h"
#include "cuda/driver/sources.h"
#include "cuda/driver/state.h"
#include "report/text/finding_text.h"
#include "sim/check/catalogue/catalogue.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::cuda::driver {

std::string text_of(const order::Operation& o) { return fmt::format("{} in {}", o.text, o.stream); }

sim::Statement called(const order::Operation& o) {
  const std::string site = call_site(o.calls);
  return site.empty() ? sim::Statement{} : sim::say<sim::Phrase::host_call>(text_of(o), site);
}

void tell(sim::Finding finding) {
  State& s = state();
  note_finding({finding, {s.settings.schedule}}, nullptr);
  for (sim::Finding& f : s.host_findings)
    if (f.code == finding.code && report::message_text(f) == report::message_text(finding)) {
      ++f.count;
      return report_host_findings(s);
    }
  if (finding.severity == sim::FindingSeverity::error) count_errors(1);
  if (prints_findings())
    fmt::print(stderr, "{}\n", report::finding_text(finding, {.ptx = {}, .source_line = source_line}));
  s.host_findings.push_back(std::move(finding));
  report_host_findings(s);
}

namespace {

sim::Finding unknown(sim::check::Code code) {
  sim::Finding f;
  sim::check::complete(f, code);
  f.severity = sim::FindingSeverity::unknown;
  return f;
}

}  // namespace

void tell_incomplete() {
  static bool printed = false;
  if (!std::exchange(printed, true)) tell(unknown(sim::check::Code::order_incomplete));
}

void tell_aliases(Pointer first, Pointer second) {
  static bool printed = false;
  if (std::exchange(printed, true)) return;
  sim::Finding f = unknown(sim::check::Code::aliased_memory);
  f.notes.push_back(
      sim::say<sim::Phrase::two_addresses>(static_cast<int64_t>(first), static_cast<int64_t>(second)));
  tell(std::move(f));
}

}  // namespace palladion::cuda::driver
