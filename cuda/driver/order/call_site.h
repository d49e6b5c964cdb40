#pragma once
// Where the program calls this library.
#include <string>
#include <vector>

namespace palladion::cuda::driver {

// Return addresses, the innermost first. In a handler of a signal: `from` the interrupted instruction on.
std::vector<void*> call_stack(const void* from = nullptr);
// The innermost that is not in one of our libraries: "main+0x45 (a.out+0x11a9)"; empty: none.
std::string call_site(const std::vector<void*>& calls);

}  // namespace palladion::cuda::driver
