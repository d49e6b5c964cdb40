// `palladion run add.cpp`: files of kernels, compiled and loaded, and `palladion new`.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "tests/cli/program.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// The cache is the test's own; the precompiled header, which takes seconds, all tests of the build share.
class KernelFiles : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    fs::copy_file(fs::path(PLD_SOURCE_DIR) / "tests/cli/two_kernels.txt", file("two.cpp"));
    write("two.h", "#define FACTOR 2.0\n");
  }

  static std::string shared_cache() { return std::string(PLD_BINARY_DIR) + "/tests/kernel_files_cache"; }
  Ran run_file(const std::string& arguments) const {
    ::setenv("XDG_CACHE_HOME", shared_cache().c_str(), 1);
    return run(arguments);
  }
  std::string two(const std::string& kernel = "combine") const { return file("two.cpp") + ":" + kernel; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
  // Not where it has ended and nobody has asked for its exit code.
  static bool runs(pid_t process) {
    const std::string text = read("/proc/" + std::to_string(process) + "/stat");
    const size_t state = text.rfind(") ");
    return state != std::string::npos && text[state + 2] != 'Z';
  }
};

TEST_F(KernelFiles, RunComparesWithTheReference) {
  const Ran ran = run_file("run " + two() + " --shape n=4096 --set twice=1,dtype=f16");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("reference   equal bit by bit (4096 elements)"));
  EXPECT_THAT(ran.out, HasSubstr("  in          a    f16[4096]"));
}

TEST_F(KernelFiles, EveryCommandTakesThem) {
  EXPECT_THAT(run_file("check " + two()).out, HasSubstr("verdict     clean"));
  EXPECT_THAT(run_file("ptx " + two()).out, HasSubstr(".entry combine"));
  EXPECT_THAT(run_file("sweep " + two() + " --set tile=256,512").out, HasSubstr("2 configurations: 2 timed"));
  EXPECT_THAT(run_file("sweep " + two()).err, HasSubstr("list " + two() + "` shows them"));
  EXPECT_THAT(run_file("run " + two() + " --schedule hardware --why").out, HasSubstr("two.cpp:27"));
  EXPECT_THAT(run_file("compare " + two() + " --on sim").err, Not(HasSubstr("there is no kernel")));
  const Ran list = run_file("list " + file("two.cpp"));
  EXPECT_THAT(list.out, HasSubstr("elements a CTA (128 or more, multiples of 128)"));
  EXPECT_THAT(list.out, HasSubstr("ones: out = 1"));
}

