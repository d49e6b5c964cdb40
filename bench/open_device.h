#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "cuda/native/device.h"
#include "isa/core/diagnostic.h"

namespace palladion::bench {

// The first GPU. Without one the program says why and ends with status 2.
inline cuda::native::Device open_device() {
  auto device = cuda::native::Device::open(0);
  if (device) return std::move(*device);
  fmt::print(stderr, "{}", isa::render({device.error()}));
  std::exit(2);
}

}  // namespace palladion::bench
