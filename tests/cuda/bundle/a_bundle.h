#pragma once
// A bundle in a folder: y = scale * x + y, whose pointers lie in a struct, with a variable of the module.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cuda/bundle/bundle.h"

namespace palladion::cuda::bundle::testing {

inline constexpr uint64_t x_address = 0x7f12'0000'0000;
inline constexpr uint64_t y_address = x_address + 512;
inline constexpr uint64_t scale_address = x_address + 4096;
inline constexpr int elements = 100;

inline constexpr const char* axpy = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .f32 scale;
.visible .entry axpy(.param .align 8 .b8 s[24])
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<5>;
  ld.param.u64 %rd1, [s];
  ld.param.u64 %rd2, [s+8];
  ld.param.u32 %r1, [s+16];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra END;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.global.f32 %f2, [%rd5];
  ld.global.f32 %f3, [scale];
  fma.rn.f32 %f4, %f1, %f3, %f2;
  st.global.f32 [%rd5], %f4;
END:
  ret;
}
)";

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

inline void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Files and manifest as values, so that a test can damage them before `write_to`.
struct Axpy {
  std::vector<float> x, before, after;
  std::vector<float> scale{2};
  std::string ptx = axpy;
  Manifest manifest;

  Axpy() {
    for (int i = 0; i < elements; ++i) {
      x.push_back(static_cast<float>(i));
      before.push_back(1);
      after.push_back(2 * static_cast<float>(i) + 1);
    }
    manifest.chip = "NVIDIA H200";
    manifest.driver = 13000;
    manifest.program = "axpy";
    manifest.entry = "axpy";
    manifest.grid = {2, 1, 1};
    manifest.block = {64, 1, 1};
    manifest.complete = true;
    manifest.parameters.resize(24);
    const uint64_t pointers[] = {x_address, y_address};
    const uint32_t n = elements;
    std::memcpy(manifest.parameters.data(), pointers, 16);
    std::memcpy(manifest.parameters.data() + 16, &n, 4);
    manifest.ptx_file = "kernel.ptx";
    manifest.ptx_source = "by hand";
    manifest.ptx_checksum = checksum(bytes_of(std::string_view(axpy)));
    const auto file = [](const char* name, std::span<const std::byte> bytes) {
      return Contents{.kind = Contents::Kind::file, .file = name, .checksum = checksum(bytes)};
    };
    const Contents same{.kind = Contents::Kind::same, .file = {}};
    manifest.buffers = {
        {.name = "buffer0",
         .address = x_address,
         .bytes = 400,
         .before = file("x", bytes_of(x)),
         .after = same},
        {.name = "buffer1",
         .address = y_address,
         .bytes = 400,
         .host_writes = true,
         .before = {.kind = Contents::Kind::repeated, .file = {}, .value = 0x3f80'0000'3f80'0000},
         .after = file("y.after", bytes_of(after))},
        {.name = "scale",
         .address = scale_address,
         .bytes = 4,
         .variable = true,
         .before = file("scale", bytes_of(scale)),
         .after = same}};
  }

  void write_to(const std::filesystem::path& folder) const {
    std::filesystem::create_directories(folder);
    write(folder / "kernel.ptx", bytes_of(std::string_view(ptx)));
    write(folder / "x", bytes_of(x));
    write(folder / "y.after", bytes_of(after));
    write(folder / "scale", bytes_of(scale));
    write(folder / manifest_file, bytes_of(std::string_view(text(manifest))));
  }
};

}  // namespace palladion::cuda::bundle::testing
