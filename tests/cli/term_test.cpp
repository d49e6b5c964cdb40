#include "cli/support/term.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "isa/host/interrupt.h"
#include "isa/host/outcome.h"
#include "tests/support/golden.h"
#include "tests/support/toolkit.h"

namespace palladion::cli {
namespace {

TEST(term, files_get_no_color) {
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(wants_color(file));
  std::fclose(file);
}

TEST(term, progress_line_fits) {
  EXPECT_EQ(Progress::line("run", 1, 4, 0.5, 40), "run [#####---------------] 25 %, 500 ms");
  EXPECT_EQ(Progress::line("run", 9, 4, 2.0, 24), "run 100 %, 2.00 s")
      << "too narrow for a bar; never above 100 %";
  EXPECT_EQ(Progress::line("run", 1500, 0, 0.25, 80), "run 1.50 k, 250 ms") << "an unknown total";
  for (int columns = 30; columns < 120; ++columns) {
    EXPECT_LT(Progress::line("matmul_ws", 77, 100, 12.5, columns).size(), size_t(columns));
  }
}

TEST(term, an_interrupt_ends_at_once_where_nothing_polls) {
  EXPECT_EXIT(
      {
        install_interrupt_handler();
        raise(SIGTERM);
        _exit(1);
      },
      testing::ExitedWithCode(exit_interrupted), "interrupted");
}

TEST(term, the_first_interrupt_of_what_polls_sets_the_flag_the_second_ends) {
  EXPECT_EXIT(
      {
        install_interrupt_handler();
        const Polled polled;
        if (interrupted()) _exit(1);
        raise(SIGINT);
        if (!interrupted()) _exit(2);
        raise(SIGINT);
        _exit(3);
      },
      testing::ExitedWithCode(exit_interrupted), "interrupted");
}

TEST(term, an_unfinished_file_is_removed_when_the_program_is_ended) {
  const toolkit::TemporaryFolder folder;
  const std::filesystem::path left = folder.path() / "left", kept = folder.path() / "kept";
  for (const auto& path : {left, kept}) std::ofstream(path) << "x";
  EXPECT_EXIT(
      {
        install_interrupt_handler();
        {
          const Unfinished done(kept);
        }
        const Unfinished unfinished(left);
        raise(SIGINT);
      },
      testing::ExitedWithCode(exit_interrupted), "interrupted");
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(kept));
}

TEST(term, progress_tells_the_time_left) {
  EXPECT_EQ(Progress::line("x", 1, 4, 2, 80),
            "x [##########------------------------------] 25 %, 2.00 s, 6.00 s left");
  EXPECT_EQ(Progress::log_line("x", 1, 4, 20), "x: 1 of 4, 20.0 s, about 60.0 s left");
  EXPECT_EQ(Progress::log_line("x", 0, 4, 20), "x: 0 of 4, 20.0 s");
  EXPECT_EQ(Progress::log_line("x", 0, 1, 20), "x: running, 20.0 s");
}

TEST(golden, diff_shows_what_changed_with_context) {
  std::string before, after;
  for (int i = 1; i <= 20; ++i) {
    before += "line " + std::to_string(i) + "\n";
    after += i == 10 ? "ten\nten and a half\n" : "line " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(golden::unified_diff(before, before), "");
  EXPECT_EQ(golden::unified_diff(before, after),
            "@@ -7,7 +7,8 @@\n line 7\n line 8\n line 9\n-line 10\n+ten\n+ten and a half\n line 11\n line "
            "12\n line 13\n");
  EXPECT_NE(golden::unified_diff("a", "a\n"), "");
}

TEST(golden, a_missing_file_fails) {
  if (golden::rebasing()) GTEST_SKIP() << "rebasing would write it";
  EXPECT_FALSE(golden::compare("no/such/file.txt", "text"));
}

}  // namespace
}  // namespace palladion::cli
