// tcgen05.cp: which lanes and columns each row of shared memory goes to.
#include <gmock/gmock.h>

#include "tests/sim/tcgen05_product.h"

namespace palladion::sim::testing {
namespace {

struct Target {
  int lane, byte;
};
struct CopyCase {
  const char* words;
  int rows, row_bytes;
  std::vector<int> (*lanes)(int row);
};
const CopyCase copies[] = {
    {"128x256b", 128, 32, [](int r) { return std::vector{r}; }},
    {"128x128b", 128, 16, [](int r) { return std::vector{r}; }},
    {"4x256b", 4, 32, [](int r) { return std::vector{32 * r}; }},
    {"64x128b.warpx2::02_13", 64, 16, [](int r) { return std::vector{r, r + 64}; }},
    {"64x128b.warpx2::01_23", 64, 16,
     [](int r) { return r < 32 ? std::vector{r, r + 32} : std::vector{r + 32, r + 64}; }},
    {"32x128b.warpx4", 32, 16, [](int r) { return std::vector{r, r + 32, r + 64, r + 96}; }},
};

Placement rows_at(const CopyCase& c, Mode mode) {
  return {.start = 1024,
          .rows = c.rows,
          .k = c.row_bytes,
          .size = 1,
          .bits = 8,
          .packed = false,
          .transpose = false,
          .mode = mode,
          .k_bytes = 0};
}

void expect_copied(const CopyCase& c, Mode mode, int ctas) {
  Tcgen05Random random(7);
  Tcgen05Image image;
  const Placement place = rows_at(c, mode);
  for (int cta = 0; cta < ctas; ++cta)
    for (int r = 0; r < c.rows; ++r)
      for (int b = 0; b < c.row_bytes; ++b)
        place.put(image.shared[static_cast<size_t>(cta)], r, b, random.next() & 0xFF);
  Tcgen05Image expected = image;
  for (int cta = 0; cta < ctas; ++cta)
    for (int r = 0; r < c.rows; ++r)
      for (const int lane : c.lanes(r))
        for (int b = 0; b < c.row_bytes; ++b) {
          int in = 0;
          const int at = place.swizzled(place.address() + place.offset(r, b, in)) + in;
          expected.at(cta, lane, 17 + b / 4) |=
              static_cast<uint32_t>(image.shared[static_cast<size_t>(cta)][static_cast<size_t>(at)])
              << b % 4 * 8;
        }
  Tcgen05Program p;
  p.ctas = ctas;
  p.values = {place.descriptor()};
  p.body = fmt::format(
      "  add.u64 %v0, %v0, %base;\n  add.u32 %r30, %tensor, 17;\n  tcgen05.cp.cta_group::{}.{} [%r30], "
      "%v0;\n",
      ctas, c.words);
  const RunResult r = run_tcgen05(p, image);
  ASSERT_TRUE(r.clean()) << c.words << PtxRunner::describe(r);
  for (int cta = 0; cta < ctas; ++cta)
    EXPECT_EQ(image.tensor[static_cast<size_t>(cta)], expected.tensor[static_cast<size_t>(cta)])
        << c.words << " CTA " << cta;
}

TEST(Tcgen05Copy, EveryShapeAndSwizzleInOneCtaAndTwo) {
  for (const CopyCase& c : copies)
    for (const Mode mode : {Mode::none, Mode::b32, Mode::b64, Mode::b128})
      for (const int ctas : {1, 2}) expect_copied(c, mode, ctas);
}

// 16 narrow elements of 16 bytes become 16 bytes: e2m1 in bits 2 to 5 of its byte, 6-bit types in bits 0
// to 5.
void expect_unpacked(const char* formats, int bits, int shift) {
  const CopyCase& c = copies[1];
  Placement place = rows_at(c, Mode::none);
  place.k = 16;
  place.bits = bits;
  Tcgen05Random random(9);
  Tcgen05Image image, expected;
  for (int r = 0; r < c.rows; ++r)
    for (int i = 0; i < 16; ++i) {
      const uint32_t element = random.next() & ((1U << bits) - 1);
      place.put(image.shared[0], r, i, element);
      expected.at(0, r, i / 4) |= element << shift << i % 4 * 8;
    }
  Tcgen05Program p;
  p.values = {place.descriptor()};
  p.body = fmt::format(
      "  add.u64 %v0, %v0, %base;\n  tcgen05.cp.cta_group::1.128x128b.b8x16.{} [%tensor], %v0;\n", formats);
  const RunResult r = run_tcgen05(p, image);
  ASSERT_TRUE(r.clean()) << PtxRunner::describe(r);
  EXPECT_EQ(image.tensor[0], expected.tensor[0]) << formats;
}

TEST(Tcgen05Copy, UnpacksNarrowElements) {
  expect_unpacked("b4x16_p64", 4, 2);
  expect_unpacked("b6x16_p32", 6, 0);
}

}  // namespace
}  // namespace palladion::sim::testing
