#pragma once
// Where the PTX came from: .file, .loc, debug sections.
#include <string>
#include <unordered_map>
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
  void begin_function() { current_ = no_id; }
  uint32_t current() const { return current_; }  // of Module::source_locs: the place of the next instruction
  void finish();                                 // the files of all places are known

 private:
  Module& module_;
  Tokens& in_;
  Constants& numbers_;
  uint32_t current_ = no_id;
  std::unordered_map<uint64_t, uint32_t> locs_;
  std::vector<std::pair<uint32_t, std::string>> file_names_;  // .file index, name
  std::vector<uint32_t> loc_files_;                           // for each of Module::source_locs
};

}  // namespace palladion::isa::detail
