// `lab grade DIR`: every submission below a folder, each in a process of its own with a time limit.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <csignal>
#include <optional>

#include "cli/execute/execute.h"
#include "cli/lab/lab_commands.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/core/visible.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "labs/engine/recording.h"
#include "labs/engine/supervisor.h"
#include "report/lab/verdict_text.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t judge_memory = uint64_t{8} << 30;  // bytes: of a submission's judge and its machine

struct Submission {
  fs::path file;
  const labs::Lab* lab;
  std::string student;
};

// STUDENT/parity.cpp, or parity/STUDENT.cpp, at any depth.
Submission submission_of(const fs::path& file, const fs::path& root, const labs::Lab& lab) {
  const bool named_as_lab = file.stem() == lab.name;
  const fs::path below = file.lexically_relative(root).parent_path();  // of a link, where it lies
  std::string student = named_as_lab ? below.string() : file.stem().string();
  if (student.empty() || student == ".") student = "-";
  return {file, &lab, std::move(student)};
}

std::vector<Submission> submissions_in(const fs::path& root, std::vector<fs::path>& others) {
  std::vector<Submission> out;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(root, none)) {
    if (entry.is_directory(none) || entry.path().extension() != ".cpp")
      continue;  // links are refused by name
    if (const labs::Lab* lab = lab_of_file(entry.path()))
      out.push_back(submission_of(entry.path(), root, *lab));
    else
      others.push_back(entry.path());
  }
  std::ranges::sort(out, {},
                    [](const Submission& s) { return std::tuple(s.student, s.lab->folder, s.file); });
  std::ranges::sort(others);
  return out;
}

// The judge of a submission. Its temporary files are in a folder that ends with this scope, or with the
// judge.
Ended judged(const Submission& s, const LabRequest& request) {
  const TemporaryFolder temporary;
  std::vector<std::string> words = {labs::confined_program(), "lab", "grade-one"};
  const labs::Orders orders{::getpid(), temporary.path(), request.unconfined};
  for (const std::string& word : orders.words()) words.push_back(word);
  for (const std::string& word :
       {s.file.string(), s.lab->name, std::string("--seconds"), std::to_string(request.seconds),
        std::string("--threads"), std::to_string(host_threads(request.threads))})
    words.push_back(word);
  return run_quietly(
      words, {.ended_by = SIGTERM, .environment = environment_with({{"TMPDIR", temporary.path().string()}})});
}

// The last line of the judge's output: what it says while it works comes before.
std::optional<json::object> verdict_in(const Ended& ended) {
  if (ended.code != 0) return std::nullopt;
  const std::string_view text =
      std::string_view(ended.output).substr(0, ended.output.find_last_not_of('\n') + 1);
  boost::system::error_code failed;
  const json::value all = json::parse(text.substr(text.rfind('\n') + 1), failed);
  return failed || !all.is_object() ? std::nullopt : std::optional(all.as_object());
}

// Why there is no verdict: what the judge says while it works comes before.
std::string reason_in(const std::string& output) {
  const size_t error = output.starts_with("error") ? 0 : output.find("\nerror");
  return error == std::string::npos || error == 0 ? output : output.substr(error + 1);
}

// What is known of a submission, also when its judge did not come to a verdict.
json::object graded(const Submission& s, const LabRequest& request) {
  const Ended ended = judged(s, request);
  json::object out{{"student", s.student}};
  if (const auto verdict = verdict_in(ended)) {
    append(out, *verdict);
    return out;
  }
  append(out, {{"lab", s.lab->folder}, {"file", s.file.string()}, {"passed", false}, {"score", 0.0}});
  const bool late = ended.signal == SIGALRM || ended.signal == SIGXCPU;
  out.emplace("refused", late ? fmt::format("no verdict within the limit of {} seconds", request.seconds)
                              : reason_in(ended.output));
  out.emplace("mistake", late ? "time limit" : "no verdict");
  return out;
}

// A name of a student's choice is shown in one line.
std::string one_line(std::string_view text) {
  std::string out = isa::visible(text);
  for (size_t at = 0; (at = out.find('\n', at)) != std::string::npos;) out.replace(at, 1, "\\n");
  return out;
}

std::string grade_text(const json::object& grade) {
  if (grade.at("passed").as_bool()) return "passed";
  const double score = grade.at("score").to_number<double>();
  const std::string verdict = score > 0 ? fmt::format("not passed ({:.0f} %)", 100 * score) : "not passed";
  const json::value& mistake = grade.at("mistake");
  if (mistake.is_null()) return verdict;
  std::string out = fmt::format("{}: {}", verdict, std::string_view(mistake.as_string()));
  if (mistake != "no verdict") return out;
  const std::string_view why = grade.at("refused").as_string();
  return fmt::format("{}: {}", out, one_line(why.substr(0, why.find('\n'))));
}

}  // namespace

Outcome<ExitCode> lab_grade(const LabRequest& request) {
  if (request.args.size() != 1)
    return user_error(
        fmt::format("`{} lab grade` takes a folder of submissions", program_name()),
        "STUDENT/parity.cpp or parity/STUDENT.cpp: a file is named as its lab, or its folder is");
  const fs::path root = request.args[0];
  std::error_code none;
  if (!fs::is_directory(root, none)) return user_error(fmt::format("{} is no folder", root.string()));
  std::vector<fs::path> others;
  const auto submissions = submissions_in(root, others);
  json::array grades;
  size_t passed = 0;
  {
    const Polled polls;
    Progress progress("grade", submissions.size());
    for (const Submission& s : submissions) {
      if (interrupted()) return interruption();
      grades.emplace_back(graded(s, request));
      const json::object& grade = grades.back().as_object();
      if (grade.at("passed").as_bool()) ++passed;
      progress.pause();
      print_out("  {:<24} {:<24} {}\n", one_line(s.student), s.lab->folder, grade_text(grade));
      progress.step();
    }
  }
  for (const fs::path& file : others) print_out("  {}: of no lab\n", one_line(file.string()));
  print_out("{} submissions, {} passed\n", grades.size(), passed);
  if (!request.json.empty()) {
    const json::object all{{"submissions", grades},
                           {"of_no_lab", array_of(others, [](const fs::path& p) { return p.string(); })}};
    if (const auto written = write_text(request.json, json_text(all)); !written)
      return not_written(written.error());
  }
  return exit_clean;
}

Outcome<ExitCode> lab_grade_one(LabRequest request) {
  const labs::Orders orders = labs::take_orders(request.args);
  if (request.args.size() != 2) return user_error("grade-one ORDERS FILE LAB");
  const labs::Lab* const lab = labs::find_lab(request.args[1]);
  if (lab == nullptr) return user_error(fmt::format("there is no lab `{}`", request.args[1]));
  const labs::Limits limits{.cpu_seconds = request.seconds * request.threads,
                            .wall_seconds = 3 * request.seconds,
                            .memory = judge_memory,
                            .is_ours = true};
  labs::supervise(orders, limits);
  labs::limit_resources(limits);
  request.unconfined = orders.unconfined;
  const auto enter = [&]() -> Outcome<void> {
    const labs::Limits reads{.readable = labs::system_folders(), .submission = request.args[0]};
    if (labs::confine_judge(reads) || request.unconfined) return {};
    return unsupported("the judge is not confined: this kernel offers no Landlock, or no seccomp",
                       "--unconfined insists");
  };
  const auto verdict = judge(*lab, request.args[0], request, enter);
  if (!verdict) return tl::make_unexpected(verdict.error());
  write_out(json_line(verdict_json(*verdict)) + "\n");
  return exit_clean;
}

}  // namespace palladion::cli
