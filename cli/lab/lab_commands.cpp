#include "cli/lab/lab_commands.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "cli/execute/execute.h"
#include "cli/lab/judge.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/host/files.h"
#include "labs/engine/progress.h"
#include "labs/engine/submissions.h"
#include "labs/pack.h"
#include "report/text/markdown.h"
#include "report/text/row.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;
using labs::Lab;

std::string command(std::string_view rest) { return fmt::format("{} lab {}", program_name(), rest); }

Outcome<const Lab*> lab_named(const std::string& word) {
  if (const Lab* lab = labs::find_lab(word)) return lab;
  std::vector<std::string> names;
  for (const Lab& lab : labs::all_labs()) names.push_back(lab.name);
  const std::string near = nearest(word, names);
  return user_error(fmt::format("there is no lab `{}`", word),
                    near.empty() ? command("list") + " names them" : fmt::format("did you mean `{}`?", near));
}

struct Target {
  const Lab* lab;
  fs::path file;
};

// The labs' files in a folder.
std::vector<Target> targets_in(const fs::path& folder) {
  std::vector<Target> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".cpp")
      if (const Lab* lab = labs::find_lab(entry.path().stem().string());
          lab != nullptr && lab->name == entry.path().stem())
        out.push_back({lab, entry.path().lexically_normal()});
  return out;
}

// For somebody who stands in another folder: the labs that are begun and not passed.
std::string where_a_lab_is() {
  std::vector<std::string> begun;
  if (const auto progress = labs::ProgressFile::read())
    for (const Lab& lab : labs::all_labs())
      if (const labs::LabProgress p = progress->of(lab); !p.folder.empty() && p.passed.empty())
        begun.push_back(fmt::format("{} in {}", lab.name, p.folder));
  if (begun.empty())
    return fmt::format("`{}` makes one, `{}` shows which there are", command("start LAB"), command("list"));
  return fmt::format("go to its folder, or name the lab: `{}`. Begun: {}", command("check LAB"),
                     fmt::join(begun, "; "));
}

Outcome<Target> only_target_in(const fs::path& folder) {
  const auto found = targets_in(folder);
  if (found.size() == 1) return found.front();
  const std::string place = folder == "." ? "this folder" : folder.string();
  if (found.empty()) return user_error(fmt::format("{} has no lab's file", place), where_a_lab_is());
  std::vector<std::string> names;
  for (const Target& t : found) names.push_back(t.file.filename().string());
  return user_error(fmt::format("{} has several labs: {}", place, fmt::join(names, ", ")), "name one");
}

// `lab check`, `lab check parity`, `lab check parity.cpp`, `lab check 05-parity`
Outcome<Target> target_of(const LabRequest& request) {
  if (request.args.empty()) return only_target_in(".");
  const std::string& word = request.args[0];
  std::error_code none;
  if (fs::is_regular_file(word, none)) {
    if (const Lab* lab = labs::lab_of_file(word)) return Target{lab, word};
    return user_error(fmt::format("{} is of no lab", word), "its name is that of its lab: parity.cpp");
  }
  if (fs::is_directory(word, none) && !targets_in(word).empty()) return only_target_in(word);
  const auto lab = lab_named(word);
  if (!lab) return tl::make_unexpected(lab.error());
  for (const Target& here : targets_in("."))
    if (here.lab == *lab) return here;
  const auto progress = labs::ProgressFile::read();
  if (!progress) return tl::make_unexpected(progress.error());
  const std::string folder = progress->of(**lab).folder;
  if (folder.empty())
    return user_error(fmt::format("lab {} has not been started", (*lab)->name),
                      command("start " + (*lab)->name));
  return Target{*lab, fs::path(folder) / ((*lab)->name + ".cpp")};
}

// The lab that is meant, without a file.
Outcome<const Lab*> lab_meant(const LabRequest& request) {
  if (!request.args.empty()) {
    if (const Lab* lab = labs::lab_of_file(request.args[0])) return lab;
    return lab_named(request.args[0]);
  }
  const auto target = only_target_in(".");
  if (!target) return tl::make_unexpected(target.error());
  return target->lab;
}

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%d}", fmt::localtime(now));
}

