#pragma once
// Kernels in PTX that take other arrays than ptx_text.h's two, or tensor maps.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "zoo/zoo.h"

namespace palladion::zoo {

// A parameter by name: an array, whose global address is in %NAME when the body starts, or a tensor map,
// whose generic address is.
struct Parameter {
  std::string_view name;
  bool tensor_map = false;
};

// An entry for %t threads in %warp and %lane, %cta of the grid with %rank in its cluster. The body may use
// %p<8>, %leader (thread 0), %h<8>, %r<24>, %a<8> (32 bits), %rd<16>, %f<16>. `before` stands in front of
// the entry: shared arrays; `directives` behind its parameters.
std::string program(std::initializer_list<Parameter> parameters, std::string_view body,
                    std::string_view before = "", std::string_view directives = "");

// --- arrays -----------------------------------------------------------------------------------------
// 0, 1, 2, ... / small random integers / nothing yet / zeros before the launch.
Buffer counting(std::string name, pl::DType dtype, int64_t size);
Buffer small_numbers(std::string name, pl::DType dtype, int64_t size);
Buffer result(std::string name, pl::DType dtype, int64_t size);
Buffer zeros(std::string name, pl::DType dtype, int64_t size);  // in and out
Buffer updated(Buffer in);                                      // in and out
Buffer scratch(std::string name, pl::DType dtype, int64_t size);
// One pointer a buffer, in order.
std::vector<ParamValue> pointers(int count);

// A map over a row-major matrix.
struct MatrixMap {
  int buffer = 0;
  isa::TensorDataType type = isa::TensorDataType::f16;
  uint64_t rows = 0, columns = 0;
  uint32_t box_rows = 0, box_columns = 0;
  isa::Swizzle swizzle = isa::Swizzle::none;
  isa::OobFill fill = isa::OobFill::zero;
};
TensorMapValue map_of(const MatrixMap& matrix);

}  // namespace palladion::zoo
