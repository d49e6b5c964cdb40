// What the command line takes: help, completion, units, words that were meant, and what is not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/program.h"
#include "tests/support/json_reading.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* commands[] = {"list",   "run", "sweep", "ptx",     "check", "compare", "explain",
                                    "doctor", "lab", "new",   "capture", "exec",  "help",    "completion"};

class ProgramWords : public Program {
 protected:
  // What a shell script prints that has the completion of bash for these words, the last of them incomplete.
  std::string completed(const std::string& words) const {
    std::ofstream(file("complete.sh"))
        << "source <(" << program() << " completion bash)\nCOMP_WORDS=(palladion " << words
        << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_palladion\n"
        << "echo ${COMPREPLY[@]}\n";
    return run("--version; bash " + file("complete.sh")).out;
  }
};

// ---- help --------------------------------------------------------------------------------------------
TEST_F(ProgramWords, HelpIsACommandToo) {
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("-V").out, run("--version").out);
  for (const char* command : commands) {
    const Ran help = run(std::string("help ") + command);
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_EQ(help.out, run(std::string(command) + " --help").out) << command;
  }
  EXPECT_THAT(run("help chekc").err, HasSubstr("did you mean `check`?"));
  EXPECT_EQ(run("run --schedule fast --help").status, 0) << "help comes before what is wrong";
}

TEST_F(ProgramWords, TheManualPageHasAllCommandsAndTheirOptions) {
  const std::string page = run("help --man").out;
  EXPECT_TRUE(page.starts_with(".TH PALLADION 1"));
  for (const char* command : commands) EXPECT_THAT(page, HasSubstr(std::string(".SS ") + command + "\n"));
  for (const char* option : {"\\-\\-schedule", "\\-\\-max\\-bytes", "\\-o, \\-\\-output", "\\-\\-color"})
    EXPECT_THAT(page, HasSubstr(option));
}

TEST_F(ProgramWords, BashCompletesCommandsOptionsKernelsAndValues) {
  if (!fs::exists("/bin/bash")) GTEST_SKIP() << "no bash here";
  EXPECT_THAT(completed("swe"), HasSubstr("sweep"));
  EXPECT_THAT(completed("run vector_"), HasSubstr("vector_add"));
  EXPECT_THAT(completed("run vector_add --sched"), HasSubstr("--schedule"));
  EXPECT_THAT(completed("run vector_add --schedule func"), HasSubstr("functional"));
  EXPECT_THAT(completed("list --color al"), HasSubstr("always"));
  EXPECT_THAT(completed("capture --kern"), Not(HasSubstr("--schedule")));
}

TEST_F(ProgramWords, EveryShellHasItsScript) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran ran = run(std::string("completion ") + shell);
    EXPECT_EQ(ran.status, 0) << shell;
    EXPECT_THAT(ran.out, HasSubstr("vector_add")) << shell;
  }
  EXPECT_EQ(run("completion").status, 2);
  EXPECT_THAT(run("completion csh").err, HasSubstr("bash, zsh or fish"));
}

// ---- words that were meant -----------------------------------------------------------------------------
TEST_F(ProgramWords, TheWordThatWasMeantIsNamed) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"chekc vector_add", "did you mean `check`?"},
      {"run vector_add --sahpe n=4096", "did you mean `--shape`?"},
      {"run vector_add --schedule functionl", "did you mean `functional`?"},
      {"run vector_add --schedule latest,residnet=2", "did you mean `resident`?"},
      {"run vector_add --check rcae", "did you mean `race`?"},
      {"exec --schedule hardwear -- true", "did you mean `hardware`?"},
      {"exec --arch h20 -- true", "did you mean `h200`?"},
      {"run vector_add --color sometimes", "--color is auto, always or never, not `sometimes`"}};
  for (const auto& [arguments, says] : mistakes) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(says)) << arguments;
  }
}

TEST_F(ProgramWords, APathThatIsNotThereIsNoUnknownKernel) {
  const Ran ran = run("run no/such/kernel");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "error: no/such/kernel: no such file or folder\n");
  EXPECT_THAT(run("run README.md").err, HasSubstr("neither a file of kernels nor a bundle"));
}

TEST_F(ProgramWords, AMisspeltKernelGetsTheNearestNamesAndTheWayToAll) {
  const auto said = [&](const std::string& word) { return run("run " + word).err; };
  const std::string all = "`palladion list` names all kernels\n";
  EXPECT_EQ(said("vector_ad"),
            "error: there is no kernel `vector_ad`\n   = help: did you mean `vector_add`? " + all);
  EXPECT_THAT(said("softmx"), HasSubstr("did you mean `softmax`? " + all));
  EXPECT_THAT(said("ref_tmem_"),
              HasSubstr("did you mean `ref_tmem`, `ref_tmem_reuse`, `ref_tmem_handover`? " + all));
  EXPECT_THAT(said("blackwell_"), HasSubstr(", ...? " + all));
  EXPECT_EQ(said("zebra"), "error: there is no kernel `zebra`\n   = help: " + all);
}

