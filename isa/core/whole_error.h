#pragma once
// An error that a program need not catch to show it whole.
#include <string>
#include <utility>

#include "isa/core/diagnostic.h"

namespace palladion::isa {

// what() is the rendered diagnostics: code, message, the source line where one is known, help. Error's own is
// the first message alone.
class WholeError : public Error {
 public:
  explicit WholeError(Diagnostic d) : WholeError(Diagnostics{std::move(d)}) {}
  explicit WholeError(Diagnostics d) : Error(std::move(d)), text_('\n' + render(diagnostics())) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace palladion::isa
