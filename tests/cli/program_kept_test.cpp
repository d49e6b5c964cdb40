// What a stranger's file may show, what is kept, and what a poor machine answers.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "isa/host/process.h"
#include "tests/cli/program.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class KeptProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    write("add.cpp", R"(#include <palladion/program.h>
using namespace palladion::program;
struct Config { int64_t n = 1024; };
plgpu::Kernel add(const Config& c) {
  const pl::ShapeDtype type{pl::f32, {c.n}};
  return plgpu::kernel([&](const plgpu::Ref& a, const plgpu::Ref& out) { out.store(a.load()); },
                       {.in_types = {type}, .out_type = type, .grid = {1}, .name = "add"});
}
PALLADION_KERNELS(Spec("add", "out = a", add).size("n", &Config::n, "elements"));
)");
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(file(name)).parent_path());
    std::ofstream(file(name)) << text;
  }
  Ran with(const std::string& before, const std::string& arguments) const {
    Ran ran;
    const std::string command =
        before + " " + program() + " " + arguments + " >" + file("out") + " 2>" + file("err") + " </dev/null";
    const int status = std::system(command.c_str());
    if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
    ran.out = read(file("out")), ran.err = read(file("err"));
    return ran;
  }
  std::string cache() const { return "XDG_CACHE_HOME=" + file("cache"); }
  fs::path kept(const std::string& folder, const std::string& ending) const {
    for (const auto& entry : fs::directory_iterator(file("cache/palladion/" + folder)))
      if (entry.path().string().ends_with(ending)) return entry.path();
    return {};
  }
  std::string with_source(const std::string& source) const {
    write("k.ptx",
          ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"" + source +
              "\"\n.visible .entry k(.param .u64 p) {\n  .reg .u64 %a; .reg .u32 %v;\n  .loc 1 1 1\n  "
              "ld.param.u64 %a, [p];\n  mov.u32 %v, %ctaid.x;\n  .loc 1 2 1\n  st.global.u32 [%a], "
              "%v;\n  ret;\n}\n");
    return "run --ptx " + file("k.ptx") +
           " --grid 2 --block 32 --arg inout:u32[4]=zeros --check all --report " + file("r.html");
  }
};

// The two CTAs race, so the text quotes the line and the page has the file, if they may.
TEST_F(KeptProgram, PtxShowsSourcesOfItsFolderAlone) {
  write("private/notes.txt", "first\na private line\n");
  write("beside.cu", "first\na line beside the PTX\n");
  const Ran elsewhere = run(with_source(fs::absolute("/etc/passwd")));
  EXPECT_EQ(elsewhere.status, 1) << elsewhere.err;
  EXPECT_THAT(read(file("r.html")) + elsewhere.err + elsewhere.out, Not(HasSubstr("root:x")));
  const std::string here = file("k.ptx");
  fs::create_directories(file("ptx"));
  (void)with_source(file("private/notes.txt"));
  fs::rename(here, file("ptx/k.ptx"));
  const std::string words = "run --ptx " + file("ptx/k.ptx") +
                            " --grid 2 --block 32 --arg inout:u32[4]=zeros --check all --report " +
                            file("r.html");
  const Ran above = run(words);
  EXPECT_THAT(read(file("r.html")) + above.err, Not(HasSubstr("a private line")));
  const Ran named = run(words + " --source " + file("private"));
  EXPECT_THAT(read(file("r.html")), HasSubstr("a private line"));
  EXPECT_THAT(named.err, HasSubstr("a private line"));
  const Ran beside = run(with_source(file("beside.cu")));
  EXPECT_THAT(read(file("r.html")), HasSubstr("a line beside the PTX"));
  EXPECT_THAT(beside.err, HasSubstr("a line beside the PTX"));
}

TEST_F(KeptProgram, APageLoadsNothing) {
  ASSERT_EQ(run("run vector_add --shape n=2048 --report " + file("r.html")).status, 0);
  EXPECT_THAT(read(file("r.html")), HasSubstr("Content-Security-Policy\" content=\"default-src 'none';"));
}

TEST_F(KeptProgram, DamagedObjectsAndHeadersAreMadeAgain) {
  ASSERT_EQ(with(cache(), "run " + file("add.cpp")).status, 0) << read(file("err"));
  const fs::path object = kept("objects", ".so"), header = kept("headers", ".gch");
  ASSERT_FALSE(object.empty());
  const Ran again = with(cache(), "run " + file("add.cpp"));
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.err, Not(HasSubstr("damaged")));
  for (const uintmax_t size : {uintmax_t{0}, uintmax_t{100}, uintmax_t{4096}, fs::file_size(object) - 1}) {
    fs::resize_file(object, size);
    const Ran healed = with(cache(), "run " + file("add.cpp"));
    EXPECT_EQ(healed.status, 0) << size << ": " << healed.err;
    EXPECT_THAT(healed.err, HasSubstr(object.string() + " is damaged: made again"));
  }
  if (header.empty()) return;  // a compiler of another kind
  fs::resize_file(header, fs::file_size(header) / 2);
  fs::remove(object);
  const Ran healed = with(cache(), "run " + file("add.cpp"));
  EXPECT_EQ(healed.status, 0) << healed.err;
  EXPECT_THAT(healed.err, HasSubstr(header.string() + " is damaged: made again"));
}

