#pragma once
// References: windows onto arrays in global or shared memory, and accumulators in registers. Views
// (.at, transpose, reshape) cost nothing; loads and stores record instructions.
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <variant>
#include <vector>

#include "frontend/core/layout.h"
#include "frontend/core/scalar.h"
#include "frontend/core/transforms.h"

namespace palladion::plgpu {

using pl::Scalar;
class Array;

// Pallas' spellings are the same spaces; `ANY` is global memory.
enum class MemorySpace : uint8_t {
  gmem,
  smem,
  regs,
  tmem,
  GMEM = gmem,
  SMEM = smem,
  REGS = regs,
  ANY = gmem
};

// How scales and metadata of products lie in tensor memory (PTX, "tcgen05 block scaling", "Sparse Matrices").
enum class TMEMLayout : uint8_t {
  SCALES_LAYOUT,                // (128 or 256 rows, k): four scales of a row in a column, 32 rows in 32 lanes
  SPARSE_METADATA_LAYOUT,       // (128 rows, k): 16 in a column
  M64_COLLECTIVE_LAYOUT,        // matrices of 64 rows in each CTA of a pair
  SCALES_M64_COLLECTIVE_LAYOUT  // B's scales for those
};
std::string_view name(TMEMLayout layout);  // as messages say it

// Where an array lies in tensor memory (frontend/memory/tensor_memory.h).
struct TensorPlacement {
  int64_t column = 0;       // from the kernel's first one
  bool packed = false;      // elements of fewer than 32 bits share a column
  bool collective = false;  // pairs of CTAs work on it
  // 64 rows in each CTA of a pair: the second half of the columns is in lanes 64 to 127.
  bool folded = false;
  std::optional<TMEMLayout> layout = std::nullopt;
  int64_t elements_per_column(DType dtype) const { return packed ? 32 / pl::bits(dtype) : 1; }
  // Windows begin and end at multiples of so many elements of a row, which take so many columns.
  struct Group {
    int64_t elements = 1, columns = 1;  // elements of a row that share columns; how many columns
  };
  Group group(DType dtype, int64_t rows) const;  // of this type and number of rows
};

// Registers of a wgmma accumulator, changed in place.
struct Accumulator {
  int64_t m = 0, n = 0;                 // rows and columns
  DType dtype = DType::f32;             // of its registers
  std::vector<isa::Operand> registers;  // layout WGMMA; f16 packs two
  bool in_flight = false;               // a wgmma into it may still run
};

// What a reference looks at.
struct Allocation {
  MemorySpace space = MemorySpace::gmem;     // where it lies
  std::string name;                          // the author's name of it
  DType dtype = DType::f32;                  // element type
  Shape shape;                               // sizes of dimensions
  PhysicalLayout physical;                   // order of its bytes
  int64_t smem_offset = 0;                   // from the start of the dynamic shared memory; 1024-aligned
  int array = -1;                            // GMEM argument (inputs first, then outputs), -1: scratch
  isa::Operand pointer;                      // GMEM scratch: 64-bit global address
  std::optional<Scalar> cluster_rank;        // SMEM of that CTA of the cluster
  std::shared_ptr<Accumulator> accumulator;  // of an accumulator: its registers
  TensorPlacement tensor;                    // TMEM
  bool open_stride = false;  // GMEM: sliced with a stride from a start that is known only at run time
  frontend::RegionId scope = frontend::current_scope;  // it ends with it
};

// An index (drops the dimension), a slice, all of it.
using Indexer = std::variant<Scalar, pl::Slice, pl::All>;

namespace detail {
inline Indexer to_indexer(const pl::Slice& s) { return s; }
inline Indexer to_indexer(pl::All a) { return a; }
inline Indexer to_indexer(const Scalar& s) { return s; }
// An Error: an array picks rows, as the first index of a matrix; plgpu::load(ref, {indices}) gathers
// elements.
Indexer to_indexer(const Array& indices);
template <std::integral T>
Indexer to_indexer(T v) {
  return Scalar(v);
}
// Remembers the place of a call with variadic arguments, which cannot have a defaulted last one.
struct First {
  Indexer index;
  std::source_location loc;
  template <class T>
    requires(!std::same_as<std::decay_t<T>, First> && !std::same_as<std::decay_t<T>, Array>)
  First(const T& v, std::source_location l = std::source_location::current())  // NOLINT: implicit on purpose
      : index(to_indexer(v)), loc(l) {}
};
struct RowNumbers {
  const Array& rows;
  std::source_location loc;
  RowNumbers(const Array& r, std::source_location l = std::source_location::current())  // NOLINT: implicit
      : rows(r), loc(l) {}
};
}  // namespace detail

class PickedRows;

class Ref {  // a window of GMEM, SMEM, TMEM or an accumulator; free until it is loaded or stored
 public:
  struct Dim {         // one dimension of the window
    int base = -1;     // dimension of the allocation; -1: a dimension of size 1 added by reshape
    int64_t size = 1;  // elements of the window
  };

