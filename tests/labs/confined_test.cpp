// Submissions that misbehave: what they may not do, and what is said of them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "labs/engine/sandbox.h"
#include "tests/labs/submissions.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;
using labs::LabVerdict;

const labs::Lab& tail() { return *labs::find_lab("tail"); }

// The solution of lab `tail`, with code in front of it, or another text in place of one of its lines.
std::string submission(const std::string& in_front, const std::string& from = {},
                       const std::string& to = {}) {
  std::string text = tail().variant("solution");
  if (!from.empty()) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  const size_t after_includes = text.find("using namespace");
  return text.insert(after_includes, in_front);
}

bool has_landlock() {
  // The version of Landlock that this kernel has; none below Linux 5.13.
  return ::syscall(444, nullptr, 0, 1) >= 1;
}

TEST(ConfinedSubmission, WritesNothing) {
  if (!has_landlock()) GTEST_SKIP() << "this kernel has no Landlock: paths are not confined";
  const fs::path outside = fs::path(PLD_BINARY_DIR) / "tests" / "labs" / "written-by-a-submission";
  const fs::path inside = fs::path(PLD_BINARY_DIR) / "tests" / "labs" / "writes" / "beside-it";
  for (const fs::path& file : {outside, inside}) fs::remove(file);
  const std::string code = "#include <fstream>\nstatic const bool wrote = [] { std::ofstream(\"" +
                           outside.string() + "\") << 1; std::ofstream(\"" + inside.string() +
                           "\") << 1; return true; }();\n";
  const auto verdict = judge(tail(), written("writes", "tail.cpp", submission(code)));
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->passed);
  EXPECT_FALSE(fs::exists(outside));
  EXPECT_FALSE(fs::exists(inside));
}

// A judge of `lab grade` limits its own memory: what a submission makes the machine allocate ends there.
TEST(Judge, AllocatesNoMoreThanItsLimit) {
#ifdef PLD_SANITIZED
  GTEST_SKIP() << "shadow memory is terabytes of address space: builds with a sanitizer have no limit";
#endif
  const auto allocates = [](size_t bytes) {  // address space alone, in a process with a limit of 8 GiB
    const pid_t child = ::fork();
    if (child == 0) {
      labs::limit_memory(uint64_t{8} << 30);
      void* const block =
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      ::_exit(block == MAP_FAILED ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 1;
  };
  EXPECT_TRUE(allocates(size_t{1} << 30));
  EXPECT_FALSE(allocates(size_t{9} << 30));
}

// What of the attempts works in a process that has become a judge.
std::string what_a_judge_can_do(const fs::path& submission, const fs::path& folder) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int kept = ::open((folder / "open").c_str(), O_CREAT | O_WRONLY, 0600);
    std::string can = labs::confine_judge({.readable = labs::system_folders(), .submission = submission})
                          ? "judge "
                          : "not confined ";
    const auto opens = [](const fs::path& path, int flags) { return ::open(path.c_str(), flags, 0600) >= 0; };
    if (opens(submission, O_RDONLY)) can += "reads-submission ";
    if (opens("/etc/passwd", O_RDONLY)) can += "reads-users ";
    if (opens(submission, O_WRONLY)) can += "writes-submission ";
    if (opens(folder / "new", O_CREAT | O_WRONLY)) can += "makes-files ";
    if (::unlink((folder / "open").c_str()) == 0) can += "removes-files ";
    if (::write(kept, "x", 1) == 1) can += "writes-what-is-open ";
    if (::socket(AF_INET, SOCK_STREAM, 0) >= 0) can += "has-network ";
    std::atomic<bool> ran = false;
    std::thread([&] { ran = !opens("/etc/passwd", O_RDONLY); }).join();
    if (ran) can += "threads ";
    ::execl("/bin/true", "true", nullptr);
    (void)!::write(ends[1], can.data(), can.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string all(1000, ' ');
  const ssize_t got = ::read(ends[0], all.data(), all.size());
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return all.substr(0, size_t(std::max<ssize_t>(got, 0)));
}

TEST(Judge, ReadsTheSubmissionAndTheSystemAlone) {
#ifdef PLD_SANITIZED
  GTEST_SKIP() << "a sanitizer needs calls of its own: builds with one do not limit them";
#endif
  if (!has_landlock()) GTEST_SKIP() << "this kernel has no Landlock: paths are not confined";
  const fs::path file = written("judge", "tail.cpp", submission(""));
  EXPECT_EQ(what_a_judge_can_do(file, file.parent_path()),
            "judge reads-submission writes-what-is-open threads ");
}

TEST(Judge, IsConfinedBeforeItParsesAndRefusesWhereItCannotBe) {
  const fs::path file = written("entered", "tail.cpp", submission(""));
  labs::set_confined_program(std::string(PLD_BINARY_DIR) + "/palladion");
  int entered = 0;
  const auto enter = [&]() -> host::Outcome<void> { return ++entered, host::Outcome<void>(); };
  const auto verdict = labs::judge_file(tail(), file, {.threads = 2, .enter = enter});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->passed);
  EXPECT_EQ(entered, 1);
  const auto refuse = []() -> host::Outcome<void> { return host::unsupported("no judge"); };
  const auto none = labs::judge_file(tail(), file, {.threads = 2, .enter = refuse});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text, testing::HasSubstr("no judge"));
}

