#include "cli/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/support/program_name.h"
#include "kernels/frame/registry.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

struct CommandWord {
  Command command;
  const char* name;
  const char* doc;
};

constexpr CommandWord command_words[] = {
    {Command::list, "list",
     "list kernels, architectures, schedules, checks; with a name (h200, matmul_ws) its details"},
    {Command::run, "run", "run a kernel or a PTX file; compare a kernel's outputs with its reference"},
    {Command::sweep, "sweep", "run all combinations of a kernel's settings and rank them by simulated time"},
    {Command::ptx, "ptx", "print the PTX of a kernel"},
    {Command::check, "check",
     "run under several schedules with all checks: races, barriers, memory, numerics"},
    {Command::compare, "compare",
     "run on the machine and on a device and compare: bits, ulps, first mismatch"},
    {Command::explain, "explain",
     "explain a finding code (PLD3001), an instruction (wgmma) or a stall reason"},
    {Command::doctor, "doctor", "show what this host has: processor, device, toolkit"},
    {Command::lab, "lab",
     "learn by exercises: lab list, start LAB [DIR], check, hint, solution, progress, reset LAB, grade DIR"},
    {Command::new_project, "new", "write a project with a kernel of your own, for example my_kernel"},
    {Command::capture, "capture",
     "run another program on a GPU and record its launches as bundles: capture -o DIR -- ./program"},
    {Command::exec, "exec", "run an unmodified CUDA program without a GPU: exec [options] -- ./program args"},
};

template <class T>
struct Number {
  using type = T;
};
template <class T>
struct Number<std::optional<T>> {
  using type = T;
};

constexpr uint64_t any = ~uint64_t{0};
constexpr uint64_t most_threads = 4096, most_seeds = 1'000'000, most_lines = 1'000'000'000,
                   most_repeats = 1'000'000, most_seconds = 86'400;

// The text of options that are taken apart after parsing.
struct Raw {
  std::vector<std::string> shape, set, in, out;
};

// A whole number, refused with the range that is permitted.
template <class T>
CLI::Option* number(CLI::App& app, const std::string& name, T& into, uint64_t low, uint64_t high,
                    const std::string& doc) {
  const auto take = [&into, name, low, high](const CLI::results_t& texts) {
    const auto value = number_in<uint64_t>(texts.front());
    if (value && *value >= low && *value <= high) {
      into = static_cast<typename Number<T>::type>(*value);
      return true;
    }
    throw CLI::ValidationError(
        fmt::format("{} is a whole number from {} to {}, not `{}`", name, low, high, texts.front()));
  };
  return app.add_option(name, CLI::callback_t(take), doc)->type_name("N");
}

void add_subject(CLI::App& app, Options& o, Raw& raw) {
  const auto many = [](CLI::Option* option) { return option->allow_extra_args(false); };
  app.add_option("KERNEL", o.kernel,
                 fmt::format("a name from `{} list`; a file of kernels, add.cpp or add.cpp:NAME; a bundle, "
                             "the folder of a captured "
                             "launch; zoo/NAME is a broken kernel, zoo/NAME:good its correct twin",
                             program_name()));
  many(app.add_option("--shape", raw.shape, "sizes: m=512,n=512"));
  many(app.add_option("--set", raw.set, "settings: tile_m=128,stages=4"));
  number(app, "--seed", o.seed, 0, any, "seed of random inputs");
  many(app.add_option("--in", raw.in, "an input from a file: NAME=file.npy"));
  app.add_option("--arch", o.arch, "chip: h200, h100, b200, b300");
  app.add_option("--ptx", o.ptx, "a PTX file to run instead of a kernel");
  app.add_option("--entry", o.entry, "the .entry of the PTX file, if it has several");
  app.add_option("--grid", o.grid, "CTAs: x,y,z");
  app.add_option("--block", o.block, "threads a CTA: x,y,z");
  app.add_option("--cluster", o.cluster, "CTAs a cluster: x,y,z");
  number(app, "--smem", o.smem, 0, UINT32_MAX, "dynamic shared memory a CTA, bytes");
  many(app.add_option(
      "--arg", o.args,
      "a parameter, in order: i32:5, in:f16[512,256]=randn(7), out:..., tmap:..., a texture or surface: "
      "tex:f32[48,64]=a.npy,filter=linear,address=wrap/clamp, surf:out:f32[48,64]"));
  many(app.add_option("--bind", o.binds,
                      "what a .texref, .surfref or .samplerref variable of the PTX file holds: "
                      "NAME=tex:f32[48,64]=a.npy, NAME=surf:out:f32[64], NAME=sampler:filter=linear"));
}

