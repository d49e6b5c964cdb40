// Steps made of one instruction of the catalogue, with what it needs around it.
#include <algorithm>

#include "tests/property/random/random_writer.h"

namespace palladion::random_program {
namespace {

using isa::Type;

bool is(const isa::Form& f, std::initializer_list<std::string_view> names) {
  for (const std::string_view n : names)
    if (f.op == n) return true;
  return false;
}

std::string_view word(const Catalogue::Entry& e, std::string_view slot) {
  const int s = e.form->slot(slot);
  if (s < 0 || e.words[static_cast<size_t>(s)] < 0) return {};
  return e.form->slots[static_cast<size_t>(s)].words[static_cast<size_t>(e.words[static_cast<size_t>(s)])];
}

// A constant as ptxas wants it for the type; empty where the type takes none.
std::string immediate(Rng& rng, Type type) {
  const Flavor flavor = flavor_of(type);
  const uint64_t v = random_value(rng, flavor);
  if (type == Type::f32) return fmt::format("0f{:08X}", static_cast<uint32_t>(v));
  if (type == Type::f64) return fmt::format("0d{:016X}", v);
  if (flavor != Flavor::integer) return {};
  switch (type) {
    case Type::u16:
    case Type::b16:
      return fmt::format("{}", static_cast<uint16_t>(v));
    case Type::s16:
      return fmt::format("{}", static_cast<int16_t>(v));
    case Type::u32:
    case Type::b32:
      return fmt::format("0x{:08x}", static_cast<uint32_t>(v));
    case Type::s32:
      return fmt::format("{}", static_cast<int32_t>(v | 1));
    case Type::u64:
    case Type::b64:
      return fmt::format("0x{:016x}", v);
    case Type::s64:
      return fmt::format("{}", static_cast<int64_t>(v | 1));
    default:
      return {};
  }
}

// cvt reads and writes registers wider than its integers, but beside bf16 ptxas wants their very width.
char pool_for(Writer& w, const Catalogue::Entry& e, Type type, int factor) {
  const isa::Form& form = *e.form;
  const bool narrow = isa::bits(type) < 32 && (isa::kind(type) == isa::TypeKind::unsigned_int ||
                                               isa::kind(type) == isa::TypeKind::signed_int);
  if (form.op == "cvt" && narrow && word(e, "type") != "bf16" && word(e, "dtype") != "bf16" &&
      w.rng().one_in(3))
    return 'r';
  return pool_of(type, factor);
}

// Never 0, never -1.
std::string divisor(Writer& w, Type type) {
  const char p = pool_of(type);
  const Reg b = w.source(p, Flavor::integer);
  const char* temp = p == 'h' ? "%s0" : p == 'r' ? "%t0" : "%u0";
  w.line("  or.b{0} {1}, {2}, 1;\n  and.b{0} {1}, {1}, -5;", isa::bits(type), temp, b.name());
  return temp;
}

// One text an operand of the form; nullopt: left out.
using Operands = std::vector<std::optional<std::string>>;

std::string text_of(const isa::Form& form, const Operands& operands) {
  std::string s;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) continue;
    s += s.empty() ? " " : form.operands[i].joined ? "|" : ", ";
    s += *operands[i];
  }
  return s + ";";
}

std::string source_operand(Writer& w, const Catalogue::Entry& e, const isa::OperandDef& d, size_t position,
                           bool& had_immediate) {
  const isa::Form& form = *e.form;
  if (d.kind == isa::OperandKind::immediate) return fmt::format("{}", w.rng().below(256));
  const Type type =
      d.kind == isa::OperandKind::predicate ? Type::pred : isa::operand_type(form, d, e.words.data());
  if (type == Type::pred) {
    const bool negated = is(form, {"setp", "set"}) && w.rng().one_in(3);
    return (negated ? "!" : "") + w.source('p', Flavor::integer).name();
  }
  if (is(form, {"div", "rem"}) && d.name == "b" && !isa::is_float(type)) return divisor(w, type);
  if (form.op == "fns" && d.name == "base") {
    w.line("  and.b32 %t0, {}, 31;", w.source('r', Flavor::integer).name());
    return "%t0";
  }
  // Above 255 the 32-bit forms drop the high bits; what ptxas makes of the 64-bit ones does not.
  const bool wide_field = is(form, {"bfe", "bfi"}) && word(e, "type").ends_with("64");
  if (is(form, {"bfe", "bfi"}) && type == Type::u32 && (wide_field || w.rng().one_in(2))) {
    const char* temp = d.name == "b" || d.name == "d" ? "%t2" : "%t3";
    w.line("  and.b32 {}, {}, 255;", temp, w.source('r', Flavor::integer).name());
    return temp;
  }
  if (form.op == "fns" && d.name == "offset")
    return fmt::format("{}", static_cast<int>(w.rng().below(13)) - 6);
  if (!had_immediate && position > 1 && !is(form, {"cvt", "div"}) && d.width_factor == 1 &&
      w.rng().one_in(10)) {
    // ptxas refuses constants of bit fields above 255, and divides by a constant in another way.
    const bool field = is(form, {"bfe", "bfi"}) && type == Type::u32;
    const std::string text = field ? fmt::format("{}", w.rng().below(70)) : immediate(w.rng(), type);
    had_immediate = !text.empty();
    if (had_immediate) return text;
  }
  return w.source(pool_for(w, e, type, d.width_factor), flavor_of(type)).name();
}

