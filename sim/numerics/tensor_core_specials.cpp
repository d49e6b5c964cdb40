#include "sim/numerics/tensor_core_specials.h"

#include <algorithm>

#include "sim/numerics/tensor_core_kernels.h"

namespace palladion::sim::numerics::tc {
namespace {

// The range and whether there are any, one element at a time.
class SlowScan {
 public:
  // Returns whether the value is special.
  bool add(std::uint32_t bits) {
    const std::uint32_t field = bits << 1 >> 24;
    if (field == 255) return true;
    if (bits << 1) {
      smallest_ = std::min(smallest_, field);
      largest_ = std::max(largest_, field);
    }
    return false;
  }

  ExponentRange range() const {
    if (smallest_ > largest_) return {};
    return {std::max(static_cast<int>(smallest_), 1), std::max(static_cast<int>(largest_), 1)};
  }

 private:
  std::uint32_t smallest_ = 255;
  std::uint32_t largest_ = 0;
};

}  // namespace

void find_specials(AOperand& a) {
  SlowScan scan;
  for (int m = 0; m < a.m; ++m) {
    for (int k = 0; k < a.k; ++k) {
      if (scan.add(a.word[m * a.k + k])) a.special_rows |= std::uint64_t{1} << m;
    }
  }
  a.range = scan.range();
}

void find_specials(BOperand& b) {
  SlowScan scan;
  const int stride = words_of_k(b.split);
  for (int n = 0; n < b.n; ++n) {
    const std::uint32_t* word = b.word + std::ptrdiff_t{n / block_n} * b.k * stride + n % block_n;
    for (int k = 0; k < b.k; ++k, word += stride) {
      const std::uint32_t value = b.split ? word[0] | word[block_n] : word[0];
      if (scan.add(value)) b.special_columns[n / block_n] |= std::uint64_t{1} << n % block_n;
    }
  }
  b.range = scan.range();
}

}  // namespace palladion::sim::numerics::tc
