#pragma once
// Which functions an entry may execute, and which of them need a frame for each activation.
#include <cstdint>
#include <string_view>
#include <vector>

#include "isa/core/module.h"

namespace palladion::sim {

struct CallGraph {
  std::vector<uint32_t>
      functions;                 // indices in the module, the entry first, callees in the order of the text
  std::vector<uint8_t> reached;  // by function
  // By function: it may be on a thread's call stack twice, or takes stack memory itself. Such a function has
  // a frame on the thread's stack; registers and parameters of all others are laid out once.
  std::vector<uint8_t> framed;
  std::vector<uint8_t> named;  // by symbol: an instruction of these functions names it
  bool allocates = false;      // malloc or free is called
};

CallGraph call_graph(const isa::Module& module, uint32_t entry);

// The function of this name takes blocks from the heap, or gives them back.
bool uses_heap(std::string_view function);

}  // namespace palladion::sim
