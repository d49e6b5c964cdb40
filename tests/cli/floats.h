#pragma once
// The floats of a .npy file.
#include <cstring>
#include <vector>

#include "verify/arrays/npy_files.h"

namespace palladion::cli {

inline std::vector<float> floats_of(const npy::Array& array) {
  std::vector<float> out(array.data.size() / 4);
  std::memcpy(out.data(), array.data.data(), array.data.size());
  return out;
}

}  // namespace palladion::cli
