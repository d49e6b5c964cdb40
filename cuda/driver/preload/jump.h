#pragma once
// Functions of this process that become others: their first bytes are written over.
#include <cstddef>
#include <cstdint>

namespace palladion::cuda::preload {

constexpr size_t jump_bytes = 13, function_alignment = 16;

// Whether a function has room for a jump: what follows it up to its alignment is never executed.
constexpr bool has_room(uintptr_t at, size_t bytes) {
  return (at + bytes + function_alignment - 1) / function_alignment * function_alignment - at >= jump_bytes;
}

// At `at`: mov r11, target; jmp r11, a register that no call keeps. False, errno: the system does not allow
// it.
bool write_jump(uintptr_t at, const void* target);

}  // namespace palladion::cuda::preload