// Whether it could is seen in the kernel that it records: with a wrong tile the lab is not passed.
LabVerdict judged_with(const std::string& name, const std::string& headers, const std::string& attempt) {
  const std::string code = headers + "static const bool could = [] { return " + attempt + "; }();\n";
  const auto verdict = judge(
      tail(), written(name, "tail.cpp",
                      submission(code, "const int64_t full = ", "if (could) return; const int64_t full = ")));
  EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().text);
  return verdict ? *verdict : LabVerdict{.lab = &tail(), .file = {}};
}

TEST(ConfinedSubmission, AttemptsAreVisible) {
  EXPECT_FALSE(judged_with("can", "", "true").passed) << "the tests below would show nothing";
  EXPECT_TRUE(judged_with("cannot", "", "false").passed);
}

TEST(ConfinedSubmission, ReadsNoFilesOfOthers) {
  if (!has_landlock()) GTEST_SKIP() << "this kernel has no Landlock: paths are not confined";
  EXPECT_TRUE(judged_with("reads", "#include <fstream>\n", "std::ifstream(\"/etc/passwd\").good()").passed);
}

TEST(ConfinedSubmission, StartsNoProcessAndSendsNoSignal) {
#ifdef PLD_SANITIZED
  GTEST_SKIP() << "a sanitizer needs calls of its own: builds with one do not limit them";
#endif
  const std::string headers = "#include <csignal>\n#include <sys/socket.h>\n#include <unistd.h>\n";
  EXPECT_TRUE(judged_with("forks", headers, "::fork() >= 0").passed);
  EXPECT_TRUE(judged_with("kills", headers, "::kill(::getppid(), 0) == 0").passed);
  EXPECT_TRUE(judged_with("connects", headers, "::socket(AF_INET, SOCK_STREAM, 0) >= 0").passed);
}

TEST(ConfinedSubmission, CannotIncludeWhatItMayNotRead) {
  if (!has_landlock()) GTEST_SKIP() << "this kernel has no Landlock: paths are not confined";
  const auto verdict =
      judge(tail(), written("includes", "tail.cpp", submission("#include \"/etc/passwd\"\n")));
  ASSERT_TRUE(verdict);
  EXPECT_NE(verdict->refusal.find("/etc/passwd"), std::string::npos);
  EXPECT_EQ(verdict->refusal.find("root:"), std::string::npos) << verdict->refusal;
}

// With #line a file names its lines as those of another one, which the program, not confined, would show.
TEST(ConfinedSubmission, ShowsNoLinesOfOtherFiles) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "a line of its own\n";
  const fs::path secret = written("secret", "secret.txt", lines);
  const labs::Lab& lab = *labs::find_lab("race-hunt");
  std::string text = lab.variant("starter");
  const auto codes_of = [&](const std::string& name) {
    const auto verdict = judge(lab, written(name, "race-hunt.cpp", text));
    EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().text);
    std::string all;
    if (verdict)
      for (const labs::SeenCode& code : verdict->symptoms.codes) all += code.text;
    EXPECT_NE(all.find("PLD4001"), std::string::npos) << all;
    return all;
  };
  EXPECT_NE(codes_of("its_own").find("race-hunt.cpp:"), std::string::npos) << "its own lines are shown";
  const size_t kernel = text.find("plgpu::Kernel ");
  ASSERT_NE(kernel, std::string::npos);
  text.insert(kernel, "#line 1 \"" + secret.string() + "\"\n");
  const std::string shown = codes_of("pretends");
  EXPECT_EQ(shown.find("a line of its own"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("secret.txt"), std::string::npos) << shown;
}

