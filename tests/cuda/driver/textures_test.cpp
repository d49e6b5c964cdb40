// CUDA arrays, texture and surface objects through the driver API.
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

// `instruction` fills %r4 to %r7 for thread (x, y) of a block from the object %rd1; out[y][x] gets them.
std::string reader(const std::string& instruction) {
  return R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry read(.param .u64 object, .param .u64 out) {
  .reg .b32 %r<12>;
  .reg .f32 %f<12>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [object];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r3, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r3, 16;
  add.u64 %rd2, %rd2, %rd3;
  cvt.rn.f32.u32 %f1, %r1;
  cvt.rn.f32.u32 %f2, %r2;
)" + instruction +
         "\n  st.global.v4.b32 [%rd2], {%r4, %r5, %r6, %r7};\n  ret;\n}\n";
}
// Of a look-up that gives floats.
std::string float_reader(const std::string& instruction) {
  return reader(instruction + R"(
  mov.b32 %r4, %f4;
  mov.b32 %r5, %f5;
  mov.b32 %r6, %f6;
  mov.b32 %r7, %f7;)");
}

struct Texel {
  float x, y, z, w;
};

class Textures : public Driver {
 protected:
  void* array(size_t width, size_t height, size_t depth, uint32_t format, uint32_t channels, uint32_t flags) {
    const Array3DDescriptor d{width, height, depth, format, channels, flags};
    void* out = nullptr;
    EXPECT_EQ(call("cuArray3DCreate_v2", &out, &d), success);
    return out;
  }
  template <class T>
  void upload(void* to, const std::vector<T>& from, size_t width, size_t height, size_t depth) {
    Memcpy3D c{};
    c.src_type = memory_host, c.src_host = from.data(), c.src_pitch = width * sizeof(T),
    c.src_height = height;
    c.dst_type = memory_array, c.dst_array = to;
    c.width = width * sizeof(T), c.height = height, c.depth = depth;
    EXPECT_EQ(call("cuMemcpy3D_v2", static_cast<const Memcpy3D*>(&c)), success);
  }
  static ResourceDescriptor resource(void* array, uint32_t type = resource_array) {
    ResourceDescriptor r{};
    r.type = type;
    r.of.array.array = array;
    return r;
  }
  uint64_t texture(const ResourceDescriptor& r, const TextureDescriptor& t) {
    uint64_t out = 0;
    EXPECT_EQ(create(out, r, t), success);
    return out;
  }
  Status create(uint64_t& out, const ResourceDescriptor& r, const TextureDescriptor& t) {
    return call("cuTexObjectCreate", &out, &r, &t, static_cast<const ResourceViewDescriptor*>(nullptr));
  }
  std::vector<Texel> read(const std::string& ptx, uint64_t object, unsigned width, unsigned height) {
    std::vector<Texel> out(size_t{width} * height);
    Pointer p = memory(out.size() * sizeof(Texel));
    void* params[] = {&object, &p};
    EXPECT_EQ(call("cuLaunchKernel", kernel(ptx.c_str(), "read"), 1U, 1U, 1U, width, height, 1U, 0U,
                   static_cast<void*>(nullptr), static_cast<void**>(params), static_cast<void**>(nullptr)),
              success);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), p, out.size() * sizeof(Texel)),
              success);
    return out;
  }
};

TextureDescriptor sampling(uint32_t filter = 0, uint32_t flags = 0, uint32_t mode = 1) {
  TextureDescriptor t{};
  for (uint32_t& m : t.address_mode) m = mode;
  t.filter_mode = filter;
  t.flags = flags;
  t.most_level = 10;
  return t;
}

constexpr const char* at_2d = "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f1, %f2}];";

std::vector<float> counting(size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 0.0F);
  return v;
}

TEST_F(Textures, a_2d_array_is_read_and_its_border_is_the_colour) {
  void* const a = array(6, 4, 0, format_f32, 1, 0);
  upload(a, counting(24), 6, 4, 1);
  TextureDescriptor t = sampling(0, 0, 3);
  t.border[0] = -2;
  const auto out = read(float_reader(at_2d), texture(resource(a), t), 8, 4);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 8; ++x) ASSERT_EQ(out[y * 8 + x].x, x < 6 ? y * 6 + x : -2) << x << " " << y;
}

