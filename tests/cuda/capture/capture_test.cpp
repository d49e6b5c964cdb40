// Programs under the capture library: what it records, by each way to the driver's functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/json.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cuda/bundle/bundle.h"

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::HasSubstr;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

uint32_t word_at(const std::string& bytes, size_t at) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

class Capture : public ::testing::Test {
 protected:
  Capture() {
    std::string name = (fs::temp_directory_path() / "palladion_capture_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Capture() override { fs::remove_all(folder_); }

  // Runs the program; what it and the library said.
  std::string run(const std::string& arguments, const std::string& settings = {}) {
    const std::string log = (folder_ / "log").string();
    const std::string command = "env LD_LIBRARY_PATH=" PLD_DRIVER_FOLDER " LD_PRELOAD=" PLD_CAPTURE_LIBRARY
                                " PALLADION_CAPTURE_DIR=" +
                                (folder_ / "out").string() + " " + settings + " " PLD_PROGRAM " " +
                                arguments + " >" + log + " 2>&1";
    status_ = std::system(command.c_str());
    return text_of(log);
  }
  json::value manifest(const std::string& bundle) {
    return json::parse(text_of(folder_ / "out" / bundle / "bundle.json"));
  }
  size_t bundles() const {
    if (!fs::exists(folder_ / "out")) return 0;
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_ / "out"), {}));
  }

  fs::path folder_;
  int status_ = -1;
};

class EveryWay : public Capture, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryWay, RecordsALaunchWithAllThatItReaches) {
  const std::string said = run(std::string(GetParam()) + " add_one");
  EXPECT_EQ(status_, 0) << said;
  EXPECT_THAT(said, HasSubstr("may be secret"));
  const json::value m = manifest("0001-add_one");
  EXPECT_EQ(m.at("palladion_bundle"), palladion::cuda::bundle::format_version);
  EXPECT_EQ(m.at("entry"), "add_one");
  EXPECT_EQ(m.at("chip"), "fake H200");
  EXPECT_EQ(m.at("grid"), (json::array{4, 1, 1}));
  EXPECT_EQ(m.at("block"), (json::array{256, 1, 1}));
  EXPECT_EQ(m.at("dynamic_shared"), 64);
  EXPECT_EQ(m.at("complete"), true);
  EXPECT_EQ(m.at("parameters").as_string().size(), 24u);  // a pointer and a u32
  const fs::path bundle = folder_ / "out/0001-add_one";
  const std::string ptx = text_of(bundle / "kernel.ptx");
  EXPECT_THAT(ptx, HasSubstr(".entry add_one"));
  std::ostringstream sum;
  sum << "0x" << std::hex << palladion::cuda::bundle::checksum(std::as_bytes(std::span(ptx)));
  EXPECT_EQ(m.at("ptx").at("checksum"), json::string(sum.str()));
  // A variable of the module, the parameter's buffer, and the one to which a pointer in that points.
  const json::array& buffers = m.at("buffers").as_array();
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_EQ(buffers[0].at("name"), "table");
  EXPECT_EQ(buffers[0].at("variable"), true);
  EXPECT_EQ(buffers[1].at("bytes"), 4096);
  EXPECT_EQ(buffers[2].at("bytes"), 1000);
  EXPECT_EQ(buffers[2].at("before").at("repeated"), "0x0");
  EXPECT_EQ(buffers[2].at("after"), "same");
  const std::string before = text_of(bundle / buffers[1].at("before").at("file").as_string().c_str());
  const std::string after = text_of(bundle / buffers[1].at("after").at("file").as_string().c_str());
  ASSERT_EQ(before.size(), 4096u);
  ASSERT_EQ(after.size(), 4096u);
  EXPECT_EQ(word_at(before, 0), 0u);
  EXPECT_EQ(word_at(after, 0), 1u);
}
INSTANTIATE_TEST_SUITE_P(Capture, EveryWay, ::testing::Values("dlsym", "proc"),
                         [](const auto& way) { return std::string(way.param); });

TEST_F(Capture, SkipsAndCountsLaunchesOfAKernel) {
  run("proc add_one 5", "PALLADION_CAPTURE_SKIP=1 PALLADION_CAPTURE_LAUNCHES=2");
  EXPECT_EQ(bundles(), 2u);
  const std::string second = text_of(folder_ / "out/0002-add_one/buffer1.before");
  EXPECT_EQ(word_at(second, 0), 2u);  // before the third launch
}

TEST_F(Capture, WritesNothingWhenNoNameMatches) {
  EXPECT_EQ(run("proc add_one 3", "PALLADION_CAPTURE_KERNEL='^other'"), "ended with 0\n");
  EXPECT_EQ(bundles(), 0u);
  run("proc add_one", "PALLADION_CAPTURE_KERNEL='^add_(one|two)$'");
  EXPECT_EQ(bundles(), 1u);
}

TEST_F(Capture, NamesWhatIsTooLarge) {
  EXPECT_THAT(
      run("proc add_one", "PALLADION_CAPTURE_MAX_BYTES=4000"),
      HasSubstr("unsupported[PLD8101]: add_one: reaches at least 4112 bytes, more than --max-bytes 4000"));
  EXPECT_EQ(bundles(), 0u);
}

TEST_F(Capture, ACrashLeavesWhatCameBefore) {
  EXPECT_THAT(run("proc crash"), HasSubstr("ended with 700"));
  const json::value m = manifest("0001-crash");
  EXPECT_EQ(m.at("complete"), false);
  EXPECT_EQ(m.at("result"), 700);
  EXPECT_TRUE(m.at("buffers").at(1).at("after").is_null());
  EXPECT_TRUE(fs::exists(folder_ / "out/0001-crash/buffer1.before"));
}

TEST_F(Capture, LaunchesIntoAGraphAreNoLaunchesYet) {
  EXPECT_EQ(run("proc add_one 1 graph"), "ended with 0\n");
  EXPECT_EQ(bundles(), 0u);
}

TEST(BundleText, EscapesAndKeepsEveryBit) {
  palladion::cuda::bundle::Manifest m;
  m.entry = "a\"b\\c\n\xff";
  m.program = "/tmp/\xc3\xa4\xe2\x82\xac";  // UTF-8
  m.parameters = {0x00, 0xff, 0x10};
  m.buffers.push_back(
      {.name = "b",
       .address = 0xffff'ffff'ffff'fff0,
       .bytes = 16,
       .before = {.kind = palladion::cuda::bundle::Contents::Kind::repeated, .value = ~uint64_t{0}},
       .after = {}});
  const json::value v = json::parse(palladion::cuda::bundle::text(m));
  EXPECT_THAT(std::string(v.at("entry").as_string()), HasSubstr("a\"b\\c\n"));
  EXPECT_EQ(v.at("program"), "/tmp/\xc3\xa4\xe2\x82\xac");
  EXPECT_EQ(v.at("parameters"), "00ff10");
  EXPECT_EQ(v.at("buffers").at(0).at("address"), "0xfffffffffffffff0");
  EXPECT_EQ(v.at("buffers").at(0).at("before").at("repeated"), "0xffffffffffffffff");
}

}  // namespace
