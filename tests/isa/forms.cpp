#include "tests/isa/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isa/arch/target.h"

namespace palladion::isa::forms {
namespace {

struct Choice {
  std::vector<int> slots;      // word of each slot, -1 = absent
  std::vector<bool> operands;  // written
};

std::string_view word(const Form& form, const Choice& c, std::string_view slot) {
  const int s = form.slot(slot);
  if (s < 0 || c.slots[static_cast<size_t>(s)] < 0) return {};
  return form.slots[static_cast<size_t>(s)].words[static_cast<size_t>(c.slots[static_cast<size_t>(s)])];
}

Type type_of(const Form& form, const Choice& c, const OperandDef& d) {
  return d.type_slot.empty() ? d.literal : type_named(word(form, c, d.type_slot)).value_or(Type::b32);
}

std::string register_of(Type type, int factor, int number) {
  switch (bits(type) * factor) {
    case 1:
      return fmt::format("%p{}", number);
    case 64:
      return fmt::format("{}{}", type == Type::f64 ? "%fd" : "%rd", number);
    case 128:
      return fmt::format("%rq{}", number);
    case 32:
      return fmt::format("{}{}", type == Type::f32 ? "%f" : "%r", number);
    case 8:
      return fmt::format("%rc{}", number);
    default:
      return bits(type) * factor < 8 ? fmt::format("%r{}", number) : fmt::format("%rs{}", number);
  }
}

std::string vector_of(Type type, int factor, size_t count) {
  std::string s = "{";
  for (size_t i = 0; i < count; ++i)
    s += fmt::format("{}{}", i == 0 ? "" : ", ", register_of(type, factor, static_cast<int>(i) + 1));
  return s + "}";
}

// ld, st and cvt take narrow values in 16-bit registers, where a register may be wider; st.async to global
// memory does not.
Type narrowest(const Form& form, const OperandDef& d, Type t) {
  const bool exact =
      (form.op == "cvt" && !d.widens) || form.text.find("st.async{.mmio}") != std::string_view::npos;
  return bits(t) == 8 && !exact ? Type::b16 : t;
}

size_t number_after(std::string_view s, char mark) {
  const size_t at = s.find(mark);
  return at == std::string_view::npos ? 0
                                      : static_cast<size_t>(std::atoi(std::string(s.substr(at + 1)).c_str()));
}

bool is_one_of(std::string_view s, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, s) != list.end();
}

// Registers of a wmma fragment (PTX, "Matrix Fragments for WMMA").
size_t wmma_registers(std::string_view matrix, std::string_view shape, std::string_view type) {
  const bool factor = matrix == "a" || matrix == "b";
  if (type == "f16") return factor ? 8 : 4;
  if (type == "f32") return 8;
  if (type == "f64") return factor ? 1 : 2;
  if (type == "tf32") return 4;
  if (type == "s32") return shape == "m8n8k32" || shape == "m8n8k128" ? 2 : 8;
  if (is_one_of(type, {"s4", "u4", "b1"})) return 1;
  const size_t half = type == "bf16" ? 2 : 1;  // bf16 has twice the bits of s8
  if (shape == "m16n16k16") return 2 * half;
  return (matrix == "a") == (shape == "m8n32k16") ? half : 4 * half;
}

size_t any_length(const Form& form, const Choice& c, const OperandDef& d) {
  const std::string_view shape = word(form, c, "shape"), dtype = word(form, c, "dtype");
  if (form.op == "wgmma") return number_after(shape, 'n') * 64 / 128 / (dtype == "f16" ? 2 : 1);
  if (form.op == "wmma") {
    const std::string_view type_word = word(form, c, "type");
    if (!type_word.empty())
      return wmma_registers(word(form, c, "matrix").empty() ? "d" : word(form, c, "matrix"), shape,
                            type_word);
    const std::string_view own = word(form, c, std::string(d.name) + "type");
    return wmma_registers(d.name, shape, own.empty() ? "f16" : own);
  }
  if (form.op == "tcgen05" && d.name == "lanes") return word(form, c, "cta_group") == "cta_group::2" ? 8 : 4;
  if (form.op == "tcgen05")
    return number_after(word(form, c, "num"), 'x') * (shape == "16x256b" ? 4 : shape == "16x128b" ? 2 : 1);
  if (form.op == "tex" && d.count == 0) {
    const std::string_view geometry = word(form, c, "geom");
    return geometry.ends_with("1d") ? 1 : geometry.ends_with("2d") ? 2 : 4;
  }
  if (is_one_of(form.op, {"tex", "suld", "tld4", "sust"})) return 4;
  // im2col has an offset for each of the dimensions between channel and batch.
  const std::string_view dim = word(form, c, "dim");
  return form.op == "cp" && !dim.empty() ? static_cast<size_t>(dim[0] - '0') - 2 : 1;
}

std::string value(const Form& form, const Choice& c, const OperandDef& d, int number) {
  const Type type = narrowest(form, d, type_of(form, c, d));
  size_t count = static_cast<size_t>(d.count);
  if (!d.count_slot.empty()) {
    const std::string_view w = word(form, c, d.count_slot);
    count = w.empty() ? 1 : static_cast<size_t>(w.back() - '0');
  }
  if (count == 1) return register_of(type, d.width_factor, number);
  return vector_of(type, d.width_factor, count != 0 ? count : any_length(form, c, d));
}

std::string immediate(const Form& form, const Choice& c, const OperandDef& d) {
  if (d.constants) return std::to_string(d.constants->has(1) ? 1 : d.constants->least);
  if (form.op == "tensormap") return "0";
  const bool selector = !word(form, c, "sparse").empty() || form.text.find(".sp.") != std::string_view::npos;
  return selector && d.name.starts_with("sel") ? "0" : "1";
}

size_t coordinates(const Form& form, const Choice& c) {
  if (word(form, c, "mode").ends_with("4")) return 5;  // a column and four rows
  const std::string_view dim = word(form, c, "dim"), geometry = word(form, c, "geom");
  if (!dim.empty()) return static_cast<size_t>(dim[0] - '0');
  if (geometry == "1d") return 1;
  return is_one_of(geometry, {"3d", "a2d", "cube", "acube", "2dms", "a2dms"}) ? 4 : 2;
}

std::string operand(const Form& form, const Choice& c, const OperandDef& d, int number) {
  const std::string_view space = word(form, c, "space");
  switch (d.kind) {
    case OperandKind::value:
      return value(form, c, d, number);
    case OperandKind::predicate:
      return fmt::format("%p{}", number);
    case OperandKind::immediate:
      return immediate(form, c, d);
    case OperandKind::address:
      if (space == "const") return "[konst]";
      if (space.starts_with("param"))
        return form.op == "st" || space == "param::func" ? "[arg_block]" : "[k_param_0]";
      if (d.tensor_memory) return "[%r9]";
      return space.starts_with("shared") && form.op != "cp" ? "[%r9]" : "[%rd9]";
    case OperandKind::tensor:
      return fmt::format("[%rd9, {}]", vector_of(Type::b32, 1, coordinates(form, c)));
    case OperandKind::label:
      return "done";
    case OperandKind::function:
      return "helper";
    case OperandKind::list:
      return "targets";
    case OperandKind::pack:
      return register_of(type_named(word(form, c, "type")).value_or(Type::b32), 1, number);
    case OperandKind::any:
      if (form.op == "isspacep") return "%rd1";
      return form.op == "mbarrier" ? word(form, c, "space") == "shared::cluster" ? "_" : "%rd1"
             : form.op == "wgmma"  ? "%rd1"
                                   : "%r1";
  }
  return "?";
}

std::string text_of(const Form& form, const Choice& c) {
  std::string s(form.op);
  for (size_t i = 0; i < form.slots.size(); ++i)
    if (c.slots[i] >= 0) s += fmt::format(".{}", form.slots[i].words[static_cast<size_t>(c.slots[i])]);
  if (form.op == "call")
    return s + (form.slots.empty() || c.slots[0] < 0 ? " helper;" : " (ret0), with_value, (arg0);");
  bool first = true;
  for (size_t i = 0; i < form.operands.size(); ++i) {
    if (!c.operands[i]) continue;
    s += first ? " " : form.operands[i].joined ? "|" : ", ";
    s += operand(form, c, form.operands[i], static_cast<int>(i) + 1);
    first = false;
  }
  return s + ";";
}

// PTX since 6.4 refuses these on all that it still compiles for.
bool is_from_before_volta(const Instance& i) {
  return (i.form->op == "shfl" || i.form->op == "vote") && i.text.find(".sync") == std::string::npos;
}

}  // namespace

