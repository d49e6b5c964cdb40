#include "cuda/fatbin/fatbin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <sys/resource.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cuda/cubin/carried_ptx.h"
#include "cuda/fatbin/program.h"

namespace palladion::cuda::fatbin {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Text = std::string;

template <class T>
void put(Text& into, T value) {
  into.append(reinterpret_cast<const char*>(&value), sizeof value);
}

enum class Packing { none, lz4, zstd };

// An entry as nvcc writes it.
Text entry(Kind kind, uint32_t arch, const Text& contents, Packing packing) {
  Text payload = contents;
  if (packing == Packing::lz4) {
    payload.resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(contents.size()))));
    payload.resize(static_cast<size_t>(LZ4_compress_default(contents.data(), payload.data(),
                                                            static_cast<int>(contents.size()),
                                                            static_cast<int>(payload.size()))));
  } else if (packing == Packing::zstd) {
    payload.resize(ZSTD_compressBound(contents.size()));
    payload.resize(ZSTD_compress(payload.data(), payload.size(), contents.data(), contents.size(), 3));
  }
  const bool packed = packing != Packing::none;
  const size_t bytes = payload.size();
  payload.resize((bytes + 7) / 8 * 8);
  Text out;
  put<uint16_t>(out, static_cast<uint16_t>(kind));
  put<uint16_t>(out, 0x101);
  put<uint32_t>(out, 64);
  put<uint64_t>(out, payload.size());
  put<uint32_t>(out, packed ? static_cast<uint32_t>(bytes) : 0);
  put<uint32_t>(out, 0);
  put<uint16_t>(out, 0);
  put<uint16_t>(out, 9);
  put<uint32_t>(out, arch);
  put<uint64_t>(out, 0);
  put<uint64_t>(out, packing == Packing::lz4 ? 0x2011 : packing == Packing::zstd ? 0x8011 : 0x11);
  put<uint64_t>(out, 0);
  put<uint64_t>(out, packed ? contents.size() : 0);
  return out + payload;
}

Text fatbin(const Text& all) {
  Text out;
  put<uint32_t>(out, 0xBA55ED50);
  put<uint16_t>(out, 1);
  put<uint16_t>(out, 16);
  put<uint64_t>(out, all.size());
  return out + all;
}

Bytes bytes(const Text& t) { return std::as_bytes(std::span(t)); }

const Text ptx = ".version 9.0\n.target sm_90\n.entry k() { ret; ret; ret; ret; ret; ret; ret; ret; }\n";

TEST(Fatbin, PtxForTheChipAloneComesFirst) {
  const Text alone = ".version 9.0\n.target sm_90a, debug\n", old = ".version 9.0\n.target sm_80\n",
             next = ".version 9.0\n.target sm_100a\n";
  const Text file =
      fatbin(entry(Kind::ptx, 100, next, Packing::none) + entry(Kind::ptx, 80, old, Packing::none) +
             entry(Kind::ptx, 90, ptx, Packing::none) + entry(Kind::cubin, 90, Text(40, 'c'), Packing::none) +
             entry(Kind::ptx, 90, alone, Packing::none));
  const auto all = entries(bytes(file));
  ASSERT_TRUE(all) << all.error();
  std::vector<Text> texts;
  for (const Entry& e : usable_ptx(*all, 90)) texts.push_back(text(e).value_or("?"));
  EXPECT_THAT(texts, ::testing::ElementsAre(alone, ptx, old));
  EXPECT_TRUE(usable_ptx(*all, 75).empty());
}

// The texts that a chip is given of such entries.
std::vector<Text> given(uint32_t compute, const std::vector<Text>& all) {
  Text file;
  for (const Text& e : all) file += e;
  file = fatbin(file);
  const auto program = program_for(bytes(file), compute);
  return program ? program->texts : std::vector<Text>{"error: " + program.error()};
}

Text for_target(const char* target) {
  return Text(".version 9.0\n.target ") + target + "\n.entry k() { ret; }\n";
}
Text general(uint32_t arch) {
  return entry(Kind::ptx, arch, for_target(("sm_" + std::to_string(arch)).c_str()), Packing::none);
}
Text code(uint32_t arch, const char* target) {
  return entry(Kind::cubin, arch, cubin::carry(for_target(target)), Packing::zstd);
}

