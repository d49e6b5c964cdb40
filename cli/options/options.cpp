#include "cli/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "arrays/words.h"
#include "kernels/registry.h"

namespace palladion::cli {
namespace {

struct CommandWord {
  Command command;
  const char* name;
  const char* doc;
};

constexpr CommandWord command_words[] = {
    {Command::list, "list",
     "kernels, architectures, schedules, checks; of a name (h200, matmul_ws) all there is"},
    {Command::run, "run", "run a kernel, or a file of PTX, and compare with its reference"},
    {Command::sweep, "sweep", "all combinations of a kernel's settings, ranked by simulated time"},
    {Command::ptx, "ptx", "print the PTX of a kernel"},
    {Command::check, "check",
     "run under hostile schedules with every check: races, barriers, memory, numerics"},
    {Command::compare, "compare", "simulator against device: bits, ulps, first mismatch"},
    {Command::explain, "explain", "what a code (PLD3001), an instruction (wgmma) or a stall reason means"},
    {Command::doctor, "doctor", "what this machine offers: processor, device, toolkit"},
    {Command::lab, "lab", "exercises"},
};

// The text of options that are taken apart after parsing.
struct Raw {
  std::vector<std::string> shape, set, in, out;
};

void add_subject(CLI::App& app, Options& o, Raw& raw) {
  const auto many = [](CLI::Option* option) { return option->allow_extra_args(false); };
  app.add_option("KERNEL", o.kernel,
                 "a name from `palladion list`; zoo/NAME is a broken twin, zoo/NAME:good its right one");
  many(app.add_option("--shape", raw.shape, "sizes: m=512,n=512"));
  many(app.add_option("--set", raw.set, "settings: tile_m=128,stages=4"));
  app.add_option("--seed", o.seed, "of random inputs");
  many(app.add_option("--in", raw.in, "an input from a file: NAME=file.npy"));
  app.add_option("--arch", o.arch, "chip: h200, h100");
  app.add_option("--ptx", o.ptx, "run this PTX instead of a kernel");
  app.add_option("--entry", o.entry, "which .entry of it; needed when there are several");
  app.add_option("--grid", o.grid, "CTAs: x,y,z");
  app.add_option("--block", o.block, "threads a CTA: x,y,z");
  app.add_option("--cluster", o.cluster, "CTAs a cluster: x,y,z");
  app.add_option("--smem", o.smem, "dynamic shared memory a CTA, bytes");
  many(app.add_option("--arg", o.args,
                      "a parameter, in order: i32:5, in:f16[512,256]=randn(7), out:..., tmap:..."));
}

void add_clock(CLI::App& app, Options& o) {
  app.add_option("--l2", o.l2,
                 "what L2 holds at the start: cold (nothing), warm (what a run just before left)");
  app.add_option("--sm-clock", o.sm_clock, "MHz that the SMs run at; the architecture's own when absent");
  app.add_option("--clock", o.clock, "a file of the clock's parameters instead of the architecture's own");
  app.add_option(
      "--registers", o.registers,
      "a thread's, which limit the CTAs of an SM: estimate (the default: cycles are the same on every "
      "host), ptxas (of the CUDA toolkit on this host), or their number");
}

void add_run(CLI::App& app, Options& o, Raw& raw) {
  add_subject(app, o, raw);
  app.add_option("--schedule", o.schedule,
                 "functional, hardware (with the clock), seeded:N, latest, earliest; then, with commas, what "
                 "`check --explore` varies: "
                 "resident=N clusters, order=descending, order=random:N, fail_waits=N, elect=N");
  app.add_option("--check", o.check,
                 "all, none, or some of race, barrier, memory, numerics; `check` does all, `run` none");
  app.add_flag("--strict", o.strict, "what only breaks the letter of PTX counts as an error");
  app.add_option("--suppress", o.suppress, "findings that are let be: lines `CODE FILE:LINE # reason`");
  app.add_option("--limit", o.limit, "findings told in full (20); the rest is counted by code");
  app.add_option("--sarif", o.sarif, "the findings as SARIF 2.1.0, to a file");
  app.add_option("--values", o.values, "full, or none: the clock without the arrays' contents, much faster");
  add_clock(app, o);
  app.add_flag("--why", o.why,
               "which three changes would help most: run again with parts of the chip relaxed");
  app.add_option("--lines", o.lines, "source lines to tell the time of (10)");
  app.add_option("--out", raw.out, "an output to a file: NAME=file.npy")->allow_extra_args(false);
  app.add_option("--threads", o.threads, "of the host; 0: all");
  app.add_option("--max-instructions", o.max_instructions,
                 "give up after so many warp instructions; 0: never");
  app.add_option("--json", o.json, "everything the text says, to a file");
  app.add_option("--trace", o.trace,
                 "a timeline, by its extension: .pftrace (opens in ui.perfetto.dev), .jsonl, .txt; under a "
                 "schedule without a clock its times are instructions");
  app.add_option("--trace-ctas", o.trace_ctas,
                 "whose: sm:0 (those that run on SM 0), 0..3 (numbers in the grid), all");
  app.add_option("--trace-cycles", o.trace_cycles, "from when to when: 12000..14000");
  app.add_option(
      "--device-trace", o.device_trace,
      "scopes of a device: `compare --trace` reads them here and needs no device, `run --on device` "
      "writes them");
  app.add_option("--trace-limit", o.trace_limit,
                 "bytes of the file (2 GiB); a longer trace ends there and stays whole");
  app.add_option("--report", o.report, "not in this version");
  app.add_option("--on", o.on, "sim, device or both");
  app.add_option("--repeats", o.repeats, "timed runs on a device; 0: none");
  app.add_flag_callback(
      "--no-reference", [&o] { o.reference = false; }, "do not compute the kernel's reference");
}

void add_sweep(CLI::App& app, Options& o, Raw& raw) {
  const auto many = [](CLI::Option* option) { return option->allow_extra_args(false); };
  app.add_option("KERNEL", o.kernel, "a name from `palladion list`");
  many(app.add_option("--shape", raw.shape, "sizes: m=4096,n=4096,k=4096"));
  many(
      app.add_option("--set", raw.set, "values to combine: tile_m=128,256 or stages=2..6 or sms=64..128:32"));
  app.add_option("--arch", o.arch, "chip: h200, h100");
  app.add_option("--seed", o.seed, "of random inputs, where the time depends on them");
  add_clock(app, o);
  app.add_option("--top", o.top, "configurations to tell of (20); 0: all");
  app.add_option("--json", o.json, "everything the text says, to a file");
  app.add_option("--state", o.state,
                 "a file that keeps what is done; one that is there already is gone on with");
  app.add_option("--resume", o.resume, "go on with this file of an earlier --state");
  app.add_option("--threads", o.threads, "of the host; 0: all");
  app.add_option("--max-instructions", o.max_instructions,
                 "give a configuration up after so many warp instructions; 0: never");
}

void add_command(CLI::App& app, Command command, Options& o, Raw& raw) {
  switch (command) {
    case Command::list:
      app.add_option("NAME", o.topics, "an architecture, a kernel, or zoo");
      break;
    case Command::doctor:
      break;
    case Command::sweep:
      add_sweep(app, o, raw);
      break;
    case Command::run:
    case Command::compare:
      add_run(app, o, raw);
      break;
    case Command::check:
      add_run(app, o, raw);
      app.add_option("--seeds", o.seeds,
                     "random schedules to run (20); without it none when one run speaks for all");
      app.add_option(
          "--explore", o.explore,
          "search all orders of synchronisation, up to N states; vary elected lanes, waits that give "
          "up, resident CTAs and the order in which they start");
      app.add_flag("--mutate", o.mutate,
                   "break one synchronisation instruction at a time; which broken programs are caught?");
      break;
    case Command::ptx:
      add_subject(app, o, raw);
      app.add_option("-o,--output", o.output, "file; standard output when absent");
      app.add_flag(
          "--lowered", o.lowered,
          "beside each instruction what ptxas makes of it, as the clock predicts it: SASS instructions, "
          "unit, what it folds into, scoreboard; then registers and totals by unit");
      break;
    case Command::explain:
      app.add_option("TOPIC", o.topics, "codes and instructions");
      break;
    case Command::lab:
      app.add_option("LAB", o.topics, "");
      break;
  }
  app.allow_extras();  // named below, with what exists
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                      : fmt::format("did you mean `{}`?", near);
}

Outcome<void> refuse_extras(const CLI::App& app) {
  const auto extras = app.remaining();
  if (extras.empty()) return {};
  const std::string& word = extras.front();
  if (!word.starts_with("-")) return user_error(fmt::format("{}: nothing takes `{}`", app.get_name(), word));
  const std::string name = word.substr(0, word.find('='));
  return user_error(fmt::format("{} has no option `{}`", app.get_name(), name),
                    suggestion(name, option_names(app)));
}

// "m=512,n=512" into pairs. A value that holds commas (a file name) is not split when `whole`.
Outcome<std::map<std::string, std::string>> pairs_in(const std::vector<std::string>& texts,
                                                     std::string_view option, bool whole) {
  std::map<std::string, std::string> out;
  for (const std::string& text : texts) {
    for (const std::string_view pair : whole ? std::vector<std::string_view>{text} : split(text, ",")) {
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size())
        return user_error(fmt::format("{} {}: expected NAME={}", option, text, whole ? "file.npy" : "value"));
      out[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
    }
  }
  return out;
}

// One value of each setting; for a sweep, all that are to be combined.
Outcome<void> take_settings(Options& o, const Raw& raw) {
  if (o.command == Command::sweep) {
    auto axes = axes_in(raw.set);
    if (!axes) return user_error(axes.error());
    o.axes = std::move(*axes);
    return {};
  }
  auto pairs = pairs_in(raw.set, "--set", false);
  if (!pairs) return tl::make_unexpected(pairs.error());
  o.settings = std::move(*pairs);
  return {};
}

Outcome<void> take_pairs(Options& o, const Raw& raw) {
  const struct {
    std::map<std::string, std::string>& into;
    const std::vector<std::string>& from;
    const char* option;
    bool whole;
  } all[] = {
      {o.sizes, raw.shape, "--shape", false}, {o.in, raw.in, "--in", true}, {o.out, raw.out, "--out", true}};
  for (const auto& one : all) {
    auto pairs = pairs_in(one.from, one.option, one.whole);
    if (!pairs) return tl::make_unexpected(pairs.error());
    one.into = std::move(*pairs);
  }
  return take_settings(o, raw);
}

Outcome<void> check_command_word(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::vector<std::string> names;
  for (const CommandWord& word : command_words) names.emplace_back(word.name);
  if (std::ranges::find(names, argv[1]) != names.end()) return {};
  return user_error(fmt::format("there is no command `{}`", argv[1]), suggestion(argv[1], names));
}

}  // namespace

Outcome<ParsedOptions> parse_options(int argc, const char* const* argv) {
  if (const auto known = check_command_word(argc, argv); !known) return tl::make_unexpected(known.error());
  ParsedOptions parsed;
  Raw raw;
  CLI::App app{"runs Hopper kernels on a CPU, bit by bit as the chip does, and on the chip", "palladion"};
  app.set_version_flag("--version", std::string("palladion ") + version);
  app.require_subcommand(1);
  for (const CommandWord& word : command_words)
    add_command(*app.add_subcommand(word.name, word.doc), word.command, parsed.options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    parsed.text = chosen.empty() ? app.help() : chosen.front()->help("palladion");
    return parsed;
  } catch (const CLI::CallForVersion& e) {
    parsed.text = std::string(e.what()) + "\n";
    return parsed;
  } catch (const CLI::ParseError& e) {
    if (argc < 2) return user_error("a command is needed", "`palladion --help` names them");
    return user_error(e.what(), "`palladion --help`, `palladion COMMAND --help`");
  }
  const CLI::App& chosen = *app.get_subcommands().front();
  for (int i = 2; i < argc; ++i) parsed.options.words.emplace_back(argv[i]);
  for (const CommandWord& word : command_words)
    if (chosen.get_name() == word.name) parsed.options.command = word.command;
  const CLI::Option* const arch = chosen.get_option_no_throw("--arch");
  parsed.options.names_arch = arch != nullptr && !arch->empty();
  if (const auto clean = refuse_extras(chosen); !clean) return tl::make_unexpected(clean.error());
  if (const auto taken = take_pairs(parsed.options, raw); !taken) return tl::make_unexpected(taken.error());
  return parsed;
}

}  // namespace palladion::cli