// Both instructions of a chain have to stand next to each other.
bool reads_carry(const isa::Form& f) { return is(f, {"addc", "subc", "madc"}); }

void set_carry(Writer& w, const Catalogue::Entry& e) {
  const std::string_view type = word(e, "type");
  const char p = pool_of(isa::type_named(type).value_or(Type::u32));
  const std::string temp = p == 'r' ? "%t1" : "%u1";
  const std::string a = w.source(p, Flavor::integer).name(), b = w.source(p, Flavor::integer).name();
  w.line("  {}.cc.{} {}, {}, {};", e.form->op == "subc" ? "sub" : "add", type, temp, a, b);
}

const Catalogue::Entry& next_entry(Writer& w) {
  const Catalogue::Entry* e = &w.catalogue().scalar(w.scalar_number());
  // Branches around few instructions become guards.
  while (w.in_region() && is(*e->form, {"set", "testp", "neg", "abs"}))
    e = &w.catalogue().scalar(w.scalar_number());
  return *e;
}

// ptxas 13.0 draws conclusions from a result's origin that do not hold for its bits: a set.bf16 that is read
// as f16 counts as 1.0, |-32768| in 16 bits as positive, and pairs of conversions become one. And a
// comparison with .ftz that guards something may be done again without .ftz.
bool hides_result(const Catalogue::Entry& e) {
  return is(*e.form, {"set", "cvt", "abs", "neg"}) || (e.form->op == "setp" && word(e, "ftz") == "ftz");
}

}  // namespace

void scalar_step(Writer& w) {
  const Catalogue::Entry& e = next_entry(w);
  const isa::Form& form = *e.form;
  w.begin(Reach::lane);
  const bool carries = !word(e, "cc").empty();
  Operands o(form.operands.size());
  bool had_immediate = carries || reads_carry(form);
  std::vector<size_t> targets;
  for (size_t i = 0; i < form.operands.size(); ++i) {
    const isa::OperandDef& d = form.operands[i];
    if (d.optional && w.rng().one_in(2)) continue;
    if (d.writes)
      targets.push_back(i);
    else
      o[i] = source_operand(w, e, d, i, had_immediate);
  }
  // Of a guarded set or testp, ptxas 13.0 guards a part only: the destination changes where the guard is
  // false. A guarded neg or abs of f32 may become a selection of -a, which keeps a NaN.
  const bool unguarded = carries || reads_carry(form) || is(form, {"set", "testp", "neg", "abs"});
  const std::string guard = unguarded ? "" : w.maybe_guard();
  if (reads_carry(form)) set_carry(w, e);
  // After the sources: an instruction may overwrite what it reads.
  for (const size_t i : targets) {
    const isa::OperandDef& d = form.operands[i];
    const Type type =
        d.kind == isa::OperandKind::predicate ? Type::pred : isa::operand_type(form, d, e.words.data());
    o[i] = w.target(pool_for(w, e, type, d.width_factor), flavor_of(type)).name();
  }
  w.line("  {}{}{}", guard, instruction_words(e), text_of(form, o));
  if (hides_result(e)) w.reload_results();
  if (carries)
    w.line("  {}.u32 {}, 0, 0;", form.op.starts_with("sub") ? "subc" : "addc",
           w.target('r', Flavor::integer).name());
  w.end();
}

