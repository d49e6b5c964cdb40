// Solves for the coefficients of the special function unit, from the recordings of ranges.cu.
//   g++ -std=c++20 -O2 -march=native -I../../../.. -o fit_tables fit_tables.cpp && ./fit_tables FOLDER >
//   tables.txt
//
// Over one segment the unit computes floor((A*a + B*b*x + C*c*sq(x) + K) / 2^s) with integers a, b, c. A
// recorded result bounds that sum from both sides. For a given c the bounds are linear in x with slope b and
// offset a: the best offset interval is a concave function of b (and of c, if b could be a fraction), so both
// are found by ternary search over convex hulls, and the few integers around the best are tried. A unique
// triple means that the table is found.
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sim/numerics/special_datapath.h"

namespace {

using I64 = std::int64_t;
using U32 = std::uint32_t;
using palladion::sim::numerics::sfu::truncated_square;

constexpr I64 fraction = 256;  // b is searched in steps of 1/256

struct Bounds {
  bool known = false;
  I64 low = 0, high = 0;
};

struct Point {
  I64 x, y;
};

/// The lower convex hull of points given by ascending x.
void add_to_hull(std::vector<Point>& hull, Point p) {
  while (hull.size() > 1) {
    const Point a = hull[hull.size() - 2], b = hull.back();
    if (static_cast<__int128>(b.x - a.x) * (p.y - a.y) > static_cast<__int128>(b.y - a.y) * (p.x - a.x))
      break;
    hull.pop_back();
  }
  hull.push_back(p);
}

/// The offsets that are possible with a slope: from max(low - slope*x) to min(high - slope*x).
struct Corridor {
  std::vector<Point> floor, ceiling;  // the floor is kept negated

  Corridor(const std::vector<Bounds>& bounds, const std::vector<I64>& square, I64 c) {
    for (std::size_t x = 0; x < bounds.size(); ++x) {
      if (!bounds[x].known) continue;
      add_to_hull(floor, {static_cast<I64>(x), -(bounds[x].low - c * square[x]) * fraction});
      add_to_hull(ceiling, {static_cast<I64>(x), (bounds[x].high - c * square[x]) * fraction});
    }
  }
  I64 low(I64 slope) const {
    I64 most = INT64_MIN;
    for (Point p : floor) most = std::max(most, -p.y - slope * p.x);
    return most;
  }
  I64 high(I64 slope) const {
    I64 least = INT64_MAX;
    for (Point p : ceiling) least = std::min(least, p.y - slope * p.x);
    return least;
  }
  I64 slack(I64 slope) const { return high(slope) - low(slope); }
};

/// The argument in [a, b] where a concave function is largest.
I64 argmax(I64 a, I64 b, const std::function<I64(I64)>& f) {
  while (b - a > 2) {
    const I64 third = (b - a) / 3;
    if (f(a + third) < f(b - third)) {
      a += third;
    } else {
      b -= third;
    }
  }
  I64 best = a;
  for (I64 k = a; k <= b; ++k) best = f(k) > f(best) ? k : best;
  return best;
}

struct Solution {
  I64 a, b, c;
};

struct Search {
  int offset_scale;    // a counts in 2^offset_scale
  I64 slope_step = 1;  // b counts in this
  I64 c_low, c_high, b_low, b_high;
};

std::vector<Solution> solve(const std::vector<Bounds>& bounds, const std::vector<I64>& square,
                            const Search& s) {
  const auto best_slope = [&](const Corridor& corridor) {
    return argmax(s.b_low * fraction, s.b_high * fraction, [&](I64 slope) { return corridor.slack(slope); });
  };
  const auto best_slack = [&](I64 c) {
    const Corridor corridor(bounds, square, c);
    return corridor.slack(best_slope(corridor));
  };
  std::vector<Solution> found;
  const I64 center = argmax(s.c_low, s.c_high, best_slack);
  for (I64 c = center - 3; c <= center + 3; ++c) {
    const Corridor corridor(bounds, square, c);
    const I64 middle = best_slope(corridor) / (fraction * s.slope_step);
    for (I64 b = middle - 3; b <= middle + 3; ++b) {
      const I64 unit = fraction << s.offset_scale;
      const I64 low = corridor.low(b * s.slope_step * fraction),
                high = corridor.high(b * s.slope_step * fraction);
      for (I64 a = low >= 0 ? (low + unit - 1) / unit : -(-low / unit); a * unit <= high; ++a)
        found.push_back({a, b, c});
    }
  }
  return found;
}

std::vector<U32> load(const std::string& path, std::size_t count) {
  std::vector<U32> words(count);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr || std::fread(words.data(), 4, count, file) != count) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(1);
  }
  std::fclose(file);
  return words;
}

struct Segment {
  std::vector<Bounds> bounds;
  std::vector<I64> square;
  Search search;
};

int exponent_of(U32 result) { return static_cast<int>(result >> 23 & 255) - 127; }
I64 mantissa_of(U32 result) { return (result & 0x7fffff) | 0x800000; }

/// y = floor((sum + k) / 2^shift) for an integer y.
Bounds rounded(I64 y, int shift, I64 k) {
  return {true, (y << shift) - k, (y << shift) - k + (I64{1} << shift) - 1};
}

/// A value that was truncated to 24 bits, in units of 2^-unit.
Bounds truncated(U32 result, int unit) {
  if ((result & 0x7fffffff) == 0) return {};
  const int shift = exponent_of(result) + unit - 23;
  const I64 low = shift >= 0 ? mantissa_of(result) << shift : mantissa_of(result) >> -shift;
  return {true, low, low + (shift > 0 ? (I64{1} << shift) - 1 : 0)};
}