Outcome<void> write_starter(const Lab& lab, const fs::path& file) {
  if (const auto written = write_text(file, lab.variant("starter")); !written)
    return user_error(written.error());
  return {};
}

void print_next(const Lab& lab, bool passed, const labs::ProgressFile& progress) {
  if (!passed) {
    const uint64_t seen = progress.of(lab).hints;
    if (seen < lab.hints.size())
      print_out(row(
          "next", fmt::format("{}: hint {} of {}", command("hint " + lab.name), seen + 1, lab.hints.size())));
    else if (!lab.solution.empty())
      print_out(row("next", command("solution " + lab.name)));
    return;
  }
  if (!lab.solution.empty())
    print_out(row("why", command("solution " + lab.name) + ": a solution with its explanation"));
  const Lab* next = progress.next(lab);
  print_out(row(
      "next", next != nullptr ? command("start " + next->name) + ": " + next->title : "all labs are passed"));
}

}  // namespace

Outcome<ExitCode> lab_list() {
  const auto progress = labs::ProgressFile::read();
  if (!progress) return tl::make_unexpected(progress.error());
  const bool color = wants_color(stdout);
  std::string group;
  for (const Lab& lab : labs::all_labs()) {
    if (lab.group != group) print_out("{}\n", paint(lab.group, Style::bold, color));
    group = lab.group;
    const std::string state = progress->of(lab).state();
    print_out("  {} {:<20} {:>3} min  {}{}\n", labs::number_of(lab), lab.name, lab.minutes, lab.title,
              state.empty() ? "" : "  " + paint("[" + state + "]", Style::green, color));
  }
  print_out("\n{} begins one in a folder of its own; {} there judges your file; {} and {} help\n",
            command("start LAB"), command("check"), command("hint"), command("solution"));
  return exit_clean;
}

Outcome<ExitCode> lab_start(const LabRequest& request) {
  if (request.args.empty())
    return user_error(fmt::format("`{}` takes a lab, and a folder if you like", command("start")),
                      command("list") + " names them");
  const auto lab = lab_named(request.args[0]);
  if (!lab) return tl::make_unexpected(lab.error());
  auto progress = labs::ProgressFile::read();
  if (!progress) return tl::make_unexpected(progress.error());
  const fs::path folder = request.args.size() > 1 ? request.args[1] : (*lab)->folder;
  const fs::path file = folder / ((*lab)->name + ".cpp");
  std::error_code failed;
  if (fs::exists(file, failed))
    return user_error(fmt::format("{} exists", file.string()),
                      fmt::format("`{}` puts the starter back and keeps your file beside it",
                                  command("reset " + (*lab)->name)));
  fs::create_directories(folder, failed);
  if (failed)
    return user_error(fmt::format("the folder {} cannot be made: {}", folder.string(), failed.message()));
  if (const auto written = write_starter(**lab, file); !written) return tl::make_unexpected(written.error());
  if (const auto written = write_text(folder / "README.md", (*lab)->text); !written)
    return user_error(written.error());
  const std::string before = progress->of(**lab).folder;
  progress->of(**lab).folder = fs::absolute(folder, failed).lexically_normal().string();
  if (const auto kept = progress->write(); !kept) return tl::make_unexpected(kept.error());
  print_out(paragraphs((*lab)->text, wants_color(stdout)) + "\n\n");
  if (!before.empty() && before != progress->of(**lab).folder && fs::is_directory(before, failed))
    print_out(row("before", fmt::format("the lab was begun in {}; `{}` means the new file now", before,
                                        command("check " + (*lab)->name))));
  print_out(row("file", file.string() + ", with the text above in README.md beside it"));
  print_out(row("next", fmt::format("edit the file, then: cd {} && {}", folder.string(), command("check"))));
  return exit_clean;
}

