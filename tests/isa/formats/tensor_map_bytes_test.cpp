// The maps that an H200's driver encoded, decoded and encoded again: the same fields, the same 128 bytes. And
// which of their bits the chip reads.
#include <gmock/gmock.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "isa/formats/tensor_map.h"

namespace palladion::isa {
namespace {

template <class T>
std::vector<T> numbers(const std::string& text) {
  std::vector<T> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) all.push_back(static_cast<T>(std::stoll(one)));
  return all;
}
template <class T, size_t N>
void fill(std::array<T, N>& to, const std::string& text) {
  const auto all = numbers<T>(text);
  std::copy(all.begin(), all.end(), to.begin());
}

// The arguments of the call, as tests/device/tensor_maps_h200.txt states them.
TensorMap map_of(std::istringstream& in) {
  TensorMap m;
  std::string kind, word;
  int type = 0;
  in >> kind >> type >> m.rank >> m.global_address;
  m.mode = kind == "tiled" ? TensorMapMode::tiled : TensorMapMode::im2col;
  m.data_type = static_cast<TensorDataType>(type);
  while (in >> word && word != ":") {
    const std::string key = word.substr(0, word.find('=')), value = word.substr(word.find('=') + 1);
    if (key == "d") fill(m.dims, value);
    if (key == "s") fill(m.strides, value);
    if (key == "b") fill(m.box, value);
    if (key == "e") fill(m.element_strides, value);
    if (key == "lo") fill(m.lower_corner, value);
    if (key == "hi") fill(m.upper_corner, value);
    if (key == "c") m.channels_per_pixel = static_cast<uint32_t>(std::stoul(value));
    if (key == "p") m.pixels_per_column = static_cast<uint32_t>(std::stoul(value));
    if (key == "i") m.interleave = static_cast<Interleave>(std::stoi(value));
    if (key == "w") m.swizzle = static_cast<Swizzle>(std::stoi(value));
    if (key == "l") m.l2_promotion = static_cast<L2Promotion>(std::stoi(value));
    if (key == "o") m.oob_fill = static_cast<OobFill>(std::stoi(value));
  }
  return m;
}

EncodedTensorMap bytes_of(std::istringstream& in) {
  EncodedTensorMap e;
  for (std::string word; in >> word && word != ":";) {
    const size_t equals = word.find('=');
    const uint64_t value = std::stoull(word.substr(equals + 1), nullptr, 16);
    std::memcpy(e.bytes.data() + 8 * std::stoul(word.substr(0, equals)), &value, 8);
  }
  return e;
}

TEST(TensorMapBytes, AreThoseOfAnH200) {
  std::ifstream file(PLD_SOURCE_DIR "/tests/device/tensor_maps_h200.txt");
  int maps = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream in(line);
    const TensorMap wanted = map_of(in);
    const EncodedTensorMap bytes = bytes_of(in);
    const auto decoded = decode_tensor_map(bytes.bytes);
    ASSERT_TRUE(decoded) << decoded.error() << "\n" << line;
    // .im2col::w has the corner of W alone, with what the file lists for other dimensions unused.
    EXPECT_EQ(*decoded, wanted) << line;
    EXPECT_EQ(encode(wanted).bytes, bytes.bytes) << line;
    ++maps;
  }
  EXPECT_GT(maps, 3000);
}

bool means_the_same(const EncodedTensorMap& changed, const TensorMap& map) {
  const auto decoded = decode_tensor_map(changed.bytes);
  return decoded && *decoded == map;
}

// A bit that is ignored here made no difference to any copy of an H200.
TEST(TensorMapBytes, TheChipReadsNoBitThatIsIgnored) {
  std::ifstream file(PLD_SOURCE_DIR "/tests/device/tensor_map_bits_h200.txt");
  int maps = 0, ignored = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream in(line);
    std::string direction, name;
    in >> direction >> name;
    const EncodedTensorMap bytes = bytes_of(in);
    const std::vector<std::string> read(std::istream_iterator<std::string>(in), {});
    const TensorMap map = decode_tensor_map(bytes.bytes).value();
    for (size_t bit = 64; bit < 1024; ++bit) {
      EncodedTensorMap changed = bytes;
      changed.bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      if (!means_the_same(changed, map)) continue;
      const std::string place = std::to_string(bit / 64) + "." + std::to_string(bit % 64);
      EXPECT_THAT(read,
                  ::testing::Each(::testing::AllOf(::testing::Ne(place + "d"), ::testing::Ne(place + "f"))))
          << line;
      ++ignored;
    }
    ++maps;
  }
  EXPECT_EQ(maps, 11);
  EXPECT_GT(ignored, 11 * 8 * 64);  // words 8 to 15, and more
}

}  // namespace
}  // namespace palladion::isa