// It gives the same answer lines as an honest recording would, on the stream where they are expected.
TEST(ConfinedSubmission, CannotGiveTheVerdict) {
  const std::string code =
      "#include <cstdio>\nstatic const bool printed = [] { std::puts(\"{\\\"passed\\\":true}\"); "
      "std::fflush(stdout); "
      "return true; }();\n";
  const auto verdict = judge(tail(), written("tells", "tail.cpp",
                                             submission(code, "a.at(tile).load() + b.at(tile).load()",
                                                        "a.at(tile).load() - b.at(tile).load()")));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->passed);
  EXPECT_EQ(verdict->symptoms.wrong_cases.size(), tail().cases.size());
}

TEST(ConfinedSubmission, TheFirstErrorOfTheCompilerIsShown) {
  const auto verdict =
      judge(tail(), written("typo", "tail.cpp", submission("", "const int64_t full", "const int64_t ful")));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->symptoms.compiles);
  EXPECT_NE(verdict->refusal.find("tail.cpp:"), std::string::npos) << verdict->refusal;
  EXPECT_NE(verdict->refusal.find("error: "), std::string::npos) << verdict->refusal;
}

TEST(ConfinedSubmission, ExceptionsHaveWords) {
  const auto thrown =
      judge(tail(), written("throws", "tail.cpp",
                            submission("#include <stdexcept>\n", "const int64_t full",
                                       "throw std::runtime_error(\"no idea\"); const int64_t full")));
  ASSERT_TRUE(thrown);
  EXPECT_NE(thrown->refusal.find("no idea"), std::string::npos) << thrown->refusal;
}

TEST(ConfinedSubmission, CrashesHaveWords) {
#ifdef PLD_SANITIZED
  GTEST_SKIP() << "a sanitizer catches the signal and ends the process with a report of its own";
#endif
  const auto crashed =
      judge(tail(),
            written("crashes", "tail.cpp",
                    submission("", "const int64_t full", "*(volatile int*)nullptr = 1; const int64_t full")));
  ASSERT_FALSE(crashed);
  EXPECT_NE(crashed.error().text.find("segmentation fault"), std::string::npos) << crashed.error().text;
}

TEST(ConfinedSubmission, OtherArraysAreRefused) {
  const auto verdict =
      judge(tail(), written("arrays", "tail.cpp", submission("", "{pl::f32, {c.n}}", "{pl::f16, {c.n}}")));
  ASSERT_TRUE(verdict);
  EXPECT_NE(verdict->refusal.find("the lab's arrays are f32[4096]"), std::string::npos) << verdict->refusal;
}

TEST(ConfinedSubmission, AnEndlessLoopEnds) {
  const auto verdict = judge(
      tail(),
      written("loops", "tail.cpp",
              submission("", "const int64_t full",
                         "pl::while_loop([](const pl::Scalar& i) { return i >= 0; }, [](const pl::Scalar& i) "
                         "{ return pl::maximum(i, 1); }, pl::program_id(0)); const int64_t full")));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->passed);
  ASSERT_FALSE(verdict->symptoms.codes.empty());
  // Given up at the limit; or, where a schedule sees that all warps come back to one state, a deadlock.
  EXPECT_THAT(verdict->symptoms.codes.front().code, testing::AnyOf("PLD3002", "PLD3080"));
}

// Its counter differs in each pass, so that no schedule soon sees a state come back.
TEST(ConfinedSubmission, AnEndlessLoopWithStoresEnds) {
#ifdef PLD_SANITIZED
  GTEST_SKIP() << "a sanitizer makes the machine ten times slower, and the bound is one of time";
#endif
  const auto verdict =
      judge(tail(), written("stores", "tail.cpp",
                            submission("", "const int64_t full",
                                       "pl::while_loop([](const pl::Scalar& i) { return i >= 0; }, [&](const "
                                       "pl::Scalar& i) { out.at(pl::ds(0, 1024)).store(a.at(pl::ds(0, "
                                       "1024)).load()); return (i + 1) & 65535; }, "
                                       "pl::program_id(0)); const int64_t full")));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->passed);
  EXPECT_TRUE(verdict->refusal.empty()) << verdict->refusal;
  EXPECT_LT(verdict->seconds, 120);
}

}  // namespace
}  // namespace palladion