namespace {

// Why there is no verdict: the judge has said it, or could not.
Outcome<ExitCode> no_verdict(const Ended& judge, const LabRequest& request) {
  if (labs::was_late(judge)) return user_error(too_late(request), "--seconds N is another limit");
  if (judge.code > 0) return static_cast<ExitCode>(judge.code);
  return user_error(fmt::format("the judge ended without an answer, by signal {}", judge.signal));
}

Outcome<void> write_lab_page(const json::object& answer, const std::string& file) {
  if (file.empty()) return {};
  const auto failed = [](std::string text) {
    return tl::make_unexpected(Failure{Failure::Kind::not_written, std::move(text)});
  };
  if (const json::value* why = answer.if_contains("no_page")) return failed(std::string(why->as_string()));
  const auto written = write_text(file, answer.at("page").as_string());
  return written ? Outcome<void>{} : not_written(written.error());
}

}  // namespace

Outcome<ExitCode> lab_check(const LabRequest& request) {
  const auto target = target_of(request);
  if (!target) return tl::make_unexpected(target.error());
  labs::JudgeOrder order = judge_order(target->file, *target->lab, request);
  order.passes_errors = true;
  order.options = {"--color", wants_color(stdout) ? "always" : "never"};
  if (!request.report.empty()) order.options.insert(order.options.end(), {"--report", request.report});
  const Ended ended = labs::run_judge(order);
  const auto answer = answer_in(ended);
  if (!answer) return no_verdict(ended, request);
  const json::object& verdict = answer->at("verdict").as_object();
  const bool passed = verdict.at("passed").as_bool();
  auto progress = labs::ProgressFile::read();
  if (!progress) return tl::make_unexpected(progress.error());
  labs::LabProgress& own = progress->of(*target->lab);
  ++own.checks;
  if (passed && own.passed.empty()) {
    own.passed = today();
    own.passed_alone = !own.solution_seen;
  }
  if (const auto kept = progress->write(); !kept) return tl::make_unexpected(kept.error());
  print_out(std::string_view(answer->at("text").as_string()));
  print_next(*target->lab, passed, *progress);
  Deliveries deliveries;
  deliveries.take(write_if_named(request.json, [&] { return json_text(verdict); }));
  deliveries.take_page(write_lab_page(*answer, request.report), request.report);
  return deliveries.code(passed ? exit_clean : exit_findings);
}

Outcome<ExitCode> lab_hint(const LabRequest& request) {
  const auto lab = lab_meant(request);
  if (!lab) return tl::make_unexpected(lab.error());
  auto progress = labs::ProgressFile::read();
  if (!progress) return tl::make_unexpected(progress.error());
  const auto& hints = (*lab)->hints;
  uint64_t& seen = progress->of(**lab).hints;
  const bool color = wants_color(stdout);
  const bool more = seen < hints.size();
  if (more) ++seen;
  for (size_t i = 0; i < seen; ++i)
    print_out("{}\n{}\n\n", paint(fmt::format("hint {} of {}", i + 1, hints.size()), Style::bold, color),
              paragraphs(hints[i], color));
  if (!more)
    print_out("there are no more hints{}\n",
              (*lab)->solution.empty() ? "" : ": " + command("solution " + (*lab)->name));
  if (const auto kept = progress->write(); !kept) return tl::make_unexpected(kept.error());
  return exit_clean;
}

Outcome<ExitCode> lab_solution(const LabRequest& request) {
  const auto lab = lab_meant(request);
  if (!lab) return tl::make_unexpected(lab.error());
  auto progress = labs::ProgressFile::read();
  if (!progress) return tl::make_unexpected(progress.error());
  if ((*lab)->solution.empty())
    return user_error(fmt::format("lab {} has no solution here: it was left out for learners", (*lab)->name),
                      fmt::format("`{}` gives a hint", command("hint " + (*lab)->name)));
  progress->of(**lab).solution_seen = true;
  if (const auto kept = progress->write(); !kept) return tl::make_unexpected(kept.error());
  print_out("{}\n{}\n", (*lab)->variant("solution"), paragraphs((*lab)->solution, wants_color(stdout)));
  return exit_clean;
}

