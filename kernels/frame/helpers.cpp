#include "kernels/frame/helpers.h"

#include <fmt/format.h>

#include "isa/core/whole_error.h"
#include "verify/arrays/codes.h"

namespace palladion::kernels {

void Rules::require(bool ok, const std::string& rule) const {
  if (!ok)
    throw isa::WholeError(
        isa::Diagnostic{.code = LaunchCode::broken_rule, .message = fmt::format("{}: {}", kernel_, rule)});
}

void Rules::at_least(std::string_view name, int64_t value, int64_t least) const {
  require(value >= least, fmt::format("{} must be at least {}", name, least));
}

void Rules::multiple(std::string_view name, int64_t size, std::string_view unit_name, int64_t unit) const {
  require(unit > 0 && size % unit == 0,
          fmt::format("{}={} must be a multiple of {}={}", name, size, unit_name, unit));
}

void Rules::divides(std::string_view unit_name, int64_t unit, std::string_view name, int64_t size) const {
  require(unit > 0 && size % unit == 0,
          fmt::format("{}={} does not divide {}={}", unit_name, unit, name, size));
}

void Rules::row(int64_t n) const {
  constexpr int64_t longest = 8192;
  require(n >= 1 && n <= longest, fmt::format("n={} must be 1 to {}", n, longest));
}

plgpu::KernelOptions grid_of(std::string name, int64_t ctas) {
  return {.grid = {ctas}, .grid_names = {"cta"}, .name = std::move(name)};
}

KernelSpec spec_of(std::string name, std::string doc, std::vector<std::string> inputs,
                   std::vector<std::string> outputs) {
  return {.name = std::move(name),
          .doc = std::move(doc),
          .inputs = std::move(inputs),
          .outputs = std::move(outputs)};
}

}  // namespace palladion::kernels
