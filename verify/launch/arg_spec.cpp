#include "verify/launch/arg_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "verify/arrays/words.h"
#include "verify/launch/texture_spec.h"

namespace palladion {
namespace {

constexpr std::string_view kinds =
    "a scalar (i32:5, u64:7, f32:0.5), in:, out:, inout:, scratch:, tmap:, tex:, surf:, sampler: or "
    "bytes:@file";

tl::unexpected<std::string> wrong(std::string text) { return tl::make_unexpected(std::move(text)); }

std::string valid_dtypes() {
  std::vector<std::string_view> names;
  for (int i = 1; i < pl::dtypes; ++i)
    if (pl::per_byte(pl::DType(i)) == 1) names.push_back(pl::name(pl::DType(i)));
  return fmt::format("{}", fmt::join(names, " "));
}

Result<std::vector<int64_t>> sizes_in(std::string_view text, std::string_view separators,
                                      std::string_view what) {
  std::vector<int64_t> sizes;
  for (const std::string_view part : split(text, separators)) {
    const auto n = number_in<int64_t>(part);
    if (!n || *n <= 0) return wrong(fmt::format("{} `{}`: `{}` is not a positive integer", what, text, part));
    sizes.push_back(*n);
  }
  return sizes;
}

// ---- scalars -------------------------------------------------------------------------------------
bool fits(pl::DType dtype, const Array& array, int64_t wanted) {
  if (pl::is_signed(dtype) && pl::bits(dtype) < 64) return value_at(array, 0) == static_cast<double>(wanted);
  return true;
}

Result<ArgSpec> scalar(pl::DType dtype, std::string_view text) {
  Array one({dtype, {1}});
  if (pl::is_float(dtype)) {
    const auto value = number_in<double>(text);
    if (!value) return wrong(fmt::format("`{}` is not a number", text));
    set_value(one, 0, *value);
  } else if (const auto value = number_in<int64_t>(text)) {
    std::memcpy(one.bytes.data(), &*value, one.bytes.size());
    const bool negative_unsigned = !pl::is_signed(dtype) && *value < 0;
    const bool too_big = !pl::is_signed(dtype) && pl::bits(dtype) < 64 && (*value >> pl::bits(dtype)) != 0;
    if (negative_unsigned || too_big || !fits(dtype, one, *value))
      return wrong(fmt::format("{} does not fit {}", text, pl::name(dtype)));
  } else if (const auto big = number_in<uint64_t>(text); big && dtype == pl::DType::u64) {
    std::memcpy(one.bytes.data(), &*big, one.bytes.size());
  } else {
    return wrong(fmt::format("`{}` is not an integer that fits {}", text, pl::name(dtype)));
  }
  ScalarArg arg;
  arg.bytes.resize(one.bytes.size());
  std::memcpy(arg.bytes.data(), one.bytes.data(), one.bytes.size());
  return arg;
}

// ---- arrays --------------------------------------------------------------------------------------
bool is_fill_word(std::string_view text) {
  const std::string_view word = text.substr(0, text.find('('));
  for (const std::string_view known : {"zeros", "iota", "const", "rand", "randn", "randint"})
    if (word == known) return true;
  return false;
}

Result<ArrayArg> contents(ArrayArg arg, std::string_view text) {
  if (arg.role == Role::out) {
    arg.file = text;
    return arg;
  }
  if (!is_fill_word(text)) {
    if (text.empty()) return wrong("nothing stands after `=`");
    arg.file = text;
    return arg;
  }
  arg.fill = fill_named(text);
  if (!arg.fill)
    return wrong(fmt::format(
        "`{}`: expected zeros, iota, const(x), rand(seed), randn(seed) or randint(seed,low,high)", text));
  return arg;
}

// ---- tensor maps ---------------------------------------------------------------------------------
std::optional<isa::Swizzle> swizzle_named(std::string_view text) {
  if (text == "none" || text == "0") return isa::Swizzle::none;
  if (text == "32") return isa::Swizzle::b32;
  if (text == "64") return isa::Swizzle::b64;
  if (text == "128") return isa::Swizzle::b128;
  return std::nullopt;
}

std::optional<isa::L2Promotion> l2_named(std::string_view text) {
  if (text == "none" || text == "0") return isa::L2Promotion::none;
  if (text == "64") return isa::L2Promotion::b64;
  if (text == "128") return isa::L2Promotion::b128;
  if (text == "256") return isa::L2Promotion::b256;
  return std::nullopt;
}

// One "key=value" behind the array; returns the error, empty when there is none.
std::string take_option(TensorMapArg& arg, std::string_view key, std::string_view value) {
  const auto list = [&](std::vector<int64_t>& into) -> std::string {
    const auto sizes = sizes_in(value, "x", key);
    if (!sizes) return sizes.error();
    into = *sizes;
    return {};
  };
  if (key == "box") return list(arg.box);
  if (key == "stride") return list(arg.strides);
  if (key == "swizzle") {
    const auto s = swizzle_named(value);
    if (s) arg.swizzle = *s;
    return s ? "" : fmt::format("swizzle `{}`: none, 32, 64 or 128 bytes", value);
  }
  if (key == "oob") {
    arg.oob = value == "nan" ? isa::OobFill::nan_request_zero_fma : isa::OobFill::zero;
    return value == "nan" || value == "zero" ? "" : fmt::format("oob `{}`: zero or nan", value);
  }
  if (key == "l2") {
    const auto p = l2_named(value);
    if (p) arg.l2 = *p;
    return p ? "" : fmt::format("l2 `{}`: none, 64, 128 or 256 bytes", value);
  }
  if (key == "offset") {
    const auto bytes = number_in<uint64_t>(value);
    if (bytes) arg.offset = *bytes;
    return bytes ? "" : fmt::format("offset `{}` is not a number of bytes", value);
  }
  return fmt::format("a tensor map has no option `{}`; it has box, swizzle, stride, oob, offset, l2", key);
}

Result<TensorMapArg> map_over(std::string_view text) {
  TensorMapArg arg;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const auto role = role_named(text.substr(0, colon));
    if (!role || *role == Role::scratch)
      return wrong(fmt::format("`{}`: expected in:, out: or inout:", text));
    auto own = parse_array(*role, text.substr(colon + 1));
    if (!own) return tl::make_unexpected(own.error());
    arg.type = own->type;
    arg.array = std::move(*own);
    return arg;
  }
  const size_t at = text.find('@');
  if (at == std::string_view::npos)
    return wrong("a tensor map needs an array: `@0`, the number of an argument");
  const auto type = parse_type(text.substr(0, at));
  if (!type) return tl::make_unexpected(type.error());
  const auto over = number_in<int>(text.substr(at + 1));
  if (!over || *over < 0)
    return wrong(fmt::format("`{}` is not the number of an argument", text.substr(at + 1)));
  arg.type = *type;
  arg.over = *over;
  return arg;
}

Result<ArgSpec> tensor_map(std::string_view text) {
  const size_t end = end_of_array(text);
  auto arg = map_over(text.substr(0, end));
  if (!arg) return tl::make_unexpected(arg.error());
  for (const std::string_view option : split(text.substr(std::min(end + 1, text.size())), ",")) {
    const size_t equals = std::min(option.find('='), option.size());
    const std::string problem =
        take_option(*arg, option.substr(0, equals), option.substr(std::min(equals + 1, option.size())));
    if (!problem.empty()) return wrong(problem);
  }
  const size_t rank = arg->type.shape.size();
  if (arg->box.size() != rank)
    return wrong(arg->box.empty() ? "a tensor map needs a box: `,box=64x64`"
                                  : fmt::format("the box has {} sizes, the array {}", arg->box.size(), rank));
  if (!arg->strides.empty() && arg->strides.size() + 1 != rank)
    return wrong(
        fmt::format("{} strides for {} dimensions: one for each but the last", arg->strides.size(), rank));
  if (const auto map = tensor_map_of(*arg); !map) return tl::make_unexpected(map.error());
  return *arg;
}

Result<ArgSpec> parse_known(std::string_view kind, std::string_view rest) {
  if (const auto role = role_named(kind)) {
    auto arg = parse_array(*role, rest);
    if (!arg) return tl::make_unexpected(arg.error());
    return *arg;
  }
  if (kind == "tmap") return tensor_map(rest);
  if (kind == "tex" || kind == "surf") {
    auto arg = parse_texture(rest, kind == "surf");
    if (!arg) return tl::make_unexpected(arg.error());
    return *arg;
  }
  if (kind == "sampler") {
    auto arg = parse_sampler(rest);
    if (!arg) return tl::make_unexpected(arg.error());
    return *arg;
  }
  if (kind == "bytes") {
    if (!rest.starts_with('@') || rest.size() == 1) return wrong("bytes come from a file: `bytes:@file`");
    return BytesArg{std::string(rest.substr(1))};
  }
  const auto dtype = dtype_named(kind);
  if (dtype && *dtype != pl::DType::bool_) return scalar(*dtype, rest);
  return wrong(fmt::format("`{}` is not a kind of argument: expected {}", kind, kinds));
}

}  // namespace

