#pragma once
// Elements between registers and memory: which instruction, and how many at once.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/refs/access.h"

namespace palladion::frontend {

// Moves one vector of elements in as few instructions as its place allows.
struct Mover {
  Recorder& r;
  pl::DType dtype;
  std::string_view space;

  // `n` elements from one address; registers as Array keeps them with that packing.
  void load(const Address& a, int64_t n, int pack, std::vector<Operand>& out) const;
  // One element where `guard` holds, else `other`.
  Operand load_where(const Address& a, const Operand& guard, const Operand& other) const;
  void store(const Address& a, std::vector<Operand> registers, int pack, const Operand& guard) const;

  // Registers with `pack` elements each are cut into accesses of `width` elements; an access narrower
  // than a register goes element by element.
  void load_vector(const std::function<Address(int64_t)>& at, int64_t vector, int64_t width, int pack,
                   std::vector<Operand>& out) const;
  void store_vector(const std::function<Address(int64_t)>& at, const std::vector<Operand>& registers,
                    int64_t vector, int64_t width, int pack, const Operand& guard) const;

 private:
  std::string element_type() const;
};

// The barriers in front of and behind a store, where the kernel has them.
void barrier_around_store(Recorder& r, const plgpu::Ref& ref);
// An Error in warp-level code, which has no arrays.
void check_loads_array();

}  // namespace palladion::frontend