TEST_F(KernelFiles, WithoutAReferenceItSaysSo) {
  const Ran ran = run_file("run " + two("ones"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("no reference"));
  EXPECT_THAT(run_file("check " + two("ones")).out, HasSubstr("no reference"));
}

TEST_F(KernelFiles, MistakesAreTheUsers) {
  const struct {
    std::string arguments, message;
  } mistakes[] = {
      {"run " + file("two.cpp"), "has 2 kernels"},
      {"run " + two("three"), "has no kernel `three`"},
      {"run " + two() + " --set tile=100", "it can be 128 or more, multiples of 128"},
      {"run " + two() + " --shape n=2097152", "it can be 1048576 or less"},
      {"run " + two() + " --shape n=1000", "tile=1024 does not divide n=1000"},
      {"run " + two() + " --shape n=5", "kernel `combine`: its body threw: five is no size"},
      {"run " + file("missing.cpp"), "missing.cpp"},
      {"run " + two() + " --json " + file("two.cpp"), "name the same file"},
  };
  for (const auto& [arguments, message] : mistakes) {
    const Ran ran = run_file(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(message)) << arguments;
  }
}

TEST_F(KernelFiles, ARecordingErrorNamesTheLine) {
  write("wrong.cpp", R"(#include <palladion/program.h>
using namespace palladion::program;
struct None {};
static plgpu::Kernel wrong(const None&) {
  return plgpu::kernel([](const plgpu::Ref& a) { a.at(pl::ds(0, 99999)).load(); },
                       {.out_type = plgpu::Types(pl::f32, {128}), .grid = {1}});
}
PALLADION_KERNELS(Spec("wrong", "reads outside", wrong));
)");
  const Ran ran = run_file("run " + file("wrong.cpp"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("error[PLD"));
  EXPECT_THAT(ran.err, HasSubstr("wrong.cpp:5"));
}

// Spec::arch: a file for Blackwell needs no --arch. A setting that is a number of the launch.
TEST_F(KernelFiles, AFileSaysItsChipAndItsNumbers) {
  write("scale.cpp", R"(#include <palladion/program.h>
using namespace palladion::program;
struct Config { int64_t n = 256; double alpha = 2; };
static plgpu::Kernel scale(const Config& c) {
  return plgpu::kernel(
      [](const plgpu::Ref& a, const plgpu::Ref& o) { o.store(a.load() * plgpu::launch_scalar("alpha")); },
      {.in_types = {{pl::f32, {c.n}}}, .out_type = {pl::f32, {c.n}}, .scalars = {{"alpha", pl::f32, c.alpha}}});
}
static Array expected(const Config& c, const std::vector<Array>& in) {
  std::vector<float> x = to_floats(in[0]);
  for (float& v : x) v *= float(c.alpha);
  return from_floats(in[0].type, x);
}
PALLADION_KERNELS(Spec("scale", "out = alpha a", scale)
                      .size("n", &Config::n, "elements")
                      .setting("alpha", &Config::alpha, "the factor", RealRange{.min = -8, .max = 8})
                      .reference(expected)
                      .arch("b200"));
)");
  const Ran ran = run_file("run " + file("scale.cpp") + " --set alpha=-0.75");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("on b200"));
  EXPECT_THAT(run_file("run " + file("scale.cpp") + " --arch h200").out, HasSubstr("on h200"));
  EXPECT_THAT(run_file("run " + file("scale.cpp") + " --set alpha=9").err, HasSubstr("it can be -8 to 8"));
}

TEST_F(KernelFiles, TheCompilersErrorsAreShown) {
  write("broken.cpp", "#include <palladion/program.h>\nint f() { return undeclared_word; }\n");
  const Ran ran = run_file("run " + file("broken.cpp"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("undeclared_word"));
  EXPECT_THAT(ran.err, HasSubstr("does not compile"));
}

TEST_F(KernelFiles, WithoutKernelsOrSymbolsItIsAnError) {
  write("none.cpp", "#include <palladion/program.h>\n");
  EXPECT_THAT(run_file("run " + file("none.cpp")).err, HasSubstr("names no kernel"));
  write("missing.cpp", "void elsewhere();\nint f() { elsewhere(); return 1; }\n");
  EXPECT_THAT(run_file("run " + file("missing.cpp")).err, HasSubstr("cannot be loaded"));
}

TEST_F(KernelFiles, AnotherLayoutIsRefused) {
  write("old.cpp", R"(#include <palladion/program.h>
static void none(std::vector<palladion::kernels::KernelSpec>&) { throw 1; }
static palladion::kernels::KernelFile old_file{{1, 2, 3}, &none, nullptr};
static const bool registered = (palladion::kernels::register_file(old_file), true);
)");
  const Ran ran = run_file("run " + file("old.cpp"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("compiled against headers of another palladion"));
}

TEST_F(KernelFiles, AnIncludedFileThatChangesIsCompiledAgain) {
  EXPECT_EQ(run_file("run " + two() + " --set twice=1").status, 0);
  write("two.h", "#define FACTOR 4.0\n");
  EXPECT_EQ(run_file("run " + two() + " --set twice=1").status, 1);
  write("two.h", "#define FACTOR 2.0\n");
  EXPECT_EQ(run_file("run " + two() + " --set twice=1").status, 0);
}

// In a cache of its own: other tests write to the shared one. An object that is used gets a new time, one
// that is compiled is another file.
TEST_F(KernelFiles, AnUnchangedFileIsNotCompiled) {
  ::setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
  const auto cached = [&] {
    std::map<fs::path, ino_t> objects;
    for (const auto& entry : fs::recursive_directory_iterator(file("cache"))) {
      struct stat status{};
      if (entry.path().extension() == ".so" && ::stat(entry.path().c_str(), &status) == 0)
        objects.emplace(entry.path(), status.st_ino);
    }
    return objects;
  };
  EXPECT_EQ(run("run " + two("ones")).status, 0);
  const auto compiled = cached();
  EXPECT_EQ(compiled.size(), 1U);
  EXPECT_EQ(run("run " + two("ones")).status, 0);
  EXPECT_EQ(cached(), compiled);
}

TEST_F(KernelFiles, ConcurrentRunsAgree) {
  std::vector<std::jthread> threads;
  std::array<int, 3> status{};
  ::setenv("XDG_CACHE_HOME", shared_cache().c_str(), 1);
  for (size_t i = 0; i < status.size(); ++i)
    threads.emplace_back([&, i] {
      status[i] = std::system(
          (program() + " run " + two() + " >/dev/null 2>" + file("err") + std::to_string(i)).c_str());
    });
  threads.clear();
  for (size_t i = 0; i < status.size(); ++i) EXPECT_EQ(status[i], 0) << read(file("err") + std::to_string(i));
}

// A compiler that writes half of its output, notes its process in the file "compiles" and ends when it is
// killed. It makes no precompiled header.
constexpr char endless_compiler[] = R"(#!/bin/sh
for word; do last=$word; done
case "$*" in
  *c++-header*) exit 1 ;;
  *-shared*) echo half > "$last"; echo $$ > "${0%/*}/compiles.part"; mv "${0%/*}/compiles.part" "${0%/*}/compiles"
             exec sleep 1000 ;;
esac
exec g++ "$@"
)";

