#include "isa/formats/tensor_values.h"

#include <gtest/gtest.h>

#include <cstring>

namespace palladion::isa {
namespace {

// As an H200 loads them.
TEST(TensorValues, Tf32RoundsToNearestEven) {
  const uint32_t from[] = {0x80000000, 0x00000001, 0x00001000, 0x00002000, 0x007FFFFF,
                           0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F803000, 0xBF801000,
                           0x7F7FEFFF, 0x7F7FF000, 0xFF800000, 0xFF800001, 0x7FC00000};
  const uint32_t to[] = {0x80000000, 0x00000000, 0x00000000, 0x00002000, 0x00800000,
                         0x3F800000, 0x3F800000, 0x3F802000, 0x3F804000, 0xBF800000,
                         0x7F7FE000, 0x7F800000, 0xFF800000, 0x7FFFE000, 0x7FFFE000};
  uint8_t bytes[sizeof from];
  std::memcpy(bytes, from, sizeof from);
  round_loaded(bytes);
  for (size_t i = 0; i < std::size(from); ++i) {
    uint32_t got;
    std::memcpy(&got, bytes + 4 * i, 4);
    EXPECT_EQ(got, to[i]) << std::hex << from[i];
  }
}

TEST(TensorValues, OnlyTf32IsRounded) {
  for (int i = 0; i < tensor_data_type_count; ++i) {
    const auto type = static_cast<TensorDataType>(i);
    EXPECT_EQ(is_rounded_by_loads(type), name(type).starts_with("TFLOAT32")) << name(type);
  }
}

}  // namespace
}  // namespace palladion::isa
