#pragma once
// Carries out a ProductCase: images, instruction, expected tensor memory.
#include "tests/sim/tcgen05_cases.h"

namespace palladion::sim::testing {

inline isa::Type type_named(const std::string& s) {
  using enum isa::Type;
  for (const isa::Type t : {f16, bf16, f32, tf32, s32, s8, u8, e4m3, e5m2, e2m3, e3m2, e2m1})
    if (isa::name(t) == s) return t;
  return none;
}

// Of an element in an array of rows.
inline size_t place(int row, int columns, int column = 0) {
  return static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(column);
}

class Product {
 public:
  explicit Product(const ProductCase& product) : c(product), random_(product.seed) {
    make_a();
    make_b();
    if (c.scale_vectors != 0) make_scales();
    make_d();
  }

  RunResult run(const RunOptions& options = {}) { return run_tcgen05(program(), image, options); }
  // Tensor memory as it must be.
  Tcgen05Image expected() const {
    Tcgen05Image e = before_;
    for (int m = 0; m < c.m; ++m)
      for (int n = 0; n < c.n; ++n) {
        const TensorCell cell = cell_of_d(c, m, n);
        const size_t word = place(cell.cta, 4, cell.lane / 32);
        if (!c.disabled.empty() && (c.disabled[word] >> cell.lane % 32 & 1) != 0) continue;
        e.at(cell.cta, cell.lane, d_column + cell.column) = d_bits(value(m, n));
      }
    return e;
  }

  uint32_t idesc() const {
    isa::Tcgen05Descriptor d;
    d.m = c.m, d.n = c.n;
    d.a = type_named(c.a_type), d.b = type_named(c.b_type), d.d = type_named(c.d_type);
    d.transpose_a = c.transpose_a, d.transpose_b = c.transpose_b;
    d.negate_a = c.negate_a, d.negate_b = c.negate_b;
    d.sparse = c.sparse, d.sparsity_selector = c.selector;
    d.scale_ue4m3 = c.ue4m3, d.scale_a_id = c.a_id, d.scale_b_id = c.b_id;
    return isa::encode(d, c.kind);
  }
  Tcgen05Program program() const {
    Tcgen05Program p;
    p.ctas = c.ctas;
    p.values = {a_place_.descriptor(), b_place_.descriptor(), idesc(), c.accumulate, c.zero_mask};
    p.body = "  add.u64 %v0, %v0, %base;\n  add.u64 %v1, %v1, %base;\n  setp.ne.u32 %p6, %w3, 0;\n" +
             address("%r30", d_column + c.lane * 65536) + address("%r31", a_column + c.lane * 65536) +
             address("%r32", scale_a_column) + address("%r33", scale_b_column) +
             address("%r34", metadata_column) + instruction();
    return p;
  }

  const ProductCase c;
  Tcgen05Image image;

 private:
  static std::string address(const char* to, int add) {
    return fmt::format("  add.u32 {}, %tensor, {};\n", to, add);
  }

  std::string instruction() const {
    static constexpr const char* vectors[] = {"", ".scale_vec::1X", ".scale_vec::2X", "", ".scale_vec::4X"};
    std::string s;
    for (size_t i = 0; i < c.disabled.size(); ++i)
      s += fmt::format("  mov.b32 %y{}, {};\n", i, c.disabled[i]);
    s += "  tcgen05.mma";
    if (c.ws) s += ".ws";
    if (c.sparse) s += ".sp";
    s += fmt::format(".cta_group::{}.kind::{}", c.ctas, isa::name(c.kind));
    if (c.scale_vectors != 0) s += std::string(".block_scale") + vectors[c.scale_vectors];
    s += fmt::format(" [%r30], {}, %v1, ", c.a_in_tensor ? "[%r31]" : "%v0");
    if (c.sparse) s += "[%r34], ";
    s += "%w2, ";
    if (c.scale_vectors != 0) s += "[%r32], [%r33], ";
    if (!c.disabled.empty()) s += tcgen05_registers("y", 0, static_cast<int>(c.disabled.size())) + ", ";
    s += "%p6";
    if (c.input_scale != 0) s += fmt::format(", {}", c.input_scale);
    if (c.zero_mask != 0) s += ", %v4";
    return s + ";\n";
  }

