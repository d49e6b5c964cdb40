#include "isa/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "isa/arch/target.h"
#include "isa/text/print.h"
#include "isa/verify/verify_internal.h"

namespace palladion::isa {
namespace detail {
namespace {

// "sm_100a or sm_103a"
std::string targets_in_words(const Form& form) {
  std::string words(form.target);
  for (size_t at = words.find('|'); at != std::string::npos; at = words.find('|'))
    words.replace(at, 1, " or ");
  return words;
}

// In the author's source, or else in the text of the module.
SourceLoc place_of(const Module& module, const Instruction& i) {
  const uint32_t line = i.origin.ptx_line;
  const SourceLoc* source = line == 0 ? module.source(i) : nullptr;
  return source != nullptr ? *source : SourceLoc{module.file, line, 0};
}

// The first instruction that the chip does not have.
void name_first_beyond(const Module& module, const ArchSpec& arch, Diagnostic& d) {
  for (const Function& f : module.functions) {
    for (const Instruction& i : f.body) {
      if (i.form == nullptr || provides(arch.ptx_target, i.form->target)) continue;
      d.message += fmt::format(": `{}` needs {}", print(module, f, i), targets_in_words(*i.form));
      d.loc = place_of(module, i);
      return;
    }
  }
  d.message += ", although it has all of its instructions";
}

}  // namespace

std::string Verifier::shown() const {
  return instruction_ == nullptr ? std::string{} : print(module_, *function_, *instruction_);
}

void Verifier::say(VerifyCode code, std::string message, std::string help) {
  if (full()) return;
  Diagnostic d{code, Severity::error, std::move(message), {}, std::move(help)};
  if (instruction_ != nullptr) {
    d.loc = place_of(module_, *instruction_);
    if (!d.loc.known()) d.message += fmt::format(", in `{}`", shown());
  }
  diagnostics_.push_back(std::move(d));
}

// --- module --------------------------------------------------------------------------------------

void Verifier::variable(const Symbol& s) {
  const Variable& v = s.variable;
  if (v.align != 0 && (v.align & (v.align - 1)) != 0) {
    say(VerifyCode::memory,
        fmt::format("`{}` is aligned to {} bytes, which is no power of two", s.name, v.align));
  }
  if (v.size() != 0 && v.init.size() > v.size()) {
    say(VerifyCode::memory,
        fmt::format("`{}` has {} bytes and {} bytes of initial value", s.name, v.size(), v.init.size()));
  }
  if (is_opaque(v.type)) opaque_variable(static_cast<SymbolId>(&s - module_.symbols.data()));
  for (const Relocation& r : v.relocations)
    if (r.symbol >= module_.symbols.size())
      say(VerifyCode::broken, fmt::format("`{}` holds the address of no symbol", s.name));
}

void Verifier::module_names() {
  std::unordered_set<std::string_view> seen;
  for (const Symbol& s : module_.symbols) {
    if (s.scope == no_id && !seen.insert(s.name).second) {
      say(VerifyCode::duplicate, fmt::format("two symbols of the module are named `{}`", s.name));
    }
    if (s.kind == Symbol::Kind::variable) variable(s);
  }
  if (parse_target(module_.target).number == 0) {
    say(VerifyCode::target, fmt::format("`{}` is no target", module_.target), "write one such as sm_90a");
  }
}

// --- functions -----------------------------------------------------------------------------------

void Verifier::launch_bounds(const Function& f) {
  const auto max_threads = static_cast<uint64_t>(arch_.max_threads_per_cta);
  const auto threads = [&](std::string_view word, const std::optional<Dim3>& d) {
    if (!d || (d->count() != 0 && d->count() <= max_threads && d->x <= max_threads && d->y <= max_threads))
      return;
    say(VerifyCode::launch, fmt::format("`{}` of `{}` asks for {}x{}x{} threads; a CTA has 1 to {}", word,
                                        f.name, d->x, d->y, d->z, max_threads));
  };
  threads(".maxntid", f.maxntid);
  threads(".reqntid", f.reqntid);
  if (f.maxntid && f.reqntid)
    say(VerifyCode::launch, fmt::format("`{}` has both .maxntid and .reqntid", f.name), "keep one of them");
  if (f.reqnctapercluster && f.reqnctapercluster->count() > static_cast<uint64_t>(arch_.max_cluster)) {
    say(VerifyCode::launch, fmt::format("the cluster of `{}` has {} CTAs; {} are the most", f.name,
                                        f.reqnctapercluster->count(), arch_.max_cluster));
  }
  // ptxas ignores a number that is too large, with a warning.
  if (f.maxnreg && *f.maxnreg == 0)
    say(VerifyCode::launch, fmt::format("`{}` asks for 0 registers a thread", f.name),
        "a thread has 1 or more");
}

void Verifier::parameter_size(const Function& f) {
  if (!f.entry) return;
  const uint64_t size = param_layout(module_, f).size;
  if (size > static_cast<uint64_t>(arch_.max_parameter_bytes)) {
    say(VerifyCode::memory,
        fmt::format("the parameters of `{}` take {} bytes; {} are the most", f.name, size,
                    arch_.max_parameter_bytes),
        "pass a pointer to what is large");
  }
}

void Verifier::shared_size(const Function& f) {
  uint64_t size = 0;
  for (const SymbolId id : f.locals) {
    const Variable& v = module_.symbols[id].variable;
    if (v.space == Space::shared_cta)
      size = (size + v.alignment() - 1) / v.alignment() * v.alignment() + v.size();
  }
  if (size > static_cast<uint64_t>(arch_.static_shared_bytes_per_cta)) {
    say(VerifyCode::memory,
        fmt::format("`{}` declares {} bytes of shared memory; {} are the most with a static size", f.name,
                    size, arch_.static_shared_bytes_per_cta),
        "declare `.extern .shared .align 16 .b8 smem[];` and give the size at launch");
  }
}

void Verifier::labels(const Function& f) {
  for (const Label& l : f.labels)
    if (l.target != no_id && l.target > f.body.size())
      say(VerifyCode::broken, fmt::format("label `{}` stands beyond the body", l.name));
  for (const BranchTargets& t : f.branch_targets) {
    const bool placed = std::ranges::all_of(
        t.labels, [&](LabelId l) { return l < f.labels.size() && f.labels[l].target != no_id; });
    if (!placed)
      say(VerifyCode::label, fmt::format("a label of `{}` stands nowhere in `{}`", t.name, f.name));
  }
}

void Verifier::function(const Function& f) {
  function_ = &f;
  const auto exists = [&](SymbolId id) { return id < module_.symbols.size(); };
  for (const auto* list : {&f.params, &f.returns, &f.locals}) {
    if (!std::ranges::all_of(*list, exists))
      return say(VerifyCode::broken, fmt::format("`{}` names a symbol that is none", f.name));
  }
  if (f.symbol >= module_.symbols.size())
    return say(VerifyCode::broken, fmt::format("function `{}` has no symbol", f.name));
  launch_bounds(f);
  parameter_size(f);
  if (!f.defined) return;
  shared_size(f);
  labels(f);
  for (const Instruction& i : f.body) {
    if (full()) return;
    instruction_ = &i;
    instruction(i);
  }
  instruction_ = nullptr;
}

// --- instructions --------------------------------------------------------------------------------

void Verifier::needs(const Form& form) {
  if (!provides(module_.target, form.target)) {
    const std::string wanted = targets_in_words(form);
    say(VerifyCode::target,
        fmt::format("`{}` needs `.target {}`, the module has `.target {}`", form.op, wanted, module_.target),
        fmt::format("compile for {}", wanted));
  }
  const uint32_t have = module_.version_major * 10 + module_.version_minor;
  if (have < form.ptx_version) {
    say(VerifyCode::version,
        fmt::format("`{}` with these modifiers needs PTX {}.{}, the module has {}.{}", form.op,
                    form.ptx_version / 10, form.ptx_version % 10, module_.version_major,
                    module_.version_minor),
        fmt::format("raise `.version` to {}.{}", form.ptx_version / 10, form.ptx_version % 10));
  }
  if (have > form.last_version) {
    say(VerifyCode::version,
        fmt::format("`{}` with these modifiers ended with PTX {}.{}, the module has {}.{}", form.op,
                    form.last_version / 10, form.last_version % 10, module_.version_major,
                    module_.version_minor),
        std::string(form.instead));
  }
}

void Verifier::call_values(const Operand* list, const std::vector<SymbolId>& declared, std::string_view what,
                           const Function& callee) {
  const size_t given = list == nullptr ? 0 : list->elements.size();
  if (given != declared.size()) {
    return say(VerifyCode::call,
               fmt::format("`{}` has {} {}, the call has {}", callee.name, declared.size(), what, given));
  }
  for (size_t k = 0; k < given; ++k) {
    const Operand& o = list->elements[k];
    const Variable& v = module_.symbols[declared[k]].variable;
    uint64_t have = v.size();
    if (o.is(Operand::Kind::reg) && o.id < function_->registers.size())
      have = static_cast<uint64_t>(bytes(function_->registers[o.id].type));
    if (o.is(Operand::Kind::symbol) && o.id < module_.symbols.size())
      have = module_.symbols[o.id].variable.size();
    if (have != v.size()) {
      say(VerifyCode::call, fmt::format("{} {} of `{}` has {} bytes, the call's has {}", what, k + 1,
                                        callee.name, v.size(), have));
    }
  }
}

void Verifier::call(const Instruction& i) {
  const Operand& callee = *i.operand("function");
  if (!callee.is(Operand::Kind::symbol)) return;
  const Symbol& s = module_.symbols[callee.id];
  if (s.kind != Symbol::Kind::function || s.function >= module_.functions.size()) {
    return say(VerifyCode::call, fmt::format("`{}` is called and is no function", s.name));
  }
  const Function& f = module_.functions[s.function];
  if (f.entry) return say(VerifyCode::call, fmt::format("`{}` is a kernel and cannot be called", s.name));
  call_values(i.operand("returns"), f.returns, "returns", f);
  call_values(i.operand("arguments"), f.params, "arguments", f);
}

void Verifier::instruction(const Instruction& i) {
  if (i.op == nullptr || i.form == nullptr) return say(VerifyCode::broken, "an instruction without a form");
  needs(*i.form);
  if (i.guard.reg != no_id) {
    const bool exists = i.guard.reg < function_->registers.size();
    if (!exists || function_->registers[i.guard.reg].type != Type::pred)
      return say(VerifyCode::guard, "the guard is no predicate register");
  }
  const auto& defs = i.form->operands;
  if (i.operands.size() > defs.size())
    return say(VerifyCode::operand_kind, fmt::format("`{}` has too many operands", shown()));
  for (size_t k = 0; k < i.operands.size(); ++k)
    if (!ids_exist(i.operands[k], defs[k]))
      return say(VerifyCode::broken, fmt::format("operand {} names what does not exist", k + 1));
  const size_t before = diagnostics_.size();
  for (size_t k = 0; k < defs.size() && diagnostics_.size() == before; ++k) {
    const bool absent = k >= i.operands.size() || i.operands[k].is(Operand::Kind::none);
    if (!absent) {
      operand(i.operands[k], defs[k]);
    } else if (!defs[k].optional) {
      say(VerifyCode::operand_kind, fmt::format("operand `{}` of `{}` is missing", defs[k].name, i.form->op));
    }
  }
  if (diagnostics_.size() == before) constants(i);
  if (diagnostics_.size() == before) textures(i);
  if (operation(i) == Operation::convert_address && bits(i.type()) == 32) {
    say(VerifyCode::width, "`cvta.u32` is for 32-bit addresses, which this target does not have",
        "write cvta.u64 on 64-bit registers");
  }
  if (operation(i) == Operation::call && diagnostics_.size() == before) call(i);
}

Diagnostics Verifier::run() {
  module_names();
  for (const Function& f : module_.functions) function(f);
  return std::move(diagnostics_);
}

}  // namespace detail

Diagnostics verify(const Module& module) { return detail::Verifier(module, default_arch()).run(); }

Diagnostics verify(const Module& module, const ArchSpec& arch) {
  Diagnostics found = detail::Verifier(module, arch).run();
  if (auto refusal = refuse_target(module, arch)) found.push_back(std::move(*refusal));
  return found;
}

std::optional<Diagnostic> refuse_target(const Module& module, const ArchSpec& arch) {
  if (provides(arch.ptx_target, module.target)) return std::nullopt;
  Diagnostic d;
  d.code = VerifyCode::chip;
  d.message = fmt::format("the module has `.target {}`, which {} ({}) cannot run", module.target, arch.name,
                          arch.ptx_target);
  d.loc.file = module.file;
  detail::name_first_beyond(module, arch, d);
  d.help = fmt::format("compile for {}, or run on another --arch", arch.ptx_target);
  return d;
}

}  // namespace palladion::isa