std::vector<Instance> instances_of(const Form& form) {
  std::vector<Instance> all;
  Choice base{std::vector<int>(form.slots.size(), 0), std::vector<bool>(form.operands.size(), true)};
  for (size_t s = 0; s < form.slots.size(); ++s)
    if (form.slots[s].optional) base.slots[s] = -1;
  for (size_t o = 0; o < form.operands.size(); ++o)
    if (form.operands[o].optional) base.operands[o] = false;
  const auto add = [&](const Choice& c) {
    std::string text = text_of(form, c);
    if (std::ranges::find(all, text, &Instance::text) == all.end()) all.push_back({&form, std::move(text)});
  };
  add(base);
  for (size_t s = 0; s < form.slots.size(); ++s) {
    Choice c = base;
    for (int w = 0; w < static_cast<int>(form.slots[s].words.size()); ++w) {
      c.slots[s] = w;
      add(c);
    }
  }
  for (size_t o = 0; o < form.operands.size(); ++o) {
    Choice c = base;
    c.operands[o] = true;
    add(c);
  }
  return all;
}

namespace {

constexpr std::string_view registers =
    ".reg .pred %p<20>; .reg .b8 %rc<9>; .reg .b16 %rs<40>; .reg .b32 %r<300>; .reg .b64 %rd<40>; .reg .f32 "
    "%f<300>; .reg "
    ".f64 %fd<40>; .reg .b128 %rq<20>;\n";

}  // namespace

