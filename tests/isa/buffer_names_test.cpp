// The author's names of arrays and barriers survive PTX text.
#include <gtest/gtest.h>

#include "isa/text/parse.h"
#include "isa/text/print.h"

namespace palladion::isa {
namespace {

constexpr std::string_view named = R"(.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k()
{
	ret;
}
//@buffer smem+0 4096 f16[2,32,32] tiles
//@buffer smem+4096 32 mbarrier[4] pipeline inputs
//@buffer smem+4128 8 mbarrier once
)";

TEST(BufferNames, AreReadFromCommentsAndPrintedAgain) {
  const auto module = parse(named);
  ASSERT_TRUE(module) << render(module.error(), named);
  ASSERT_EQ(module->buffers.size(), 3U);
  const BufferName& barriers = module->buffers[1];
  EXPECT_EQ(barriers.name, "pipeline inputs");
  EXPECT_EQ(barriers.offset, 4096U);
  EXPECT_EQ(barriers.bytes, 32U);
  EXPECT_EQ(barriers.element, "mbarrier");
  EXPECT_EQ(barriers.shape, std::vector<int64_t>{4});
  EXPECT_EQ(module->symbols[barriers.symbol].name, "smem");
  EXPECT_EQ(module->buffers[0].shape, (std::vector<int64_t>{2, 32, 32}));
  EXPECT_TRUE(module->buffers[2].shape.empty());

  const std::string again = print(*module, {.buffer_names = true});
  EXPECT_NE(again.find("//@buffer smem+0 4096 f16[2,32,32] tiles\n"), std::string::npos) << again;
  EXPECT_EQ(parse(again)->buffers.size(), 3U);
  EXPECT_EQ(print(*module).find("//@buffer"), std::string::npos);
}

TEST(BufferNames, OtherCommentsStayComments) {
  for (const std::string_view line :
       {"//@buffer nowhere+0 8 f16 a", "//@buffer smem 8 f16 a", "//@buffer smem+x 8 f16 a",
        "//@buffer smem+0 8 f16", "//@buffer smem+0 8 f16[ a", "//@buffer smem+0 8 f16[0] a", "//@buffer ",
        "  //@buffer smem+0 8 f16 a", "//@buffer smem+99999999999999999999 8 f16 a"}) {
    const std::string text = std::string(named.substr(0, named.find("//@"))) + std::string(line);
    const auto module = parse(text);
    ASSERT_TRUE(module) << line;
    EXPECT_TRUE(module->buffers.empty()) << line;
  }
}

}  // namespace
}  // namespace palladion::isa