Result<ArgSpec> parse_arg(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return wrong(fmt::format("{}: expected {}", text, kinds));
  auto arg = parse_known(text.substr(0, colon), text.substr(colon + 1));
  if (!arg) return wrong(fmt::format("{}: {}", text, arg.error()));
  return arg;
}

const ArrayArg* array_of(const ArgSpec& spec) {
  if (const auto* array = std::get_if<ArrayArg>(&spec)) return array;
  if (const auto* map = std::get_if<TensorMapArg>(&spec)) return map->array ? &*map->array : nullptr;
  if (const auto* texture = std::get_if<TextureArg>(&spec))
    return texture->array ? &*texture->array : nullptr;
  return nullptr;
}

std::optional<Role> role_named(std::string_view word) {
  if (word == "in") return Role::in;
  if (word == "out") return Role::out;
  if (word == "inout") return Role::inout;
  if (word == "scratch") return Role::scratch;
  return std::nullopt;
}

Result<ArrayArg> parse_array(Role role, std::string_view text) {
  const size_t equals = text.find('=');
  const auto type = parse_type(text.substr(0, equals));
  if (!type) return tl::make_unexpected(type.error());
  ArrayArg arg{.role = role, .type = *type};
  const bool is_input = role == Role::in || role == Role::inout;
  if (equals == std::string_view::npos) {
    if (is_input) return wrong("an input needs contents: `=randn(0)`, `=zeros`, `=a.npy`, ...");
    return arg;
  }
  if (role == Role::scratch) return wrong("scratch starts as zeros: nothing may stand after its type");
  return contents(std::move(arg), text.substr(equals + 1));
}

