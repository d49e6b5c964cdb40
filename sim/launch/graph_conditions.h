#pragma once
// The conditions of a CUDA graph's conditional nodes: words in one allocation of GMEM. Whoever runs graphs
// makes it and names its address in %envreg5 and 6 (the high and the low half); the handle of a condition is
// the address of its word. Without one, `cudaGraphSetConditional` is unsupported.
namespace palladion::sim {

inline constexpr int conditions_high = 5, conditions_low = 6;  // %envreg

}  // namespace palladion::sim
