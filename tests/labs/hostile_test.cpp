// A class of hostile submissions, graded as root, as a user, without namespaces and without Landlock: no
// attempt succeeds, no verdict is forged, no process and no file stays.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "labs/lab.h"
#include "tests/cli/program.h"
#include "tests/labs/hostile_kinds.h"

namespace palladion::hostile {
namespace {

namespace fs = std::filesystem;
using cli::read;

constexpr uid_t nobody = 65534;
constexpr const char* token = "a token of the teacher";

constexpr const char* helpers = R"(
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
static bool can_read(const std::string& p) { return ::open(p.c_str(), O_RDONLY | O_NONBLOCK) >= 0; }
static bool can_write(const std::string& p) { return ::open(p.c_str(), O_CREAT | O_WRONLY, 0600) >= 0; }
static bool reads_open_file() {
  char c;
  for (int f = 3; f < 100; ++f) if (::pread(f, &c, 1, 0) == 1) return true;
  return false;
}
static bool starts_thread() {
  pthread_t t;
  return pthread_create(&t, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0;
}
static bool raises_limit() {
  const rlimit most{RLIM_INFINITY, RLIM_INFINITY};
  return ::setrlimit(RLIMIT_AS, &most) == 0;
}
static bool reads_parent() {
  char c;
  iovec to{&c, 1}, from{(void*)&raises_limit, 1};
  return ::process_vm_readv(::getppid(), &to, 1, &from, 1, 0) == 1 || errno == EFAULT;
}
)";

// Who grades, and what the kernel refuses to the program.
struct Setting {
  const char* name;
  uid_t user;
  std::vector<int> refused_calls;
  int error = 0;  // of these calls
};

// The next program of this process gets `error` from these calls.
void refuse_calls(const Setting& setting) {
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const int call : setting.refused_calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | uint32_t(setting.error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(98);
}

class HostileSubmissions : public cli::Program {
 protected:
  void SetUp() override {
    Program::SetUp();
#ifdef PLD_SANITIZED
    GTEST_SKIP() << "builds with a sanitizer do not limit calls and memory";
#endif
    ::chmod(fs::path(file("x")).parent_path().c_str(), 0755);
    for (const char* const name : {"class", "tmp", "cache", "out"}) fs::create_directories(file(name));
    write("class/alice/tail.cpp", right());
    write("secret.txt", "a secret\n");
    ::mkfifo(file("class/pipe").c_str(), 0644);
  }

  static std::string right() { return labs::find_lab("tail")->variant("solution"); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(file(name)).parent_path());
    std::ofstream(file(name)) << text;
  }
  std::string filled(std::string text) const {
    for (const auto& [word, value] : {std::pair<std::string, std::string>{"SECRET", file("secret.txt")},
                                      {"FOLDER", file("class")},
                                      {"RIGHT", "#include <unistd.h>\n#include <cstdlib>\n" + right()}})
      for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
        text.replace(at, word.size(), value);
    return text;
  }

  // A solution that throws the names of the attempts that succeeded.
  std::string with_attempts(std::span<const Kind> kinds = attempts) const {
    std::string text = "static std::string could() {\n  std::string all;\n";
    for (const Kind& kind : kinds)
      text += "  if (" + filled(kind.code) + ") all += \"" + kind.name + "; \";\n";
    text += "  return all;\n}\nstatic const std::string succeeded = could();\n";
    std::string all = right();
    all.insert(all.find("using namespace"), std::string(helpers) + text);
    const size_t at = all.find("const int64_t full = ");
    EXPECT_NE(at, std::string::npos);
    return all.insert(at, "if (!succeeded.empty()) throw std::runtime_error(\"could: \" + succeeded);\n  ");
  }

  // `palladion lab`; what it prints goes to `out/text`.
  pid_t started(const Setting& setting, const std::string& words) const {
    const std::string command =
        "exec 9<" + file("secret.txt") + "; exec env -i PATH=\"$PATH\" PLD_TEST_TOKEN='" + token +
        "' HOME=/nonexistent TMPDIR=" + file("tmp") + " XDG_CACHE_HOME=" + file("cache") +
        " XDG_DATA_HOME=" + file("out") + " " + program() + " lab " + words + " --threads 1 >" +
        file("out/text") + " 2>&1 </dev/null";
    const pid_t child = ::fork();
    if (child == 0) {
      if (setting.user != ::getuid() && (::setgid(setting.user) != 0 || ::setuid(setting.user) != 0))
        ::_exit(97);
      refuse_calls(setting);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(99);
    }
    return child;
  }
  static int exit_code_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int graded(const Setting& setting, const std::string& more = {}) const {
    return exit_code_of(started(
        setting, "grade " + file("class") + " --seconds 12 --json " + file("out/grades.json") + " " + more));
  }
  int checked(const Setting& setting, const std::string& more = {}) const {
    return exit_code_of(started(setting, "check " + file("class/mallory/tail.cpp") + " " + more));
  }
  boost::json::array grades() const {
    return boost::json::parse(read(file("out/grades.json"))).at("submissions").as_array();
  }
  void give_to(uid_t user) const {
    for (const char* const name : {"tmp", "cache", "out"})
      for (auto entry = fs::recursive_directory_iterator(file(name)); entry != fs::end(entry); ++entry)
        (void)::lchown(entry->path().c_str(), user, user);
    for (const char* const name : {"tmp", "cache", "out"}) (void)::lchown(file(name).c_str(), user, user);
  }

  void expect_nothing_left() const {
    EXPECT_TRUE(fs::is_empty(file("tmp"))) << "files in the temporary folder";
    for (const auto& entry : fs::recursive_directory_iterator(file("cache")))
      EXPECT_EQ(entry.path().string().find(".unfinished"), std::string::npos) << entry.path();
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string words = read(entry.path() / "cmdline");
      EXPECT_EQ(words.find(file("class")), std::string::npos) << entry.path() << " still runs: " << words;
    }
    EXPECT_EQ(read(file("secret.txt")), "a secret\n");
    EXPECT_EQ(read(file("class/alice/tail.cpp")), right());
    EXPECT_FALSE(fs::exists("/tmp/of-a-submission"));
  }