template <class Bound, class Square>
Segment make_segment(int steps, Bound bound, Square square, Search search) {
  Segment s{std::vector<Bounds>(steps), std::vector<I64>(steps), search};
  for (int x = 0; x < steps; ++x) {
    s.bounds[x] = bound(static_cast<U32>(x));
    s.square[x] = square(static_cast<U32>(x));
  }
  return s;
}

using MakeSegment = std::function<Segment(int index)>;

void fit(const char* name, int segments, const MakeSegment& make) {
  std::vector<std::vector<Solution>> solutions(segments);
  std::atomic<int> next = 0;
  std::vector<std::jthread> pool;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    pool.emplace_back([&] {
      for (int i; (i = next++) < segments;) {
        const Segment s = make(i);
        solutions[i] = solve(s.bounds, s.square, s.search);
      }
    });
  }
  pool.clear();
  for (int i = 0; i < segments; ++i) {
    std::printf("%s %d", name, i);
    for (const Solution& s : solutions[i])
      std::printf(" %lld %lld %lld", (long long)s.a, (long long)s.b, (long long)s.c);
    std::printf("%s\n", solutions[i].size() == 1 ? "" : "  NOT UNIQUE");
  }
  std::fflush(stdout);
}

void fit_exponentials(const std::string& folder) {
  const auto rcp = load(folder + "/rcp", 1 << 23);
  fit("rcp", 128, [&](int s) {
    return make_segment(
        1 << 16,
        [&](U32 x) {
          const U32 r = rcp[static_cast<U32>(s) << 16 | x];
          return rounded(r == 0x3f800000 ? 1 << 24 : mantissa_of(r), 15, 0x47e7);
        },
        [](U32 x) { return I64{truncated_square(2 * x)}; }, {13, 1, 0, 2047, -131071, 0});
  });
  const auto ex2 = load(folder + "/ex2", 1 << 23);
  fit("ex2", 64, [&](int s) {
    return make_segment(
        1 << 17, [&](U32 x) { return rounded(mantissa_of(ex2[static_cast<U32>(s) << 17 | x]), 15, 0x77e2); },
        [](U32 x) { return I64{truncated_square(x)}; }, {13, 1, 0, 2047, 0, 131071});
  });
}

void fit_roots(const std::string& folder) {
  const auto rsqrt = load(folder + "/rsqrt", 1 << 24);
  fit("rsqrt", 128, [&](int s) {
    return make_segment(
        1 << 17,
        [&](U32 x) {
          const U32 t = static_cast<U32>(s) << 17 | x;
          return t % (1 << 23) == 0 ? Bounds{} : rounded(mantissa_of(rsqrt[t]), 16, 0x7fff);
        },
        [](U32 x) { return I64{4} * truncated_square(x); }, {14, 1, 0, 2047, -131071, 0});
  });
  const auto sqrt = load(folder + "/sqrt", 1 << 24);
  fit("sqrt", 128, [&](int s) {
    return make_segment(
        1 << 17,
        [&](U32 x) {
          const U32 t = static_cast<U32>(s) << 17 | x;
          return rounded(mantissa_of(sqrt[t]), 17, 0x7fff);
        },
        [](U32 x) { return I64{2} * truncated_square(x); }, {15, s < 64 ? 1 : 2, -4095, 4095, 0, 262143});
  });
}

void fit_logarithm_and_sine(const std::string& folder) {
  const auto lg2 =
      load(folder + "/lg2", 1 << 24);  // [0.5, 1), then [1, 2): each pins other bits of the same segment
  fit("lg2", 64, [&](int s) {
    return make_segment(
        1 << 17,
        [&](U32 x) {
          const U32 m = static_cast<U32>(s) << 17 | x;
          const Bounds above = m == 0 ? Bounds{} : truncated(lg2[1u << 23 | m], 36),
                       below = truncated(lg2[m], 36);
          constexpr I64 one = I64{1} << 36;
          I64 low = 0, high = one;  // below one the result is the one's complement of a negative sum
          if (above.known) low = above.low, high = above.high;
          if (below.known)
            low = std::max(low, one - 1 - below.high), high = std::min(high, one - 1 - below.low);
          return Bounds{true, (low << 2) - 0x3345, (high << 2) + 3 - 0x3345};
        },
        [](U32 x) { return I64{2} * truncated_square(x); }, {12, 1, -2047, 2047, 0, 262143});
  });
  const auto sin = load(folder + "/sin", 1 << 23);
  fit("sin", 64, [&](int s) {
    return make_segment(
        1 << 17, [&](U32 x) { return truncated(sin[static_cast<U32>(s) << 17 | x], 37); },
        [](U32 x) { return I64{truncated_square(x)}; }, {11, 1, -4095, 4095, -131071, 131071});
  });
}

void fit_tanh(const std::string& folder) {
  const int splits[11] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};
  for (int binade = 0; binade < 11; ++binade) {
    const auto tanh = load(folder + "/tanh" + std::to_string(119 + binade), 1 << 23);
    const int split = splits[binade];
    fit(("tanh binade " + std::to_string(binade - 8)).c_str(), 1 << split, [&](int s) {
      return make_segment(
          1 << 17, [&](U32 x) { return truncated(tanh[(static_cast<U32>(s) << 17 | x) << (6 - split)], 39); },
          [](U32 x) { return I64{truncated_square(x)}; }, {15, 1, -400000, 400000, 0, 1 << 20});
    });
  }
}

}  // namespace

int main(int count, char** argument) {
  if (count != 2) return 2;
  fit_exponentials(argument[1]);
  fit_roots(argument[1]);
  fit_logarithm_and_sine(argument[1]);
  fit_tanh(argument[1]);
}
