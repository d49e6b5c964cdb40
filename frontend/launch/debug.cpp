#include "frontend/launch/debug.h"

#include <fmt/format.h>

#include <cstdio>

#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::pl {
namespace {

// printf's conversion for a dtype, and what the value is widened to (as in C's variadic calls).
struct Conversion {
  std::string_view text;
  DType passed;
};
Conversion conversion(DType d) {
  if (is_float(d)) return {"%f", DType::f64};
  if (bits(d) == 64) return {is_signed(d) ? "%lld" : "%llu", d};
  return {is_signed(d) || d == DType::bool_ ? "%d" : "%u",
          is_signed(d) || d == DType::bool_ ? DType::s32 : DType::u32};
}

std::string c_format(const std::string& format, const std::vector<std::string>& conversions) {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format.compare(i, 2, "{}") == 0) {
      if (next == conversions.size())
        fail(Code::bad_index, fmt::format("debug_print: \"{}\" has more {{}} than values", format));
      out += conversions[next++];
      ++i;
    } else {
      out += format[i];
      if (format[i] == '%') out += '%';
    }
  }
  if (next != conversions.size())
    fail(Code::bad_index, fmt::format("debug_print: {} values for \"{}\"", conversions.size(), format),
         "write one {} for each value");
  return out + "\n";
}

isa::SymbolId declare_vprintf(Recorder& r) {
  isa::Module& m = r.module();
  const isa::SymbolId known = m.find_symbol("vprintf");
  if (known != isa::no_id) return known;
  const auto id = static_cast<isa::SymbolId>(m.symbols.size());
  isa::Symbol symbol;
  symbol.name = "vprintf";
  symbol.kind = isa::Symbol::Kind::function;
  symbol.linkage = isa::Linkage::extern_;
  symbol.function = static_cast<uint32_t>(m.functions.size());
  m.symbols.push_back(std::move(symbol));
  isa::Function& f = m.functions.emplace_back();
  f.name = "vprintf";
  f.symbol = id;
  f.defined = false;
  const auto parameter = [&](const char* name, Type type) {
    isa::Symbol p;
    p.name = name;
    p.scope = id;
    p.variable.space = isa::Space::param;
    p.variable.type = type;
    m.symbols.push_back(std::move(p));
    return static_cast<isa::SymbolId>(m.symbols.size()) - 1;
  };
  f.returns = {parameter("vprintf_result", Type::b32)};
  f.params = {parameter("vprintf_format", Type::b64), parameter("vprintf_arguments", Type::b64)};
  return id;
}

Operand string_address(Recorder& r, const std::string& text) {
  isa::Variable v;
  v.space = isa::Space::global;
  v.type = Type::b8;
  v.dims = {text.size() + 1};
  v.init.assign(text.begin(), text.end());
  v.init.push_back(0);
  const auto symbol = r.builder().add_variable(fmt::format("palladion_text_{}", r.module().symbols.size()),
                                               std::move(v), true);
  const Operand address = r.pure("mov.u64", {Operand::symbol(symbol)}, Type::b64);
  return r.pure("cvta.global.u64", {address}, Type::b64);
}

isa::SymbolId local(Recorder& r, isa::Space space, Type type, std::vector<uint64_t> dims, uint32_t align) {
  isa::Variable v;
  v.space = space;
  v.type = type;
  v.dims = std::move(dims);
  v.align = align;
  return r.builder().add_variable(fmt::format("print_{}", r.module().symbols.size()), std::move(v));
}

struct Value {
  DType dtype;
  Operand element;
};

// Where `guard` holds.
void call_vprintf(Recorder& r, const std::string& format, const std::vector<Value>& values,
                  const Operand& guard) {
  const Operand end = r.label("printed");
  Operand skip = guard;
  if (guard.is(Operand::Kind::reg)) {
    skip.negated = !skip.negated;
    r.emit("bra", {end}, skip);
  }
  frontend::Region region(r, "debug_print");
  const isa::SymbolId function = declare_vprintf(r);
  Operand arguments = Operand::imm(0);
  if (!values.empty()) {
    const auto buffer = local(r, isa::Space::local, Type::b8, {8 * values.size()}, 8);
    const Operand base = r.pure("mov.u64", {Operand::symbol(buffer)}, Type::b64);
    int64_t offset = 0;
    for (const Value& v : values) {
      const DType d = conversion(v.dtype).passed;
      Operand e = frontend::element_convert(r, v.dtype, d, v.element);
      if (!e.is(Operand::Kind::reg))
        e = r.pure(fmt::format("mov.{}", d == DType::f64 ? "f64" : frontend::bits_suffix(d)), {e},
                   frontend::register_type(d));
      offset = align_to(offset, bytes(d));
      r.emit(fmt::format("st.local.{}", d == DType::f64 ? "f64" : frontend::bits_suffix(d)),
             {Operand::address(base, offset), e});
      offset += bytes(d);
    }
    arguments = r.pure("cvta.local.u64", {base}, Type::b64);
  }
  if (!arguments.is(Operand::Kind::reg)) arguments = r.pure("mov.b64", {arguments}, Type::b64);
  const auto p0 = local(r, isa::Space::param, Type::b64, {}, 0),
             p1 = local(r, isa::Space::param, Type::b64, {}, 0),
             result = local(r, isa::Space::param, Type::b32, {}, 0);
  r.emit("st.param.b64", {Operand::address(Operand::symbol(p0)), string_address(r, format)});
  r.emit("st.param.b64", {Operand::address(Operand::symbol(p1)), arguments});
  r.emit("call.uni", {Operand::vector({Operand::symbol(result)}), Operand::symbol(function),
                      Operand::vector({Operand::symbol(p0), Operand::symbol(p1)})});
  if (guard.is(Operand::Kind::reg)) r.place(end);
}

}  // namespace

