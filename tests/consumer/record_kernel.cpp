// Recording a kernel needs no machine and no device: this program links the kernels alone.
#include <palladion/isa/text/print.h>
#include <palladion/kernels/examples/vector_add.h>

#include <cstdio>

int main() {
  const palladion::plgpu::Kernel add = palladion::kernels::vector_add({.n = 4096});
  const std::string ptx = palladion::isa::print(add.module);
  if (ptx.find(".entry") == std::string::npos) return 1;
  std::puts("vector_add is recorded");
  return 0;
}