  Ref() = default;
  Ref(const Ref&) = default;
  Ref(Ref&&) = default;
  ~Ref() = default;
  // The handle looks at something else; nothing is stored. An Error where it was declared outside of the body
  // of control flow that is being recorded.
  Ref& operator=(const Ref&) & = default;
  Ref& operator=(Ref&&) & = default;  // NOLINT: it may throw
  template <class T>
  void operator=(const T&) const&& {
    static_assert(frontend::never<T>,
                  "an assignment stores nothing: out.at(i) = x is out.at(i).store(x), and "
                  "out.at(i) = a.at(i) is out.at(i).store(a.at(i).load())");
  }
  template <class T>
  void operator=(const T&) const& {
    static_assert(frontend::never<T>,
                  "an assignment stores nothing: out = x is out.store(x), and out = a is "
                  "out.store(a.load())");
  }
  explicit Ref(std::shared_ptr<const Allocation> allocation);

  // Sizes of the window's dimensions.
  const Shape& shape() const { return shape_; }
  // An Error for a dimension that the reference does not have.
  int64_t shape(size_t i, std::source_location loc = std::source_location::current()) const {
    return pl::dimension(shape_, i, loc);
  }
  size_t rank() const { return shape_.size(); }            // number of dimensions of the window
  DType dtype() const { return base().dtype; }             // element type
  MemorySpace space() const { return base().space; }       // where its bytes lie
  const std::string& name() const { return base().name; }  // of the allocation, for messages

  // Integers and scalars drop their dimension, slices keep it; missing trailing ones are pl::all.
  template <class... Rest>
  Ref at(detail::First first, const Rest&... rest) const {
    return index({first.index, detail::to_indexer(rest)...}, first.loc);
  }
  // Rows of a matrix in GMEM, and perhaps a slice of its columns, for copies (frontend/memory/rows.h).
  template <class... Rest>
  PickedRows at(detail::RowNumbers rows, const Rest&... columns) const;
  Ref index(const std::vector<Indexer>& indices,
            std::source_location loc = std::source_location::current()) const;
  Ref transpose(std::vector<int> permutation,
                std::source_location loc = std::source_location::current()) const;
  Ref reshape(Shape shape, std::source_location loc = std::source_location::current()) const;
  Ref bitcast(DType dtype, std::source_location loc = std::source_location::current()) const;
  // Drops dimensions of size 1.
  Ref squeeze(std::source_location loc = std::source_location::current()) const;

  // The whole window as an array; `layout` defaults to what suits the place (accumulators: WGMMA, else
  // WG_STRIDED with the widest vectors that fit).
  Array load(std::source_location loc = std::source_location::current()) const;
  Array load(Layout layout, std::source_location loc = std::source_location::current()) const;
  Scalar load_scalar(std::source_location loc = std::source_location::current()) const;
  void store(const Array& value, std::source_location loc = std::source_location::current()) const;
  void store(const Scalar& value, std::source_location loc = std::source_location::current()) const;

  // --- for other verbs
  // An Error for a reference that looks at nothing (default-constructed, moved away), or whose scope has
  // ended.
  const Allocation& base() const;
  const std::shared_ptr<const Allocation>& allocation() const { return base_; }
  const std::vector<Dim>& dims() const { return dims_; }
  const std::vector<Scalar>& starts() const { return starts_; }
  bool is_transposed() const;
  // Where elements share a byte: the same window as u8. Any other reference is given back as it is.
  Ref as_bytes() const;
  // The same window of another allocation of the same shape.
  Ref with_base(std::shared_ptr<const Allocation> base) const {
    Ref out = view();
    out.base_ = std::move(base);
    return out;
  }
  // `base` has one more dimension than the allocation, the flat one, which alone is shown.
  Ref with_flat_dim(std::shared_ptr<const Allocation> base) const;

 private:
  void refresh_shape();
  void stride_dim(size_t dim, const pl::Slice& slice);
  // A copy to be changed into another view.
  Ref view() const {
    base();
    Ref out = *this;
    out.lifetime_.derive();
    return out;
  }

  frontend::Lifetime<frontend::Handle::ref> lifetime_;
  std::shared_ptr<const Allocation> base_;
  std::vector<Dim> dims_;
  std::vector<Scalar> starts_;  // one for each dimension of the allocation
  Shape shape_;
};

// The window with its dimensions in another order; costs nothing.
Ref transpose_ref(const Ref& ref, std::vector<int> permutation,
                  std::source_location loc = std::source_location::current());

// The same SMEM reference of another CTA of the cluster: `index` along the one named axis.
Ref cluster_ref(const Ref& ref, const std::string& axis, const Scalar& index,
                std::source_location loc = std::source_location::current());

std::string to_string(const Ref& ref);  // name, shape and space, for messages

}  // namespace palladion::plgpu
