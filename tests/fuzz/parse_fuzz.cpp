// Any text: the parser answers with a module or with located errors. A module that verifies prints, and what
// is printed parses to a module that prints the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"

namespace isa = palladion::isa;

namespace {

void require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto module = isa::parse(text, "fuzz.ptx");
  if (!module) {
    require(!module.error().empty(), "refused without a reason", text);
    (void)isa::render(module.error(), text);
    return 0;
  }
  if (!isa::verify(*module).empty()) return 0;
  const std::string printed = isa::print(*module);
  const auto again = isa::parse(printed, "printed.ptx");
  require(again.has_value(), "the printer's text does not parse", printed);
  require(isa::print(*again) == printed, "the printer's text changes when read back", printed);
  return 0;
}