TEST_F(Textures, the_linear_filter_is_between_texels) {
  void* const a = array(8, 8, 0, format_f32, 1, 0);
  upload(a, counting(64), 8, 8, 1);
  const auto out = read(float_reader(at_2d), texture(resource(a), sampling(1)), 8, 8);
  EXPECT_EQ(out[0].x, 0);     // (0, 0): the clamped edge
  EXPECT_EQ(out[9].x, 4.5F);  // (1, 1): texels 0, 1, 8 and 9
  EXPECT_EQ(out[8 + 2].x, 5.5F);
}

TEST_F(Textures, bytes_are_read_as_fractions_unless_as_integers) {
  void* const a = array(4, 0, 0, format_u8, 4, 0);
  upload(a, std::vector<uint32_t>{0, 0xff8040ffU, 0x01020304U, 0xffffffffU}, 4, 1, 1);
  const auto out = read(float_reader("tex.1d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f1}];"),
                        texture(resource(a), sampling()), 4, 1);
  EXPECT_EQ(out[1].x, 1);
  EXPECT_NEAR(out[1].y, 64 / 255.0, 1e-6);
  EXPECT_EQ(out[1].w, 1);
  const auto raw = read(reader("tex.1d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%f1}];"),
                        texture(resource(a), sampling(0, texture_read_as_integer)), 4, 1);
  EXPECT_EQ(std::bit_cast<uint32_t>(raw[1].y), 64U);
  EXPECT_EQ(std::bit_cast<uint32_t>(raw[1].w), 255U);
}

TEST_F(Textures, layers_and_faces_are_slices) {
  void* const layered = array(4, 2, 5, format_f32, 1, array_layered);
  upload(layered, counting(40), 4, 2, 5);
  const auto out =
      read(float_reader(
               "mov.u32 %r8, 3;\n  tex.a2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%r8, %f1, %f2, %f2}];"),
           texture(resource(layered), sampling()), 4, 2);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(out[i].x, 24 + i);

  void* const cube = array(2, 2, 6, format_f32, 1, array_cubemap);
  upload(cube, counting(24), 2, 2, 6);
  const auto face =
      read(float_reader("mov.f32 %f8, 0fBF800000;\n  mov.f32 %f9, 0f00000000;\n"
                        "  tex.cube.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f9, %f9, %f8, %f8}];"),
           texture(resource(cube), sampling(1, texture_normalized)), 1, 1);
  EXPECT_EQ(face[0].x, 21.5F);  // the middle of the face -z: texels 20 to 23
}

// As driver 580 on an H100.
TEST_F(Textures, a_view_has_the_arrays_size_and_chooses_levels_and_layers) {
  void* const layered = array(4, 2, 5, format_f32, 1, array_layered);
  upload(layered, counting(40), 4, 2, 5);
  const auto view = [&](void* of, uint32_t type, const ResourceViewDescriptor& v, uint64_t& out) {
    const ResourceDescriptor r = resource(of, type);
    const TextureDescriptor t = sampling();
    return call("cuTexObjectCreate", &out, &r, &t, &v);
  };
  const auto layer = [&](uint64_t object, int n) {
    return read(float_reader("mov.s32 %r8, " + std::to_string(n) +
                             ";\n  tex.a2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%r8, %f1, %f2, %f2}];"),
                object, 1, 1)[0]
        .x;
  };
  uint64_t object = 0;
  ResourceViewDescriptor v{0, 4, 2, 0, 0, 0, 1, 2, {}};
  EXPECT_EQ(view(layered, resource_array, v, object), invalid_value) << "the depth is 5";
  v.depth = 5;
  ASSERT_EQ(view(layered, resource_array, v, object), success);
  EXPECT_EQ(layer(object, 0), 8);
  EXPECT_EQ(layer(object, 4), 16);
  EXPECT_EQ(layer(object, -1), 16);
  v.first_layer = v.last_layer = 0;
  ASSERT_EQ(view(layered, resource_array, v, object), success);
  EXPECT_EQ(layer(object, 3), 0);

  const Array3DDescriptor d{8, 8, 0, format_f32, 1, 0};
  void *m = nullptr, *level = nullptr;
  ASSERT_EQ(call("cuMipmappedArrayCreate", &m, &d, 3U), success);
  ASSERT_EQ(call("cuMipmappedArrayGetLevel", &level, m, 1U), success);
  upload(level, std::vector<float>(16, 7.0F), 4, 4, 1);
  ResourceViewDescriptor levels{0, 4, 4, 0, 1, 5, 0, 0, {}};
  EXPECT_EQ(view(m, resource_mipmapped, levels, object), invalid_value)
      << "the size is that of the first level";
  levels.width = levels.height = 8;
  ASSERT_EQ(view(m, resource_mipmapped, levels, object), success);
  EXPECT_EQ(read(float_reader(at_2d), object, 1, 1)[0].x, 7);
}