void detail::print_scalars(const std::string& format, const std::vector<Scalar>& values,
                           std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  std::vector<std::string> conversions;
  std::vector<Value> list;
  for (const Scalar& v : values) {
    conversions.emplace_back(conversion(v.dtype()).text);
    list.push_back({v.dtype(), v.as_register()});
  }
  call_vprintf(r, c_format(format, conversions), list, r.elected());
}

void debug_print(Format format, const plgpu::Array& x) {
  const VerbScope at(format.loc);
  Recorder& r = Recorder::current();
  std::string text = c_format(format.text, {std::string(conversion(x.dtype()).text)});
  std::string place = "[";
  for (size_t d = 0; d < x.rank(); ++d) place += d == 0 ? "%d" : ", %d";
  text = place + "]: " + text;
  const plgpu::Layout layout =
      x.layout().is_splat() ? plgpu::default_layout(x.shape(), x.dtype()) : x.layout();
  const plgpu::Array whole = plgpu::layout_cast(x, layout);
  std::vector<std::vector<Operand>> indices;
  for (size_t d = 0; d < x.rank(); ++d)
    indices.push_back(plgpu::element_indices(x.shape(), layout, static_cast<int>(d)));
  const std::vector<Operand> elements = whole.elements();
  for (size_t e = 0; e < elements.size(); ++e) {
    std::vector<Value> values;
    for (const auto& index : indices) values.push_back({DType::s32, index[e]});
    values.push_back({x.dtype(), elements[e]});
    call_vprintf(r, text, values, frontend::one_of_the_copies(r, layout, static_cast<int64_t>(e)));
  }
}

namespace {
thread_local bool has_debug_checks = true;
}  // namespace

enable_debug_checks::enable_debug_checks(bool enable) : outer_(std::exchange(has_debug_checks, enable)) {}
enable_debug_checks::~enable_debug_checks() { has_debug_checks = outer_; }
bool debug_checks_enabled() { return has_debug_checks; }

void debug_check(const Scalar& condition, const std::string& message, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (!has_debug_checks) return;
  const Scalar holds = condition.astype(DType::bool_);
  if (holds.is_constant()) {
    if (holds.as_int() == 0) fail(Code::bad_index, "debug_check failed while recording: " + message);
    return;
  }
  const Operand fine = r.label("fine");
  r.emit("bra", {fine}, holds.operand());
  call_vprintf(r, c_format("debug_check failed: " + message, {}), {}, r.elected());
  r.emit("trap", {});
  r.place(fine);
}

}  // namespace palladion::pl

namespace palladion::plgpu {

std::string layout_text(const Array& x) { return to_string(x); }

std::string layout_text(const Ref& ref) {
  std::string out = to_string(ref);
  const auto& p = ref.base().physical;
  std::string tiles;
  for (const auto& d : p.dims) tiles += (tiles.empty() ? "" : ", ") + std::to_string(d.tile);
  if (p.tiled()) out += fmt::format(", tiles ({})", tiles);
  if (p.swizzle != 16) out += fmt::format(", swizzle {}", p.swizzle);
  return out;
}

namespace {
void print_text(std::string format, const std::string& text) {
  const size_t at = format.find("{}");
  if (at != std::string::npos) format.replace(at, 2, text);
  fmt::print("{}\n", format);
}
}  // namespace

void print_layout(const std::string& format, const Array& x) { print_text(format, layout_text(x)); }
void print_layout(const std::string& format, const Ref& ref) { print_text(format, layout_text(ref)); }

}  // namespace palladion::plgpu
