// `palladion lab` as a learner and a teacher use it.
#include <algorithm>
#include <boost/json/parse.hpp>

#include "labs/lab.h"
#include "tests/cli/program.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

class LabCommands : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    ::setenv("XDG_DATA_HOME", file("data").c_str(), 1);
  }
  std::string starter() const { return file("parity") + "/parity.cpp"; }
  Ran lab(const std::string& words) const { return run("lab " + words); }
  static boost::json::value report_in(const std::string& page) {
    const std::string text = read(page), open = "id=\"data-report\">";
    const size_t from = text.find(open) + open.size();
    return boost::json::parse(text.substr(from, text.find("</script>", from) - from));
  }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
};

TEST_F(LabCommands, EveryLabIsListed) {
  const Ran list = lab("list");
  EXPECT_EQ(list.status, 0) << list.err;
  for (const labs::Lab& one : labs::all_labs())
    EXPECT_NE(list.out.find(one.title), std::string::npos) << one.name;
  EXPECT_GE(labs::all_labs().size(), 24U);
}

TEST_F(LabCommands, FromStartToSolution) {
  EXPECT_EQ(lab("start parity " + file("parity")).status, 0);
  EXPECT_TRUE(fs::exists(file("parity") + "/README.md"));
  EXPECT_EQ(lab("start parity " + file("parity")).status, 2) << "it exists";
  const Ran first = lab("check parity");
  EXPECT_EQ(first.status, 1) << first.err;
  EXPECT_NE(first.out.find("What this means"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("PLD4114"), std::string::npos) << first.out;
  for (const char* hint : {"hint 1 of 3", "hint 2 of 3", "hint 3 of 3", "there are no more hints"})
    EXPECT_NE(lab("hint parity").out.find(hint), std::string::npos) << hint;
  write(starter(), labs::find_lab("parity")->variant("solution"));
  const Ran second = lab("check " + starter());
  EXPECT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_NE(lab("progress").out.find("passed"), std::string::npos);
  EXPECT_NE(lab("solution parity").out.find("wait(full, i % 2);"), std::string::npos);
  EXPECT_EQ(lab("reset parity").status, 0);
  EXPECT_EQ(read(starter()), labs::find_lab("parity")->variant("starter"));
  EXPECT_TRUE(fs::exists(starter() + ".old"));
  EXPECT_NE(lab("progress").out.find("0 of"), std::string::npos);
}

// A learner stands in another folder, or begins again in another place.
TEST_F(LabCommands, SaysWhereTheLabWasBegun) {
  EXPECT_NE(lab("check").err.find("`palladion lab start LAB` makes one"), std::string::npos)
      << lab("check").err;
  EXPECT_EQ(lab("start parity " + file("parity")).status, 0);
  const Ran lost = lab("check");
  EXPECT_EQ(lost.status, 2);
  EXPECT_NE(lost.err.find("Begun: parity in " + file("parity")), std::string::npos) << lost.err;
  const Ran again = lab("start parity " + file("other"));
  EXPECT_EQ(again.status, 0);
  EXPECT_NE(again.out.find("the lab was begun in " + file("parity")), std::string::npos) << again.out;
}

// Of a lab with settings, of one whose arrays have sizes of their own, and of one for Blackwell.
TEST_F(LabCommands, TheReplayOfAFindingRuns) {
  for (const std::string name : {"ring", "tensor-memory"}) {
    EXPECT_EQ(lab("start " + name + " " + file(name)).status, 0);
    const std::string out = lab("check " + name).out, word = "= replay: palladion ";
    const size_t at = out.find(word);
    ASSERT_NE(at, std::string::npos) << out;
    const std::string line = out.substr(at + word.size(), out.find('\n', at) - at - word.size());
    const std::string file_name = name + ".cpp";
    const size_t named = line.find(file_name);
    ASSERT_NE(named, std::string::npos) << line;
    const Ran replay = run(line.substr(0, named) + file(name) + "/" + line.substr(named));
    EXPECT_EQ(replay.status, 1) << line << "\n" << replay.err;
    EXPECT_NE(replay.err.find("error[PLD4"), std::string::npos) << line << "\n" << replay.err;
  }
}

TEST_F(LabCommands, AReportShowsTheRunOfTheVerdict) {
  EXPECT_EQ(lab("start parity " + file("parity")).status, 0);
  const Ran wrong = lab("check parity --report " + file("wrong.html") + " --json " + file("wrong.json"));
  EXPECT_EQ(wrong.status, 1) << wrong.err;
  const auto shown = report_in(file("wrong.html"));
  EXPECT_EQ(shown.at("command").as_string(), "lab check");
  const auto& findings = shown.at("sim").at("findings").as_array();
  EXPECT_TRUE(
      std::ranges::any_of(findings, [](const auto& f) { return f.at("code").as_string() == "PLD4114"; }));
  EXPECT_FALSE(shown.at("reference").as_array().at(0).at("ok").as_bool());
  EXPECT_NE(read(file("wrong.html")).find("wait(full, 0);"), std::string::npos) << "the learner's source";
  write(starter(), labs::find_lab("parity")->variant("solution"));
  EXPECT_EQ(lab("check parity --report " + file("right.html")).status, 0);
  EXPECT_GT(report_in(file("right.html")).at("sim").at("clock").at("cycles").to_number<int64_t>(), 0);
  EXPECT_EQ(lab("hint parity --report " + file("x.html")).status, 2);
}

TEST_F(LabCommands, AReportThatCannotBeWrittenLosesNothingElse) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(lab("start parity " + file("parity")).status, 0);
  write(starter(), "#error \"not yet\"\n");
  EXPECT_EQ(lab("check parity --report " + file("none.html")).status, 74) << "there is no kernel to show";
  write(starter(), labs::find_lab("parity")->variant("solution"));
  const Ran full = lab("check parity --report /dev/full --json " + file("r.json"));
  EXPECT_EQ(full.status, 74);
  EXPECT_NE(full.out.find("passed"), std::string::npos) << full.out;
  EXPECT_TRUE(boost::json::parse(read(file("r.json"))).at("passed").as_bool());
  EXPECT_NE(lab("progress").out.find("1 of"), std::string::npos);
  const Ran missing = lab("check parity --report " + file("no/such/folder.html"));
  EXPECT_EQ(missing.status, 2) << "seen before anything runs";
}

