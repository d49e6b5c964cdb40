#pragma once
// One sparse matrix instruction in a kernel of its own, with inputs made from a seed: the same text and bytes
// go to a machine and to a device. Input: the bytes of shared memory (wgmma), then word [register][thread] of
// the accumulators, of A, of B (mma) and of the metadata. Output: word [register][thread] of the
// accumulators.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "isa/core/hash.h"
#include "isa/formats/matrix_descriptor.h"

namespace palladion::sparse_cases {

enum class Values : uint8_t { near_one, any_bits };
enum class Metadata : uint8_t { ordered, unordered };  // of the two indices of a nibble

struct Case {
  std::string opcode;  // with all its words
  std::string a_type = "f16", b_type = "f16", d_type = "f32";
  bool wgmma = false;
  int n = 8, k = 32, selector = 0;
  bool a_in_registers = true, transpose_a = false, transpose_b = false, swizzle_b = false;  // wgmma
  Values values = Values::near_one;
  Metadata metadata = Metadata::ordered;
  uint64_t seed = 1;

  int bits() const {
    return a_type == "tf32"                         ? 32
           : a_type == "f16" || a_type == "bf16"    ? 16
           : a_type[1] == '4' && a_type.size() == 2 ? 4
                                                    : 8;
  }
  bool floats() const { return a_type[0] != 's' && a_type[0] != 'u'; }
  int threads() const { return wgmma ? 128 : 32; }
  int rows() const { return wgmma ? 64 : 16; }
  int d_registers() const { return rows() * n * (d_type == "f16" ? 16 : 32) / 32 / threads(); }
  int a_registers() const { return !a_in_registers ? 0 : rows() * k / 2 * bits() / 32 / threads(); }
  int b_registers() const { return wgmma ? 0 : n * k * bits() / 32 / 32; }
  int shared_bytes() const { return wgmma ? 8192 : 0; }  // A, and B from byte 2048 on
  int input_words() const {
    return shared_bytes() / 4 + threads() * (d_registers() + a_registers() + b_registers() + 1);
  }
  int output_words() const { return threads() * d_registers(); }
};

inline std::string name_of(const Case& c) {
  return fmt::format("{};{};{}{}{}{};{};{};{}", c.opcode, c.selector,
                     c.wgmma ? c.a_in_registers ? "A in registers" : "A in shared memory" : "",
                     c.transpose_a ? ", A turned" : "", c.transpose_b ? ", B turned" : "",
                     c.swizzle_b ? ", B swizzled" : "",
                     c.values == Values::near_one ? "near one" : "any bits",
                     c.metadata == Metadata::ordered ? "ordered" : "unordered", c.seed);
}

inline Case mma_case(const std::string& sp, int k, const std::string& d, const std::string& a,
                     const std::string& b, bool satfinite = false) {
  Case c;
  c.opcode = fmt::format("mma.{}.sync.aligned.m16n8k{}.row.col{}.{}.{}.{}.{}", sp, k,
                         satfinite ? ".satfinite" : "", d, a, b, d);
  c.a_type = a, c.b_type = b, c.d_type = d, c.k = k;
  return c;
}

inline Case wgmma_case(int n, int k, const std::string& d, const std::string& a, const std::string& b,
                       bool satfinite = false) {
  Case c;
  c.opcode = fmt::format("wgmma.mma_async.sp.sync.aligned.m64n{}k{}{}.{}.{}.{}", n, k,
                         satfinite ? ".satfinite" : "", d, a, b);
  c.a_type = a, c.b_type = b, c.d_type = d, c.k = k, c.n = n, c.wgmma = true;
  return c;
}

// --- the kernel -----------------------------------------------------------------------------------------

inline std::string list(const char* name, int count) {
  std::string s;
  for (int i = 0; i < count; ++i) s += fmt::format("{}%{}{}", i ? ", " : "", name, i);
  return "{" + s + "}";
}

inline std::string load_registers(const char* name, int count, int threads, int& at) {
  std::string s;
  for (int i = 0; i < count; ++i, at += 4 * threads)
    s += fmt::format("  ld.global.b32 %{}{}, [%in+{}];\n", name, i, at);
  return s;
}

inline std::string descriptors(const Case& c) {
  isa::MatrixDescriptor a{.start = 0, .leading = 128, .stride = 256},
      b{.start = 2048, .leading = 128, .stride = 512};
  if (c.transpose_a) a.leading = 256, a.stride = 128;
  if (c.transpose_b) b.leading = 512, b.stride = 128;
  if (c.swizzle_b) b.leading = 16, b.swizzle = isa::Swizzle::b64;
  return fmt::format(
      "  mov.u32 %x, tile;\n  shr.u32 %x, %x, 4;\n  cvt.u64.u32 %base, %x;\n  add.s64 %da, %base, {};\n  "
      "add.s64 %db, %base, {};\n",
      static_cast<int64_t>(isa::encode(a)), static_cast<int64_t>(isa::encode(b)));
}

inline std::string wgmma_text(const Case& c) {
  const bool halves = c.a_type == "f16" || c.a_type == "bf16";
  std::string scales = c.floats() ? ", p, 1, 1" : ", p";
  if (halves && !c.a_in_registers) scales += fmt::format(", {}", c.transpose_a ? 1 : 0);
  if (halves) scales += fmt::format(", {}", c.transpose_b ? 1 : 0);
  return fmt::format(
      "  wgmma.fence.sync.aligned;\n  {} {}, {}, %db, %m0, {}{};\n  wgmma.commit_group.sync.aligned;\n  "
      "wgmma.wait_group.sync.aligned 0;\n",
      c.opcode, list("d", c.d_registers()), c.a_in_registers ? list("a", 4) : "%da", c.selector, scales);
}

inline std::string ptx_of(const Case& c) {
  const std::string d_kind = c.d_type == "f32" ? ".f32" : ".b32";
  std::string s =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry sparse(.param .u64 in, .param .u64 "
      "out) {\n";
  s += fmt::format(
      "  .reg .b32 %t, %x, %a<4>, %b<4>, %m<1>;\n  .reg {} %d<{}>;\n  .reg .b64 %in, %out, %o, %base, %da, "
      "%db;\n  .reg .pred p;\n",
      d_kind, c.d_registers());
  if (c.wgmma) s += fmt::format("  .shared .align 1024 .b8 tile[{}];\n", c.shared_bytes());
  s += "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n  mul.wide.u32 %o, "
       "%t, 4;\n"
       "  add.s64 %in, %in, %o;\n  add.s64 %out, %out, %o;\n  setp.ge.u32 p, %t, 0;\n";
  if (c.wgmma) {
    s += "  mov.u32 %x, tile;\n  mad.lo.u32 %x, %t, 4, %x;\n";
    for (int at = 0; at < c.shared_bytes(); at += 512)
      s += fmt::format("  ld.global.b32 %m0, [%in+{}];\n  st.shared.b32 [%x+{}], %m0;\n", at, at);
    s += "  fence.proxy.async;\n  bar.sync 0;\n" + descriptors(c);
  }
  int at = c.shared_bytes();
  s += load_registers("d", c.d_registers(), c.threads(), at);
  s += load_registers("a", c.a_registers(), c.threads(), at);
  s += load_registers("b", c.b_registers(), c.threads(), at);
  s += load_registers("m", 1, c.threads(), at);
  const std::string d = list("d", c.d_registers());
  if (c.wgmma)
    s += wgmma_text(c);
  else
    s += fmt::format("  {} {}, {}, {}, {}, %m0, {};\n", c.opcode, d, list("a", c.a_registers()),
                     list("b", c.b_registers()), d, c.selector);
  for (int i = 0; i < c.d_registers(); ++i)
    s += fmt::format("  st.global.b32 [%out+{}], %d{};\n", 4 * c.threads() * i, i);
  return s + "  ret;\n}\n";
}

// --- the inputs -----------------------------------------------------------------------------------------

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15) {}
  uint64_t next() {  // splitmix64
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

 private:
  uint64_t state_;
};

// Near one: exponents of -3..3 about 1, one of 16 elements zero.
inline uint32_t element(Random& random, const std::string& type, Values values) {
  const auto r = static_cast<uint32_t>(random.next());
  if (values == Values::any_bits || type[0] == 's' || type[0] == 'u') return r;
  if (random.below(16) == 0) return r & 1 ? 0x80000000U : 0;
  const uint32_t exponent = random.below(7);
  if (type == "f32" || type == "tf32") return (r & 0x807FFFFF) | (124 + exponent) << 23;
  if (type == "bf16") return (r & 0x807F) | (124 + exponent) << 7;
  if (type == "f16") return (r & 0x83FF) | (12 + exponent) << 10;
  if (type == "e4m3") return (r & 0x87) | (4 + exponent) << 3;
  return (r & 0x83) | (12 + exponent) << 2;
}

inline uint32_t word_of(Random& random, const std::string& type, int bits, Values values) {
  uint32_t word = 0;
  for (int i = 0; i < 32; i += bits) {
    uint32_t e = element(random, type, values);
    if (bits < 32) e = (e >> 31 << (bits - 1)) | (e & ((1U << bits) - 1));
    word |= e << i;
  }
  return word;
}

inline uint32_t metadata_word(Random& random, const Case& c) {
  static constexpr uint32_t pairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE, 0x1, 0x2, 0x3, 0x6, 0x7, 0xB},
                            of_tf32[] = {0x4, 0xE};
  uint32_t word = 0;
  for (int i = 0; i < 32; i += 4) {
    const uint32_t nibble = c.a_type == "tf32"
                                ? of_tf32[random.below(2)]
                                : pairs[random.below(c.metadata == Metadata::ordered ? 6 : 12)];
    word |= nibble << i;
  }
  return word;
}