// ---- units ---------------------------------------------------------------------------------------------
TEST_F(ProgramWords, SizesTimesAndFrequenciesTakeUnits) {
  EXPECT_EQ(run("run vector_add --shape n=2048 --trace-limit 1MiB --trace " + file("t.txt")).status, 0);
  EXPECT_EQ(run("run vector_add --shape n=2048 --device-limit 500ms").status, 0);
  EXPECT_EQ(run("run vector_add --shape n=2048 --schedule hardware --sm-clock 1.2GHz").status, 0);
  EXPECT_EQ(run(saxpy("--smem 4KiB")).status, 0);
  const std::pair<const char*, const char*> mistakes[] = {
      {"capture --max-bytes 4GX -o x -- true", "--max-bytes is a size from 1 to"},
      {"run vector_add --smem much", "such as 4096, 48KiB or 2GB, not `much`"},
      {"run vector_add --smem 5GiB", "--smem is a size from 0 to 4294967295 bytes"},
      {"run vector_add --device-limit 0", "--device-limit is a time up to 86400 seconds"},
      {"run vector_add --fmad perhaps", "--fmad is true or false, not `perhaps`"}};
  for (const auto& [arguments, says] : mistakes) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(says)) << arguments;
  }
}

TEST_F(ProgramWords, ASettingThatIsABoolTakesTheUsualWords) {
  const std::string on = run("ptx matmul_ws --set profile=1").out, off = run("ptx matmul_ws").out;
  ASSERT_NE(on, off);
  for (const char* word : {"true", "yes", "on"})
    EXPECT_EQ(run(std::string("ptx matmul_ws --set profile=") + word).out, on) << word;
  for (const char* word : {"false", "no", "off", "0"})
    EXPECT_EQ(run(std::string("ptx matmul_ws --set profile=") + word).out, off) << word;
  EXPECT_THAT(run("ptx matmul_ws --set profile=2").err, HasSubstr("it can be 0, 1"));
}

// ---- what is printed -------------------------------------------------------------------------------------
TEST_F(ProgramWords, ARunWithoutChecksSaysThatNothingWasChecked) {
  EXPECT_THAT(run(saxpy()).out, HasSubstr("findings    not checked"));
  EXPECT_THAT(run(saxpy("--check all")).out, HasSubstr("findings    none"));
  EXPECT_THAT(run("run --ptx tests/cli/ptx/hang.ptx --grid 2 --block 64").out,
              HasSubstr("findings    1, see above"));
}

TEST_F(ProgramWords, AReportNamesItsFile) {
  const std::string page = file("r.html");
  for (const std::string& command : {std::string("run vector_add --shape n=2048"),
                                     std::string("check vector_add --shape n=2048 --seeds 0"),
                                     std::string("sweep vector_add --shape n=2048 --set tile=1024")})
    EXPECT_THAT(run(command + " --report " + page).out, HasSubstr("report      " + page)) << command;
}

TEST_F(ProgramWords, ColorIsWhatTheUserSays) {
  EXPECT_THAT(run("list h200 --color always").out, HasSubstr("\x1b[1m"));
  EXPECT_THAT(run("list h200 --color never").out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run("list h200 --color auto").out, Not(HasSubstr("\x1b"))) << "no terminal";
}

TEST_F(ProgramWords, ListAndDoctorAsJson) {
  ASSERT_EQ(run("list --json " + file("l.json")).status, 0);
  const json::object list = json::parse(read(file("l.json"))).as_object();
  const auto has = [&](const char* part, const char* name) {
    for (const json::value& v : list.at(part).as_array())
      if (v.as_object().at("name").as_string() == name) return true;
    return false;
  };
  EXPECT_TRUE(has("kernels", "vector_add") && has("architectures", "h200") && has("schedules", "latest") &&
              has("checks", "race"));
  EXPECT_GT(list.at("zoo").as_array().size(), 10U);
  ASSERT_EQ(run("doctor --json " + file("d.json")).status, 0);
  const json::value doctor = json::parse(read(file("d.json")));
  EXPECT_GT(number(doctor.at_pointer("/threads")), 0);
  EXPECT_TRUE(doctor.as_object().at("tools").as_object().contains("ptxas"));
}

// ---- programs of others ----------------------------------------------------------------------------------
TEST_F(ProgramWords, ExecOfAProgramWithoutKernelsSaysSo) {
  const Ran ran = run("exec -- true");
  if (ran.status == 3) GTEST_SKIP() << "this build has no libraries for exec";
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "true launched no kernel: nothing was simulated\n");
  EXPECT_EQ(run("exec -- false").status, 1);
}

}  // namespace
}  // namespace palladion::cli
