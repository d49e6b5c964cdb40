// Columns of pixels that TMA gathers from images of one, two and three dimensions.
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Ref;

struct Column {
  pl::Shape images;  // (n, ..., c)
  int64_t pixels, channels, first_channel;
  plgpu::Im2colBox box;
  int64_t image;
  std::vector<int64_t> pixel, offset;
  plgpu::Transforms transforms = {};
};

// What the box's pixels from the place on hold, by the words of the manual.
Values expected(const Column& c, const Values& images) {
  const size_t spatial = c.images.size() - 2;
  Values out;
  std::vector<int64_t> at = c.pixel;
  int64_t image = c.image;
  for (int64_t i = 0; i < c.pixels; ++i) {
    int64_t index = image;
    bool inside = image < c.images[0];
    for (size_t d = 0; d < spatial; ++d) {
      const int64_t x = at[d] + c.offset[d];
      inside &= x >= 0 && x < c.images[d + 1];
      index = index * c.images[d + 1] + x;
    }
    for (int64_t k = c.first_channel; k < c.first_channel + c.channels; ++k)
      out.push_back(inside && k < c.images.back() ? images[size_t(index * c.images.back() + k)] : 0);
    size_t d = spatial;
    while (d-- > 0) {
      at[d] += c.box.strides.empty() ? 1 : c.box.strides[d];
      if (at[d] < c.images[d + 1] + c.box.upper_corner[d]) break;
      at[d] = c.box.lower_corner[d];
      if (d == 0) ++image;
    }
  }
  return out;
}

// Known at run time only.
std::vector<pl::Scalar> scalars(const std::vector<int64_t>& values) {
  const pl::Scalar x = pl::axis_index("x");
  std::vector<pl::Scalar> out;
  for (const int64_t v : values) out.push_back(x + v);
  return out;
}

class Im2col : public testing::TestWithParam<Column> {};
TEST_P(Im2col, BringsThePixelsOfTheBox) {
  const Column& c = GetParam();
  const auto kernel = plgpu::kernel(
      [&](const Ref& images, const Ref& out, plgpu::Scratch& s) {
        std::vector<plgpu::Indexer> all(c.images.size() - 1, pl::all);
        all.emplace_back(pl::ds(c.first_channel, c.channels));
        plgpu::copy_im2col_to_smem(
            images.index(all), s["column"], s.barrier("full"), c.box,
            {.image = c.image, .pixel = scalars(c.pixel), .offset = scalars(c.offset)});
        plgpu::barrier_wait(s.barrier("full"));
        out.store(s["column"].load());
      },
      {.in_types = {{pl::f16, c.images}},
       .out_type = {pl::f16, {c.pixels, c.channels}},
       .scratch_types = {{"column",
                          plgpu::SMEM({c.pixels, c.channels}, pl::f16, {.transforms = c.transforms})},
                         {"full", plgpu::Barrier()}},
       .grid = {1},
       .grid_names = {"x"}});
  Values images(size_t(pl::volume(c.images)));
  for (size_t i = 0; i < images.size(); ++i) images[i] = double(i % 2039) + 1;
  EXPECT_EQ(run(kernel, {images}).outputs.at(0), expected(c, images));
}
INSTANTIATE_TEST_SUITE_P(
    Copies, Im2col,
    testing::Values(
        Column{.images = {3, 10, 16},
               .pixels = 16,
               .channels = 16,
               .first_channel = 0,
               .box = {.lower_corner = {-1}, .upper_corner = {-1}},
               .image = 1,
               .pixel = {3},
               .offset = {2}},
        // A row of the box is shorter than an image's; the channels end within the slice.
        Column{.images = {2, 5, 7, 40},
               .pixels = 64,
               .channels = 32,
               .first_channel = 32,
               .box = {.lower_corner = {-2, -1}, .upper_corner = {0, -1}, .strides = {2, 3}},
               .image = 0,
               .pixel = {0, 2},
               .offset = {1, 2}},
        Column{.images = {2, 6, 7, 64},
               .pixels = 32,
               .channels = 64,
               .first_channel = 0,
               .box = {.lower_corner = {-1, -1}, .upper_corner = {-1, -1}},
               .image = 1,
               .pixel = {3, 4},
               .offset = {2, 0},
               .transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}},
        Column{.images = {2, 3, 4, 5, 16},
               .pixels = 128,
               .channels = 16,
               .first_channel = 0,
               .box = {.lower_corner = {-1, 0, -1}, .upper_corner = {0, -1, 0}, .strides = {1, 1, 2}},
               .image = 0,
               .pixel = {1, 1, 1},
               .offset = {1, 1, 0}}));

}  // namespace
}  // namespace palladion::test
