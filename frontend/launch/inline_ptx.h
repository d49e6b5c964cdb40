#pragma once
// PTX text inside a kernel, checked while it is recorded.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/core/errors.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

// A value that the text calls `name`: registers of an array, a number, the address of the first element of a
// reference (b32 in SMEM, b64 in GMEM), or that of a barrier (b32).
class PtxInput {
 public:
  PtxInput(std::string name, const Array& value);
  PtxInput(std::string name, const Scalar& value);
  PtxInput(std::string name, const Ref& value);
  PtxInput(std::string name, const BarrierRef& value);

  // What the PTX calls it.
  const std::string& name() const { return name_; }
  // An array: registers of each lane; else a scalar.
  bool is_array() const { return is_array_; }
  // The array of an array input.
  const Array& array() const { return array_; }
  Array& array() { return array_; }
  // Of what is no array.
  isa::Operand operand() const;

 private:
  std::string name_;
  bool is_array_ = false;
  Array array_;
  Scalar scalar_;
  Ref ref_;
  std::optional<BarrierRef> barrier_;
};

// A result that the text calls `name`. Without shape and layout it is like the arrays among the inputs;
// without these, a number, which must be the same in all lanes.
struct PtxOutput {
  std::string name;                             // what the PTX calls it
  DType dtype = DType::f32;                     // its element type
  std::optional<Shape> shape = std::nullopt;    // of an array; none: a scalar
  std::optional<Layout> layout = std::nullopt;  // of an array; none: that of the first array input
};

// How often the text is recorded, and what a name stands for.
enum class PtxEach : uint8_t {
  element,  // once for each element of the arrays: 8 and 16 bits in a .b16, 32 in .b32 or .f32, 64 in .b64 or
            // .f64, bool in a .pred
  packed,   // once for each register (Array::registers): two 16-bit or four 8-bit elements in a .b32
  array,    // once: x0, x1, ... are the registers of array x
};
// The options of plgpu::inline_ptx.
struct PtxOptions {
  PtxEach each = PtxEach::element;  // what the text is repeated for
  // The text stores, synchronises, or issues asynchronous operations. Without it, it may compute and load.
  bool side_effects = false;
};

// The results, in the order of the outputs.
class PtxResults {
 public:
  explicit PtxResults(std::vector<std::pair<std::string, Array>> values) : values_(std::move(values)) {}
  const Array& operator[](std::string_view name) const;
  const Array& operator[](size_t i) const;
  // The only one.
  operator Array() const;  // NOLINT: implicit on purpose
  Scalar scalar(std::source_location loc = std::source_location::current()) const;

 private:
  std::vector<std::pair<std::string, Array>> values_;
};

// Records PTX text: instructions, labels, and `.reg` declarations of its own, which clash with nothing.
//   Array y = plgpu::inline_ptx("ex2.approx.ftz.f32 y, x;", {{"y", pl::f32}}, {{"x", x}});
// The text is read and verified as a program's: a mistake is an error at this line that shows the text's line
// with a caret (PLD10xx). It runs in all lanes of the warpgroup, and nothing is synchronised around it.
// Errors: PLD2801 names, shapes and layouts of the operands, `ret`, variables, side effects not declared.
// JAX's word is inline_mgpu, whose body is Python; its arguments are these.
PtxResults inline_ptx(const frontend::TextAt& text, const std::vector<PtxOutput>& outputs,
                      std::vector<PtxInput> inputs, const PtxOptions& options = {});

}  // namespace palladion::plgpu
