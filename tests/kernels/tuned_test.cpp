// Settings of the nearest sizes of a table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/core/whole_error.h"
#include "kernels/frame/registry.h"
#include "kernels/frame/tuned.h"

namespace palladion::kernels {
namespace {

using testing::HasSubstr;

constexpr std::string_view file_text =
    "# found by sweeps\n"
    "kernel matmul_ws\n"
    "arch h200\n"
    "date 2026-01-02\n"
    "m=4096 n=4096 : cluster=m stages=3 | 10 cycles\n"
    "m=8192 n=8192 :  | the defaults\n";

TEST(Tuned, AFileNamesKernelChipDateAndEntries) {
  const TunedTable table = read_tuned(file_text, "t.inc");
  EXPECT_EQ(table.kernel, "matmul_ws");
  EXPECT_EQ(table.arch, "h200");
  EXPECT_EQ(table.date, "2026-01-02");
  ASSERT_EQ(table.entries.size(), 2u);
  EXPECT_EQ(table.entries[0].sizes, (std::map<std::string, int64_t>{{"m", 4096}, {"n", 4096}}));
  EXPECT_EQ(table.entries[0].settings,
            (std::map<std::string, std::string>{{"cluster", "m"}, {"stages", "3"}}));
  EXPECT_TRUE(table.entries[1].settings.empty());
}

TEST(Tuned, OtherLinesAreErrors) {
  for (const char* line : {"m=1 cluster=m", "m=1 : cluster | x", "m=many : cluster=m | x", ": cluster=m | x",
                           "m=0 : cluster=m | x", "m=1 | x : y"})
    EXPECT_THROW(read_tuned(line, "t.inc"), isa::Error) << line;
}

TEST(Tuned, TheNearestSizesComeFirstAndFarOnesNotAtAll) {
  const TunedTable table = read_tuned(file_text, "t.inc");
  const auto of = [&](int64_t m, int64_t n) {
    std::vector<std::string> from;
    for (const Tuned& t : nearest(table, {{"m", m}, {"n", n}, {"k", 64}}))
      from.push_back(t.settings.empty() ? "large" : "small");
    return from;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(of(4096, 4096), (Names{"small", "large"}));
  EXPECT_EQ(of(8192, 8192), (Names{"large", "small"}));
  EXPECT_EQ(of(2048, 4096), (Names{"small"}));
  EXPECT_EQ(of(16384, 16384), (Names{"large"}));
  EXPECT_EQ(of(2047, 4096), Names{});
  EXPECT_EQ(of(4096, 512), Names{}) << "each size must be near";
  EXPECT_TRUE(nearest(table, {{"m", 4096}}).empty()) << "it has no n";
  EXPECT_EQ(nearest(table, {{"m", 4096}, {"n", 4096}}).front().from,
            "those of m=4096 n=4096 in t.inc (h200, 2026-01-02)");
}

std::vector<Tuned> tuned(const std::map<std::string, std::string>& settings, const char* arch = "h200",
                         const char* kernel = "matmul_ws") {
  const KernelSpec& spec = *find_kernel(kernel);
  return tuned_settings(spec, choose(spec, {}, settings, isa::find_arch(arch)), settings);
}

TEST(Tuned, SettingsThatAreNamedAreAllThatIsNamed) {
  EXPECT_FALSE(tuned({}).empty());
  EXPECT_FALSE(tuned({{"dtype", "bf16"}, {"out_dtype", "bf16"}}).empty());
  EXPECT_FALSE(tuned({{"profile", "1"}}).empty());
  EXPECT_TRUE(tuned({{"stages", "4"}}).empty());
  EXPECT_TRUE(tuned({{"add_c", "1"}}).empty());
  EXPECT_TRUE(tuned({{"dtype", "e4m3"}}).empty()) << "the table is of 16 bits";
  EXPECT_TRUE(tuned({}, "b200").empty()) << "the table is of an H200";
  EXPECT_TRUE(tuned({}, "h200", "layer_norm").empty());
}

TEST(Tuned, AnotherKernelOfThatNameHasNoTable) {
  KernelSpec spec = *find_kernel("matmul_ws");
  EXPECT_FALSE(tuned_settings(spec, choose(spec), {}).empty());
  spec.doc = "mine";
  EXPECT_TRUE(tuned_settings(spec, choose(spec), {}).empty());
}

// Each entry is a kernel that can be recorded.
TEST(Tuned, EveryEntryOfMatmulWsCanBeRecorded) {
  const KernelSpec& spec = *find_kernel("matmul_ws");
  const Choice choice = choose(spec, {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}});
  for (const Tuned& t : tuned_settings(spec, choice, {})) {
    EXPECT_THAT(t.from, HasSubstr("kernels/frame/tuned.inc (h200, "));
    EXPECT_NO_THROW(spec.build(choose(spec, {}, t.settings))) << t.from;
  }
}

}  // namespace
}  // namespace palladion::kernels