// A hint that begins with code keeps its indentation.
TEST_F(LabCommands, CodeInHintsIsIndented) {
  EXPECT_TRUE(labs::find_lab("tail")->hints[2].starts_with("    const int64_t full"));
}

TEST_F(LabCommands, AfterTheSolutionItIsSaid) {
  EXPECT_EQ(lab("start tail " + file("tail")).status, 0);
  EXPECT_EQ(lab("solution tail").status, 0);
  write(file("tail") + "/tail.cpp", labs::find_lab("tail")->variant("solution"));
  EXPECT_EQ(lab("check tail").status, 0);
  EXPECT_NE(lab("progress").out.find("passed, after the solution"), std::string::npos);
}

// A file's only kernel is the submission; of several, the lab's name decides.
TEST_F(LabCommands, AKernelMayHaveAnotherName) {
  std::string text = labs::find_lab("tail")->variant("solution");
  const std::string name = "Spec(\"tail\"";
  ASSERT_NE(text.find(name), std::string::npos) << text;
  text.replace(text.find(name), name.size(), "Spec(\"mine\"");
  write(file("tail") + "/tail.cpp", text);
  const Ran renamed = lab("check " + file("tail") + "/tail.cpp");
  EXPECT_EQ(renamed.status, 0) << renamed.out << renamed.err;
  const std::string two =
      "#include <palladion/program.h>\nusing namespace palladion::program;\n"
      "struct C { int64_t n = 32; };\nplgpu::Kernel k(const C&);\n"
      "PALLADION_KERNELS(Spec(\"one\", \"\", k).size(\"n\", &C::n, \"\"), Spec(\"two\", \"\", k).size(\"n\", "
      "&C::n, \"\"));\nplgpu::Kernel k(const C&) { return {}; }\n";
  write(file("tail") + "/tail.cpp", two);
  const Ran several = lab("check " + file("tail") + "/tail.cpp");
  EXPECT_EQ(several.status, 1);
  EXPECT_NE(several.out.find("the file has 2 kernels, `one`, `two`, and none is called `tail`"),
            std::string::npos)
      << several.out << several.err;
}

// What is right and not yet fast enough has a share of the way.
TEST_F(LabCommands, AMeasureThatIsMissedHasAShare) {
  const labs::Measure& goal = labs::find_lab("capstone")->measures.at(0);
  EXPECT_EQ(goal.share(29000), 1);
  EXPECT_EQ(goal.share(34000), 0.5);
  EXPECT_EQ(goal.share(50000), 0);
  write(file("class") + "/capstone/dave.cpp", labs::find_lab("capstone")->variant("small-tile"));
  const Ran graded = lab("grade " + file("class") + " --json " + file("grades.json"));
  EXPECT_EQ(graded.status, 0) << graded.err;
  const auto grade = boost::json::parse(read(file("grades.json"))).at("submissions").at(0);
  EXPECT_FALSE(grade.at("passed").as_bool());
  EXPECT_GT(grade.at("score").as_double(), 0);
  EXPECT_LT(grade.at("score").as_double(), 1);
  EXPECT_NE(graded.out.find("not passed ("), std::string::npos) << graded.out;
}

