// The instruction descriptor of tcgen05.mma, and where scale factors and metadata are in tensor memory.
#include "isa/formats/tcgen05_descriptor.h"

#include <gtest/gtest.h>

#include <set>

#include "isa/formats/matrix_descriptor.h"
#include "isa/formats/tensor_memory.h"

namespace palladion::isa {
namespace {

TEST(Tcgen05Descriptor, HasTheBitsOfTheManual) {
  EXPECT_EQ(encode({.m = 128, .n = 256}, Tcgen05Kind::f16), 0x08400010U);
  EXPECT_EQ(
      encode({.m = 256, .n = 64, .a = Type::bf16, .b = Type::bf16, .transpose_b = true}, Tcgen05Kind::f16),
      256U / 16 << 24 | 64U / 8 << 17 | 1U << 16 | 1U << 10 | 1U << 7 | 1U << 4);
  EXPECT_EQ(encode({.m = 128, .n = 32, .a = Type::e2m1, .b = Type::e2m1, .scale_ue4m3 = true},
                   Tcgen05Kind::mxf4nvf4),
            1U << 27 | 4U << 17 | 1U << 10 | 1U << 7);
}

TEST(Tcgen05Descriptor, DecodesWhatItEncodes) {
  const Tcgen05Descriptor f16{.m = 64,
                              .n = 136,
                              .d = Type::f16,
                              .negate_a = true,
                              .transpose_a = true,
                              .sparse = true,
                              .sparsity_selector = 3,
                              .max_shift = 16};
  EXPECT_EQ(decode_tcgen05_descriptor(encode(f16, Tcgen05Kind::f16), Tcgen05Kind::f16), f16);
  const Tcgen05Descriptor mx{.m = 256,
                             .n = 96,
                             .a = Type::e3m2,
                             .b = Type::e5m2,
                             .negate_b = true,
                             .scale_a_id = 3,
                             .scale_b_id = 1};
  EXPECT_EQ(decode_tcgen05_descriptor(encode(mx, Tcgen05Kind::mxf8f6f4), Tcgen05Kind::mxf8f6f4), mx);
}

TEST(Tcgen05Descriptor, NumbersWithoutATypeAreFound) {
  const Tcgen05Descriptor d = decode_tcgen05_descriptor(7U << 7, Tcgen05Kind::f8f6f4);
  EXPECT_EQ(d.a, Type::none);
  const Tcgen05Mma instruction{.kind = Tcgen05Kind::f8f6f4};
  EXPECT_FALSE(tcgen05_problems(d, instruction).empty());
}

TEST(Tcgen05Descriptor, OfSharedMemoryDiffersFromThatOfWgmma) {
  const MatrixDescriptor m{.start = 0x2000, .leading = 16, .stride = 1024, .swizzle = Swizzle::b128};
  EXPECT_TRUE(is_tcgen05_matrix(encode_tcgen05(m)));
  EXPECT_FALSE(is_tcgen05_matrix(encode(m)));
  EXPECT_EQ(encode_tcgen05(m) >> 61, 2U);
  EXPECT_EQ(decode_tcgen05_matrix(encode_tcgen05(m)), m);
}

// Each nibble has a place of its own, in lanes of its own quarter.
TEST(TensorMemoryPlaces, MetadataFillTheirColumns) {
  for (const int bits : {8, 16, 32}) {
    const int nibbles = bits == 8 ? 16 : 8;
    std::set<std::tuple<int, int, int>> places;
    for (int row = 0; row < 128; ++row)
      for (int i = 0; i < nibbles; ++i) {
        const MetadataPlace p = metadata_place(bits, row, i);
        EXPECT_EQ(p.lane / 32, row / 32);
        EXPECT_LT(p.bit, 32);
        EXPECT_LT(p.column, nibbles / 8);
        places.emplace(p.lane, p.column, p.bit);
      }
    EXPECT_EQ(places.size(), static_cast<size_t>(128 * nibbles));
  }
  EXPECT_EQ(metadata_place(16, 9, 5), (MetadataPlace{9, 0, 20}));
}

TEST(TensorMemoryPlaces, ScalesOfRowsThatAre32ApartAreInNeighbouringColumns) {
  EXPECT_EQ(scale_place(70), (TensorPlace{6, 2}));
  EXPECT_EQ(scale_address(0xC0000014), 0x14U);
}

}  // namespace
}  // namespace palladion::isa
