#pragma once
// Looking inside a kernel: printing while it runs, printing layouts while it is recorded, assertions.
#include <source_location>
#include <string>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/core/errors.h"
#include "frontend/core/scalar.h"

namespace palladion::pl {

namespace detail {
void print_scalars(const std::string& format, const std::vector<Scalar>& values, std::source_location loc);
}

using Format = frontend::TextAt;  // a text with {} for each value

// Prints values of scalars once a warpgroup, through the kernel's printf buffer.
template <class... Values>
  requires(std::convertible_to<Values, Scalar> && ...)
void debug_print(Format format, const Values&... values) {
  detail::print_scalars(format.text, {Scalar(values)...}, format.loc);
}
// Every element with its index; one `{}`.
void debug_print(Format format, const plgpu::Array& array);

// While it lives, kernels that this thread records have their debug_checks, or have not: there is no trace of
// them then. Without one they have them (in JAX they have not).
class enable_debug_checks {  // NOLINT(readability-identifier-naming): Pallas' name
 public:
  explicit enable_debug_checks(bool enable = true);
  ~enable_debug_checks();
  enable_debug_checks(const enable_debug_checks&) = delete;
  enable_debug_checks& operator=(const enable_debug_checks&) = delete;

 private:
  bool outer_;
};
bool debug_checks_enabled();  // whether debug_check emits its test now

// Stops the grid when the condition does not hold.
void debug_check(const Scalar& condition, const std::string& message,
                 std::source_location loc = std::source_location::current());

}  // namespace palladion::pl

namespace palladion::plgpu {

// Prints, while recording, how an array or a reference is laid out: `{}` in the format.
std::string layout_text(const Array& x);
std::string layout_text(const Ref& ref);
void print_layout(const std::string& format, const Array& x);
void print_layout(const std::string& format, const Ref& ref);

}  // namespace palladion::plgpu
