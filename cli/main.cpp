#include "kernels/frame/registry.h"
#include "program.h"

int main(int argc, char** argv) {
  const auto kernels = palladion::kernels::all_kernels();
  return palladion::program::main(argc, argv, {kernels.begin(), kernels.end()});
}
