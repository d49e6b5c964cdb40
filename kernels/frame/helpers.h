#pragma once
// For the files that record kernels, not for headers: the words of a kernel's body without their namespaces,
// and what kernels share.
#include <string>
#include <string_view>
#include <vector>

#include "frontend/plgpu.h"
#include "kernels/frame/rules.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

using pl::ds;
using pl::Scalar;
using plgpu::BarrierRef;
using plgpu::Ref;

// The options of a one-dimensional grid of `ctas` CTAs; its axis is "cta".
plgpu::KernelOptions grid_of(std::string name, int64_t ctas);

// A spec without sizes, settings and functions.
KernelSpec spec_of(std::string name, std::string doc, std::vector<std::string> inputs,
                   std::vector<std::string> outputs);

}  // namespace palladion::kernels