Outcome<ExitCode> lab_progress() {
  const auto progress = labs::ProgressFile::read();
  if (!progress) return tl::make_unexpected(progress.error());
  size_t passed = 0;
  const Lab* last = &labs::all_labs().back();  // that is passed
  for (const Lab& lab : labs::all_labs()) {
    const labs::LabProgress p = progress->of(lab);
    if (!p.passed.empty()) ++passed, last = &lab;
    if (p.state().empty()) continue;
    print_out("  {} {:<20} {:<27} {} check{}, {} hint{}{}{}\n", labs::number_of(lab), lab.name, p.state(),
              p.checks, p.checks == 1 ? "" : "s", p.hints, p.hints == 1 ? "" : "s",
              p.passed.empty() ? "" : ", " + p.passed, p.folder.empty() ? "" : ", " + p.folder);
  }
  print_out("{} of {} labs passed\n", passed, labs::all_labs().size());
  if (const Lab* next = progress->next(*last))
    print_out(row(
        "next", fmt::format("{}: {}",
                            command((progress->of(*next).folder.empty() ? "start " : "check ") + next->name),
                            next->title)));
  return exit_clean;
}

Outcome<ExitCode> lab_reset(const LabRequest& request) {
  if (request.args.size() != 1) return user_error(fmt::format("`{}` takes a lab", command("reset")));
  const auto lab = lab_named(request.args[0]);
  if (!lab) return tl::make_unexpected(lab.error());
  auto progress = labs::ProgressFile::read();
  if (!progress) return tl::make_unexpected(progress.error());
  const std::string folder = progress->of(**lab).folder;
  progress->forget(**lab);
  std::error_code failed;
  if (!folder.empty() && fs::is_directory(folder, failed)) {
    const fs::path file = fs::path(folder) / ((*lab)->name + ".cpp"), old = file.string() + ".old";
    if (fs::exists(file, failed)) {
      fs::rename(file, old, failed);
      if (failed) return user_error(fmt::format("{}: {}", old.string(), failed.message()));
      print_out("your file is now {}\n", old.string());
    }
    if (const auto written = write_starter(**lab, file); !written)
      return tl::make_unexpected(written.error());
    print_out("{} is the starter again\n", file.string());
    progress->of(**lab).folder = folder;
  }
  if (const auto kept = progress->write(); !kept) return tl::make_unexpected(kept.error());
  print_out("checks and hints of lab {} are forgotten\n", (*lab)->name);
  return exit_clean;
}

Outcome<ExitCode> lab_pack(const LabRequest& request) {
  if (request.args.size() != 1) return user_error(fmt::format("`{}` takes a new folder", command("pack")));
  const fs::path folder = request.args[0];
  std::error_code failed;
  if (fs::exists(folder, failed)) return user_error(fmt::format("{} exists", folder.string()));
  std::map<fs::path, std::string> texts = {{folder / "SYLLABUS.md", labs::syllabus(labs::all_labs())}};
  for (const Lab& lab : labs::all_labs())
    for (const auto& [name, text] : labs::without_solution(lab)) texts[folder / lab.folder / name] = text;
  for (const auto& [file, text] : texts) {
    fs::create_directories(file.parent_path(), failed);
    if (const auto written = write_text(file, text); !written) return user_error(written.error());
  }
  print_out(row("labs", fmt::format("{}, in {}", labs::all_labs().size(), folder.string())));
  print_out(row("order", (folder / "SYLLABUS.md").string()));
  print_out(row("next", fmt::format("PALLADION_LABS={} {}", folder.string(), command("list"))));
  return exit_clean;
}

Outcome<ExitCode> lab_variants(const LabRequest& request) {
  if (request.args.empty())
    return user_error(fmt::format("`{}` takes a lab, and a folder if you like", command("variants")));
  const auto lab = lab_named(request.args[0]);
  if (!lab) return tl::make_unexpected(lab.error());
  const fs::path folder =
      (request.args.size() > 1 ? fs::path(request.args[1]) : fs::path(".")) / (*lab)->name;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if ((*lab)->solution.empty())
    return user_error(
        fmt::format("lab {} has no variants here: they were left out for learners", (*lab)->name));
  std::vector<std::string> names = {"solution"};
  for (const labs::Reply& reply : (*lab)->replies)
    if (!reply.name.empty()) names.push_back(reply.name);
  for (const std::string& name : names) {
    const fs::path file = folder / (name + ".cpp");
    if (const auto written = write_text(file, (*lab)->variant(name)); !written)
      return user_error(written.error());
    print_out("wrote {}\n", file.string());
  }
  return exit_clean;
}

}  // namespace palladion::cli