  void expect_grades(const Setting& setting) const {
    SCOPED_TRACE(setting.name);
    give_to(setting.user);
    ASSERT_EQ(graded(setting), 0) << read(file("out/text"));
    for (const auto& grade : grades()) {
      const std::string student(grade.at("student").as_string());
      const bool honest = student == "alice" || student == "mallory";  // whose attempts must fail
      EXPECT_EQ(grade.at("passed").as_bool(), honest) << boost::json::serialize(grade);
      const std::string all = boost::json::serialize(grade);
      for (const char* const leak : {"root:x", "a secret", token})
        EXPECT_EQ(all.find(leak), std::string::npos) << all;
    }
    expect_nothing_left();
  }
};

bool is_root() { return ::getuid() == 0; }

// A checkout below a folder of root's own is closed to others.
bool reaches(uid_t user, const std::string& program) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(::setgid(user) == 0 && ::setuid(user) == 0 && ::access(program.c_str(), X_OK) == 0 &&
                    ::access(PLD_SOURCE_DIR "/frontend", R_OK | X_OK) == 0
                ? 0
                : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0;
}

TEST_F(HostileSubmissions, AttemptsFail) {
  write("class/mallory/tail.cpp", with_attempts());
  const uid_t me = ::getuid();
  expect_grades({"as this user", me, {}, 0});
  expect_grades({"without namespaces", me, {SYS_unshare, SYS_mount}, EPERM});
  if (!is_root()) return;
  if (!reaches(nobody, program()))
    GTEST_SKIP() << "NOT TESTED as a user without rights: " << program() << " is closed to others";
  fs::remove_all(file("cache/palladion"));
  expect_grades({"as a user without rights", nobody, {}, 0});
}

// What does no harm, where nothing but the calls is confined: the test above shows something.
TEST_F(HostileSubmissions, AttemptsAreSeen) {
  write("class/mallory/tail.cpp", with_attempts(std::span(attempts).first(14)));
  fs::remove_all(file("class/alice"));
  const Setting without{"calls alone", ::getuid(), {SYS_landlock_create_ruleset, SYS_unshare}, ENOSYS};
  ASSERT_EQ(graded(without, "--unconfined"), 0);
  const std::string refused(grades()[0].at("refused").as_string());
  for (const char* const name :
       {"read the list of users", "read a file that is open to all", "list its own folder"})
    EXPECT_THAT(refused, testing::HasSubstr(name));
  EXPECT_THAT(boost::json::serialize(grades()[0].at("confined_by")),
              testing::Not(testing::HasSubstr("paths")));
}

class HostileFiles : public HostileSubmissions, public testing::WithParamInterface<const char*> {
 protected:
  // The setting of that name; none: it cannot be had here.
  std::optional<Setting> setting() const {
    const std::string_view name = GetParam();
    if (name == "WithoutNamespaces") return Setting{GetParam(), ::getuid(), {SYS_unshare, SYS_mount}, EPERM};
    if (name == "AsThisUser") return Setting{GetParam(), ::getuid(), {}, 0};
    if (!is_root() || !reaches(nobody, program())) return std::nullopt;
    if (name == "AsNobody") return Setting{GetParam(), nobody, {}, 0};
    return Setting{GetParam(), nobody, {SYS_unshare, SYS_mount}, EPERM};
  }
};

TEST_P(HostileFiles, AreRefused) {
  const auto setting = this->setting();
  if (!setting)
    GTEST_SKIP() << "NOT TESTED as a user without rights: " << program() << " is closed to others";
  for (size_t i = 0; i < std::size(files); ++i)
    write("class/m" + std::to_string(i) + "/tail.cpp", filled(files[i].code));
  for (size_t i = 0; i < std::size(files); ++i) write("class/m" + std::to_string(i) + "/helper.txt", right());
  fs::create_directories(file("class/linked"));
  fs::create_symlink(file("class/alice/tail.cpp"), file("class/linked/tail.cpp"));
  fs::create_directories(file("class/piped"));
  ::mkfifo(file("class/piped/tail.cpp").c_str(), 0644);
  write("class/two\n  alice/tail.cpp", "#error no\n");
  expect_grades(*setting);
  EXPECT_EQ(grades().size(), 4 + std::size(files));
  EXPECT_THAT(read(file("out/text")), testing::Not(testing::HasSubstr("\n  alice/")));
}
INSTANTIATE_TEST_SUITE_P(Hostile, HostileFiles,
                         testing::Values("AsThisUser", "WithoutNamespaces", "AsNobody",
                                         "AsNobodyWithoutNamespaces"),
                         [](const auto& setting) { return setting.param; });

// Filters of calls that hold for a process; -1: it is gone, or this kernel does not say.
int filters_of(const fs::path& process) {
  const std::string status = read(process / "status"), word = "Seccomp_filters:";
  const size_t at = status.find(word);
  return at == std::string::npos ? -1 : std::atoi(status.c_str() + at + word.size());
}

// A judge of this file that has more filters than this test.
bool has_confined_judge(const std::string& file) {
  const std::string judge = std::string("lab\0judge\0", 10);
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string words = read(entry.path() / "cmdline");
    if (words.find(judge) != std::string::npos && words.find(file) != std::string::npos &&
        filters_of(entry.path()) > filters_of("/proc/self"))
      return true;
  }
  return false;
}