TEST_F(KeptProgram, ObjectsOfOthersAreNotLoaded) {
  if (::getuid() != 0) GTEST_SKIP() << "another user's file is made by root alone";
  ASSERT_EQ(with(cache(), "run " + file("add.cpp")).status, 0) << read(file("err"));
  const fs::path object = kept("objects", ".so");
  ASSERT_EQ(::chown(object.c_str(), 65534, 65534), 0);
  EXPECT_THAT(with(cache(), "run " + file("add.cpp")).err, HasSubstr("is damaged"));
  fs::rename(object, file("elsewhere.so"));
  fs::create_symlink(file("elsewhere.so"), object);
  EXPECT_THAT(with(cache(), "run " + file("add.cpp")).err, HasSubstr("is damaged"));
  ASSERT_EQ(::chown(file("cache/palladion/objects").c_str(), 65534, 65534), 0);
  const Ran refused = with(cache(), "run " + file("add.cpp"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("objects: belongs to another user"));
}

// Without HOME the cache is in the temporary folder, where anybody could have made it first.
TEST_F(KeptProgram, ACacheThatAnybodyMadeIsNotUsed) {
  fs::create_directories(file("tmp"));
  fs::create_directories(file("theirs"));
  const std::string before = "env -u HOME -u XDG_CACHE_HOME TMPDIR=" + file("tmp");
  const fs::path folder = file("tmp/palladion-" + std::to_string(::geteuid()));
  fs::create_directory_symlink(file("theirs"), folder);
  const Ran linked = with(before, "run " + file("add.cpp"));
  EXPECT_EQ(linked.status, 2);
  EXPECT_THAT(linked.err, HasSubstr("is no folder"));
  EXPECT_TRUE(fs::is_empty(file("theirs")));
  fs::remove(folder);
  EXPECT_EQ(with(before, "run " + file("add.cpp")).status, 0) << read(file("err"));
  struct stat about{};
  ASSERT_EQ(::stat(folder.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700U);
  ::chmod(folder.c_str(), 0777);
  EXPECT_EQ(with(before, "run " + file("add.cpp")).status, 0) << read(file("err"));
  ::stat(folder.c_str(), &about);
  EXPECT_EQ(about.st_mode & 0022, 0U) << "closed for others";
}

TEST_F(KeptProgram, NamesOfAllKindsCompile) {
  for (const std::string name :
       {"$x.cpp", "a b.cpp", "a\\b.cpp", "a\\ b.cpp", "a#b.cpp", "a'b.cpp", "$$\tx.cpp"}) {
    fs::copy_file(file("add.cpp"), file(name));
    const Ran ran = with("", "run " + host::shell_word(file(name)));
    EXPECT_EQ(ran.status, 0) << name << "\n" << ran.err;
  }
  fs::copy_file(file("add.cpp"), file("a\nb.cpp"));
  const Ran broken = with("", "run " + host::shell_word(file("a\nb.cpp")));
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("has a line break"));
}

TEST_F(KeptProgram, AFileThatGivesNothingIsNotWaitedFor) {
  if (::getuid() != 0) GTEST_SKIP() << "/proc/kmsg is root's";
  const Ran ran = with("timeout 20", "run --ptx /proc/kmsg --grid 1 --block 1");
  EXPECT_EQ(ran.status, 2) << ran.err;
}

TEST_F(KeptProgram, LimitsOfTheMachineHaveWords) {
  const Ran large =
      with("ulimit -c 0; ulimit -f 1;", "run vector_add --shape n=2048 --report " + file("r.html"));
  EXPECT_EQ(large.status, 74);
  EXPECT_THAT(large.err, HasSubstr("r.html: cannot be written: File too large"));
  EXPECT_FALSE(fs::exists(file("r.html")));
  for (const int files : {5, 6, 10})
    EXPECT_THAT(
        with("bash -c 'ulimit -n " + std::to_string(files) + "; exec \"$@\"' bash", "run " + file("add.cpp"))
            .err,
        Not(HasSubstr("a bug")));
  if (::getuid() != 0) GTEST_SKIP() << "a user without other processes is made by root alone";
  ::chmod(fs::path(file("x")).parent_path().c_str(), 0755);
  for (const char* const most : {"1", "2"}) {
    const Ran few =
        with("", "list >/dev/null; setpriv --reuid 65533 --regid 65533 --clear-groups bash -c 'ulimit -u " +
                     std::string(most) + "; exec " + program() +
                     " run vector_add --shape n=2048 --threads 8 --schedule hardware'");
    EXPECT_THAT(few.err, Not(HasSubstr("a bug"))) << most;
  }
}

}  // namespace
}  // namespace palladion::cli