TEST(Fatbin, AChipIsGivenItsOwnPtxThenWhatItsCodeCarriesThenOlderPtx) {
  using ::testing::ElementsAre;
  EXPECT_THAT(given(90, {general(75), code(90, "sm_90a"), general(90)}), ElementsAre(for_target("sm_90")));
  EXPECT_THAT(given(90, {general(75), code(90, "sm_90a")}), ElementsAre(for_target("sm_90a")));
  EXPECT_THAT(given(90, {general(75), code(100, "sm_100a")}), ElementsAre(for_target("sm_75")));
  EXPECT_THAT(given(103, {code(90, "sm_90"), code(100, "sm_100f")}), ElementsAre(for_target("sm_100f")));
  EXPECT_THAT(given(90, {code(100, "sm_100a")}), ElementsAre(HasSubstr("no machine code for this chip")));
  EXPECT_THAT(given(90, {entry(Kind::cubin, 90, Text(80, 'c'), Packing::none)}),
              ElementsAre(HasSubstr("broken machine code")));
}

TEST(Fatbin, PtxForANewerChipAloneIsSaidToBeThat) {
  const auto newer = [](const std::vector<Text>& all) {
    Text file;
    for (const Text& e : all) file += e;
    file = fatbin(file);
    const auto program = program_for(bytes(file), 90);
    return program && program->newer ? program->texts.front() : Text();
  };
  const Text alone = entry(Kind::ptx, 100, for_target("sm_100a"), Packing::none),
             family = entry(Kind::ptx, 100, for_target("sm_100f"), Packing::none);
  EXPECT_EQ(newer({general(121), alone, family, general(120)}), for_target("sm_120"))
      << "the oldest of all chips";
  EXPECT_EQ(newer({alone, family}), "");
  EXPECT_EQ(newer({general(120), general(80)}), "");
}

// The largest that this process has been, in bytes.
uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) << 10;
}

TEST(Fatbin, AnEntryThatStatesMoreThanItHoldsCostsNoMemory) {
  const uint64_t stated = uint64_t{1} << 30;
  Text e = entry(Kind::ptx, 90, ptx, Packing::zstd);
  std::memcpy(&e[56], &stated, sizeof stated);
  const auto is_refused = [](const Text& of_entry) {
    const Text file = fatbin(of_entry);
    const auto all = entries(bytes(file));
    return all && usable_ptx(*all, 90).size() == 1 && !text(all->front());
  };
  const uint64_t before = peak_memory();
  EXPECT_TRUE(is_refused(e));
  // The frame as well: magic 4 bytes, then a descriptor without a size, and a window.
  ASSERT_EQ(e[64 + 4] & 0x20, 0x20) << "a frame of one segment has no window";
  e[64 + 4] = 0;
  e[64 + 5] = 0x50;
  EXPECT_TRUE(is_refused(e));
  EXPECT_LT(peak_memory() - before, stated / 8);
}

TEST(Fatbin, FramesOfZstdFollowOneAnother) {
  const Text one = entry(Kind::ptx, 90, ptx, Packing::zstd);
  uint32_t frame_bytes = 0;
  std::memcpy(&frame_bytes, &one[16], sizeof frame_bytes);
  const std::string_view frame = std::string_view(one).substr(64, frame_bytes);
  const Text payload = Text(frame) + Text(frame);
  const Entry e{.kind = Kind::ptx, .flags = 0x8011, .full_bytes = 2 * ptx.size(), .payload = bytes(payload)};
  EXPECT_EQ(text(e).value_or("?"), ptx + ptx);
  for (const uint64_t size : {2 * ptx.size() - 1, 2 * ptx.size() + 1, ptx.size(), size_t{0}}) {
    Entry other = e;
    other.full_bytes = size;
    EXPECT_FALSE(text(other)) << size;
  }
  const Text large(size_t{1} << 20, 'x');
  const Text file = fatbin(entry(Kind::ptx, 90, large, Packing::zstd));
  EXPECT_EQ(text(entries(bytes(file))->front()).value_or("?"), large);
}

TEST(Fatbin, AFileIsPtxACubinOrAFatbin) {
  const Text text = for_target("sm_90");
  for (const Text& file : {text, cubin::carry(text), fatbin(general(90))}) {
    const auto program = program_in(file, 90);
    ASSERT_TRUE(program) << program.error();
    EXPECT_EQ(program->texts.front(), text);
  }
  for (size_t n = 0; n < 200; ++n) program_in(cubin::carry(text).substr(0, n), 90);
}

