#pragma once
// Addresses of array elements: which byte a lane touches for which of its elements.
#include <functional>
#include <string_view>
#include <vector>

#include "frontend/refs/ref.h"

namespace palladion::frontend {

struct Address {
  Operand base;
  int64_t offset = 0;
  Operand operand(int64_t more = 0) const { return Operand::address(base, offset + more); }
};

// Adds ((lane / place) % size) * stride to the index along view dimension `dim`; lane is 0..127.
struct ThreadTerm {
  int dim;
  int64_t place, size, stride;
};

// What all lanes add to the start of the allocation, in bytes, from the window's starts.
pl::Scalar window_offset(const plgpu::Ref& ref);
// Shared address (32 bits) of the window's first element, before the swizzle; a register and an offset.
pl::Scalar shared_address(const plgpu::Ref& ref);

// The window is one run of elements, row-major: any flat index is an address.
bool is_contiguous(const plgpu::Ref& ref);

class Access {
 public:
  Access(Recorder& r, const plgpu::Ref& ref, std::vector<ThreadTerm> terms);

  // The element whose index along the view is `index` plus the thread terms.
  Address at(const pl::Shape& index);
  // An element at any index (of the view), each perhaps in a register and different in each lane.
  Address at_dynamic(const std::vector<pl::Scalar>& index);

  // How many elements along view dimension `dim`, from an index that is a multiple of `n`, can be
  // accessed at once: at most n and 16 bytes.
  int64_t contiguous(int dim, int64_t n) const;
  // "shared::cta", "shared::cluster" or "global".
  std::string_view space() const;
  bool fast() const { return fast_; }

 private:
  struct Piece {
    int64_t place, size, step;  // bytes
  };
  void split_terms();
  void prepare();
  void add_piece(int64_t place, int64_t size, int64_t step);
  pl::Scalar lane_offset() const;
  Operand base_register(const pl::Scalar& uniform, const pl::Scalar& lane);
  const plgpu::PhysicalLayout::Dim& physical(int view_dim) const;
  int64_t fixed_offset(const pl::Shape& index) const;
  pl::Scalar swizzled(const pl::Scalar& offset) const;
  Operand to_cluster(const Operand& address) const;
  pl::Scalar within_window(const pl::Scalar& address) const;

  Recorder& r_;
  const plgpu::Ref& ref_;
  std::vector<ThreadTerm> terms_;
  std::vector<Piece> pieces_;
  bool fast_ = true;
  bool wide_ = false;       // 64-bit global addresses
  int64_t pattern_ = 16;    // bytes after which the swizzle repeats
  uint32_t lane_bits_ = 0;  // which low bits the lanes set
  Operand base_;
  int64_t base_offset_ = 0;
  int64_t alignment_ = 16;
};

// Lane number within the warpgroup, as a scalar.
pl::Scalar lane_scalar(Recorder& r);

// Calls visit(e, at, width) for each vector of a lane: e is its first element, at(v) the address of
// element e + v, and `width` neighbours may be moved at once.
using VisitElements =
    std::function<void(int64_t e, const std::function<Address(int64_t)>& at, int64_t width)>;
void walk_elements(Recorder& r, const plgpu::Ref& ref, const plgpu::Layout& layout,
                   const VisitElements& visit, std::string_view* space);
// A predicate that holds in one of the lanes with the same element `e`; none when all lanes differ.
Operand one_of_the_copies(Recorder& r, const plgpu::Layout& layout, int64_t e);
// The lane's number, for WG_PADDED that of the lane whose element `e` it holds.
pl::Scalar lane_that_holds(Recorder& r, const plgpu::Layout& layout, int64_t e);

// The most times that lanes of one warp, served together, want different words of one bank of an SMEM window,
// over the vectors of one register of a tiled layout.
int64_t bank_conflicts(const plgpu::Ref& ref, const plgpu::Layout& layout);

// ld / st of `registers` (each of `type`) at an address; more than 16 bytes are not allowed.
void emit_load(Recorder& r, std::string_view space, const std::vector<Operand>& registers,
               std::string_view type, const Address& a, const Operand& guard = {});
void emit_store(Recorder& r, std::string_view space, const std::vector<Operand>& registers,
                std::string_view type, const Address& a, const Operand& guard = {});

}  // namespace palladion::frontend