TEST_F(Textures, a_box_of_a_3d_array_is_copied_both_ways) {
  void* const a = array(4, 3, 2, format_f32, 1, 0);
  upload(a, std::vector<float>(24, 9.0F), 4, 3, 2);
  const std::vector<float> box{1, 2, 3, 4};
  Memcpy3D c{};
  c.src_type = memory_host, c.src_host = box.data(), c.src_pitch = 8, c.src_height = 2;
  c.dst_type = memory_array, c.dst_array = a, c.dst_x = 4, c.dst_y = 1, c.dst_z = 1;
  c.width = 8, c.height = 2, c.depth = 1;
  EXPECT_EQ(call("cuMemcpy3D_v2", static_cast<const Memcpy3D*>(&c)), success);
  const auto out =
      read(float_reader("mov.f32 %f3, 0f3F800000;\n"
                        "  tex.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f1, %f2, %f3, %f3}];"),
           texture(resource(a), sampling()), 4, 3);
  const float expected[] = {9, 9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9};
  for (int i = 0; i < 12; ++i) ASSERT_EQ(out[i].x, expected[i]) << i;

  std::vector<float> back(3);
  Memcpy3D d{};
  d.src_type = memory_array, d.src_array = a, d.src_x = 4, d.src_y = 2, d.src_z = 1;
  d.dst_type = memory_host, d.dst_host = back.data();
  d.width = 12, d.height = 1, d.depth = 1;
  EXPECT_EQ(call("cuMemcpy3D_v2", static_cast<const Memcpy3D*>(&d)), success);
  EXPECT_EQ(back, (std::vector<float>{3, 4, 9}));
  d.width = 16;
  EXPECT_EQ(call("cuMemcpy3D_v2", static_cast<const Memcpy3D*>(&d)), invalid_value) << "beyond the row";
}

TEST_F(Textures, a_level_of_a_mipmapped_array_is_an_array) {
  const Array3DDescriptor d{8, 8, 0, format_f32, 1, 0};
  void *m = nullptr, *level = nullptr;
  ASSERT_EQ(call("cuMipmappedArrayCreate", &m, &d, 100U), success);
  EXPECT_EQ(call("cuMipmappedArrayGetLevel", &level, m, 4U), invalid_value) << "8, 4, 2, 1";
  ASSERT_EQ(call("cuMipmappedArrayGetLevel", &level, m, 1U), success);
  ArrayDescriptor small{};
  EXPECT_EQ(call("cuArrayGetDescriptor_v2", &small, static_cast<const void*>(level)), success);
  EXPECT_EQ(small.width, 4U);
  upload(level, counting(16), 4, 4, 1);
  EXPECT_EQ(call("cuArrayDestroy", level), invalid_handle);
  const auto out =
      read(float_reader("mov.f32 %f3, 0f3F800000;\n"
                        "  tex.level.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f1, %f2}], %f3;"),
           texture(resource(m, resource_mipmapped), sampling(0, texture_normalized)), 1, 1);
  EXPECT_EQ(out[0].x, 0);
  EXPECT_EQ(call("cuMipmappedArrayDestroy", m), success);
}

