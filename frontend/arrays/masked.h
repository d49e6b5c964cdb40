#pragma once
// Loads and stores in which each lane decides for its own elements.
#include <string_view>
#include <vector>

#include "frontend/arrays/array.h"

namespace palladion::frontend {

// The mask is known to hold for all elements.
bool always(const plgpu::ArrayArg& mask);
plgpu::Array load_masked(const plgpu::Ref& ref, const plgpu::LoadOptions& options);

// The mask of an access of `what`, for messages: an Error where it is no bool.
plgpu::Array mask_array(const plgpu::ArrayArg& mask, std::string_view what);
// A number or an array as an array of the dtype of `what`: an Error where it has another one.
plgpu::Array value_array(const plgpu::ArrayArg& value, pl::DType dtype, std::string_view what);
// Both hold; either may be no operand, which always holds.
Operand both(Recorder& r, const Operand& a, const Operand& b);

}  // namespace palladion::frontend