inline std::vector<uint32_t> input_of(const Case& c) {
  Random random(c.seed);
  std::vector<uint32_t> words;
  const auto add = [&](int count, const std::string& type, int bits) {
    for (int i = 0; i < count; ++i) words.push_back(word_of(random, type, bits, c.values));
  };
  if (c.wgmma) add(2048 / 4, c.a_type, c.bits()), add((c.shared_bytes() - 2048) / 4, c.b_type, c.bits());
  add(c.threads() * c.d_registers(), c.d_type, c.d_type == "f16" ? 16 : 32);
  add(c.threads() * c.a_registers(), c.a_type, c.bits());
  add(c.threads() * c.b_registers(), c.b_type, c.bits());
  for (int i = 0; i < c.threads(); ++i) words.push_back(metadata_word(random, c));
  return words;
}

inline uint64_t hash_of(const std::vector<uint32_t>& words) {  // FNV-1a of words
  isa::Fnv1a hash;
  for (const uint32_t w : words) hash.step(w);
  return hash.value();
}

// --- all ------------------------------------------------------------------------------------------------

inline void with_values(std::vector<Case>& all, Case c) {
  const bool may_be_unordered = c.a_type != "tf32" && c.opcode.find("ordered") == std::string::npos;
  for (const Values values : {Values::near_one, Values::any_bits}) {
    for (const Metadata metadata : {Metadata::ordered, Metadata::unordered}) {
      if (metadata == Metadata::unordered && !may_be_unordered) continue;
      c.values = values, c.metadata = metadata, c.seed = all.size() + 1;
      all.push_back(c);
    }
  }
}

