// Look-ups that an H200 made, again in the machine (tests/sim/data/textures_h200.txt). PLD_TEXTURE_VECTORS
// names another file of that form.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim {
namespace {

uint64_t mix(uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
float unit(uint64_t h) { return static_cast<float>(static_cast<double>(h >> 40) * (1.0 / 16777216.0)); }

struct Look {
  int number = 0;
  uint32_t results[4]{};
};

struct Config {
  std::string text, geometry;
  std::map<std::string, int> facts;
  std::vector<Look> looks;
  int operator[](const std::string& key) const { return facts.at(key); }
};

std::vector<Config> configs() {
  const char* const other = std::getenv("PLD_TEXTURE_VECTORS");
  std::ifstream file(other != nullptr ? other : PLD_SOURCE_DIR "/tests/sim/data/textures_h200.txt");
  std::vector<Config> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    if (line.starts_with("#")) continue;
    if (!line.starts_with("config")) {
      Look look;
      words >> look.number >> std::hex;
      for (uint32_t& r : look.results) words >> r;
      all.back().looks.push_back(look);
      continue;
    }
    Config& c = all.emplace_back();
    c.text = line;
    words >> word >> c.facts["id"];
    while (words >> word) {
      const size_t equals = word.find('=');
      const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
      if (key == "geom")
        c.geometry = value;
      else
        c.facts[key] = key == "kind" ? value[0] : std::atoi(value.c_str());
    }
  }
  return all;
}

std::vector<uint8_t> contents(const Config& c, int level, size_t bytes) {
  std::vector<uint8_t> b(bytes);
  const auto size = static_cast<size_t>(c["bits"] / 8);
  for (size_t i = 0; i < bytes / size; ++i) {
    uint64_t v = mix(mix(static_cast<uint64_t>(c["id"] * 16 + level)) + i);
    const bool floating = c["kind"] == 'f';
    if (c["content"] >= 1) {
      const bool one = i / static_cast<size_t>(c["ch"]) % static_cast<size_t>(c["content"]) == 0;
      v = !one ? 0 : floating ? (size == 4 ? 0x3F800000U : 0x3C00U) : ~0U;
    } else if (floating && size == 4) {
      v = std::bit_cast<uint32_t>(unit(v) * 2 - 1);
    } else if (floating) {
      v = (v & 0x8000) | (0x2C00 + (v & 0x7FFF) % 0x1400);
    }
    std::memcpy(&b[i * size], &v, size);
  }
  return b;
}

// The nine numbers of a look-up: x, y, z, level, layer, gradients.
std::array<float, 9> coordinates(const Config& c, int i) {
  const bool cube = c.geometry == "cube" || c.geometry == "acube", linear = c.geometry == "linear";
  const int w = c["w"], h = std::max(c["h"], 1), d = std::max(c["d"], 1);
  const float size[3] = {static_cast<float>(w), static_cast<float>(h), static_cast<float>(d)};
  std::array<float, 9> out{};
  for (int j = 0; j < 9; ++j) {
    const uint64_t hash = mix(mix(static_cast<uint64_t>(1000 + c["id"])) + static_cast<uint64_t>(i * 16 + j));
    const float u = unit(hash);
    float v = 0;
    if (j < 3 && cube) {
      v = u * 2 - 1;
    } else if (j < 3) {
      const float s = size[j];
      if ((i & 3) == 0) v = u * s;
      if ((i & 3) == 1) v = (u * 3 - 1) * s;
      if ((i & 3) == 2) v = static_cast<float>(static_cast<int>((u * 3 - 1) * s * 512)) / 512;
      if ((i & 3) == 3)
        v = static_cast<float>(static_cast<int>(u * s * 512)) / 512 +
            static_cast<float>(static_cast<int>(hash & 7) - 3) * 0x1p-18F;
      if (c["nc"] != 0) v /= s;
      if (linear) v = static_cast<float>(static_cast<int>(u * static_cast<float>(w) * 1.25F)) - 2;
      if (i >= 248 && c["n"] == 256) {
        static const float odd[] = {NAN, INFINITY, -INFINITY, 1e9F, -1e9F, -0.0F, 3e38F, 1e-40F};
        v = linear ? 0 : odd[(i + j) & 7];
      }
    } else if (j == 3) {
      v = u * static_cast<float>(c["mips"] + 1) - 1;
    } else if (j == 4) {
      const int layers = c.geometry == "a1d" ? c["d"] : c.geometry == "acube" ? 2 : d;
      v = static_cast<float>(static_cast<int>(u * static_cast<float>(layers) * 1.5F) - 1);
    } else {
      v = (u - 0.5F) * 16 / (c["nc"] != 0 ? 16.0F : 1.0F) * std::exp2(static_cast<float>(i % 7) - 4);
    }
    out[static_cast<size_t>(j)] = v;
  }
  return out;
}

std::string kernel(const Config& c) {
  static const std::map<std::string, std::string> coords = {{"1d", "{%f0}"},
                                                            {"2d", "{%f0, %f1}"},
                                                            {"3d", "{%f0, %f1, %f2, %f2}"},
                                                            {"a1d", "{%r9, %f0}"},
                                                            {"a2d", "{%r9, %f0, %f1, %f1}"},
                                                            {"cube", "{%f0, %f1, %f2, %f2}"},
                                                            {"acube", "{%r9, %f0, %f1, %f2}"},
                                                            {"linear", "{%r8}"},
                                                            {"gather", "{%f0, %f1}"},
                                                            {"pitch", "{%f0, %f1}"}};
  const std::string type = c["kind"] == 'f' || c["norm"] != 0 ? "f32" : c["kind"] == 'u' ? "u32" : "s32";
  const std::string at = coords.at(c.geometry);
  std::string shape = c.geometry, extra;
  std::string name = c["lod"] == 1 && c.geometry != "gather" ? "tex.level." : "tex.";
  if (c.geometry == "pitch") shape = "2d";
  if (c.geometry == "linear") shape = "1d";
  if (name == "tex.level.") extra = ", %f3";
  std::string line = name + shape + ".v4." + type + (c.geometry == "linear" ? ".s32" : ".f32");
  if (c.geometry == "gather") line = std::string("tld4.") + "rgba"[c["lod"]] + ".2d.v4." + type + ".f32";
  std::string text = R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 in, .param .u64 out) {
  .reg .b32 %r<16>;
  .reg .f32 %f<16>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [in];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r1, %r1, 32, %r2;
  mul.wide.u32 %rd4, %r1, 36;
  add.u64 %rd2, %rd2, %rd4;
  mul.wide.u32 %rd4, %r1, 16;
  add.u64 %rd3, %rd3, %rd4;
)";
  for (int i = 0; i < 5; ++i)
    text += "  ld.global.f32 %f" + std::to_string(i) + ", [%rd2+" + std::to_string(4 * i) + "];\n";
  text += "  cvt.rzi.s32.f32 %r8, %f0;\n  cvt.rzi.s32.f32 %r9, %f4;\n  " + line +
          " {%r4, %r5, %r6, %r7}, [%rd1, " + at + "]" + extra +
          ";\n  st.global.v4.b32 [%rd3], {%r4, %r5, %r6, %r7};\n  ret;\n}\n";
  if (type == "f32") {
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"{%r4, %r5, %r6, %r7}", "{%f4, %f5, %f6, %f7}"}})
      for (size_t p = text.find(from); p != std::string::npos; p = text.find(from, p))
        text.replace(p, from.size(), to);
  }
  return text;
}