size_t end_of_array(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' || text[i] == '(';
    depth -= text[i] == ']' || text[i] == ')';
    if (text[i] == ',' && depth == 0) return i;
  }
  return text.size();
}

Result<pl::ShapeDtype> parse_type(std::string_view text) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']'))
    return wrong(fmt::format("`{}`: expected a type and a shape, as f16[512,256]", text));
  const auto dtype = dtype_named(text.substr(0, open));
  if (!dtype || pl::per_byte(*dtype) > 1)
    return wrong(
        fmt::format("`{}` is not an element type; there are {}", text.substr(0, open), valid_dtypes()));
  const auto shape = sizes_in(text.substr(open + 1, text.size() - open - 2), ",", "shape");
  if (!shape) return tl::make_unexpected(shape.error());
  uint64_t bytes = uint64_t(pl::bytes(*dtype));
  for (const int64_t dim : *shape)
    if (__builtin_mul_overflow(bytes, uint64_t(dim), &bytes) || bytes >> 46 != 0)
      return wrong(fmt::format("`{}` is more memory than a device has", text));
  return pl::ShapeDtype{*dtype, *shape};
}

Result<isa::Dim3> parse_dims(std::string_view text) {
  const auto sizes = sizes_in(text, ",x", "dimensions");
  if (!sizes) return tl::make_unexpected(sizes.error());
  if (sizes->empty() || sizes->size() > 3)
    return wrong(fmt::format("dimensions `{}`: one to three sizes, x,y,z", text));
  isa::Dim3 dims;
  uint32_t* const parts[] = {&dims.x, &dims.y, &dims.z};
  for (size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] > INT32_MAX)
      return wrong(fmt::format("dimensions `{}`: {} is more than 2^31 - 1", text, (*sizes)[i]));
    *parts[i] = uint32_t((*sizes)[i]);
  }
  return dims;
}

Result<isa::TensorMap> tensor_map_of(const TensorMapArg& arg) {
  const pl::Shape& shape = arg.type.shape;
  if (shape.empty() || shape.size() > size_t(isa::max_tensor_rank))
    return wrong(
        fmt::format("a tensor map covers 1 to {} dimensions, not {}", isa::max_tensor_rank, shape.size()));
  const auto data_type = isa::tensor_data_type(pl::isa_type(arg.type.dtype));
  if (!data_type) return wrong(fmt::format("TMA does not carry {}", pl::name(arg.type.dtype)));
  isa::TensorMap map;
  map.data_type = *data_type;
  map.rank = int(shape.size());
  map.global_address = arg.offset;
  map.swizzle = arg.swizzle;
  map.oob_fill = arg.oob;
  map.l2_promotion = arg.l2;
  const pl::Shape dense = pl::strides_of(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t outer = shape.size() - 1 - i;  // the map counts innermost first
    if (arg.box[outer] > UINT32_MAX) return wrong(fmt::format("box size {} is out of range", arg.box[outer]));
    map.dims[i] = uint64_t(shape[outer]);
    map.box[i] = uint32_t(arg.box[outer]);
    const int64_t stride = arg.strides.empty() || i == 0 ? dense[outer] : arg.strides[outer];
    if (i > 0) map.strides[i - 1] = uint64_t(stride) * uint64_t(pl::bytes(arg.type.dtype));
  }
  return map;
}

}  // namespace palladion
