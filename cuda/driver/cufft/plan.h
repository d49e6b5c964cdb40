#pragma once
// Transforms as cuFFT's plans describe them.
#include <cstdint>
#include <vector>

namespace palladion::cuda::cufft {

// Where the elements of one side lie: of the batch b and the indices x, outermost first, at
// b * distance + stride * (x as digits of `embed`).
struct Layout {
  std::vector<int64_t> embed;
  int64_t stride = 1, distance = 0;

  int64_t last(const std::vector<int64_t>& sizes) const;  // the largest index of a batch
};

struct Plan {
  enum class Kind : uint8_t { complex, to_complex, to_real };  // the latter two: half of the spectrum
  std::vector<int64_t> sizes;                                  // of the transform, outermost first
  int64_t batch = 1;
  Kind kind{};
  bool is_double = false;
  bool is_plain = true;  // dense; a real side in place has rows as long as the complex one's
  Layout in, out;

  std::vector<int64_t> half() const;  // sizes of the complex side where the other one is real
  Layout input(bool in_place) const, output(bool in_place) const;
};

// Not scaled, as cuFFT's. Computed in double precision, whatever is stored.
void transform(const Plan& plan, const void* in, void* out, bool inverse);

}  // namespace palladion::cuda::cufft
