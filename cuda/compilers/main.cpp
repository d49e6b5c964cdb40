// ptxas, and nvlink by that name, for programs under `palladion exec`.
#include <cstdio>

#include "cuda/compilers/tool.h"

int main(int count, char** words) {
  const std::string path = count > 0 ? words[0] : "ptxas";
  const auto said = palladion::cuda::compilers::run_tool(path.substr(path.rfind('/') + 1),
                                                         {words + (count > 0 ? 1 : 0), words + count});
  std::fputs(said.out.c_str(), stdout);
  std::fputs(said.error.c_str(), stderr);
  return said.code;
}
