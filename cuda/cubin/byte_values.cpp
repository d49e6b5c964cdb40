#include "cuda/cubin/byte_values.h"

namespace palladion::cuda::cubin {

std::string byte_values(std::string_view bytes) {
  constexpr size_t values_a_line = 64;
  std::string out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool first = i % values_a_line == 0, last = i + 1 == bytes.size() || (i + 1) % values_a_line == 0;
    out += (first ? ".b8 " : "") + std::to_string(static_cast<unsigned char>(bytes[i])) + (last ? "\n" : ",");
  }
  return out;
}

}  // namespace palladion::cuda::cubin