TEST_F(LabCommands, APackHasNoSolutions) {
  const Ran packed = lab("pack " + file("course"));
  EXPECT_EQ(packed.status, 0) << packed.err;
  EXPECT_EQ(lab("pack " + file("course")).status, 2) << "it exists";
  const std::string order = read(file("course") + "/SYLLABUS.md");
  for (const labs::Lab& one : labs::all_labs()) {
    EXPECT_NE(order.find(one.title), std::string::npos) << one.name;
    const std::string kernel = read(file("course") + "/" + one.folder + "/kernel.cc");
    EXPECT_EQ(kernel, one.variant("starter"));
    EXPECT_EQ(read(file("course") + "/" + one.folder + "/rules.txt").find("== solution"), std::string::npos);
  }
  ::setenv("PALLADION_LABS", file("course").c_str(), 1);
  const Ran asked = lab("solution parity");
  EXPECT_EQ(asked.status, 2);
  EXPECT_NE(asked.err.find("it was left out for learners"), std::string::npos) << asked.err;
  EXPECT_EQ(lab("start parity " + file("parity")).status, 0);
  const Ran first = lab("check parity");
  EXPECT_EQ(first.status, 1) << first.err;
  EXPECT_NE(first.out.find("What this means"), std::string::npos) << first.out;
  ::unsetenv("PALLADION_LABS");
}

TEST_F(LabCommands, AClassIsGraded) {
  const labs::Lab& tail = *labs::find_lab("tail");
  write(file("class") + "/alice/tail.cpp", tail.variant("solution"));
  write(file("class") + "/tail/bob.cpp", tail.variant("over"));
  write(file("class") + "/carol/tail.cpp", "int main() { return 0 }\n");
  write(file("class") + "/notes.cpp", "// nothing\n");
  const Ran graded = lab("grade " + file("class") + " --json " + file("grades.json"));
  EXPECT_EQ(graded.status, 0) << graded.err;
  const auto grades = boost::json::parse(read(file("grades.json"))).as_object();
  const auto& all = grades.at("submissions").as_array();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].at("student").as_string(), "alice");
  EXPECT_TRUE(all[0].at("passed").as_bool());
  EXPECT_EQ(all[1].at("student").as_string(), "bob");
  EXPECT_EQ(all[1].at("mistake").as_string(), "over");
  EXPECT_EQ(all[2].at("student").as_string(), "carol");
  EXPECT_FALSE(all[2].at("passed").as_bool());
  EXPECT_NE(std::string(all[2].at("refused").as_string()).find("error: expected"), std::string::npos);
  EXPECT_EQ(grades.at("of_no_lab").as_array().size(), 1U);
}

// It computes for ever while it is recorded.
TEST_F(LabCommands, ASubmissionThatTakesTooLongHasNoVerdict) {
  write(file("slow") + "/dave/tail.cpp",
        "#include <palladion/program.h>\nstatic const int never = [] { for (volatile int i = 0;; i = i + 1) "
        "{} return 0; "
        "}();\n");
  const Ran graded = lab("grade " + file("slow") + " --seconds 15");
  EXPECT_NE(graded.out.find("time limit"), std::string::npos) << graded.out;
}

TEST_F(LabCommands, ATeachersLabIsReadFromAFolder) {
  const std::string own = file("own") + "/01-mine";
  for (const char* name : {"README.md", "rules.txt", "kernel.cc"})
    write(own + "/" + name, read(std::string(PLD_SOURCE_DIR) + "/labs/01-tail/" + name));
  ::setenv("PALLADION_LABS", file("own").c_str(), 1);
  EXPECT_NE(lab("list").out.find("01 mine"), std::string::npos);
  write(own + "/rules.txt", "title x\nunknown y\n");
  const Ran broken = lab("list");
  ::unsetenv("PALLADION_LABS");
  EXPECT_EQ(broken.status, 2);
  EXPECT_NE(broken.err.find("labs/01-mine/rules.txt:2: unknown key `unknown`"), std::string::npos)
      << broken.err;
}

}  // namespace
}  // namespace palladion::cli
