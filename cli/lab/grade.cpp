// `lab grade DIR`: every submission below a folder, each in a process of its own with a time limit.
#include <fmt/format.h>

#include "cli/lab/judge.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/core/visible.h"
#include "isa/host/files.h"
#include "labs/engine/submissions.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

// Why there is no verdict: what the judge says while it works comes before.
std::string reason_in(const std::string& output) {
  const size_t error = output.starts_with("error") ? 0 : output.find("\nerror");
  return error == std::string::npos || error == 0 ? output : output.substr(error + 1);
}

// What is known of a submission, also when its judge did not come to a verdict.
json::object graded(const labs::Submission& s, const LabRequest& request) {
  const Ended ended = labs::run_judge(judge_order(s.file, *s.lab, request));
  json::object out{{"student", s.student}};
  if (const auto answer = answer_in(ended)) {
    append(out, answer->at("verdict").as_object());
    return out;
  }
  append(out, {{"lab", s.lab->folder}, {"file", s.file.string()}, {"passed", false}, {"score", 0.0}});
  const bool late = labs::was_late(ended);
  out.emplace("refused", late ? too_late(request) : reason_in(ended.output));
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
  const labs::Submissions submissions = labs::submissions_in(root);
  json::array grades;
  size_t passed = 0;
  {
    const Polled polls;
    Progress progress("grade", submissions.all.size());
    for (const labs::Submission& s : submissions.all) {
      if (interrupted()) return interruption();
      grades.emplace_back(graded(s, request));
      const json::object& grade = grades.back().as_object();
      if (grade.at("passed").as_bool()) ++passed;
      progress.pause();
      print_out("  {:<24} {:<24} {}\n", one_line(s.student), s.lab->folder, grade_text(grade));
      progress.step();
    }
  }
  for (const fs::path& file : submissions.others) print_out("  {}: of no lab\n", one_line(file.string()));
  print_out("{} submissions, {} passed\n", grades.size(), passed);
  if (!request.json.empty()) {
    const json::object all{
        {"submissions", grades},
        {"of_no_lab", array_of(submissions.others, [](const fs::path& p) { return p.string(); })}};
    if (const auto written = write_text(request.json, json_text(all)); !written)
      return not_written(written.error());
  }
  return exit_clean;
}

}  // namespace palladion::cli
