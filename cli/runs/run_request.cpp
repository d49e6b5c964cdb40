#include "cli/runs/run_request.h"

#include <fmt/format.h>

#include "isa/host/files.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::cli {

void RunWords::state(Words& words) {
  RunRequest& given = given_;
  subject_.state(words);
  words
      .parsed("--schedule", schedule_, conditions_in,
              "functional, hardware (with the clock), seeded:N, latest, earliest; then, with commas, what "
              "`check --explore` varies: "
              "resident=N clusters, order=descending, order=random:N, fail_waits=N, elect=N; cancels=N, the "
              "launches that a cluster can cancel; or lanes=N, "
              "the order of the lanes of an atomic")
      .one_of(names_of(schedule_words()));
  words
      .parsed("--check", checks_, checks_in,
              "all, none, or some of race, barrier, memory, numerics; `check` does all, `run` none")
      .one_of(names_of(check_words()));
  words.flag("--strict", given.findings.strict, "findings of severity strict count as errors");
  words.text("--suppress", suppress_, "a file of accepted findings: lines `CODE FILE:LINE # reason`",
             Value::input);
  words.number("--limit", given.findings.limit, 1, most_lines,
               "findings printed in full (20); the others are counted by code");
  words.text("--sarif", given.output.sarif, "a file for the findings as SARIF 2.1.0", Value::output);
  clock_.state_values(words);
  clock_.state(words);
  state_fmad(words, given.machine.fmad);
  words.flag(
      "--why", given.why,
      "find what would help most: run again with parts of the chip relaxed, says first how often and how "
      "long");
  words.number("--lines", given.lines, 1, most_lines, "source lines of the time report (10)");
  words.pairs("--out", subject_.out, "write an output to a file: NAME=file.npy", Value::named_output);
  state_threads(words, threads_);
  words.number("--max-instructions", given.machine.max_instructions, 0, any_number,
               "give up when a warp has executed N instructions (2^30), or N/16 in a row without a store, a "
               "barrier or a copy; 0: never");
  words.text("--json", given.output.json, "a file for the results as JSON", Value::output);
  state_trace(words, given.trace, command_ == "compare" ? Value::input : Value::output);
  state_report(words, given.output.report);
  words.word("--on", on_, {{"sim", On::sim}, {"device", On::device}, {"both", On::both}},
             "where to run: sim, device or both");
  words.number("--repeats", given.device.repeats, 0, 1'000'000, "timed runs on a device; 0: none");
  words.seconds("--device-limit", given.device.limit, most_seconds,
                "give up when a run on a device takes longer than N seconds (10)");
  state_codegen(words, given.codegen);
  words.flag("--no-reference", given.reference, "do not compute the kernel's reference", false);
}

void state_codegen(Words& words, verify::Codegen& codegen) {
  using verify::Codegen;
  words.word(
      "--codegen", codegen,
      {{"auto", Codegen::automatic},
       {"ptxas", Codegen::ptxas},
       {"predicted", Codegen::predicted},
       {"none", Codegen::none}},
      "who says whether the machine code spills registers or serialises wgmmas (PLD6205 to PLD6208): "
      "ptxas, predicted (from the PTX: the same on every host), auto (ptxas where there is one), none");
}

bool RunWords::on_hardware() const {
  return schedule_ && schedule_->schedule.kind == sim::Schedule::Kind::hardware;
}

Outcome<void> RunWords::check_trace() const {
  const TraceRequest& trace = given_.trace;
  if (trace.file.empty()) {
    const bool reports = !given_.output.report.empty();
    const std::pair<std::string_view, bool> lacking[] = {{"--trace-ctas", trace.ctas && !reports},
                                                         {"--trace-cycles", trace.window && !reports},
                                                         {"--trace-limit", trace.limit.has_value()}};
    for (const auto& [option, lacks] : lacking)
      if (lacks)
        return user_error(fmt::format("{} needs --trace FILE{}", option,
                                      option == "--trace-limit" ? "" : " or --report FILE.html"));
    return check_scopes();
  }
  if (command_ == "check") return user_error("--trace belongs to `run`: `check` runs many times");
  if (on_ == On::device)
    return user_error("--trace is of the simulator; `compare --trace` shows the device beside it");
  return check_scopes();
}

Outcome<void> RunWords::check_scopes() const {
  const TraceRequest& trace = given_.trace;
  if (command_ == "compare" && !trace.file.empty() && !on_hardware())
    return user_error("compare --trace needs the clock", "--schedule hardware");
  if (!trace.read_scopes.empty() && trace.file.empty())
    return user_error("--device-trace needs --trace FILE, the file for both timelines");
  if (!trace.write_scopes.empty() && on_ == On::sim)
    return user_error(
        "--device-trace needs `compare --trace`, which reads it, or `run --on device`, which writes it");
  return {};
}

Outcome<void> RunWords::check_values() const {
  if (clock_.values == sim::Values::full) return {};
  if (!subject_.out.empty())
    return user_error("--out needs --values full: without values no output is computed");
  if (checks_ && checks_->any())
    return user_error("--check needs --values full: checks need the computed values");
  if (on_ != On::sim) return user_error("--values none runs on the simulator alone");
  return {};
}

Outcome<std::optional<ClockSettings>> RunWords::clock_settings(const isa::ArchSpec& arch) const {
  if (const auto ok = check_values(); !ok) return tl::make_unexpected(ok.error());
  if (on_hardware())
    return clock_.settings(arch).map([](ClockSettings s) { return std::optional(std::move(s)); });
  if (given_.why) return needs_clock("--why");
  return clock_.refuse().map([] { return std::optional<ClockSettings>(); });
}

Outcome<std::optional<Suppressions>> RunWords::suppressions() const {
  if (suppress_.empty()) return std::nullopt;
  const auto text = read_text(suppress_, most_of_settings);
  if (!text) return user_error(text.error());
  auto parsed = parse_suppressions(*text, suppress_);
  if (!parsed) return failure_of(parsed.error());
  return std::optional(std::move(*parsed));
}

Outcome<RunRequest> RunWords::request(const Invocation& invocation) const {
  if (const auto ok = check_trace(); !ok) return tl::make_unexpected(ok.error());
  auto subject = subject_.request(invocation);
  if (!subject) return tl::make_unexpected(subject.error());
  auto clock = clock_settings(*subject->arch);
  if (!clock) return tl::make_unexpected(clock.error());
  auto suppressions = this->suppressions();
  if (!suppressions) return tl::make_unexpected(suppressions.error());
  RunRequest request = given_;
  request.command = command_;
  request.words = invocation.words;
  request.subject = std::move(*subject);
  request.conditions = schedule_;
  request.machine.checks = checks_.value_or(command_ == "check" ? sim::check::Options{} : no_checks);
  request.machine.clock = std::move(*clock);
  request.machine.threads = host_threads(threads_);
  request.device.on_sim = on_ != On::device;
  request.device.on_device = on_ != On::sim;
  request.findings.suppressions = std::move(*suppressions);
  return request;
}

unsigned host_threads(unsigned given) { return given != 0 ? given : sim::hardware_threads(); }

}  // namespace palladion::cli