void add_clock(CLI::App& app, Options& o) {
  app.add_option("--l2", o.l2,
                 "contents of L2 at the start: cold (none), warm (those that a previous run left)");
  app.add_option("--sm-clock", o.sm_clock, "SM clock in MHz (default: the architecture's)");
  app.add_option("--clock", o.clock, "a file of clock parameters instead of the architecture's");
  app.add_option(
      "--registers", o.registers,
      "registers a thread, which limit the CTAs of an SM: estimate (the default: cycles are the same on "
      "every host), ptxas (of the CUDA toolkit on this host), or a number");
}

void add_report(CLI::App& app, Options& o) {
  app.add_option("--report", o.report,
                 "a file for an HTML report: one page that needs no network, with timeline, source, memory, "
                 "findings");
}

void add_fmad(CLI::App& app, Options& o) {
  app.add_option(
      "--fmad", o.fmad,
      "true: `mul` and `add` without a rounding become one fma where ptxas makes one; false: each is "
      "rounded, as after ptxas --fmad=false");
}

void add_run(CLI::App& app, Options& o, Raw& raw) {
  add_subject(app, o, raw);
  app.add_option(
      "--schedule", o.schedule,
      "functional, hardware (with the clock), seeded:N, latest, earliest; then, with commas, what "
      "`check --explore` varies: "
      "resident=N clusters, order=descending, order=random:N, fail_waits=N, elect=N; or lanes=N, the order "
      "of the lanes of an atomic");
  app.add_option("--check", o.check,
                 "all, none, or some of race, barrier, memory, numerics; `check` does all, `run` none");
  app.add_flag("--strict", o.strict, "findings of severity strict count as errors");
  app.add_option("--suppress", o.suppress, "a file of accepted findings: lines `CODE FILE:LINE # reason`");
  number(app, "--limit", o.limit, 1, most_lines,
         "findings printed in full (20); the others are counted by code");
  app.add_option("--sarif", o.sarif, "a file for the findings as SARIF 2.1.0");
  app.add_option("--values", o.values, "full, or none: the clock without the arrays' contents, much faster");
  add_clock(app, o);
  add_fmad(app, o);
  app.add_flag("--why", o.why,
               "find the three changes that would help most: run again with parts of the chip relaxed");
  number(app, "--lines", o.lines, 1, most_lines, "source lines of the time report (10)");
  app.add_option("--out", raw.out, "write an output to a file: NAME=file.npy")->allow_extra_args(false);
  number(app, "--threads", o.threads, 0, most_threads, "host threads; 0: all");
  number(app, "--max-instructions", o.max_instructions, 0, any,
         "give up when a warp has executed N instructions (2^30), or N/16 in a row without a store, a "
         "barrier or a copy; 0: never");
  app.add_option("--json", o.json, "a file for the results as JSON");
  app.add_option("--trace", o.trace,
                 "a file for a timeline; its extension is the format: .pftrace (opens in ui.perfetto.dev), "
                 ".jsonl, .txt; under a schedule without a clock its times are instructions");
  app.add_option(
      "--trace-ctas", o.trace_ctas,
      "CTAs of the timeline of --trace and --report: sm:0 (those that run on SM 0), 0..3 (numbers in the "
      "grid), all");
  app.add_option("--trace-cycles", o.trace_cycles,
                 "cycles of the timeline of --trace and --report: 12000..14000");
  app.add_option(
      "--device-trace", o.device_trace,
      "a file of a device's scopes: `run --on device` writes it, `compare --trace` reads it and needs no "
      "device");
  app.add_option("--trace-limit", o.trace_limit,
                 "bytes of the timeline's file (2 GiB); a longer trace is complete up to that size");
  add_report(app, o);
  app.add_option("--on", o.on, "where to run: sim, device or both");
  number(app, "--repeats", o.repeats, 0, most_repeats, "timed runs on a device; 0: none");
  number(app, "--device-limit", o.device_limit, 1, most_seconds,
         "give up when a run on a device takes longer than N seconds (10)");
  app.add_flag_callback(
      "--no-reference", [&o] { o.reference = false; }, "do not compute the kernel's reference");
}

