#pragma once
// The section .debug_str, to which function_name of .loc refers.
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace palladion::isa::detail {

class DebugStrings {
 public:
  // Sections as Module::debug_sections keeps them.
  explicit DebugStrings(const std::vector<std::string>& sections);
  // "$L__info_string0", ".debug_str+16": the text there, up to its zero; empty: nothing is known there.
  std::string at(std::string_view reference) const;

 private:
  void read(std::string_view section);
  void values(std::string_view line);

  std::string bytes_;
  std::map<std::string, size_t, std::less<>> labels_;  // offsets in bytes_
};

}  // namespace palladion::isa::detail