// A signal while the compiler runs: of Ctrl-C the whole group hears, of kill the program alone.
TEST_F(KernelFiles, AnInterruptLeavesNothingBehind) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer runs a signal's handler only when waitid has returned";
#endif
  write("compiler", endless_compiler);
  fs::permissions(file("compiler"), fs::perms::owner_all);
  for (const bool whole_group : {true, false}) {
    fs::remove(file("compiles"));
    const pid_t child = ::fork();
    if (child == 0) {
      ::setpgid(0, 0);
      ::signal(SIGINT, SIG_DFL);  // a shell starts what runs in its background without it
      ::setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
      ::setenv("CXX", file("compiler").c_str(), 1);
      const std::string command = "exec " + program() + " run " + two() + " >" + file("out") + " 2>&1";
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(99);
    }
    for (int i = 0; i < 6000 && !fs::exists(file("compiles")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(fs::exists(file("compiles"))) << read(file("out"));
    ::kill(whole_group ? -child : child, SIGINT);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    for (const auto& entry : fs::directory_iterator(file("cache") + "/palladion/objects"))
      ADD_FAILURE() << "left behind: " << entry.path();
    const pid_t compiler = std::stoi(read(file("compiles")));
    for (int i = 0; i < 1000 && runs(compiler); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(runs(compiler)) << "the compiler outlives the program";
  }
  EXPECT_EQ(run_file("run " + two()).status, 0);
}

// It writes nothing and notes where it should.
constexpr char noting_compiler[] = R"(#!/bin/sh
for word; do last=$word; done
case "$*" in
  *c++-header*|*-shared*) echo "$last" >> "${0%/*}/outputs"; exit 1 ;;
esac
exec g++ "$@"
)";

// Two programs that are number 1 of their namespaces, as the judges of a grading are, share the cache: the
// compilers of two programs that write into one file leave one on which a compiler's memory grows without
// end.
TEST_F(KernelFiles, ProgramsOfTheSameNumberWriteToFilesOfTheirOwn) {
  write("compiler", noting_compiler);
  fs::permissions(file("compiler"), fs::perms::owner_all);
  std::string apart = "unshare --pid --fork ";
  if (std::system((apart + "true 2>/dev/null").c_str()) != 0) apart = "unshare --map-root-user --pid --fork ";
  if (std::system((apart + "true 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no namespace of processes here";
  ::setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
  const std::string command = apart + "env CXX=" + file("compiler") + " " + program() + " run " + two() +
                              " >" + file("out") + " 2>&1";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2) << read(file("out"));
  std::istringstream lines(read(file("outputs")));
  std::set<std::string> outputs;
  size_t compiles = 0;
  for (std::string line; std::getline(lines, line); ++compiles) outputs.insert(line);
  EXPECT_EQ(compiles, 4U);  // of a header and a file each
  EXPECT_EQ(outputs.size(), compiles) << read(file("outputs"));
}

TEST_F(KernelFiles, WithoutACompilerItSaysWhatWasTried) {
  ::setenv("CXX", "no-such-compiler", 1);
  const Ran named = run_file("run " + two());
  ::unsetenv("CXX");
  EXPECT_EQ(named.status, 3);
  EXPECT_THAT(named.err, HasSubstr("tried no-such-compiler: not found"));
}

TEST_F(KernelFiles, NewWritesAProjectThatRuns) {
  const std::string here = "cd " + folder_.path().string() + " && " + program();
  ASSERT_EQ(std::system((here + " new first_kernel >/dev/null").c_str()), 0);
  const Ran ran = run_file("check " + file("first_kernel/first_kernel.cpp"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("verdict     clean"));
  for (const char* wrong : {"first_kernel", "3d", "../x", "main", ""})
    EXPECT_EQ(WEXITSTATUS(std::system((here + " new '" + wrong + "' >/dev/null 2>&1").c_str())), 2) << wrong;
}

// Every name that `list` prints can be given to `list`.
TEST_F(Program, ListTakesEveryNameThatItPrints) {
  std::istringstream lines(run("list").out);
  std::string line, words;
  size_t names = 0;
  const auto take = [&](const std::string& word) { words += " " + word, ++names; };
  while (std::getline(lines, line)) {
    const size_t first = line.find_first_not_of(' ');
    const std::string word = line.substr(first, line.find_first_of(" :", first) - first);
    if (first == 0) {
      take(word);  // a heading
    } else if (first == 2) {
      take(line.substr(2, line.find(' ', 2) - 2));
    } else {  // sizes and settings
      std::istringstream settings(line);
      for (std::string setting; settings >> setting;)
        if (setting.find('=') != std::string::npos) take(setting.substr(0, setting.find('=')));
    }
  }
  EXPECT_GT(names, 250U);
  const Ran all = run("list" + words);
  EXPECT_EQ(all.status, 0) << all.err;
  for (const char* word : {"zoo/async-store-no-proxy-fence:good", "seeded", "seeded:7"})
    EXPECT_EQ(run(std::string("list ") + word).status, 0) << word;
  EXPECT_EQ(run("list no_such_word_at_all").status, 2);
}

}  // namespace
}  // namespace palladion::cli
