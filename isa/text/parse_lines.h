#pragma once
// Where the PTX came from: .file, .loc, debug sections.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "isa/core/module.h"
#include "isa/text/parse_numbers.h"

namespace palladion::isa::detail {

class SourceLines {
 public:
  SourceLines(Module& module, Tokens& in, Constants& numbers) : module_(module), in_(in), numbers_(numbers) {}

  void loc();
  void file();
  void section();
  void begin_function() {
    current_ = no_id;
    recent_.clear();
  }
  // Of Module::frames: the place of this instruction.
  uint32_t place_of(const Token& mnemonic) {
    executed_within_ = mnemonic.inline_assembly;
    return current_;
  }
  void finish();  // the files of all places are known

 private:
  using Place = std::array<uint32_t, 3>;                 // file, line, column
  using Key = std::tuple<Place, std::string, uint32_t>;  // with the function's label, and the caller
  std::optional<Place> place();
  std::optional<std::string> label();
  uint32_t frame_at(const Place& at, const std::string& label, uint32_t caller);
  uint32_t caller_at(const Place& at);
  void name_functions();

  bool is_numbered_on(const Token& keyword, const Place& at);

  Module& module_;
  Tokens& in_;
  Constants& numbers_;
  uint32_t current_ = no_id;
  uint32_t executed_within_ = 0;  // the inline assembly of the instruction before
  struct {
    uint32_t assembly = 0, count = 0;
  } locs_within_;                                             // of .loc in the inline assembly seen last
  std::map<Key, uint32_t> frames_;                            // of Module::frames
  std::map<Place, uint32_t> recent_;                          // in this function: the frame named last
  std::vector<std::pair<uint32_t, std::string>> file_names_;  // .file index, name
  std::vector<uint32_t> frame_files_;                         // for each of Module::frames
};

}  // namespace palladion::isa::detail
