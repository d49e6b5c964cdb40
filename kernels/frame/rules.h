#pragma once
// Rules between a kernel's sizes and settings.
#include <cstdint>
#include <string>
#include <string_view>

namespace palladion::kernels {

// What a kernel requires of its sizes and settings. A violated rule throws isa::Error (PLD5001) with the
// kernel's name and the rule.
class Rules {
 public:
  explicit Rules(std::string_view kernel) : kernel_(kernel) {}
  void require(bool ok, const std::string& rule) const;  // Error with the rule, unless ok.
  void at_least(std::string_view name, int64_t value, int64_t least) const;  // Error unless value >= least.
  // `size` is a multiple of `unit`, which is positive.
  void multiple(std::string_view name, int64_t size, std::string_view unit_name, int64_t unit) const;
  // The same rule, stated of the unit: `tile=1000 does not divide n=4096`.
  void divides(std::string_view unit_name, int64_t unit, std::string_view name, int64_t size) const;
  // A row of `n` elements that a warpgroup holds in registers: 1 to 8192.
  void row(int64_t n) const;

 private:
  std::string_view kernel_;
};

}  // namespace palladion::kernels