inline std::vector<Case> mma_shapes(const std::string& sp) {
  std::vector<Case> s;
  for (const int k : {16, 32}) {
    for (const char* d : {"f32", "f16"}) s.push_back(mma_case(sp, k, d, "f16", "f16"));
    s.push_back(mma_case(sp, k, "f32", "bf16", "bf16"));
    s.push_back(mma_case(sp, k / 2, "f32", "tf32", "tf32"));
    for (const char* a : {"s8", "u8"})
      for (const char* b : {"s8", "u8"}) s.push_back(mma_case(sp, 2 * k, "s32", a, b, a == std::string(b)));
    s.push_back(mma_case(sp, 4 * k, "s32", "s4", "u4"));
  }
  for (const char* a : {"e4m3", "e5m2"})
    for (const char* b : {"e4m3", "e5m2"}) s.push_back(mma_case(sp, 64, "f32", a, b));
  return s;
}

inline int selectors(const Case& c) {
  const int bits_of_k = c.k * c.bits();  // dense
  if (c.wgmma) return c.bits() == 8 ? 1 : 2;
  if (c.bits() <= 8) return bits_of_k == 256 ? 2 : 1;
  return bits_of_k == 256 ? 4 : 2;
}

inline std::vector<Case> wgmma_shapes() {
  std::vector<Case> s;
  for (const int n : {8, 24}) {
    s.push_back(wgmma_case(n, 32, "f32", "f16", "f16"));
    s.push_back(wgmma_case(n, 32, "f16", "f16", "f16"));
    s.push_back(wgmma_case(n, 32, "f32", "bf16", "bf16"));
    s.push_back(wgmma_case(n, 16, "f32", "tf32", "tf32"));
    for (const char* d : {"f32", "f16"})
      for (const char* a : {"e4m3", "e5m2"}) s.push_back(wgmma_case(n, 64, d, a, n == 8 ? "e4m3" : "e5m2"));
    for (const char* a : {"s8", "u8"})
      for (const char* b : {"s8", "u8"}) s.push_back(wgmma_case(n, 64, "s32", a, b, n == 24));
  }
  return s;
}

inline std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const char* sp : {"sp", "sp::ordered_metadata"})
    for (Case c : mma_shapes(sp))
      for (c.selector = 0; c.selector < selectors(c); ++c.selector) with_values(all, c);
  for (Case c : wgmma_shapes()) {
    for (c.selector = 0; c.selector < selectors(c); ++c.selector) {
      for (const bool registers : {true, false}) {
        c.a_in_registers = registers;
        with_values(all, c);
      }
    }
    c.selector = 0;
    c.swizzle_b = true;
    with_values(all, c);
    if (c.bits() != 16) continue;
    c.swizzle_b = false;
    c.transpose_b = true;
    with_values(all, c);
    c.transpose_a = true;
    with_values(all, c);
  }
  return all;
}

}  // namespace palladion::sparse_cases
