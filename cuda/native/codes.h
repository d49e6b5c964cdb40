#pragma once
// PLD80xx: what a run on a real device reports.
#include <cstdint>
#include <span>

#include "isa/core/code_text.h"

namespace palladion::cuda::native {

// What went wrong; `palladion explain PLD8001` and so on say more.
enum class Code : uint16_t {
  no_driver = 8001,
  no_device = 8002,
  driver_call_failed = 8003,
  bad_launch = 8004,
  ptx_refused = 8005,
  kernel_failed = 8006,
  kernel_timed_out = 8007,
  bad_tensor_map = 8008,
};

std::span<const isa::CodeText> device_codes();  // The texts, by code.

}  // namespace palladion::cuda::native
