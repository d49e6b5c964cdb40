// Kernels in CUDA graphs, under the fake driver.
#include <gmock/gmock.h>

#include "tests/cuda/capture/recorded.h"

namespace palladion::cuda::capture::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Graphs : public Recorded {};

TEST_F(Graphs, NodesAreLaunchedOneByOneAndRecorded) {
  const std::string said = capture(PLD_GRAPH_PROGRAM " 1 plain", "PALLADION_CAPTURE_LAUNCHES=2");
  EXPECT_THAT(said, HasSubstr("data 7, other 0"));
  EXPECT_THAT(said, Not(HasSubstr("launched as a graph")));
  ASSERT_EQ(bundles(), 2u);
  for (const auto& [name, before] : {std::pair("0001-add_one", 5u), {"0002-add_one", 6u}}) {
    const bundle::Manifest m = manifest(name);
    ASSERT_EQ(m.buffers.size(), 1u);
    EXPECT_EQ(word(name, m.buffers[0].before, 64), before);
    EXPECT_EQ(word(name, m.buffers[0].after, 64), before + 1);
    EXPECT_EQ(m.block[0], 32u);
  }
}

// A node holds the function that the driver made of the library's kernel: no program asked for it.
TEST_F(Graphs, OfALibrarysKernelsHaveTheirPtx) {
  capture(PLD_GRAPH_PROGRAM " 1 library");
  ASSERT_EQ(bundles(), 1u);
  EXPECT_EQ(manifest("0001-add_one").ptx_source, "PTX that the program loaded");
}

TEST_F(Graphs, LaunchesOfGraphsCount) {
  const std::string said = capture(PLD_GRAPH_PROGRAM " 3 plain", "PALLADION_CAPTURE_SKIP=3");
  EXPECT_THAT(said, HasSubstr("launched as a graph\nlaunched as a graph\n"));  // the first and the third
  ASSERT_EQ(bundles(), 1u);
  EXPECT_EQ(word("0001-add_one", manifest("0001-add_one").buffers[0].before, 64), 6u);
}

TEST_F(Graphs, WithoutAWantedKernelStayGraphs) {
  EXPECT_EQ(capture(PLD_GRAPH_PROGRAM " 1 plain", "PALLADION_CAPTURE_KERNEL=other"),
            "launched as a graph\ndata 7, other 0\n");
  EXPECT_EQ(bundles(), 0u);
}

TEST_F(Graphs, ChangesOfTheExecutableGraphAreFollowed) {
  EXPECT_THAT(capture(PLD_GRAPH_PROGRAM " 1 changed", "PALLADION_CAPTURE_LAUNCHES=2"),
              HasSubstr("data 6, other 1"));
  const bundle::Manifest first = manifest("0001-add_one"), second = manifest("0002-add_one");
  EXPECT_NE(first.buffers[0].address, second.buffers[0].address);
  EXPECT_THAT(capture(PLD_GRAPH_PROGRAM " 1 disabled", "PALLADION_CAPTURE_LAUNCHES=2"),
              HasSubstr("data 6, other 0"));
  EXPECT_EQ(bundles(), 3u);
}

TEST_F(Graphs, ANodeThatCannotBeLaunchedAloneIsNamed) {
  const std::string said = capture(PLD_GRAPH_PROGRAM " 2 odd");
  EXPECT_THAT(said,
              HasSubstr("unsupported[PLD8105]: the kernels of a CUDA graph are not recorded: it holds a "
                        "batch of memory operations"));
  EXPECT_THAT(said, HasSubstr("launched as a graph\nlaunched as a graph\ndata 7"));
  EXPECT_EQ(bundles(), 0u);
}

}  // namespace
}  // namespace palladion::cuda::capture::testing