void add_sweep(CLI::App& app, Options& o, Raw& raw) {
  const auto many = [](CLI::Option* option) { return option->allow_extra_args(false); };
  app.add_option("KERNEL", o.kernel,
                 fmt::format("a name from `{} list`, or a file of kernels, add.cpp", program_name()));
  many(app.add_option("--shape", raw.shape, "sizes: m=4096,n=4096,k=4096"));
  many(
      app.add_option("--set", raw.set, "values to combine: tile_m=128,256 or stages=2..6 or sms=64..128:32"));
  app.add_option("--arch", o.arch, "chip: h200, h100, b200, b300");
  number(app, "--seed", o.seed, 0, any, "seed of random inputs, where the time depends on them");
  add_clock(app, o);
  number(app, "--top", o.top, 0, most_lines, "configurations to list (20); 0: all");
  app.add_option("--json", o.json, "a file for the results as JSON");
  add_report(app, o);
  app.add_option("--state", o.state, "a file that keeps the results; a sweep continues an existing one");
  app.add_option("--resume", o.resume, "continue the sweep of this --state file");
  number(app, "--threads", o.threads, 0, most_threads, "host threads; 0: all");
  number(app, "--max-instructions", o.max_instructions, 0, any,
         "give up a configuration when a warp has executed N instructions (2^30), or N/16 in a row without a "
         "store, a barrier or a copy; 0: never");
}

void add_exec(CLI::App& app, Options& o) {
  app.add_option("--arch", o.arch, "chip: h200, h100, b200, b300");
  app.add_option("--schedule", o.schedule,
                 "functional, hardware (with the clock), seeded:N, latest, earliest");
  app.add_option("--check", o.check, "all, none (the default), or some of race, barrier, memory, numerics");
  number(app, "--threads", o.threads, 0, most_threads, "host threads; 0: all");
  number(app, "--max-instructions", o.max_instructions, 0, any,
         "end a kernel when a warp has executed N instructions (2^30); 0: never");
  add_fmad(app, o);
  app.add_option("--json", o.json, "a file for the table of launches as JSON");
}

void add_capture(CLI::App& app, Options& o) {
  app.add_option("--kernel", o.kernel,
                 "kernels whose name, as it is or demangled, has this regular expression");
  number(app, "--skip", o.skip, 0, any, "launches of each kernel to pass by first (0)");
  number(app, "--launches", o.launches, 1, any, "launches of each kernel to record (1)");
  number(app, "--max-bytes", o.max_bytes, 1, any, "launches that reach more memory are not recorded (4 GiB)");
  app.add_option(
         "--ptx-dir", o.ptx_dirs,
         "a folder with PTX, for programs that load machine code: it is matched by assembling; the dumps of "
         "Triton and XLA are looked through as well")
      ->allow_extra_args(false);
  app.add_flag(
      "--strip", o.strip,
      "put seeds in place of the memory's contents; tables of addresses stay; without a command: of the "
      "bundles in DIR");
  app.add_option("-o,--output", o.output, "the folder that gets a bundle for each launch");
}

