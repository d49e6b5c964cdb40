#include "frontend/launch/scalars.h"

#include <fmt/format.h>

#include <set>

#include "frontend/core/elementwise.h"
#include "frontend/core/verbs.h"

namespace palladion::plgpu {

namespace {

bool can_be_given(DType d) {
  return pl::is_register_type(d) && pl::bits(d) >= 16 && (pl::is_float(d) || pl::bits(d) >= 32);
}

uint64_t bits_of(const NamedScalar& s) {
  if (!s.value.is_constant())
    fail(Code::bad_type, fmt::format("the value of scalar \"{}\" is known only when a kernel runs", s.name),
         "give a number of the host; the kernel reads it with plgpu::launch_scalar");
  const Scalar value = s.value.weak() || s.value.dtype() != s.dtype ? s.value.astype(s.dtype) : s.value;
  if (pl::is_float(s.dtype)) return frontend::encode_float(s.dtype, value.as_double());
  const auto all = static_cast<uint64_t>(value.as_int());
  return pl::bits(s.dtype) == 64 ? all : all & 0xFFFFFFFF;
}

std::string names_of(const std::vector<Param>& params) {
  std::string names;
  for (const Param& p : params)
    if (const auto* s = std::get_if<ScalarParam>(&p)) names += (names.empty() ? "" : ", ") + s->name;
  return names.empty() ? "declare it in .scalars = {{\"alpha\", pl::f32, 1.0}}" : "its scalars are: " + names;
}

[[noreturn]] void no_such(const std::string& name, const std::vector<Param>& params) {
  fail(Code::unknown_name, fmt::format("the kernel has no scalar named \"{}\"", name), names_of(params));
}

}  // namespace

void declare_scalars(const std::vector<NamedScalar>& scalars, const std::source_location& loc) {
  const VerbScope at(loc);
  std::set<std::string_view> seen;
  for (const NamedScalar& s : scalars) {
    if (s.name.empty()) fail(Code::bad_type, "a scalar has no name", "the body finds it by its name");
    if (!seen.insert(s.name).second)
      fail(Code::duplicate_name, fmt::format("two scalars are named \"{}\"", s.name),
           "the body would always get the first one");
    if (!can_be_given(s.dtype))
      fail(Code::unsupported_dtype,
           fmt::format(
               "scalar \"{}\" of dtype {}: a number given at launch has 32 or 64 bits, or is f16 or bf16",
               s.name, pl::name(s.dtype)),
           "give it as pl::s32 or pl::f32 and convert it in the body with .astype");
    Recorder::current().params.declare({s.name, s.dtype, bits_of(s)});
  }
}

Scalar launch_scalar(const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const auto value = r.params.scalar(name);
  if (!value) no_such(name, r.params.list());
  for (const Param& p : r.params.list())
    if (const auto* s = std::get_if<ScalarParam>(&p); s != nullptr && s->name == name)
      return Scalar::from_register(s->dtype, *value, !pl::is_float(s->dtype) && !pl::is_signed(s->dtype));
  no_such(name, r.params.list());
}

void set_scalar(Launch& launch, const std::string& name, const Scalar& value, std::source_location loc) {
  const VerbScope at(loc);
  for (Param& p : launch.params) {
    auto* s = std::get_if<ScalarParam>(&p);
    if (s == nullptr || s->name != name) continue;
    s->bits = bits_of({name, s->dtype, value});
    return;
  }
  no_such(name, launch.params);
}

}  // namespace palladion::plgpu
