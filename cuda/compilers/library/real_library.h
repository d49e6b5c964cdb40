#pragma once
// The program's own library behind functions that stand in for some of its.
#include <string>

namespace palladion::cuda::compilers {

// A function of the library that the program asked for it last, by `dlsym`; else of the one that is loaded
// whose file name begins with `file` ("libnvrtc."). Null: there is none.
void* real_function(const std::string& file, const std::string& name);

template <class... Arguments>
int call_real(int absent, const char* file, const std::string& name, Arguments... arguments) {
  auto* const f = reinterpret_cast<int (*)(Arguments...)>(real_function(file, name));
  return f != nullptr ? f(arguments...) : absent;
}

}  // namespace palladion::cuda::compilers
