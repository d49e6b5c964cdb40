// What stands in for ptxas and nvlink.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cuda/compilers/assemble.h"
#include "cuda/compilers/tool.h"
#include "cuda/cubin/carried_ptx.h"
#include "cuda/cubin/source_text.h"

namespace palladion::cuda::compilers {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

std::string kernel(const std::string& body, const std::string& target = "sm_90a") {
  return "// of a framework\n.version 9.0\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 p) {\n  .reg .f32 %f<5>;\n" + body +
         "  ret;\n}\n";
}

class Tool : public ::testing::Test {
 protected:
  Tool() {
    std::string name = (fs::temp_directory_path() / "palladion_tool_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Tool() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string written(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string contents(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string ptx_in(const std::string& name) const {
    const auto texts = cubin::ptx_of(contents(name));
    return texts ? texts->front() : texts.error();
  }

  fs::path folder_;
};

TEST_F(Tool, WritesACubinThatCarriesTheTextAsItIs) {
  const std::string text = kernel("  .loc 1 3 5 // k.py:3:5\n") + ".file 1 \"k.py\"\n",
                    file = written("k.ptx", text);
  for (const Words& words :
       {Words{"-lineinfo", "-v", "--gpu-name=sm_90a", file, "-o", path("out")},
        Words{"-arch", "sm_90a", "--output-file", path("out"), "--regAllocOptLevel=2", file},
        Words{"-arch=sm_90a", "-O3", "--opt-level", "0", "-def-load-cache", "cg",
              "--output-file=" + path("out"), file},
        Words{"--input-as-string", text, "-arch=sm_90a", "-o", path("out")}}) {
    fs::remove(folder_ / "out");
    const Said said = run_tool("ptxas", words);
    EXPECT_EQ(said.code, 0) << said.error;
    EXPECT_EQ(ptx_in("out"), text);
  }
  const Said said = run_tool("ptxas", {"-v", "-arch=sm_90a", file, "-o", path("out")});
  EXPECT_EQ(said.error, "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n");
}

TEST_F(Tool, TellsItsVersionAsPtxasDoes) {
  for (const char* word : {"--version", "-V"})
    EXPECT_THAT(run_tool("ptxas-blackwell", {word}).out,
                HasSubstr("Cuda compilation tools, release 13.0, V13.0"));
  EXPECT_THAT(run_tool("nvlink", {"--version"}).out, StartsWith("nvlink: "));
  // XLA asks so for the newest PTX.
  const Said newest = run_tool("ptxas", {"--input-as-string", ".version 99.99"});
  EXPECT_EQ(newest.code, 255);
  EXPECT_THAT(newest.error, HasSubstr("Unsupported .version 99.99; current version is '9.0'"));
}

TEST_F(Tool, RefusesAsPtxasDoes) {
  const auto said = [&](const std::string& text, const std::string& arch) {
    const Said all = run_tool("ptxas", {"-arch=" + arch, written("k.ptx", text), "-o", path("out")});
    EXPECT_EQ(all.code, 255) << text;
    EXPECT_FALSE(fs::exists(folder_ / "out"));
    return all.error;
  };
  EXPECT_EQ(said(kernel("  foo.u32 %f1;\n"), "sm_90a"),
            "ptxas " + path("k.ptx") +
                ", line 7; error   : unknown instruction `foo`\n"
                "ptxas fatal   : Ptx assembly aborted due to errors\n");
  EXPECT_THAT(said(kernel("  wgmma.fence.sync.aligned;\n", "sm_90"), "sm_90"), HasSubstr("line 7; error"));
  EXPECT_THAT(said(kernel("", "sm_100"), "sm_90"),
              HasSubstr("SM version specified by .target is higher than default SM version assumed"));
  EXPECT_THAT(said(kernel(""), "sm_999"), HasSubstr("Value 'sm_999' is not defined for option 'gpu-name'"));
  EXPECT_THAT(run_tool("ptxas", {path("nowhere.ptx")}).error, HasSubstr("nowhere.ptx' could not be opened"));
  EXPECT_THAT(run_tool("ptxas", {"-arch=sm_90a", written("k.ptx", kernel("")), "-o", "/nowhere/out"}).error,
              HasSubstr("Could not open output file"));
}

TEST_F(Tool, AVirtualArchitectureIsVerifiedOnly) {
  const std::string file = written("k.ptx", kernel("", "sm_90"));
  EXPECT_EQ(run_tool("ptxas", {"-arch=compute_90", file, "-o", path("out")}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(Tool, LinksWhatItMade) {
  const std::string head = ".version 9.0\n.target sm_90a\n.address_size 64\n";
  written("user", cubin::carry(head + ".extern .global .u32 base;\n.visible .entry k() { .reg .b32 %r; "
                                      "ld.global.u32 %r, [base]; ret; }\n"));
  written("owner", cubin::carry(head + ".visible .global .u32 base = 7;\n"));
  const Said said = run_tool("nvlink", {"-arch=sm_90a", path("user"), path("owner"), "-o", path("out")});
  EXPECT_EQ(said.code, 0) << said.error;
  EXPECT_THAT(ptx_in("out"), HasSubstr("base"));
  const Said twice = run_tool("nvlink", {"-arch=sm_90a", path("owner"), path("owner"), "-o", path("out")});
  EXPECT_EQ(twice.code, 255);
  EXPECT_THAT(twice.error, HasSubstr("nvlink fatal   : `base` is defined in two"));
  EXPECT_EQ(
      run_tool("nvlink", {"-arch=sm_90a", written("other", "\177ELF of a host"), "-o", path("out")}).code,
      255);
}

TEST(Contraction, SumsAndProductsWithoutARoundingModeGetOne) {
  EXPECT_EQ(without_contraction("add.f32 a; mul.ftz.f32 b; sub.sat.f16x2 c; add.f64 d; mul.bf16x2 e;"),
            "add.rn.f32 a; mul.rn.ftz.f32 b; sub.rn.sat.f16x2 c; add.rn.f64 d; mul.rn.bf16x2 e;");
  for (const char* same :
       {"add.rz.f32 a;", "add.s32 a;", "mul.wide.u32 a;", "fma.rn.f32 a;", "min.f32 a;", "// add.f32\n",
        "red.global.add.f32 [a], b;", "atom.add.f32 a;", ".reg .f32 %add.f32;"})
    EXPECT_EQ(without_contraction(same), same);
}

TEST_F(Tool, NoContractionIsCarried) {
  const std::string file = written("k.ptx", kernel("  mul.f32 %f1, %f2, %f3;\n  add.f32 %f1, %f1, %f4;\n"));
  EXPECT_EQ(run_tool("ptxas", {"-arch=sm_90a", "--fmad=false", file, "-o", path("out")}).code, 0);
  EXPECT_THAT(ptx_in("out"), AllOf(HasSubstr("mul.rn.f32"), HasSubstr("add.rn.f32")));
  EXPECT_EQ(run_tool("ptxas", {"-arch=sm_90a", "--fmad", "true", file, "-o", path("out")}).code, 0);
  EXPECT_THAT(ptx_in("out"), HasSubstr("mul.f32"));
}

TEST(RegisterLimit, EntriesWithoutLaunchBoundsGetIt) {
  EXPECT_EQ(with_register_limit(".visible .entry k(.param .u64 p)\n{ ret; }\n.entry j { ret; }", 38),
            ".visible .entry k(.param .u64 p)\n.maxnreg 38 { ret; }\n.entry j .maxnreg 38 { ret; }");
  for (const char* same : {".entry k() .maxntid 128 { ret; }", ".entry k() .maxnreg 64 { ret; }",
                           ".func f { ret; }", ".extern .entry k(); .func f { ret; }"})
    EXPECT_EQ(with_register_limit(same, 38), same);
}

TEST_F(Tool, ARegisterLimitIsCarried) {
  const std::string file = written("k.ptx", kernel(""));
  for (const Words& limit : {Words{"--maxrregcount=57"}, Words{"-maxrregcount", "57"}}) {
    Words words = {"-arch=sm_90a", file, "-o", path("out")};
    words.insert(words.end(), limit.begin(), limit.end());
    EXPECT_EQ(run_tool("ptxas", words).code, 0);
    EXPECT_THAT(ptx_in("out"), HasSubstr(".maxnreg 57 {"));
  }
}

// The author's text goes along.
TEST(SourceText, IsFoundAgainInPtxThatWasLinkedOrNot) {
  const std::string text = "line one\nline \"two\" }\n";
  const auto with = [&](const std::string& name, const std::string& body) {
    return cubin::with_source(
        ".version 9.0\n.target sm_90a\n.address_size 64\n" + body + ".file 1 \"/there/" + name + "\"\n", name,
        text);
  };
  const std::string one = with("one.cu", ".visible .entry k() { ret; }\n"), two = with("two.cu", "");
  const auto names = [](const std::string& ptx) {
    std::vector<std::string> out;
    for (const auto& s : cubin::sources_in(ptx)) out.push_back(s.file);
    return out;
  };
  ASSERT_THAT(names(one), ElementsAre("/there/one.cu"));
  EXPECT_EQ(cubin::sources_in(one).front().text, text);
  for (const auto& sources : {std::vector<Source>{{"a", one}}, std::vector<Source>{{"a", one}, {"b", two}}}) {
    const auto made = assemble(sources, {"sm_90a"});
    ASSERT_TRUE(made) << text_of(made.error(), "ptxas");
    EXPECT_EQ(names(cubin::ptx_of(*made)->front()).size(), sources.size());
  }
  EXPECT_THAT(names(cubin::with_source("// no .file\n", "one.cu", text)), ElementsAre());
  EXPECT_THAT(names(cubin::with_source(".file 1 \"/there/not_one.cu\"\n", "one.cu", text)), ElementsAre());
}

}  // namespace
}  // namespace palladion::cuda::compilers
