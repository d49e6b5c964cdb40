#pragma once
// For the files that record kernels, not for headers: the words of a kernel's body without their namespaces,
// and what kernels share.
#include <string>
#include <string_view>
#include <vector>

#include "frontend/plgpu.h"
#include "kernels/spec.h"

namespace palladion::kernels {

using pl::ds;
using pl::Scalar;
using plgpu::BarrierRef;
using plgpu::Ref;

// What a kernel requires of its sizes and settings. A violated rule throws isa::Error (PLD5001) with the
// kernel's name and the rule.
class Rules {
 public:
  explicit Rules(std::string_view kernel) : kernel_(kernel) {}
  void require(bool ok, const std::string& rule) const;
  void at_least(std::string_view name, int64_t value, int64_t least) const;
  // `size` is a multiple of `unit`, which is positive.
  void multiple(std::string_view name, int64_t size, std::string_view unit_name, int64_t unit) const;
  // The same rule, stated of the unit: `tile=1000 does not divide n=4096`.
  void divides(std::string_view unit_name, int64_t unit, std::string_view name, int64_t size) const;
  // A row of `n` elements that a warpgroup holds in registers: a multiple of 128, at most 8192.
  void row(int64_t n) const;

 private:
  std::string_view kernel_;
};

// The options of a one-dimensional grid of `ctas` CTAs; its axis is "cta".
plgpu::KernelOptions grid_of(std::string name, int64_t ctas);

// A spec without sizes, settings and functions.
KernelSpec spec_of(std::string name, std::string doc, std::vector<std::string> inputs,
                   std::vector<std::string> outputs);

// Arrays of normal numbers; the first is made from `seed`, each other one from the seed after it.
std::vector<Array> normal_inputs(const std::vector<pl::ShapeDtype>& types, uint64_t seed);

}  // namespace palladion::kernels