std::string module_text(const std::vector<std::string>& instructions, std::string_view target,
                        std::string_view version) {
  std::string s = fmt::format(
      ".version {}\n.target {}\n.address_size 64\n.const .align 16 .b8 konst[64] = {{1}};\n"
      ".func helper() {{ ret; }}\n.func (.param .b32 r) with_value(.param .b32 a) {{ ret; }}\n"
      ".visible .entry k(.param .align 16 .b8 k_param_0[64]) {{\n{}"
      ".param .b32 arg0; .param .b32 ret0; .param .align 16 .b8 arg_block[64];\ntargets: .branchtargets "
      "done, done;\n",
      version, target, registers);
  for (const auto& i : instructions) s += i + "\n";
  return s + "done: ret;\n}\n";
}

std::string one_kernel_each(const std::vector<std::string>& instructions, std::string_view target) {
  std::string s = fmt::format(".version 9.0\n.target {}\n.address_size 64\n", target);
  for (size_t k = 0; k < instructions.size(); ++k)
    s += fmt::format(".visible .entry k{}() {{\n{}{}\nret;\n}}\n", k, registers, instructions[k]);
  return s;
}

bool is_later_than_hopper(const Form& form) { return form.target.size() > 5 && form.target[3] == '1'; }

std::vector<std::string> targets_of(const Instance& i) {
  if (is_from_before_volta(i)) return {"sm_75"};
  const bool of_several = i.form->target.find('|') != std::string_view::npos;
  std::vector<std::string> targets;
  if (!is_later_than_hopper(*i.form)) targets.emplace_back("sm_90a");
  if (!is_later_than_hopper(*i.form) && !of_several) return targets;
  for (const std::string_view t : blackwell)
    if (provides(t, i.form->target)) targets.emplace_back(t);
  return targets;
}

std::string version_for(const std::string& target) { return target == "sm_75" ? "6.3" : "9.1"; }

}  // namespace palladion::isa::forms