TEST(Fatbin, EveryPackingGivesTheText) {
  const Text file =
      fatbin(entry(Kind::cubin, 90, Text(40, 'c'), Packing::none) + entry(Kind::ptx, 90, ptx, Packing::zstd) +
             entry(Kind::ptx, 80, "\n\n" + ptx, Packing::lz4) +
             entry(Kind::ptx, 75, ptx + Text(3, '\0'), Packing::none));
  const auto all = entries(bytes(file));
  ASSERT_TRUE(all) << all.error();
  ASSERT_EQ(all->size(), 4u);
  EXPECT_EQ((*all)[0].kind, Kind::cubin);
  for (size_t i = 1; i < 4; ++i) {
    const auto got = text((*all)[i]);
    ASSERT_TRUE(got) << got.error();
    EXPECT_EQ(*got, ptx) << i;
  }
  EXPECT_EQ((*all)[2].arch, 80u);
  EXPECT_EQ(bytes_of(file.data()), file.size());
}

// Whatever a length says, nothing outside is read (under sanitizers this is a proof) and the error is a
// sentence.
TEST(Fatbin, EveryTruncationAndEveryWrongByteIsSurvived) {
  const Text file =
      fatbin(entry(Kind::ptx, 90, ptx, Packing::zstd) + entry(Kind::ptx, 80, ptx, Packing::lz4));
  const auto survives = [](const Text& broken) {
    const std::vector<char> exact(broken.begin(), broken.end());
    const auto all = entries(std::as_bytes(std::span(exact)));
    if (!all) {
      EXPECT_FALSE(all.error().empty());
      return;
    }
    for (const Entry& e : *all) (void)contents(e, 1 << 20);
  };
  for (size_t n = 0; n < file.size(); ++n) survives(file.substr(0, n));
  for (size_t n = 0; n < file.size(); ++n)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      Text broken = file;
      broken[n] = value;
      survives(broken);
    }
}

TEST(Fatbin, SaysWhatIsWrong) {
  EXPECT_THAT(entries(bytes("abc")).error(), HasSubstr("at least 16 bytes"));
  EXPECT_THAT(entries(bytes(Text(64, 'x'))).error(), HasSubstr("not a fatbin"));
  Text file = fatbin(entry(Kind::ptx, 90, ptx, Packing::lz4));
  EXPECT_THAT(entries(bytes(file.substr(0, 60))).error(), HasSubstr("longer than it is"));
  file[16 + 56 + 3] = '\x7f';  // the size when decompressed
  const auto all = entries(bytes(file));
  ASSERT_TRUE(all);
  EXPECT_THAT(contents(all->front()).error(), HasSubstr("too large"));
  EXPECT_THAT(contents(all->front(), uint64_t{1} << 40).error(), HasSubstr("cannot have"));
}

TEST(Fatbin, KnowsImagesByTheirFirstBytes) {
  const Text text = ".version 9.0\n";
  EXPECT_EQ(image_of(text.data()), Image::ptx);
  EXPECT_EQ(bytes_of(text.data()), text.size() + 1);
  Text elf = "\177ELF" + Text(60, '\0');
  elf[40] = 100;  // section headers
  elf[58] = 64;
  elf[60] = 2;
  EXPECT_EQ(image_of(elf.data()), Image::elf);
  EXPECT_EQ(bytes_of(elf.data()), 228u);
}

TEST(Fatbin, ReadsWhatNvccWrites) {
  if (std::system("nvcc --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "nvcc is absent";
  const auto folder = std::filesystem::temp_directory_path() / "palladion_fatbin_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "k.cu") << "__global__ void scale(float* p) { p[threadIdx.x] *= 2; }\n";
  for (const Text mode : {"default", "none", "speed", "size", "balance"}) {
    const Text out = (folder / (mode + ".fatbin")).string();
    const Text command = "nvcc -arch=sm_90 --compress-mode=" + mode + " -fatbin -o " + out + " " +
                         (folder / "k.cu").string() + " 2>/dev/null";
    if (std::system(command.c_str()) != 0) continue;  // an older nvcc has fewer modes
    std::ifstream in(out, std::ios::binary);
    const Text file{std::istreambuf_iterator<char>(in), {}};
    const auto all = entries(bytes(file));
    ASSERT_TRUE(all) << all.error();
    int texts = 0, codes = 0;
    for (const Entry& e : *all) {
      EXPECT_EQ(e.arch, 90u);
      if (e.kind == Kind::cubin) ++codes;
      if (e.kind != Kind::ptx) continue;
      const auto got = text(e);
      ASSERT_TRUE(got) << mode << got.error();
      EXPECT_THAT(*got, HasSubstr(".entry _Z5scalePf"));
      EXPECT_THAT(*got, StartsWith(".version "));
      ++texts;
    }
    EXPECT_EQ(texts, 1) << mode;
    EXPECT_EQ(codes, 1) << mode;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace palladion::cuda::fatbin