// It works for seconds: the loop's counter differs in each pass.
TEST_F(HostileSubmissions, TheJudgeOfACheckIsConfinedAndEndsAtItsLimit) {
  if (filters_of("/proc/self") < 0) GTEST_SKIP() << "NOT TESTED: this kernel does not count filters";
  std::string text = right();
  text.insert(text.find("const int64_t full = "),
              "pl::while_loop([](const pl::Scalar& i) { return i >= 0; }, [&](const pl::Scalar& i) { "
              "out.at(pl::ds(0, 1024)).store(a.at(pl::ds(0, 1024)).load()); return (i + 1) & 65535; }, "
              "pl::program_id(0)); ");
  write("class/mallory/tail.cpp", text);
  const Setting me{"as this user", ::getuid(), {}, 0};
  const pid_t check = started(me, "check " + file("class/mallory/tail.cpp"));
  bool seen = false;
  siginfo_t ended{};
  while (!seen && ::waitid(P_PID, id_t(check), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0) {
    seen = has_confined_judge(file("class/mallory/tail.cpp"));
    ::usleep(20'000);
  }
  EXPECT_TRUE(seen) << read(file("out/text"));
  EXPECT_EQ(exit_code_of(check), 1) << read(file("out/text"));
  EXPECT_EQ(checked(me, "--seconds 1"), 2);
  EXPECT_THAT(read(file("out/text")), testing::HasSubstr("no verdict within the limit of 1 seconds"));
  fs::remove_all(file("class/alice"));
  ASSERT_EQ(
      exit_code_of(started(me, "grade " + file("class") + " --seconds 1 --json " + file("out/grades.json"))),
      0);
  EXPECT_EQ(grades()[0].at("mistake").as_string(), "time limit");
  write("class/alice/tail.cpp", right());
  expect_nothing_left();
}

// The attempts of a recording fail under `lab check` as they do when it is graded.
TEST_F(HostileSubmissions, AttemptsFailInACheck) {
  write("class/mallory/tail.cpp", with_attempts());
  EXPECT_EQ(checked({"as this user", ::getuid(), {}, 0}), 0) << read(file("out/text"));
  EXPECT_EQ(checked({"without namespaces", ::getuid(), {SYS_unshare, SYS_mount}, EPERM}), 0)
      << read(file("out/text"));
}

// Without Landlock nothing is run, whatever else there is; `lab check` says so as well.
TEST_F(HostileSubmissions, WithoutLandlockNothingIsRun) {
  write("class/mallory/tail.cpp", with_attempts());
  const Setting without{"without Landlock", ::getuid(), {SYS_landlock_create_ruleset}, ENOSYS};
  ASSERT_EQ(graded(without), 0);
  for (const auto& grade : grades()) {
    EXPECT_FALSE(grade.at("passed").as_bool());
    EXPECT_THAT(std::string(grade.at("refused").as_string()), testing::HasSubstr("--unconfined"));
  }
  EXPECT_EQ(checked(without), 3);
  EXPECT_THAT(read(file("out/text")), testing::HasSubstr("--unconfined"));
  expect_nothing_left();
  ASSERT_EQ(graded(without, "--unconfined"), 0);
  for (const auto& grade : grades())
    EXPECT_EQ(grade.at("passed").as_bool(), grade.at("student").as_string() == "alice");
}

}  // namespace
}  // namespace palladion::hostile
