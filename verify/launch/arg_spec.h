// A parameter of a launch as text: the argument of --arg and the syntax in the zoo's .ptx files, one for each
// parameter of the entry, in order.
//
//   i32:5  u64:7  f32:0.5  bf16:1       a scalar of that type
//   in:f16[512,256]=randn(7)            an array the kernel reads: zeros, iota, const(x), rand(seed),
//   in:f16[512,256]=a.npy               randn(seed), randint(seed,low,high), or a file
//   inout:f32[64]=zeros                 read and written
//   out:f16[512,512]=c.npy              written; the file is optional
//   scratch:u8[4096]                    zeroed, not shown
//   tmap:f16[512,256]@0,box=64x64,swizzle=128[,stride=256][,oob=nan][,offset=0][,l2=128]
//                                       a tensor map over the array of argument 0
//   tmap:in:f16[512,256]=a.npy,box=64x64,swizzle=128
//                                       a tensor map over an array of its own
//   tex:f32[48,64]=randn(7),filter=linear     a texture object (texture_spec.h)
//   surf:out:f32[48,64]=c.npy           a surface object
//   sampler:filter=linear,address=wrap  a sampler (texture_spec.h)
//   bytes:@file                         a struct, with the bytes of the file
//
// Shapes, boxes and strides are written outermost first, as everywhere; strides are in elements, one for
// each dimension but the last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "isa/formats/tensor_map.h"
#include "sim/machine/state/textures.h"
#include "verify/arrays/arrays.h"
#include "verify/launch/job.h"

namespace palladion {

// The error is a text that states what was expected.
template <class T>
using Result = tl::expected<T, std::string>;
// A number: i32:2048.
struct ScalarArg {
  std::vector<uint8_t> bytes;  // its value, little endian
};
struct ArrayArg {            // an array: in:f32[2048]=randn(7)
  Role role = Role::in;      // in, out or inout
  pl::ShapeDtype type;       // shape and element type
  std::optional<Fill> fill;  // in, inout
  std::string file;          // in, inout: read; out: written
};
struct TensorMapArg {                            // a tensor map: tmap:f16[512,256]@0,box=64x64,swizzle=128
  pl::ShapeDtype type;                           // of the array that it covers
  int over = -1;                                 // number of the argument whose array it covers
  std::optional<ArrayArg> array;                 // or an array of its own
  std::vector<int64_t> box,                      // sizes of the box, in elements
      strides;                                   // of the array, in bytes, without the innermost
  isa::Swizzle swizzle = isa::Swizzle::none;     // of rows in SMEM
  isa::OobFill oob = isa::OobFill::zero;         // what comes from outside the array
  isa::L2Promotion l2 = isa::L2Promotion::none;  // how much L2 fetches
  uint64_t offset = 0;                           // bytes from the array's start
};
// A texture or surface object.
struct TextureArg {
  bool surface = false;           // else a texture
  pl::ShapeDtype type;            // of its texels
  int over = -1;                  // number of the argument whose array it covers
  std::optional<ArrayArg> array;  // or an array of its own
  sim::Texture texture;           // addresses count from the array's start
};
struct BytesArg {    // a parameter whose bytes stand in a file
  std::string file;  // with the parameter's bytes
};
using ArgSpec = std::variant<ScalarArg, ArrayArg, TensorMapArg, TextureArg, BytesArg>;  // one --arg

// The text states what was expected and where the spec differs from it.
Result<ArgSpec> parse_arg(std::string_view text);

// The array that an argument brings; none: a null pointer.
const ArrayArg* array_of(const ArgSpec& spec);

// Parts of it: "in", "out", "inout", "scratch"; "f16[512,256]=randn(7)"; where the array's text ends, before
// the first comma outside all brackets.
std::optional<Role> role_named(std::string_view word);
Result<ArrayArg> parse_array(Role role, std::string_view text);
size_t end_of_array(std::string_view text);

// "f16[512,256]"
Result<pl::ShapeDtype> parse_type(std::string_view text);
// "4", "4,2" or "4,2,1"; `x` may stand for the comma.
Result<isa::Dim3> parse_dims(std::string_view text);

// The map's fields without an address; the file's rules of size are the driver's (isa::validate).
Result<isa::TensorMap> tensor_map_of(const TensorMapArg& arg);

}  // namespace palladion
