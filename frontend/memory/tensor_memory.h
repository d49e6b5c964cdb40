#pragma once
// Tensor memory of Blackwell (sm_100): allocation, loads into registers and stores from them. Products are in
// frontend/matrix/tcgen05.h.
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/arrays/array.h"
#include "frontend/refs/ref.h"

namespace palladion::plgpu {

struct TmemOptions {  // of plgpu::TMEM
  // Elements of fewer than 32 bits: two or four share a column (the left operand of tcgen05_mma), or each has
  // its own (accumulators). Must be said for them.
  std::optional<bool> packed = std::nullopt;
  // Pairs of CTAs of a cluster work on it together (tcgen05_mma's collective_axis).
  bool collective = false;
  // Scales of blocks: SCALES_LAYOUT, (128 or 256, k / block) of ue8m0 or e4m3. Metadata of a sparse operand:
  // SPARSE_METADATA_LAYOUT, (128, k / 2) of u2. They are filled by copies (frontend/matrix/tensor_copies.h).
  std::optional<TMEMLayout> layout = std::nullopt;
};
struct TmemType {            // the tensor memory that plgpu::TMEM asks for
  Shape shape;               // (rows, columns): 64 or 128 rows
  DType dtype = DType::f32;  // element type
  TmemOptions options;       // packing, layout, pairs of CTAs
  std::source_location loc;  // the author's line
};
// A matrix of 128 rows, one a lane, or of 64, 16 in each quarter of the lanes; columns of 32 bits, 512 in all
// for a CTA. Collective matrices of 64 rows (Pallas' M64_COLLECTIVE_LAYOUT) have half of their columns in
// lanes 0 to 63, half in the others: they take half as many columns, and are loaded whole. All accesses are
// asynchronous.
struct TmemMaker {
  TmemType operator()(Shape shape, DType dtype, TmemOptions options = {},
                      std::source_location loc = std::source_location::current()) const {
    return {std::move(shape), dtype, options, loc};
  }
  // For `.memory_space` of a BlockSpec, which refuses it.
  constexpr operator MemorySpace() const { return MemorySpace::tmem; }  // NOLINT: implicit on purpose
};
inline constexpr TmemMaker TMEM{};
Ref make_tmem(const TmemType& type, const std::string& name, std::source_location loc);

// For allocations of several: the author's rules, the columns of an array, of what they begin at a multiple,
// columns from the kernel's first one on, and an array in them.
void check_tmem(const TmemType& type, const std::string& name, std::source_location loc);
int64_t tensor_columns(const TmemType& type);
int64_t tensor_alignment(const TmemType& type);
int64_t take_tensor_columns(int64_t columns, int64_t alignment, int ctas, const std::string& name,
                            std::source_location loc);
Ref tmem_at(const TmemType& type, const std::string& name, int64_t column);

struct TmemLoadOptions {  // of plgpu::async_load_tmem
  // 128 rows: Layout::TCGEN05 (what is used if none is given) or Layout::TCGEN05_TMEM_NATIVE; 64:
  // Layout::WGMMA; 64 of a pair of CTAs: Layout::TCGEN05_M64_COLLECTIVE(n) or ..._NATIVE(n).
  std::optional<Layout> layout = std::nullopt;
};
// The window as an array. It may be used at once; the window may be overwritten after wait_load_tmem.
Array async_load_tmem(const Ref& src, const TmemLoadOptions& options = {},
                      std::source_location loc = std::source_location::current());
// Also the smallest or largest element of each row, computed by the load: `reduce` is "min", "max", "absmin"
// or "absmax" (of f32 alone; NaNs are left out). f32, s32, u32 of 128 rows, in Layout::TCGEN05_TMEM_NATIVE.
// Chips with sm_103a alone.
std::pair<Array, Array> async_load_tmem(const Ref& src, std::string_view reduce,
                                        const TmemLoadOptions& options = {},
                                        std::source_location loc = std::source_location::current());
// Until this thread's loads are complete; the warps of the thread meet.
void wait_load_tmem(std::source_location loc = std::source_location::current());

// The array must have one of the layouts in which the window is loaded.
void async_store_tmem(const Ref& dst, const Array& value,
                      std::source_location loc = std::source_location::current());
// Until this thread's stores are complete, and visible to what it issues afterwards; the warps of the thread
// meet.
void commit_tmem(std::source_location loc = std::source_location::current());

// For other verbs: the address of the window's first row and column, register and constant part.
struct TensorAddress {
  isa::Operand base;   // the allocation's address, a register
  int64_t offset = 0;  // columns from it
  // The operand, so many columns further.
  isa::Operand at(int64_t columns) const { return isa::Operand::address(base, offset + columns); }
};
// Where a window of tensor memory lies; Error, naming the verb, where it lies elsewhere.
TensorAddress tensor_address(const Ref& ref, std::string_view verb);

}  // namespace palladion::plgpu
