#pragma once
// PTX for sm_1x, and of versions before 1.4: what such text leaves out is written out as it is read, as ptxas
// does when it compiles it for a later chip. The module is then one for sm_20 with the same meaning.
#include <cstdint>
#include <string_view>
#include <vector>

#include "isa/core/module.h"
#include "isa/text/parse_forms.h"

namespace palladion::isa::detail {

// The version and the target of the text.
class Dialect {
 public:
  explicit Dialect(Module& module) : module_(module) {}

  void settle();  // when the module's version or target is read
  bool is_before(uint32_t major, uint32_t minor) const;
  bool is_for_sm_1x() const { return is_for_sm_1x_; }
  // Words that the mnemonic leaves out.
  void write_out_words(std::string_view op, std::vector<std::string_view>& words) const;
  void write_out_flush(Candidates::One& one) const;
  void finish();

 private:
  Module& module_;
  bool is_for_sm_1x_ = false;
  bool leaves_words_out_ = false;  // the text may: it is for sm_1x, or before PTX 3.2
};

}  // namespace palladion::isa::detail
