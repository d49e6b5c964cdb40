// Bundles are read as they were written; broken and hostile ones are refused with a reason.
#include "cuda/bundle/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <functional>

#include "tests/cuda/bundle/a_bundle.h"
#include "tests/support/toolkit.h"

namespace palladion::cuda::bundle {
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
  EXPECT_TRUE(read->buffers[1].host_writes);
  EXPECT_FALSE(read->buffers[2].host_writes);
  EXPECT_EQ(read->ptx_checksum, a.manifest.ptx_checksum);
}

// A mipmapped array, a texture with a view of it, a surface on its second level, and a line of memory.
Manifest with_objects() {
  Manifest m = testing::Axpy().manifest;
  TexelArray a{
      .name = "array0", .texel = {Texel::Format::u16, 2}, .size = {8, 4, 3}, .layered = true, .levels = 2};
  a.before = {.kind = Contents::Kind::file, .file = "array0.before.zst", .checksum = 5, .compressed = 77};
  a.after = {.kind = Contents::Kind::same, .file = {}};
  m.arrays.push_back(a);
  Object texture{.handle = 7, .array = "array0"};
  texture.sampling.address = {Sampling::Address::mirror, Sampling::Address::border, Sampling::Address::clamp};
  texture.sampling.linear = texture.sampling.seamless = true;
  texture.sampling.numbers = {0x3f80'0000, 0, 0x4100'0000, 1, 2, 3, 0xffff'ffff};
  texture.has_view = true;
  texture.view = {.other_texel = true,
                  .texel = {Texel::Format::f32, 1},
                  .last_level = 1,
                  .first_layer = 1,
                  .last_layer = 2};
  Object surface{
      .kind = Object::Kind::surface, .handle = 7, .array = "array0", .level = 1, .one_level = true};
  Object line{.handle = ~uint64_t{0},
              .resource = Object::Resource::linear,
              .address = testing::x_address,
              .size = {100, 1}};
  Object odd{.handle = 9, .resource = Object::Resource::unsupported, .reason = "planar"};
  m.objects = {texture, surface, line, odd};
  m.linked = {{"linked0.ptx", 1}, {"linked1.ptx", ~uint64_t{0}}};
  return m;
}

TEST(Manifest, ReadsArraysAndObjectsAsTheyAreWritten) {
  const Manifest m = with_objects();
  const auto read = parse_manifest(text(m));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(text(*read), text(m));
  EXPECT_EQ(bytes_of(read->arrays[0]), (8 * 4 * 3 + 4 * 2 * 3) * 4u);
  EXPECT_EQ(read->arrays[0].before.compressed, 77u);
  EXPECT_EQ(read->objects[0].sampling.numbers[6], 0xffff'ffffu);
  EXPECT_EQ(read->objects[0].view.texel.format, Texel::Format::f32);
  EXPECT_EQ(read->objects[1].kind, Object::Kind::surface);
  EXPECT_EQ(read->objects[2].address, testing::x_address);
  EXPECT_EQ(read->objects[3].reason, "planar");
}

TEST(Manifest, ReadsVersion1) {
  std::string old = text(testing::Axpy().manifest);
  old.replace(old.find("\"palladion_bundle\": 3"), 21, "\"palladion_bundle\": 1");
  EXPECT_TRUE(parse_manifest(old));
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
    {"no_block", [](Manifest& m) { m.block = {0, 1, 1}; }, "`block` is not 3 numbers from 1"},
    {"many_parameters", [](Manifest& m) { m.parameters.resize(40'000); }, "at most 32764 bytes"},
};
const Damage damages_of_objects[] = {
    {"linked_outside", [](Manifest& m) { m.linked[1].file = "../x.ptx"; }, "is no name of a file"},
    {"no_array", [](Manifest& m) { m.objects[0].array = "array1"; }, "there is no array `array1`"},
    {"level", [](Manifest& m) { m.objects[1].level = 2; }, "level 2 of `array0`, which has 2"},
    {"view_of_levels", [](Manifest& m) { m.objects[0].view.last_level = 2; }, "levels 0 to 2 of `array0`"},
    {"view_of_layers", [](Manifest& m) { m.objects[0].view.last_layer = 3; },
     "layers 1 to 3 of `array0`, which has 3"},
    {"view_backward", [](Manifest& m) { m.objects[0].view.first_layer = 3; }, "layers 3 to 2"},
    {"view_of_larger_texels", [](Manifest& m) { m.objects[0].view.texel.channels = 4; },
     "a view whose texels have 16 bytes, those of `array0` have 4"},
    {"huge_array", [](Manifest& m) { m.arrays[0].size = {1U << 30, 1U << 30, 1U << 30}; },
     "those of no CUDA array"},
    {"no_width", [](Manifest& m) { m.arrays[0].size[0] = 0; }, "those of no CUDA array"},
    {"no_layers", [](Manifest& m) { m.arrays[0].size[2] = 0; }, "those of no CUDA array"},
    {"odd_cube", [](Manifest& m) { m.arrays[0].cubemap = true; }, "those of no CUDA array"},
    {"many_levels", [](Manifest& m) { m.arrays[0].levels = 33; }, "`levels` is not a number from 0 to 32"},
    {"three_channels", [](Manifest& m) { m.arrays[0].texel.channels = 3; }, "`channels` is not 1, 2 or 4"},
    {"two_arrays", [](Manifest& m) { m.arrays.push_back(m.arrays[0]); }, "two arrays are called `array0`"},
    {"two_objects", [](Manifest& m) { m.objects.push_back(m.objects[0]); },
     "texture object 0x7 is there twice"},
    {"line_of_nothing", [](Manifest& m) { m.objects[2].size[0] = 0; }, "has no texels"},
    {"surface_of_memory", [](Manifest& m) { m.objects[2].kind = Object::Kind::surface; },
     "a surface is on an array"},
};
class HostileObjects : public ::testing::TestWithParam<Damage> {};
TEST_P(HostileObjects, AreRefused) {
  Manifest m = with_objects();
  GetParam().damages(m);
  const auto read = parse_manifest(text(m));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error(), HasSubstr(GetParam().says));
}
INSTANTIATE_TEST_SUITE_P(Bundle, HostileObjects, ::testing::ValuesIn(damages_of_objects),
                         [](const auto& damage) { return std::string(damage.param.name); });

INSTANTIATE_TEST_SUITE_P(Bundle, HostileManifest, ::testing::ValuesIn(damages),
                         [](const auto& damage) { return std::string(damage.param.name); });

TEST(Manifest, RefusesTextThatIsNone) {
  EXPECT_THAT(parse_manifest("").error(), HasSubstr("is no JSON"));
  EXPECT_THAT(parse_manifest("[1]").error(), HasSubstr("the manifest is no object"));
  EXPECT_THAT(parse_manifest("{}").error(), HasSubstr("has no `palladion_bundle`"));
  EXPECT_THAT(parse_manifest(R"({"palladion_bundle": 4})").error(),
              HasSubstr("has format 4, this program reads formats 1 to 3"));
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

// Before memory is taken for any: a large buffer of a constant costs nothing when another's file is wrong.
TEST_F(BundleFolder, FilesAreCheckedBeforeContentsAreRead) {
  testing::Axpy a;
  a.write_to(folder());
  EXPECT_TRUE(check_files(folder(), a.manifest));
  a.manifest.buffers.push_back({.name = "large", .address = 0x1'0000'0000, .bytes = uint64_t{1} << 40});
  a.manifest.buffers.back().before = {.kind = Contents::Kind::repeated, .file = {}, .value = 1};
  EXPECT_TRUE(check_files(folder(), a.manifest));
  a.manifest.buffers.back().after = {.kind = Contents::Kind::file, .file = "x"};
  EXPECT_THAT(check_files(folder(), a.manifest).error(), HasSubstr("the manifest says 1099511627776"));
  a.manifest.buffers.back().after.file = "nowhere";
  EXPECT_THAT(check_files(folder(), a.manifest).error(), HasSubstr("cannot read"));
}

// Contents of one value after the other, as zeros and their negatives: what capture compares by their sums.
TEST(BundleChecksum, ChangesOfAFewBitsAreSeenWhereverTheyAre) {
  const std::vector<std::byte> zeros(4096);
  const uint64_t sum = checksum(zeros);
  for (const size_t period : {1, 2, 4, 8, 16}) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> all = zeros, two = zeros;
      for (size_t at = period - 1; at < all.size(); at += period) all[at] = std::byte(1 << bit);
      EXPECT_NE(checksum(all), sum) << period << ' ' << bit;
      two[period - 1] = two[2048 + period - 1] = std::byte(1 << bit);
      EXPECT_NE(checksum(two), sum) << period << ' ' << bit;
    }
  }
}

TEST_F(BundleFolder, ChecksumsOfOlderFormatsAreRead) {
  testing::Axpy().write_to(folder());
  const std::vector<std::byte> zeros(16);
  testing::write(folder() / "old", zeros);
  const Contents c{.kind = Contents::Kind::file, .file = "old", .checksum = 0x63E4C218D96BD87F};
  EXPECT_TRUE(read_contents(folder(), c, zeros.size())) << read_contents(folder(), c, zeros.size()).error();
}

std::vector<std::byte> zstd_frame(std::span<const std::byte> bytes) {
  std::vector<std::byte> frame(ZSTD_compressBound(bytes.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 1));
  return frame;
}

TEST_F(BundleFolder, DecompressesWhatTheManifestSaysAndNoMore) {
  testing::Axpy().write_to(folder());
  const std::vector<std::byte> zeros(1 << 20);
  const std::vector<std::byte> frame = zstd_frame(zeros);
  testing::write(folder() / "big.zst", frame);
  Contents c{.kind = Contents::Kind::file,
             .file = "big.zst",
             .checksum = checksum(zeros),
             .compressed = frame.size()};
  const auto read = read_contents(folder(), c, zeros.size());
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, zeros);
  EXPECT_THAT(read_contents(folder(), c, 4096).error(),
              HasSubstr("holds 1048576 bytes, the manifest says 4096"));
  EXPECT_THAT(read_contents(folder(), c, uint64_t{1} << 40).error(), HasSubstr("holds 1048576 bytes"));
  c.checksum ^= 1;
  EXPECT_THAT(read_contents(folder(), c, zeros.size()).error(), HasSubstr("checksum"));
  c.compressed += 1;
  EXPECT_THAT(read_contents(folder(), c, zeros.size()).error(), HasSubstr("the manifest says"));
}

// A frame whose header promises little and whose blocks hold more; and one that is cut.
TEST_F(BundleFolder, RefusesBrokenFrames) {
  testing::Axpy().write_to(folder());
  const std::vector<std::byte> zeros(1 << 20);
  std::vector<std::byte> frame = zstd_frame(zeros);
  // Magic 4 bytes, descriptor 1, window 1, then the size in 4 bytes.
  const uint32_t little = 64 << 10;
  ASSERT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), zeros.size());
  std::memcpy(frame.data() + 6, &little, 4);
  ASSERT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), little);
  testing::write(folder() / "big.zst", frame);
  Contents c{.kind = Contents::Kind::file, .file = "big.zst", .checksum = 0, .compressed = frame.size()};
  EXPECT_THAT(read_contents(folder(), c, little).error(), HasSubstr("its zstd frame is broken"));
  frame = zstd_frame(zeros);
  frame.resize(frame.size() / 2);
  testing::write(folder() / "big.zst", frame);
  c.compressed = frame.size();
  EXPECT_THAT(read_contents(folder(), c, zeros.size()).error(), HasSubstr("its zstd frame is broken"));
  testing::write(folder() / "big.zst", std::as_bytes(std::span("no frame at all")));
  c.compressed = 16;
  EXPECT_THAT(read_contents(folder(), c, 16).error(), HasSubstr("no zstd frame"));
}

}  // namespace
}  // namespace palladion::cuda::bundle