  Placement placement(bool a) const {
    Placement p;
    p.start = a ? 0 : 32768;
    p.rows = a ? c.rows() : c.n / c.ctas;
    p.k = a ? c.dense_k() : c.k();
    p.size = c.element_bytes();
    p.bits = bits_of(a ? c.a_type : c.b_type);
    p.packed = c.packed();
    p.transpose = a ? c.transpose_a : c.transpose_b;
    p.mode = a ? c.a_mode : c.b_mode;
    p.k_bytes = p.transpose ? 0 : 32 * c.k_offset;
    return p;
  }

  // A: of a sparse one, what is stored goes where the metadata say.
  void make_a() {
    a_place_ = placement(true);
    a_.assign(place(c.m, c.k()), 0);
    for (int m = 0; m < c.m; ++m) {
      std::vector<int> dense(static_cast<size_t>(c.dense_k()));
      for (int i = 0; i < c.dense_k(); ++i) dense[static_cast<size_t>(i)] = i;
      if (c.sparse) dense = make_metadata(m);
      for (int i = 0; i < c.dense_k(); ++i) {
        const double v = number(random_, c.a_type);
        a(m, dense[static_cast<size_t>(i)]) = v;
        put_a(m, i, encode_number(c.a_type, v));
      }
    }
  }

  void put_a(int m, int i, uint32_t element) {
    const int cta = m / c.rows(), r = m % c.rows();
    if (!c.a_in_tensor) return a_place_.put(image.shared[static_cast<size_t>(cta)], r, i, element);
    // The lanes of D's row in each part; K in ascending columns, narrow elements in bytes.
    const int bits = c.packed() ? 4 : 8 * c.element_bytes(), per_word = 32 / bits;
    if (std::string(c.a_type) == "e2m1" && !c.packed()) element <<= 2;
    for (int n = 0; n < c.n; ++n) {
      const TensorCell cell = cell_of_d(c, m, n);
      if (n != 0 && cell.lane == cell_of_d(c, m, n - 1).lane) continue;
      uint32_t& word = image.at(cell.cta, cell.lane, a_column + i / per_word);
      word |= element << bits * (i % per_word);
    }
  }

  // Dense places of the stored elements of a row.
  std::vector<int> make_metadata(int m) {
    static constexpr int pairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE, 0x6}, singles[] = {0x4, 0xE};
    const bool single = c.kind == Tcgen05Kind::tf32, narrow = c.element_bytes() == 1;
    const int units = c.packed() ? c.k() / 2 : c.k(), nibbles = units / (single ? 2 : 4);
    std::vector<int> places;
    for (int j = 0; j < nibbles; ++j) {
      const int nibble = single ? singles[random_.below(2)] : pairs[random_.below(7)];
      put_metadata(m, j, nibble, narrow);
      const auto add = [&](int unit) {
        if (!c.packed()) return places.push_back(unit);
        places.push_back(2 * unit), places.push_back(2 * unit + 1);
      };
      if (single) {
        add(2 * j + (nibble == 0xE));
        continue;
      }
      add(4 * j + nibble % 4);
      add(4 * j + nibble / 4);
    }
    return places;
  }
  void put_metadata(int m, int j, int nibble, bool narrow) {
    const int r = m % c.rows(), cta = m / c.rows();
    int lane = r, column = j / 8, bit = j % 8 * 4;
    if (!narrow) {  // 16 rows in 16 lanes: rows 8 apart in a word, the second half of K in the upper eight
                    // lanes
      lane = r / 16 * 16 + r % 8 + j / 4 * 8;
      bit = r / 8 % 2 * 16 + j % 4 * 4;
      column = 0;
    }
    for (int copy = 0; copy < 128; copy += c.rows())
      image.at(cta, lane + copy, metadata_column + c.selector + column) |= static_cast<uint32_t>(nibble)
                                                                           << bit;
  }

  void make_b() {
    b_place_ = placement(false);
    b_.assign(place(c.n, c.k()), 0);
    const int each = c.n / c.ctas;
    for (int n = 0; n < c.n; ++n)
      for (int k = 0; k < c.k(); ++k) {
        const double v = number(random_, c.b_type);
        b_place_.put(image.shared[static_cast<size_t>(n / each)], n % each, k, encode_number(c.b_type, v));
        b(n, k) = is_zero_column(n) ? 0 : v;
      }
  }