void add_command(CLI::App& app, Command command, Options& o, Raw& raw) {
  switch (command) {
    case Command::list:
      app.add_option("NAME", o.topics,
                     fmt::format("whatever `{} list` names, or a file of kernels, add.cpp", program_name()));
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
      number(app, "--seeds", o.seeds, 0, most_seeds,
             "number of random schedules (20); none run if one run decides for all schedules");
      number(app, "--explore", o.explore, 1, any,
             "search all orders of synchronisation, up to N states; vary elected lanes, waits that time "
             "out, resident CTAs and their start order");
      app.add_flag("--mutate", o.mutate,
                   "break one synchronisation instruction at a time, and list the broken programs that the "
                   "checks miss");
      break;
    case Command::ptx:
      add_subject(app, o, raw);
      app.add_option("-o,--output", o.output, "output file (default: standard output)");
      app.add_flag(
          "--lowered", o.lowered,
          "print beside each instruction what ptxas makes of it, as the clock predicts: SASS instructions, "
          "unit, what it folds into, scoreboard; then registers and totals by unit");
      break;
    case Command::explain:
      app.add_option("TOPIC", o.topics, "finding codes, instructions, stall reasons or verbs");
      break;
    case Command::lab:
      app.add_option(
          "WORDS", o.topics,
          "list; start LAB [DIR]: a folder with the text and the file to complete; check [LAB|FILE]: "
          "judge the file here; hint [LAB]: the next one; solution [LAB]; progress; reset LAB; grade "
          "DIR: judge all submissions STUDENT/LAB.cpp below a folder");
      app.add_option("--json", o.json, "a file for the verdict, or the grades, as JSON");
      app.add_option("--report", o.report,
                     "check: a file for an HTML report of the run that the verdict is about");
      number(app, "--seconds", o.seconds, 1, most_seconds, "grade: time limit of a submission (60)");
      number(app, "--threads", o.threads, 0, most_threads, "host threads; 0: all");
      break;
    case Command::exec:
      add_exec(app, o);
      break;
    case Command::new_project:
      app.add_option("NAME", o.topics, "of the project, its folder and its kernel");
      break;
    case Command::capture:
      add_capture(app, o);
      break;
  }
  app.allow_extras();  // named below, with what exists
}

// Commands behind which another program's words may stand, after `--`.
bool has_a_command(std::string_view word) { return word == "capture" || word == "exec" || word == "lab"; }

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? fmt::format("valid names: {}", fmt::join(known, ", "))
                      : fmt::format("did you mean `{}`?", near);
}

Outcome<void> refuse_extras(const CLI::App& app) {
  const auto extras = app.remaining();
  if (extras.empty()) return {};
  const std::string& word = extras.front();
  if (!word.starts_with("-"))
    return user_error(fmt::format("{}: unexpected argument `{}`", app.get_name(), word));
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
      const auto [at, is_new] =
          out.emplace(std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1)));
      if (!is_new) return user_error(fmt::format("{} gives {} more than once", option, at->first));
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
  if (argc > 1 && has_a_command(argv[1])) {
    // Another program's words stand behind --.
    const auto* const end = argv + argc;
    const auto* const dashes = std::find(argv, end, std::string_view("--"));
    for (const auto* word = dashes; word != end; ++word)
      if (word != dashes) parsed.options.command_line.emplace_back(*word);
    argc = static_cast<int>(dashes - argv);
  }
  CLI::App app{"runs Hopper kernels on a CPU, with the same bits as the chip, or on a GPU", program_name()};
  app.set_version_flag("--version", std::string("palladion ") + version);
  app.require_subcommand(1);
  for (const CommandWord& word : command_words)
    add_command(*app.add_subcommand(word.name, word.doc), word.command, parsed.options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    parsed.text = chosen.empty() ? app.help() : chosen.front()->help(program_name());
    return parsed;
  } catch (const CLI::CallForVersion& e) {
    parsed.text = std::string(e.what()) + "\n";
    return parsed;
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string text = e.what(), option = text.substr(0, text.find(':'));
    if (text.find("At Most 1") != std::string::npos)
      return user_error(fmt::format("{} is given more than once", option));
    return user_error(text, fmt::format("`{0} --help`, `{0} COMMAND --help`", program_name()));
  } catch (const CLI::ParseError& e) {
    if (argc < 2)
      return user_error("a command is needed", fmt::format("`{} --help` names them", program_name()));
    return user_error(e.what(), fmt::format("`{0} --help`, `{0} COMMAND --help`", program_name()));
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
