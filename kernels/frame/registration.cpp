#include "kernels/frame/registration.h"

#include <algorithm>
#include <iterator>

namespace palladion::kernels {
namespace {

constinit const KernelFile* files = nullptr;

}  // namespace

void register_file(KernelFile& file) {
  file.next = files;
  files = &file;
}

const KernelFile* registered_files() { return files; }

std::vector<KernelSpec> registered_kernels() {
  std::vector<const KernelFile*> in_order;
  for (const KernelFile* file = files; file != nullptr; file = file->next) in_order.push_back(file);
  std::reverse(in_order.begin(), in_order.end());
  std::vector<KernelSpec> all;
  for (const KernelFile* file : in_order) {
    std::vector<KernelSpec> kernels;
    file->kernels(kernels);
    std::ranges::move(kernels, std::back_inserter(all));
  }
  return all;
}

}  // namespace palladion::kernels
