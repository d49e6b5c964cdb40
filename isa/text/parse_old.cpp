// PTX for sm_1x, and of versions before 1.4: what such text leaves out is written out as it is read, as ptxas
// does when it compiles it for a later chip. The module is then one for sm_20 with the same meaning.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "isa/arch/target.h"
#include "isa/text/parse_internal.h"

namespace palladion::isa::detail {
namespace {

bool has_any(const std::vector<std::string_view>& words, std::initializer_list<std::string_view> wanted) {
  return std::ranges::any_of(wanted,
                             [&](std::string_view w) { return std::ranges::find(words, w) != words.end(); });
}

// The word that PTX before 1.4 implies (PTX, "Floating Point Instructions": notes on PTX ISA 1.0 to 1.3).
std::string_view implied_before_1_4(std::string_view op, bool is_f64) {
  const bool approximate = op == "rsqrt" || op == "sin" || op == "cos" || op == "lg2" || op == "ex2";
  const bool rounded = op == "div" || op == "rcp" || op == "sqrt";
  if (approximate || (rounded && !is_f64)) return "approx";
  return rounded || op == "mad" ? "rn" : "";
}

}  // namespace

void Parser::settle_age() {
  const int number = parse_target(module.target).number;
  is_for_sm_1x_ = number >= 10 && number < 20;
  leaves_words_out_ = is_for_sm_1x_ || is_before(3, 2);
}

bool Parser::is_before(uint32_t major, uint32_t minor) const {
  return std::tie(module.version_major, module.version_minor) < std::tie(major, minor);
}

// `mad.f32` rounds its product and sum once where it runs on sm_20 and later (PTX, "Floating Point
// Instructions: mad"); on sm_20 text it lacks its rounding up to PTX 3.1.
void Parser::write_out_old_words(std::string_view op, std::vector<std::string_view>& words) const {
  if (!leaves_words_out_) return;
  const bool is_f32 = has_any(words, {"f32"}), is_f64 = has_any(words, {"f64"});
  if ((!is_f32 && !is_f64) || has_any(words, {"rn", "rz", "rm", "rp", "approx", "full"})) return;
  std::string_view word;
  if (op == "mad" && is_f32) word = "rn";
  if (is_before(1, 4) && word.empty()) word = implied_before_1_4(op, is_f64);
  if (!word.empty()) words.insert(words.begin(), word);
}

// Single precision flushes subnormal numbers on sm_1x. Conversions from and to 64 bits did not before
// PTX 1.5.
void Parser::write_out_flush(Candidates::One& one) const {
  if (!is_for_sm_1x_) return;
  const int ftz = one.form->slot("ftz");
  if (ftz < 0) return;
  bool is_f32 = false, is_wide = false;
  for (size_t s = 0; s < one.form->slots.size(); ++s) {
    if (one.mods[s] < 0) continue;
    const std::string_view word = one.form->slots[s].words[static_cast<size_t>(one.mods[s])];
    is_f32 |= word == "f32";
    is_wide |= word == "f64" || word == "u64" || word == "s64";
  }
  if (is_f32 && !(is_wide && one.form->op == "cvt" && is_before(1, 5)))
    one.mods[static_cast<size_t>(ftz)] = 0;
}

// `.tex .u32 name;` is another way to write `.global .texref name;` (PTX, "Texture State Space").
void Parser::old_textures(Linkage linkage) {
  const Token at = token_;
  if (!is_before(1, 5))
    error(at, code::directive, "`.tex` ended with PTX 1.4", "write `.global .texref name;`");
  Declarator d = declarator(Space::global);
  if (!d.ok) return skip_statement();
  if (d.variable.type != Type::u32 && d.variable.type != Type::u64)
    error(at, code::directive, "`.tex` is followed by `.u32` or `.u64`", "write `.global .texref name;`");
  d.variable.type = Type::texref;
  declare_variables(d.variable, linkage);
}

// Compilers for PTX 1.4 declared the registers of their calling convention for the whole module. A kernel
// that names one has it for itself; between functions they would carry values.
void Parser::module_registers() {
  scopes_.clear();
  scopes_.push_back(std::move(module_scope_));
  register_declaration();
  module_scope_ = std::move(scopes_.back());
  scopes_.clear();
}

void Parser::refuse_module_registers() {
  if (function_->entry) return;
  const Scope& header = scopes_.front();
  for (const auto& [name, id] : header.registers) {
    const std::string_view letters = name.substr(0, name.find_last_not_of("0123456789") + 1);
    if (module_scope_.declared.contains(name) || module_scope_.ranges.contains(letters))
      return error(token_, code::not_modelled,
                   fmt::format("registers of the module in a function (`{}` in `{}`) are not modelled", name,
                               function_->name));
  }
}

void Parser::finish_old_target() {
  if (!is_for_sm_1x_) return;
  module.target = "sm_20";
  if (is_before(2, 0)) std::tie(module.version_major, module.version_minor) = std::tuple(2u, 0u);
}

}  // namespace palladion::isa::detail
