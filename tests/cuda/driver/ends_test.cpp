// However a program ends, `palladion exec` has its report and its exit code.
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/cuda/driver/exec_program.h"

namespace {

using namespace palladion::cuda::driver;

std::string contents(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// `late` are the kernels that are launched behind the first one, once each.
struct Way {
  const char* name;
  int code;
  std::vector<const char*> late = {};
};
const Way ways[] = {
    {"return", 0},
    {"return_code", 5},
    {"exit", 4},
    {"underscore_exit", 4},
    {"underscore_exit_0", 0},
    {"quick_exit", 4},
    {"quick_exit_0", 0},
    {"at_quick_exit", 0, {"late"}},
    {"abort", 128 + SIGABRT},
    {"exception", 128 + SIGABRT},
    {"atexit", 0, {"late"}},
    {"atexit_multiplies", 0, {"product"}},
    {"global_destructor", 0, {"late"}},
    {"library_destructor", 0, {"late"}},
    {"pthread_exit", 0, {"late"}},
    {"host_function", 4},
    {"device_reset", 0},
    {"exec_true", 0},
    {"exec_false", 1},
    {"exec_itself", 4, {"second_image"}},
    {"fork", 6},
    {"fork_child_exits", 6},
    {"fork_child_is_another", 4, {"second_image"}},
    {"fork_first", 0, {"second_image"}},
    {"closed_files", 4, {"late"}},
    {"other_files", 4, {"late"}},
    {"segv", 128 + SIGSEGV},
    {"kill", 128 + SIGKILL},
    {"term", 128 + SIGTERM},
    {"int", 128 + SIGINT},
    {"hup", 128 + SIGHUP},
    {"quit", 128 + SIGQUIT},
    {"fpe", 128 + SIGFPE},
    {"ill", 128 + SIGILL},
    {"bus", 128 + SIGBUS},
    {"trap", 128 + SIGTRAP},
    {"pipe", 128 + SIGPIPE},
    {"alarm", 128 + SIGALRM},
    {"usr1", 128 + SIGUSR1},
    {"xfsz", 128 + SIGXFSZ},
    {"sys", 128 + SIGSYS},
};

class Ends : public ExecRuntime {
 protected:
  void SetUp() override {
    ExecRuntime::SetUp();
    if (IsSkipped()) return;
    program_ = compiled("-std=c++17", name_.c_str(), {"programs/ends.cu"}, "compute_90a");
    json_ = program_ + ".json", table_ = program_ + ".table";
  }
  void TearDown() override {
    for (const char* const ending : {"", ".json", ".table", ".said", ".pid"})
      std::filesystem::remove(program(name_.c_str()) + ending);
  }
  int run(const std::string& words) {
    std::filesystem::remove(json_);
    return execute("--check all --json " + json_, program_ + " " + words + " 2> " + table_);
  }
  // A row of the table, and an object of the JSON.
  void expect_launches(const std::string& kernel, int n) {
    const std::string table = contents(table_), json = contents(json_);
    const size_t row = table.rfind("::" + kernel),
                 object = json.find("\"(anonymous namespace)::" + kernel + "\"");
    ASSERT_NE(row, std::string::npos) << table;
    ASSERT_NE(object, std::string::npos) << json;
    EXPECT_EQ(std::stoi(table.substr(table.rfind('\n', row) + 1)), n) << table;
    const std::string member = "\"launches\": ";
    EXPECT_EQ(std::stoi(json.substr(json.find(member, object) + member.size())), n) << json;
  }
  const std::string name_ = "ends" + std::to_string(::getpid());  // tests run beside each other
  std::string program_, json_, table_;
};

TEST_F(Ends, TheReportIsCompleteHoweverAProgramEnds) {
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    EXPECT_EQ(run(way.name), way.code);
    expect_launches("first", 1);
    for (const char* kernel : way.late) expect_launches(kernel, 1);
    EXPECT_NE(contents(table_).find("verdict: clean, decided for all schedules"), std::string::npos);
  }
}

TEST_F(Ends, AFaultIsToldHoweverAProgramEnds) {
  for (const Way& way : ways) {
    const std::string name = way.name;
    if (!way.late.empty() || name.starts_with("fork") || name == "device_reset" || name == "host_function")
      continue;
    SCOPED_TRACE(name);
    EXPECT_EQ(run(name + " fault"), way.code == 0 ? 1 : way.code);
    expect_launches("first", 1);
    expect_launches("faults", 1);
    EXPECT_NE(contents(json_).find("\"code\": \"PLD3022\""), std::string::npos);
    EXPECT_NE(contents(table_).find("verdict: errors"), std::string::npos) << contents(table_);
  }
}

// What the machine keeps for a host thread is there when that thread's own objects are gone.
TEST_F(Ends, TensorCoresWorkWhileAProgramEnds) {
  for (const auto& [way, code] : {std::pair{"global_destructor_multiplies", 0},
                                  {"thread_destructor", 0},
                                  {"main_thread_destructor", 0},
                                  {"exit_in_thread", 4}}) {
    EXPECT_EQ(run(way), code) << way;
    expect_launches("product", 2);
  }
}

TEST_F(Ends, WhatIsNotOverWhenAProgramEndsIsTold) {
  for (const auto& [way, code] : {std::pair{"thread_in_kernel", 4}, {"killed_in_kernel", 128 + SIGKILL}}) {
    EXPECT_EQ(run(way), code) << way;
    expect_launches("takes_long", 0);
    EXPECT_NE(contents(table_).find("(1 not over)"), std::string::npos) << contents(table_);
    EXPECT_NE(contents(table_).find("verdict: incomplete"), std::string::npos) << contents(table_);
  }
  EXPECT_EQ(run("thread_still_launches"), 0);
  expect_launches("first", 1);
}

TEST_F(Ends, SignalsToExecAreTheProgramsAndWaitedFor) {
  const std::string said = program_ + ".said";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    for (const bool saves : {false, true}) {
      SCOPED_TRACE(std::to_string(signal) + (saves ? " saves" : ""));
      std::filesystem::remove(said);
      std::thread sender([&] {
        for (int i = 0; i < 200 && contents(said).empty(); ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::system(("kill -" + std::to_string(signal) + " $(cat " + program_ + ".pid" + ")").c_str());
      });
      // The shell becomes exec, which has its number then.
      const std::string command = "echo $$ > " + program_ + ".pid" + "; exec " + PLD_BINARY_DIR +
                                  "/palladion exec --json " + json_ + " -- " + program_ +
                                  (saves ? " waits_and_saves" : " waits") + " > " + said + " 2> " + table_;
      const int status = std::system(("sh -c '" + command + "'").c_str());
      sender.join();
      EXPECT_EQ(WEXITSTATUS(status), saves ? 7 : 128 + signal);
      expect_launches("first", 1);
    }
}

TEST_F(Ends, AReportThatCannotBeWrittenIsAnError) {
  for (const std::string option : {"--json", "--sarif"}) {
    const auto coded = [&](const std::string& way) {
      return execute(option + " /dev/full", program_ + " " + way + " 2> " + table_);
    };
    constexpr int not_written = 74;
    EXPECT_EQ(coded("return"), not_written);
    EXPECT_NE(contents(table_).find("/dev/full"), std::string::npos) << contents(table_);
    EXPECT_EQ(coded("return fault"), not_written);
    EXPECT_EQ(coded("return_code"), 5);
  }
}

TEST_F(Exec, AProgramThatCannotBeRunIsToldAsAShellDoes) {
  EXPECT_EQ(execute("", "/no/such/program 2> /dev/null"), 127);
  EXPECT_EQ(execute("", "/etc 2> /dev/null"), 126);
}

}  // namespace