TEST_F(Textures, a_surface_writes_what_the_array_holds) {
  void* const a = array(4, 4, 0, format_u32, 1, array_surface);
  const ResourceDescriptor r = resource(a);
  uint64_t surface = 0;
  ASSERT_EQ(call("cuSurfObjectCreate", &surface, &r), success);
  read(reader("shl.b32 %r8, %r1, 2;\n  mov.u32 %r4, %r3;\n  mov.u32 %r5, 0;\n  mov.u32 %r6, 0;\n  mov.u32 "
              "%r7, 0;\n"
              "  sust.b.2d.b32.trap [%rd1, {%r8, %r2}], {%r3};"),
       surface, 4, 4);
  std::vector<uint32_t> back(16), expected(16);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(call("cuMemcpyAtoH_v2", static_cast<void*>(back.data()), a, size_t{0}, size_t{64}), success);
  EXPECT_EQ(back, expected);
  EXPECT_EQ(call("cuMemcpyAtoH_v2", static_cast<void*>(back.data()), a, size_t{4}, size_t{64}),
            invalid_value);
  EXPECT_EQ(call("cuSurfObjectDestroy", surface), success);
  EXPECT_EQ(call("cuSurfObjectDestroy", surface), invalid_value);
  const ResourceDescriptor plain = resource(array(4, 4, 0, format_u32, 1, 0));
  EXPECT_EQ(call("cuSurfObjectCreate", &surface, &plain), invalid_value);
}

TEST_F(Textures, memory_is_read_as_texels_and_outside_is_zero) {
  const Pointer p = memory(64);
  const auto values = counting(16);
  ASSERT_EQ(call("cuMemcpyHtoD_v2", p, static_cast<const void*>(values.data()), size_t{64}), success);
  ResourceDescriptor r{};
  r.type = resource_linear;
  r.of.linear = {p, format_f32, 1, 48};
  const auto out = read(float_reader("tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%rd1, {%r1}];"),
                        texture(r, sampling()), 16, 1);
  for (int i = 0; i < 16; ++i) ASSERT_EQ(out[i].x, i < 12 ? i : 0);
}

TEST_F(Textures, what_the_driver_refuses_is_refused) {
  void* const integers = array(4, 4, 0, format_s32, 1, 0);
  uint64_t object = 0;
  EXPECT_EQ(create(object, resource(integers), sampling(1)), invalid_value) << "filtered integers";
  void* const bytes = array(4, 4, 0, format_u8, 4, 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(create(object, resource(bytes), sampling(0, texture_srgb)), not_supported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("sRGB"), std::string::npos);
  const Array3DDescriptor five{4, 4, 5, format_f32, 1, array_cubemap};
  void* out = nullptr;
  EXPECT_EQ(call("cuArray3DCreate_v2", &out, &five), invalid_value) << "a cube has six faces";
  const ArrayDescriptor three{4, 4, format_f32, 3};
  EXPECT_EQ(call("cuArrayCreate_v2", &out, &three), invalid_value) << "three channels";
  EXPECT_EQ(call("cuArrayDestroy", bytes), success);
  EXPECT_EQ(call("cuArrayDestroy", bytes), invalid_handle);
  EXPECT_EQ(create(object, resource(bytes), sampling()), invalid_handle);
}

// A texel has one, two or four channels, in plain memory as in arrays.
TEST_F(Textures, memory_with_another_number_of_channels_is_refused) {
  for (const uint32_t channels : {0U, 3U, 5U, 1U << 31, ~0U}) {
    ResourceDescriptor linear{}, pitched{};
    linear.type = resource_linear;
    linear.of.linear = {.address = memory(4096), .format = format_f32, .channels = channels, .bytes = 4096};
    pitched.type = resource_pitch2d;
    pitched.of.pitch2d = {.address = linear.of.linear.address,
                          .format = format_f32,
                          .channels = channels,
                          .width = 4,
                          .height = 4,
                          .pitch = 64};
    uint64_t object = 0;
    EXPECT_EQ(create(object, linear, sampling()), invalid_value) << channels;
    EXPECT_EQ(create(object, pitched, sampling()), invalid_value) << channels;
  }
}

}  // namespace