  // The manual's example: runs of "use" zeros and "skip" ones, of which `start` bits are left out.
  bool is_zero_column(int n) const {
    if (c.zero_mask == 0) return false;
    const int masks = c.m == 128 ? 1 : c.m == 64 ? 2 : 4, width = c.n / masks, mask = n / width;
    std::vector<bool> bits;
    bool one = (c.zero_mask >> (32 + mask) & 1) != 0;
    while (bits.size() < 1024) {
      bits.insert(bits.end(),
                  static_cast<size_t>(one ? (c.zero_mask >> 40 & 255) + 1 : (c.zero_mask >> 48 & 255) + 1),
                  one);
      one = !one;
    }
    return bits[static_cast<size_t>(n % width) + (c.zero_mask >> 8 * mask & 255)];
  }

  // Powers of two from 1/2 to 2.
  void make_scales() {
    scales_a_.assign(place(c.m, c.scale_vectors), 0);
    scales_b_.assign(place(c.n, c.scale_vectors), 0);
    const bool halves = c.ctas == 2 && c.m == 128;
    for (int m = 0; m < c.m; ++m)
      for (int s = 0; s < c.scale_vectors; ++s) {
        const int e = random_.below(3) - 1, r = m % c.rows();
        scales_a_[place(m, c.scale_vectors, s)] = std::ldexp(1.0, e);
        for (int q = 0; q < 4; ++q)
          put_scale(m / c.rows(), 32 * q + r % 32, scale_a_column + r / 32, c.a_id + s, e);
      }
    for (int n = 0; n < c.n; ++n)
      for (int s = 0; s < c.scale_vectors; ++s) {
        const int e = random_.below(3) - 1, in = halves ? n % (c.n / 2) : n;
        scales_b_[place(n, c.scale_vectors, s)] = std::ldexp(1.0, e);
        for (int cta = 0; cta < c.ctas; ++cta)
          for (int q = 0; q < 4; ++q)
            if (!halves || q / 2 == n / (c.n / 2))
              put_scale(cta, 32 * q + in % 32, scale_b_column + in / 32, c.b_id + s, e);
      }
  }
  void put_scale(int cta, int lane, int column, int byte, int e) {
    const uint32_t bits = c.ue4m3 ? static_cast<uint32_t>(e + 7) << 3 : static_cast<uint32_t>(e + 127);
    image.at(cta, lane, column) |= bits << 8 * byte;
  }

  // D before: small numbers, and noise in all words of tensor memory that are not operands.
  void make_d() {
    d_.assign(place(c.m, c.n), 0);
    std::vector<bool> used(256, false);
    for (int cta = 0; cta < c.ctas; ++cta)
      for (int lane = 0; lane < 128; ++lane)
        for (int column = d_column; column < 256; ++column) image.at(cta, lane, column) = random_.next();
    for (int m = 0; m < c.m; ++m)
      for (int n = 0; n < c.n; ++n) {
        const double v = random_.below(64) - 32;
        d_[place(m, c.n, n)] = v;
        const TensorCell cell = cell_of_d(c, m, n);
        image.at(cell.cta, cell.lane, d_column + cell.column) = d_bits(v);
      }
    before_ = image;
  }

  uint32_t d_bits(double v) const {
    const std::string type = c.d_type;
    if (type == "s32") return static_cast<uint32_t>(static_cast<int64_t>(v));
    if (type == "f16") return encode_number("f16", v);
    return std::bit_cast<uint32_t>(static_cast<float>(v));
  }

  double value(int m, int n) const {
    double sum = c.accumulate ? std::ldexp(d_[place(m, c.n, n)], -c.input_scale) : 0;
    const int block = c.scale_vectors == 0 ? 1 : c.k() / c.scale_vectors;
    for (int k = 0; k < c.k(); ++k) {
      double p = a_[place(m, c.k(), k)] * b_[place(n, c.k(), k)];
      if (c.scale_vectors != 0)
        p *=
            scales_a_[place(m, c.scale_vectors, k / block)] * scales_b_[place(n, c.scale_vectors, k / block)];
      sum += c.negate_a != c.negate_b ? -p : p;
    }
    return sum;
  }

  double& a(int m, int k) { return a_[place(m, c.k(), k)]; }
  double& b(int n, int k) { return b_[place(n, c.k(), k)]; }

  Tcgen05Random random_;
  Placement a_place_, b_place_;
  Tcgen05Image before_;
  std::vector<double> a_, b_, d_, scales_a_, scales_b_;
};

}  // namespace palladion::sim::testing