Texture texture_of(const Config& c, GlobalMemory& memory) {
  using isa::Geometry;
  static const std::map<std::string, Geometry> names = {{"1d", Geometry::d1},       {"2d", Geometry::d2},
                                                        {"3d", Geometry::d3},       {"a1d", Geometry::a1d},
                                                        {"a2d", Geometry::a2d},     {"cube", Geometry::cube},
                                                        {"acube", Geometry::acube}, {"linear", Geometry::d1},
                                                        {"gather", Geometry::d2},   {"pitch", Geometry::d2}};
  const TexelFormat format{c["kind"] == 'f'   ? TexelKind::floating
                           : c["kind"] == 'u' ? TexelKind::unsigned_int
                                              : TexelKind::signed_int,
                           c["bits"], c["ch"]};
  const auto make = [&](Address address) {
    return Image::dense(names.at(c.geometry), format, static_cast<uint32_t>(c["w"]),
                        static_cast<uint32_t>(c["h"]), static_cast<uint32_t>(c["d"]), address,
                        static_cast<uint32_t>(c["mips"]));
  };
  Texture t;
  const uint64_t bytes = make({}).bytes();
  t.image = make(memory.allocate(bytes, "texels"));
  t.image.linear_memory = c.geometry == "linear";
  for (size_t n = 0; n < t.image.levels.size(); ++n) {
    const ImageLevel& level = t.image.levels[n];
    const auto texels = contents(c, static_cast<int>(n), level.slice * level.depth);
    std::memcpy(memory.find(level.address, texels.size()), texels.data(), texels.size());
  }
  t.sampling.address.fill(static_cast<AddressMode>(c["addr"]));
  t.sampling.linear = c["linear"] != 0;
  t.sampling.linear_levels = c["mlinear"] != 0;
  t.sampling.normalized = c["nc"] != 0;
  t.sampling.as_float = c["norm"] != 0;
  t.sampling.srgb = c["srgb"] != 0;
  t.sampling.border = {0.25F, 0.7F, -0.5F, 2.0F};
  t.sampling.most_level = static_cast<float>(c["mips"] - 1);
  return t;
}

