#include "frontend/core/emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/errors.h"
#include "isa/arch/target.h"

namespace palladion::frontend {
namespace {

constexpr size_t max_instructions = 1'000'000;

void append_key(std::string& key, const Operand& o) {
  key += static_cast<char>(o.kind);
  const auto raw = [&](const auto& v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); };
  raw(o.id);
  if (o.is(Operand::Kind::imm)) {
    key += static_cast<char>(o.imm_type);
    raw(o.bits);
  } else if (o.is(Operand::Kind::special)) {
    key += static_cast<char>(o.special);
    key += static_cast<char>(o.component);
  } else if (o.is(Operand::Kind::symbol) || o.is(Operand::Kind::address)) {
    raw(o.offset);
  }
  key += o.negated ? '!' : ' ';
  for (const Operand& e : o.elements) append_key(key, e);
}

std::string key_of(std::string_view mnemonic, const std::vector<Operand>& sources) {
  std::string key(mnemonic);
  for (const Operand& o : sources) append_key(key, o);
  return key;
}

isa::Function& add_entry(isa::Module& module, std::string_view name) {
  isa::Symbol symbol;
  symbol.name = name;
  symbol.kind = isa::Symbol::Kind::function;
  symbol.linkage = isa::Linkage::visible;
  symbol.function = 0;
  module.symbols.push_back(std::move(symbol));
  isa::Function& f = module.functions.emplace_back();
  f.name = name;
  f.symbol = 0;
  f.entry = true;
  return f;
}

}  // namespace

Emitter::Emitter(std::string_view entry, std::string_view target)
    : function_(&add_entry(module_, entry)), builder_(module_, *function_) {
  module_.target = target;
  const int version = isa::ptx_version_of(target);
  module_.version_major = static_cast<uint32_t>(version / 10);
  module_.version_minor = static_cast<uint32_t>(version % 10);
}

isa::Instruction& Emitter::emit(std::string_view mnemonic, std::vector<Operand> operands,
                                const Operand& guard) {
  // What the host unrolls without end would fill the memory.
  if (function_->body.size() >= max_instructions) {
    fail(Code::endless, fmt::format("the kernel has more than {} instructions", max_instructions),
         "a loop of the host is unrolled: pl::fori_loop and pl::while_loop record one body");
  }
  return builder_.emit(mnemonic, std::move(operands), guard);
}

const Operand* Emitter::find_known(const std::string& key) const {
  // The prologue runs first: it may use its own values alone.
  for (size_t i = in_prologue_ ? 1 : known_.size(); i-- > 0;) {
    const auto it = known_[i].find(key);
    if (it != known_[i].end()) return &it->second;
  }
  return nullptr;
}

Operand Emitter::pure(std::string_view mnemonic, std::vector<Operand> sources, Type result) {
  std::string key = key_of(mnemonic, sources);
  if (const Operand* known = find_known(key)) return *known;
  const Operand d = reg(result);
  sources.insert(sources.begin(), d);
  emit(mnemonic, std::move(sources));
  known_here().emplace(std::move(key), d);
  return d;
}

std::pair<Operand, Operand> Emitter::pure_pair(std::string_view mnemonic, const Operand& source,
                                               Type result) {
  const std::string key = key_of(fmt::format("{}2", mnemonic), {source});
  const Operand* known = find_known(key);
  if (known == nullptr) {
    const Operand d = Operand::vector({reg(result), reg(result)});
    emit(mnemonic, {d, source});
    known = &known_here().emplace(key, d).first->second;
  }
  return {known->elements[0], known->elements[1]};
}

Operand Emitter::at_entry(std::string_view mnemonic, std::vector<Operand> sources, Type result) {
  Operand d;
  in_prologue([&] { d = pure(mnemonic, std::move(sources), result); });
  return d;
}

void Emitter::in_prologue(const std::function<void()>& record) {
  if (in_prologue_) return record();
  in_prologue_ = true;
  std::swap(function_->body, prologue_);
  record();
  std::swap(function_->body, prologue_);
  in_prologue_ = false;
}

isa::Instruction Emitter::take_last() {
  isa::Instruction last = std::move(function_->body.back());
  function_->body.pop_back();
  return last;
}

void Emitter::insert_after(Mark mark, std::vector<isa::Instruction> instructions) {
  behind_.emplace_back(mark.index, std::move(instructions));
}

void Emitter::insert_before(size_t index, isa::Instruction instruction) {
  in_front_.emplace_back(index, std::move(instruction));
}

void Emitter::assemble() {
  constexpr auto by_place = [](const auto& insertion) { return insertion.first; };
  std::ranges::stable_sort(behind_, {}, by_place);
  std::ranges::stable_sort(in_front_, {}, by_place);
  std::vector<isa::Instruction>& body = function_->body;
  std::vector<uint32_t> moved(body.size() + 1);
  std::vector<isa::Instruction> out = std::move(prologue_);
  out.reserve(out.size() + body.size() + 16);
  auto next = behind_.begin();
  auto before = in_front_.begin();
  for (size_t i = 0; i < body.size(); ++i) {
    moved[i] = static_cast<uint32_t>(out.size());
    for (; before != in_front_.end() && before->first == i; ++before)
      out.push_back(std::move(before->second));
    out.push_back(std::move(body[i]));
    for (; next != behind_.end() && next->first == i; ++next)
      for (isa::Instruction& instruction : next->second) out.push_back(std::move(instruction));
  }
  moved[body.size()] = static_cast<uint32_t>(out.size());
  for (isa::Label& label : function_->labels)
    if (label.target != isa::no_id) label.target = moved[label.target];
  body = std::move(out);
}

}  // namespace palladion::frontend
