#pragma once
// `.target` words: which code a chip can run.
#include <string_view>

namespace palladion::isa {

struct Target {
  int number = 0;           // compute capability x 10; 0: the word names no target
  std::string_view suffix;  // "a", "f" or nothing
};
Target parse_target(std::string_view word);  // "sm_90a"

// The PTX version, x 10, that code for the target is written in: 8.7, or the first one that has the target
// (PTX, "Release Notes").
int ptx_version_of(std::string_view target);

// What needs the target `need` works on `have`: code for sm_90a on that chip alone, for sm_100f on its family
// (100, 103), for plain targets on all later chips (PTX, "PTX Module Directives: .target"). `need` may be a
// choice: "sm_100a|sm_103a".
bool provides(std::string_view have, std::string_view need);

}  // namespace palladion::isa