void product_step(Writer& w) {
  const Catalogue::Entry& e = w.catalogue().product(w.product_number());
  const isa::Form& form = *e.form;
  w.begin(Reach::warp);
  std::string lists[4];
  const char* slots[] = {"dtype", "atype", "btype", "ctype"};
  std::vector<std::string> results;
  Flavor result_flavor = Flavor::integer;
  bool wide = false;
  for (size_t i = 0, next = 0; i < 4; ++i) {
    const Type type = isa::type_named(word(e, slots[i])).value_or(Type::b32);
    wide = type == Type::f64;
    if (i == 0) result_flavor = flavor_of(type);
    for (int k = 0; k < std::max(form.operands[i].count, 1); ++k) {
      const std::string reg = i != 0 ? fmt::format("%{}{}", wide ? 'n' : 'm', next++)
                                     : fmt::format("{}{}", wide ? "%n1" : "%c", wide ? k + 2 : k);
      lists[i] += (k == 0 ? "{" : ", ") + reg;
      if (i == 0)
        results.push_back(reg);
      else
        w.line("  ld.global.b{} {}, {};", wide ? 64 : 32, reg, w.factor(flavor_of(type), wide ? 8 : 4));
    }
    lists[i] += "}";
  }
  w.line("  {} {}, {}, {}, {};", instruction_words(e), lists[0], lists[1], lists[2], lists[3]);
  for (const std::string& r : results)
    w.line("  mov.b{} {}, {};", wide ? 64 : 32, w.target(wide ? 'd' : 'r', result_flavor).name(), r);
  w.end();
}

void move_step(Writer& w) {
  w.begin(Reach::lane);
  const auto source = [&](char p) { return w.source(p, Flavor::integer).name(); };
  const auto target = [&](char p, Flavor f = Flavor::integer) { return w.target(p, f).name(); };
  switch (w.rng().below(8)) {
    case 0: {
      const std::string a = source('h'), b = source('h');
      w.line("  mov.b32 {}, {{{}, {}}};", target('r', Flavor::f16), a, b);
      break;
    }
    case 1: {
      const std::string a = source('r'), b = source('r');
      w.line("  mov.b64 {}, {{{}, {}}};", target('d'), a, b);
      break;
    }
    case 2: {
      const std::string a = source('r'), d = target('h', Flavor::f16);
      w.line("  mov.b32 {{{}, {}}}, {};", d, target('h', Flavor::f16), a);
      break;
    }
    case 3: {
      const std::string a = source('d'), d = target('r');
      w.line("  mov.b64 {{{}, {}}}, {};", d, target('r'), a);
      break;
    }
    case 4: {
      const std::string a = source('h'), b = source('h'), c = source('h'), d = source('h');
      w.line("  mov.b64 {}, {{{}, {}, {}, {}}};", target('d'), a, b, c, d);
      break;
    }
    case 5: {
      const std::string a = source('d');
      w.line("  mov.b64 {}, {};", target('f', Flavor::f64), a);
      break;
    }
    case 6: {
      const std::string a = w.source('f', Flavor::f64).name();
      w.line("  mov.b64 {}, {};", target('d'), a);
      break;
    }
    default: {
      const std::string a = source('p');
      w.line("  mov.pred {}, {};", target('p'), a);
    }
  }
  w.end();
}

void loop_step(Writer& w) {
  w.begin(Reach::lane);
  const int label = w.label();
  const std::string trips = w.source('r', Flavor::integer).name(), x = w.source('r', Flavor::f32).name(),
                    y = w.source('r', Flavor::f32).name(), z = w.source('r', Flavor::integer).name(),
                    sum = w.updated('r', Flavor::f32).name(), count = w.updated('r', Flavor::integer).name();
  w.line("  and.b32 %t0, {}, 3;\n  mov.u32 %t1, 0;\nLOOP{}:", trips, label);
  w.line("  fma.rn.f32 {0}, {0}, {1}, {2};\n  mad.lo.s32 {3}, {3}, {4}, %t1;", sum, x, y, count, z);
  w.line(
      "  add.u32 %t1, %t1, 1;\n  setp.le.u32 %q0, %t1, %t0;\n  @%q0 bra LOOP{};\n  bar.warp.sync 0xffffffff;",
      label);
  w.end();
}

}  // namespace palladion::random_program
