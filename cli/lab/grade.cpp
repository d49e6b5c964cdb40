// `lab grade DIR`: every submission below a folder, each in a process of its own with a time limit.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <csignal>

#include "cli/lab/lab_commands.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "labs/engine/recording.h"
#include "labs/engine/sandbox.h"
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
  const fs::path below = fs::relative(file, root).parent_path();
  std::string student = named_as_lab ? below.string() : file.stem().string();
  if (student.empty() || student == ".") student = "-";
  return {file, &lab, std::move(student)};
}

std::vector<Submission> submissions_in(const fs::path& root, std::vector<fs::path>& others) {
  std::vector<Submission> out;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(root, none)) {
    if (!entry.is_regular_file(none) || entry.path().extension() != ".cpp") continue;
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

// What is known of a submission, also when its process did not come to a verdict.
json::object graded(const Submission& s, const std::string& seconds) {
  const fs::path report = fs::temp_directory_path() / fmt::format("palladion-grade-{}.json", ::getpid());
  const Ended ended = run_quietly({labs::confined_program(), "lab", "grade-one", s.file.string(), s.lab->name,
                                   report.string(), "--seconds", seconds});
  json::object out{{"student", s.student}};
  const auto text = read_text(report, most_of_settings);
  std::error_code none;
  fs::remove(report, none);
  if (text && ended.signal == 0) {
    append(out, json::parse(*text).as_object());
    return out;
  }
  append(out, {{"lab", s.lab->folder}, {"file", s.file.string()}, {"passed", false}});
  const bool late = ended.signal == SIGALRM;
  out.emplace("refused", late ? fmt::format("no verdict after {} seconds", seconds) : ended.output);
  out.emplace("mistake", late ? "time limit" : "no verdict");
  return out;
}

std::string grade_text(const json::object& grade) {
  if (grade.at("passed").as_bool()) return "passed";
  const json::value& mistake = grade.at("mistake");
  return mistake.is_null() ? "not passed"
                           : fmt::format("not passed: {}", std::string_view(mistake.as_string()));
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
      grades.emplace_back(graded(s, std::to_string(request.seconds)));
      const json::object& grade = grades.back().as_object();
      if (grade.at("passed").as_bool()) ++passed;
      progress.pause();
      print_out("  {:<24} {:<24} {}\n", s.student, s.lab->folder, grade_text(grade));
      progress.step();
    }
  }
  for (const fs::path& file : others) print_out("  {}: of no lab\n", file.string());
  print_out("{} submissions, {} passed\n", grades.size(), passed);
  if (!request.json.empty()) {
    const json::object all{{"submissions", grades},
                           {"of_no_lab", array_of(others, [](const fs::path& p) { return p.string(); })}};
    if (const auto written = write_text(request.json, json_text(all)); !written)
      return not_written(written.error());
  }
  return exit_clean;
}

Outcome<ExitCode> lab_grade_one(const LabRequest& request) {
  if (request.args.size() != 3) return user_error("grade-one FILE LAB JSON");
  const labs::Lab* const lab = labs::find_lab(request.args[1]);
  if (lab == nullptr) return user_error(fmt::format("there is no lab `{}`", request.args[1]));
  ::alarm(request.seconds);
  labs::limit_memory(judge_memory);
  const auto verdict = judge(*lab, request.args[0], request);
  if (!verdict) return tl::make_unexpected(verdict.error());
  if (const auto written = write_text(request.args[2], json_text(verdict_json(*verdict))); !written)
    return not_written(written.error());
  return exit_clean;
}

}  // namespace palladion::cli
