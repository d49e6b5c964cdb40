// The dynamic linker calls an empty function for debuggers whenever its list of objects has changed (link.h:
// r_debug, r_brk): after new objects are mapped, before their constructors run. A jump there calls us. It
// costs nothing elsewhere, unlike LD_AUDIT, which has a second C library and sees each symbol's binding.
#include "cuda/driver/preload/objects.h"

#include <link.h>

#include <cstring>

#include "cuda/driver/preload/jump.h"

namespace palladion::cuda::preload {
namespace {

void (*take_object)(const Object&);
const link_map* last_taken = nullptr;

Object object_of(const link_map& map) {
  const bool program = map.l_prev == nullptr;
  return {program ? "/proc/self/exe" : map.l_name, map.l_addr, program};
}

void take_from(const link_map* map) {
  for (; map != nullptr; map = map->l_next) {
    last_taken = map;
    if (const Object object = object_of(*map); object.path.starts_with('/')) take_object(object);
  }
}

// New objects are at the list's end. When some were removed, the rest were taken before.
void list_has_changed() {
  static bool removing = false;
  if (_r_debug.r_state == r_debug::RT_DELETE) removing = true;
  if (_r_debug.r_state != r_debug::RT_CONSISTENT) return;
  if (removing) {
    removing = false;
    for (last_taken = _r_debug.r_map; last_taken->l_next != nullptr;) last_taken = last_taken->l_next;
    return;
  }
  take_from(last_taken->l_next);
}

// The function is `ret` alone, maybe after `endbr64`, and has its alignment for itself.
bool is_empty_function(uintptr_t at) {
  constexpr unsigned char plain[] = {0xC3}, marked[] = {0xF3, 0x0F, 0x1E, 0xFA, 0xC3};
  const auto* const code = reinterpret_cast<const void*>(at);
  return at % function_alignment == 0 &&
         (std::memcmp(code, plain, sizeof plain) == 0 || std::memcmp(code, marked, sizeof marked) == 0);
}

}  // namespace

bool for_each_object(void (*take)(const Object&)) {
  take_object = take;
  take_from(_r_debug.r_map);
  const uintptr_t hook = _r_debug.r_brk;
  return is_empty_function(hook) && write_jump(hook, reinterpret_cast<const void*>(&list_has_changed));
}

}  // namespace palladion::cuda::preload