struct Agreement {
  int looks = 0, equal = 0;
  std::string first;
};

Agreement replay(const Config& c) {
  testing::PtxRunner runner(kernel(c));
  const size_t n = c.looks.size(), padded = (n + 31) / 32 * 32;
  std::vector<std::array<float, 9>> in(padded);
  for (size_t i = 0; i < n; ++i) in[i] = coordinates(c, c.looks[i].number);
  std::vector<std::array<uint32_t, 4>> out(padded);
  const uint64_t handle = runner.machine().textures().create(texture_of(c, runner.machine().memory()));
  runner.scalar<uint64_t>(handle);
  runner.array(in, "in");
  runner.array(out, "out");
  runner.shape({static_cast<uint32_t>(padded / 32), 1, 1}, {32, 1, 1});
  runner.run_clean();
  Agreement a;
  for (size_t i = 0; i < n; ++i) {
    const Look& look = c.looks[i];
    ++a.looks;
    if (std::equal(out[i].begin(), out[i].end(), look.results))
      ++a.equal;
    else if (a.first.empty() || std::getenv("PLD_TEXTURE_ALL") != nullptr)
      a.first += fmt::format(
          "\n  {}: at {} {} {} level {} layer {}: {:x} {:x} {:x} {:x}, the H200 {:x} {:x} {:x} {:x}",
          look.number, in[i][0], in[i][1], in[i][2], in[i][3], in[i][4], out[i][0], out[i][1], out[i][2],
          out[i][3], look.results[0], look.results[1], look.results[2], look.results[3]);
  }
  return a;
}

bool is_supported(const Config& c) {
  if (c["lod"] == 2 && c.geometry != "gather") return false;  // gradients choose mipmap levels
  if (c["kind"] == 's' && c["bits"] == 8 && c["linear"] != 0) return false;
  if (c.geometry == "3d" && c["linear"] != 0 && c["mlinear"] != 0) return false;
  return c["srgb"] == 0;
}

TEST(TextureReplay, agrees_with_an_h200) {
  int looks = 0, equal = 0;
  for (const Config& c : configs()) {
    if (!is_supported(c)) continue;
    const Agreement a = replay(c);
    looks += a.looks;
    equal += a.equal;
    EXPECT_EQ(a.equal, a.looks) << c.text << a.first;
  }
  std::cout << equal << " of " << looks << " look-ups agree\n";
  EXPECT_GT(looks, 4000);
}

}  // namespace
}  // namespace palladion::sim
