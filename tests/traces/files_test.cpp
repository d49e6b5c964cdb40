// Files: what does not fit, what cannot be written, lines of JSON.
#include <gmock/gmock.h>

#include "tests/traces/files.h"
#include "traces/bounded_file.h"
#include "traces/open.h"

namespace palladion::traces {
namespace {

using testing::contents;
using testing::temporary;

TEST(BoundedFile, TakesWholeRecordsUpToItsLimitAndALastOne) {
  const std::string path = temporary("bounded");
  auto file = std::move(*BoundedFile::open(path, 10'000));
  const std::string record(1000, 'x');
  int written = 0;
  while (file->write(record)) ++written;
  EXPECT_EQ(written, 5);  // 4096 bytes are kept for the last record
  EXPECT_TRUE(file->full());
  EXPECT_FALSE(file->write("y")) << "nothing may follow a record that is missing";
  EXPECT_TRUE(file->write("end", true));
  EXPECT_THAT(file->why(), ::testing::HasSubstr("limit of 10000 bytes"));
  file.reset();
  EXPECT_EQ(contents(path).size(), 5003U);
}

TEST(BoundedFile, AFullDiskEndsIt) {
  auto file = BoundedFile::open("/dev/full", 1 << 30);
  if (!file) GTEST_SKIP() << "no /dev/full here";
  EXPECT_TRUE((*file)->write("record"));
  EXPECT_FALSE((*file)->flush());
  EXPECT_FALSE((*file)->write("record"));
  EXPECT_THAT((*file)->why(), ::testing::HasSubstr("No space left"));
}

TEST(Open, KnowsExtensionsAndNamesWhatItCannotWrite) {
  EXPECT_TRUE(known_extension("a/b.pftrace"));
  EXPECT_TRUE(known_extension("b.perfetto-trace"));
  EXPECT_FALSE(known_extension("b.json"));
  EXPECT_THAT(open("b.json", {}).error(), ::testing::HasSubstr(".jsonl"));
  EXPECT_THAT(open("/nowhere/b.jsonl", {}).error(), ::testing::HasSubstr("/nowhere/b.jsonl"));
}

TEST(JsonLines, AnObjectALine) {
  const std::string path = temporary("lines.jsonl");
  {
    auto sink = std::move(*open(path, {.title = "a \"b\"", .sm_clock_mhz = 1980}));
    sink->add(Track{.id = 1, .kind = TrackKind::process, .name = "sim"});
    sink->add(Track{.id = 2, .parent = 1, .kind = TrackKind::warp, .order = 3, .name = "warp 3"});
    Event e{.track = 2, .from = 4, .to = 9, .category = Category::stall, .name = "barrier"};
    e.args = {{"line", "k.cpp:7"}, {"bytes", uint64_t{12}}};
    e.flows = {255};
    sink->add(e);
    sink->finish({}, 0);
  }
  EXPECT_EQ(contents(path),
            "{\"kind\":\"header\",\"version\":1,\"title\":\"a \\\"b\\\"\",\"unit\":\"SM "
            "cycles\",\"sm_clock_mhz\":1980}\n"
            "{\"kind\":\"track\",\"id\":\"0000000000000001\",\"parent\":null,\"type\":\"process\",\"order\":"
            "0,\"name\":"
            "\"sim\"}\n"
            "{\"kind\":\"track\",\"id\":\"0000000000000002\",\"parent\":\"0000000000000001\",\"type\":"
            "\"warp\",\"order\":3,"
            "\"name\":\"warp 3\"}\n"
            "{\"kind\":\"slice\",\"track\":\"0000000000000002\",\"from\":4,\"to\":9,\"category\":\"stall\","
            "\"name\":"
            "\"barrier\",\"line\":\"k.cpp:7\",\"bytes\":12,\"flows\":[\"00000000000000ff\"]}\n"
            "{\"kind\":\"end\",\"complete\":true}\n");
}

}  // namespace
}  // namespace palladion::traces
