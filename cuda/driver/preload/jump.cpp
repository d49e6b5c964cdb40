#include "cuda/driver/preload/jump.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace palladion::cuda::preload {

bool write_jump(uintptr_t at, const void* target) {
  unsigned char jump[] = {0x49, 0xBB, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xFF, 0xE3};
  static_assert(sizeof jump == jump_bytes);
  const auto address = reinterpret_cast<uintptr_t>(target);
  std::memcpy(jump + 2, &address, sizeof address);
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t first = at / page * page, end = (at + sizeof jump + page - 1) / page * page;
  auto* const pages = reinterpret_cast<void*>(first);
  if (::mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(at), jump, sizeof jump);
  return ::mprotect(pages, end - first, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace palladion::cuda::preload
