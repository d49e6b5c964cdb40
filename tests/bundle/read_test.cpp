// Bundles are read as they were written; broken and hostile ones are refused with a reason.
#include "bundle/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/bundle/a_bundle.h"
#include "tests/support/toolkit.h"

namespace palladion::bundle {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Manifest, ReadsWhatIsWritten) {
  testing::Axpy a;
  a.manifest.program = "a \"quoted\" \\ name \x01\xff";
  a.manifest.cluster = {2, 1, 1};
  a.manifest.cooperative = true;
  a.manifest.dynamic_shared = 227 << 10;
  a.manifest.result = 700;
  a.manifest.buffers[0].before = {.kind = Contents::Kind::seed, .file = {}, .value = 7};
  a.manifest.buffers[0].after = {};
  const auto read = parse_manifest(text(a.manifest));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(text(*read).size() > 100, true);
  EXPECT_EQ(read->cluster, a.manifest.cluster);
  EXPECT_EQ(read->parameters, a.manifest.parameters);
  EXPECT_EQ(read->dynamic_shared, 227u << 10);
  EXPECT_TRUE(read->cooperative);
  ASSERT_EQ(read->buffers.size(), 3u);
  EXPECT_EQ(read->buffers[0].before.value, 7u);
  EXPECT_EQ(read->buffers[0].after.kind, Contents::Kind::none);
  EXPECT_EQ(read->buffers[1].before.value, 0x3f80'0000'3f80'0000u);
  EXPECT_EQ(read->buffers[1].after.checksum, a.manifest.buffers[1].after.checksum);
  EXPECT_TRUE(read->buffers[2].variable);
  EXPECT_EQ(read->ptx_checksum, a.manifest.ptx_checksum);
}

struct Damage {
  const char* name;
  std::function<void(Manifest&)> damages;
  const char* says;
};
void PrintTo(const Damage& d, std::ostream* os) { *os << d.name; }
class HostileManifest : public ::testing::TestWithParam<Damage> {};

TEST_P(HostileManifest, IsRefused) {
  testing::Axpy a;
  GetParam().damages(a.manifest);
  const auto read = parse_manifest(text(a.manifest));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error(), HasSubstr(GetParam().says));
}

const Damage damages[] = {
    {"climbs_out", [](Manifest& m) { m.buffers[0].before.file = "../../etc/passwd"; },
     "`../../etc/passwd` is no name of a file in the bundle"},
    {"absolute", [](Manifest& m) { m.ptx_file = "/etc/passwd"; }, "is no name of a file"},
    {"hidden", [](Manifest& m) { m.ptx_file = ".."; }, "is no name of a file"},
    {"overlap", [](Manifest& m) { m.buffers[1].address = m.buffers[0].address + 399; },
     "buffers `buffer0` and `buffer1` overlap"},
    {"null_address", [](Manifest& m) { m.buffers[1].address = 0; }, "are no memory of a device"},
    {"endless", [](Manifest& m) { m.buffers[1].bytes = ~uint64_t{0}; }, "are no memory of a device"},
    {"shared_window", [](Manifest& m) { m.buffers[1].address = 0x0100'0000'0000; },
     "those of shared and local memory"},
    {"no_block", [](Manifest& m) { m.block = {0, 1, 1}; }, "`block` is not three numbers from 1"},
    {"many_parameters", [](Manifest& m) { m.parameters.resize(40'000); }, "at most 32764 bytes"},
};
INSTANTIATE_TEST_SUITE_P(Bundle, HostileManifest, ::testing::ValuesIn(damages),
                         [](const auto& damage) { return std::string(damage.param.name); });

TEST(Manifest, RefusesTextThatIsNone) {
  EXPECT_THAT(parse_manifest("").error(), HasSubstr("is no JSON"));
  EXPECT_THAT(parse_manifest("[1]").error(), HasSubstr("the manifest is no object"));
  EXPECT_THAT(parse_manifest("{}").error(), HasSubstr("has no `palladion_bundle`"));
  EXPECT_THAT(parse_manifest(R"({"palladion_bundle": 2})").error(), HasSubstr("this program reads format 1"));
  EXPECT_THAT(parse_manifest(std::string(100'000, '[')).error(), HasSubstr("is no JSON"));
  std::string many = text(testing::Axpy().manifest);
  std::string list;
  for (size_t i = 0; i <= most_buffers; ++i) list += i == 0 ? "{}" : ",{}";
  const size_t at = many.find("\"buffers\": [");
  many = many.substr(0, at) + "\"buffers\": [" + list + "]}";
  EXPECT_THAT(parse_manifest(many).error(), HasSubstr("names 65537 buffers, at most 65536"));
}

class BundleFolder : public ::testing::Test {
 protected:
  fs::path folder() const { return folder_.path() / "b"; }
  toolkit::TemporaryFolder folder_;
};

TEST_F(BundleFolder, GivesContents) {
  testing::Axpy a;
  a.write_to(folder());
  ASSERT_TRUE(is_bundle(folder()));
  EXPECT_FALSE(is_bundle(folder_.path()));
  const auto m = read_manifest(folder());
  ASSERT_TRUE(m) << m.error();
  EXPECT_EQ(read_ptx(folder(), *m).value(), testing::axpy);
  const auto x = read_contents(folder(), m->buffers[0].before, 400);
  ASSERT_TRUE(x) << x.error();
  EXPECT_TRUE(std::ranges::equal(*x, testing::bytes_of(a.x)));
  const auto y = read_contents(folder(), m->buffers[1].before, 400);
  ASSERT_TRUE(y) << y.error();
  EXPECT_TRUE(std::ranges::equal(*y, testing::bytes_of(a.before)));
}

TEST_F(BundleFolder, RefusesFilesThatAreNotWhatTheManifestSays) {
  testing::Axpy a;
  a.write_to(folder());
  const Contents& x = a.manifest.buffers[0].before;
  EXPECT_THAT(read_contents(folder(), x, 401).error(), HasSubstr("has 400 bytes, the manifest says 401"));
  a.x[3] = 77;
  testing::write(folder() / "x", testing::bytes_of(a.x));
  EXPECT_THAT(read_contents(folder(), x, 400).error(), HasSubstr("its checksum is not the manifest's"));
  fs::remove(folder() / "x");
  EXPECT_THAT(read_contents(folder(), x, 400).error(), HasSubstr("cannot read"));
  fs::create_symlink(folder() / "scale", folder() / "x");
  EXPECT_THAT(read_contents(folder(), x, 4).error(), HasSubstr("cannot read"));
  fs::remove(folder() / "x");
  fs::create_directory(folder() / "x");
  EXPECT_THAT(read_contents(folder(), x, 4096).error(), HasSubstr("is no regular file"));
}

}  // namespace
}  // namespace palladion::bundle
