#include "frontend/launch/inline_ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"
#include "isa/core/footprint.h"
#include "isa/core/op.h"
#include "isa/core/whole_error.h"
#include "isa/text/parse.h"
#include "isa/verify/verify.h"

namespace palladion::plgpu {

PtxInput::PtxInput(std::string name, const Array& value)
    : name_(std::move(name)), is_array_(true), array_(value) {}
PtxInput::PtxInput(std::string name, const Scalar& value) : name_(std::move(name)), scalar_(value) {}
PtxInput::PtxInput(std::string name, const Ref& value) : name_(std::move(name)), ref_(value) {}
PtxInput::PtxInput(std::string name, const BarrierRef& value) : name_(std::move(name)), barrier_(value) {}

namespace {

Operand whole_address(Recorder& r, const Operand& base, int64_t offset, Type type) {
  if (offset == 0) return base;
  return r.pure(type == Type::b64 ? "add.s64" : "add.s32", {base, Operand::imm(offset)}, type);
}

Operand ref_address(Recorder& r, const Ref& ref) {
  if (ref.space() == MemorySpace::regs) {
    fail(Code::bad_inline_ptx, fmt::format("inline_ptx: {} has no address", to_string(ref)),
         "load the accumulator and give its array");
  }
  frontend::Access access(r, ref, {});
  const frontend::Address a = access.at(Shape(ref.rank(), 0));
  return whole_address(r, a.base, a.offset, ref.space() == MemorySpace::gmem ? Type::b64 : Type::b32);
}

}  // namespace

Operand PtxInput::operand() const {
  Recorder& r = Recorder::current();
  if (barrier_) {
    int64_t offset = 0;
    const Operand base = barrier_->address("inline_ptx", &offset);
    return whole_address(r, base, offset, Type::b32);
  }
  return ref_.allocation() != nullptr ? ref_address(r, ref_) : scalar_.as_register();
}

namespace {

// A register that the text names, and what it stands for in each recording of the text.
struct Slot {
  std::string name;
  Type type = Type::b32;
  std::vector<Operand> values;  // one: the same in all recordings
  const Operand& in(size_t recording) const { return values[values.size() == 1 ? 0 : recording]; }
};

struct Shaped {
  Shape shape;
  Layout layout;
};

// The text as the body of a kernel: the lines before it declare the slots and name each once.
struct Wrapped {
  std::string text;
  uint32_t lines_before = 0;
};

Wrapped wrap(const Recorder& r, const std::string& text, const std::vector<Slot>& slots,
             const isa::Module& like) {
  Wrapped w;
  w.text = fmt::format(".version {}.{}\n.target {}\n.address_size 64\n.visible .entry inline_ptx()\n{{\n",
                       like.version_major, like.version_minor, r.arch().ptx_target);
  for (const Slot& s : slots) w.text += fmt::format(".reg .{} {};\n", isa::name(s.type), s.name);
  for (const Slot& s : slots) w.text += fmt::format("mov.{0} {1}, {1};\n", isa::name(s.type), s.name);
  w.lines_before = static_cast<uint32_t>(std::ranges::count(w.text, '\n'));
  w.text += text + "\n}\n";
  return w;
}

std::string line_of(std::string_view text, uint32_t number) {
  for (; number > 1 && !text.empty(); --number)
    text.remove_prefix(
        std::min(text.size(), text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1));
  return std::string(text.substr(0, text.find('\n')));
}

// The author's line, and in the message the text's.
isa::Diagnostic at_author(isa::Diagnostic d, const frontend::TextAt& text, uint32_t lines_before) {
  const uint32_t last = static_cast<uint32_t>(std::ranges::count(text.text, '\n')) + 1;
  const uint32_t line = d.loc.line > lines_before ? std::min(d.loc.line - lines_before, last) : 1;
  std::string shown = line_of(text.text, line);
  std::ranges::replace(shown, '\t', ' ');
  size_t column = d.loc.column;
  if (column == 0) column = std::min(shown.find_first_not_of(' '), shown.size()) + 1;
  column = std::min(column, shown.size() + 1);
  d.message = fmt::format("inline_ptx: {}\n{:>5} | {}\n      | {:>{}}", d.message, line, shown, '^', column);
  d.loc = frontend::place(text.loc);
  return d;
}

[[noreturn]] void refuse(const isa::Diagnostics& found, const frontend::TextAt& text, uint32_t lines_before) {
  isa::Diagnostics out;
  for (const isa::Diagnostic& d : found) out.push_back(at_author(d, text, lines_before));
  throw isa::WholeError(std::move(out));
}

[[noreturn]] void refuse_line(const isa::Instruction& i, const frontend::TextAt& text, uint32_t lines_before,
                              std::string message, std::string help) {
  refuse({{Code::bad_inline_ptx,
           isa::Severity::error,
           std::move(message),
           {"", i.origin.ptx_line, 0},
           std::move(help)}},
         text, lines_before);
}

bool has_side_effects(const isa::Footprint& f) {
  return f.writes_memory() || f.sync.object != isa::Sync::Object::none ||
         f.async.role != isa::Async::Role::none;
}

// What fits a program and not a part of one.
void check_instructions(const isa::Module& parsed, size_t first, const Recorder& r,
                        const frontend::TextAt& text, const PtxOptions& options, uint32_t lines_before) {
  const isa::Function& f = parsed.functions.front();
  for (size_t k = first; k < f.body.size(); ++k) {
    const isa::Instruction& i = f.body[k];
    const isa::Footprint footprint = isa::footprint(isa::effect(i, {parsed, f, r.arch()}));
    if (footprint.ends())
      refuse_line(i, text, lines_before, fmt::format("`{}` would leave the kernel", i.op->name),
                  "branch to a label at the end of the text");
    if (!options.side_effects && has_side_effects(footprint)) {
      refuse_line(i, text, lines_before,
                  fmt::format("`{}` stores, synchronises or starts an asynchronous operation", i.op->name),
                  "say so: {.side_effects = true}");
    }
  }
}

isa::Module read(const Recorder& r, const isa::Module& like, const frontend::TextAt& text,
                 const std::vector<Slot>& slots, const PtxOptions& options) {
  const Wrapped w = wrap(r, text.text, slots, like);
  auto parsed = isa::parse(w.text);
  if (!parsed) refuse(parsed.error(), text, w.lines_before);
  const isa::Function& f = parsed->functions.front();
  if (parsed->symbols.size() != 1 || !f.branch_targets.empty() || !f.call_targets.empty() ||
      !f.body_pragmas.empty()) {
    fail(Code::bad_inline_ptx,
         "inline_ptx: the text declares a variable, a function, a list of labels or a pragma",
         "it may hold instructions, labels and .reg; allocate memory with plgpu::SMEM");
  }
  const isa::Diagnostics found = isa::verify(*parsed, r.arch());
  if (!found.empty()) refuse(found, text, w.lines_before);
  check_instructions(*parsed, slots.size(), r, text, options, w.lines_before);
  return std::move(*parsed);
}

// Adds the body to the kernel, with other registers and labels.
class Splice {
 public:
  Splice(Recorder& r, const isa::Function& from, const std::vector<Slot>& slots, size_t recording)
      : r_(r), from_(from), first_(slots.size()), registers_(from.registers.size()) {
    for (size_t k = 0; k < slots.size(); ++k)
      registers_[from.body[k].operands[0].id] = slots[k].in(recording);
    for (const isa::Label& label : from.labels) {
      labels_.push_back(r.label("inline"));
      if (label.target == isa::no_id) PLD_CHECK(false, label.name);
    }
  }

  void record() {
    for (size_t k = first_; k <= from_.body.size(); ++k) {
      for (size_t l = 0; l < labels_.size(); ++l)
        if (from_.labels[l].target == k) r_.place(labels_[l]);
      if (k == from_.body.size()) break;
      isa::Instruction i = from_.body[k];
      for (Operand& o : i.operands) rename(o);
      if (i.guard.reg != isa::no_id) i.guard.reg = reg(i.guard.reg).id;
      r_.builder().append(std::move(i));
    }
  }

 private:
  const Operand& reg(uint32_t id) {
    if (!registers_[id].is(Operand::Kind::reg)) registers_[id] = r_.reg(from_.registers[id].type);
    return registers_[id];
  }
  void rename(Operand& o) {
    if (o.is(Operand::Kind::reg)) o.id = reg(o.id).id;
    if (o.is(Operand::Kind::label)) o.id = labels_[o.id].id;
    for (Operand& e : o.elements) rename(e);
  }

  Recorder& r_;
  const isa::Function& from_;
  size_t first_;
  std::vector<Operand> registers_, labels_;
};

void check_name(const std::string& name, std::vector<std::string>& seen) {
  const auto letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  const bool legal = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                     (letter(name[0]) || (name[0] == '%' && name.size() > 1)) &&
                     std::all_of(name.begin() + 1, name.end(), letter);
  if (!legal)
    fail(Code::bad_inline_ptx, fmt::format("inline_ptx: \"{}\" is no name of a register", name),
         "use letters, digits and _, with a letter first");
  if (std::ranges::find(seen, name) != seen.end())
    fail(Code::bad_inline_ptx, fmt::format("inline_ptx: two operands are named \"{}\"", name),
         "give each operand its own name");
  seen.push_back(name);
}

// Arrays of one layout and shape, which the others of the text then have.
std::optional<Shaped> unify_inputs(std::vector<PtxInput>& inputs) {
  std::vector<Array> arrays;
  for (const PtxInput& i : inputs)
    if (i.is_array()) arrays.push_back(i.array());
  if (arrays.empty()) return std::nullopt;
  unify_layouts(arrays);
  size_t next = 0;
  for (PtxInput& i : inputs)
    if (i.is_array()) i.array() = arrays[next++];
  return Shaped{arrays.front().shape(), arrays.front().layout()};
}

// None: a number.
std::optional<Shaped> shaped_output(const PtxOutput& o, const std::optional<Shaped>& like) {
  if (!o.shape && !o.layout) return like;
  if (!o.shape && !like)
    fail(Code::bad_inline_ptx,
         fmt::format("inline_ptx: the output \"{}\" has a layout and no shape", o.name));
  const Shape shape = o.shape ? *o.shape : like->shape;
  const Layout layout = o.layout ? *o.layout : like ? like->layout : default_layout(shape, o.dtype);
  const std::string misfit = layout.misfit(shape);
  if (!misfit.empty()) fail(Code::layout_shape, fmt::format("inline_ptx: \"{}\": {}", o.name, misfit));
  return Shaped{shape, layout};
}

// What is recorded: the slots of all operands, and how often.
struct Plan {
  std::vector<Slot> slots;
  size_t recordings = 1;
  bool counted = false;

  void add(Slot slot, bool once) {
    if (!once) {
      if (counted && slot.values.size() != recordings) {
        fail(Code::bad_inline_ptx,
             fmt::format("inline_ptx: \"{}\" has {} registers or elements in a lane, another operand has {}",
                         slot.name, slot.values.size(), recordings),
             "arrays of one text have one shape and layout; {.each = PtxEach::array} takes them as they are");
      }
      recordings = slot.values.size();
      counted = true;
    }
    slots.push_back(std::move(slot));
  }
  // One slot whose value changes from recording to recording, or one for each value.
  void add_array(const std::string& name, Type type, const std::vector<Operand>& values, PtxEach each) {
    if (each != PtxEach::array) return add({name, type, values}, false);
    for (size_t i = 0; i < values.size(); ++i) add({fmt::format("{}{}", name, i), type, {values[i]}}, true);
  }
};

// Bits above an element's own are not the author's to keep.
Operand element_result(Recorder& r, DType d, const Operand& e) {
  if (d == DType::bool_ || pl::bits(d) != 8) return e;
  if (d == DType::s8) return r.pure("cvt.s16.s8", {e}, Type::b16);
  return r.pure("and.b16", {e, Operand::imm(255)}, Type::b16);
}

struct Output {
  const PtxOutput* declared;
  std::optional<Shaped> shaped;
  std::vector<Operand> registers;
};

Output plan_output(Recorder& r, Plan& plan, const PtxOutput& o, const std::optional<Shaped>& like,
                   PtxEach each) {
  Output out{&o, shaped_output(o, like), {}};
  const bool elements = each == PtxEach::element || !out.shaped;
  const int pack = elements ? 1 : Array::pack_of(o.dtype, out.shaped->layout);
  const int64_t n = out.shaped ? out.shaped->layout.elements(out.shaped->shape) / pack : 1;
  const Type type = Array::packed_type(o.dtype, pack);
  for (int64_t i = 0; i < n; ++i) out.registers.push_back(r.reg(type));
  if (out.shaped)
    plan.add_array(o.name, type, out.registers, each);
  else
    plan.add({o.name, type, out.registers}, true);
  return out;
}

void plan_input(Recorder& r, Plan& plan, const PtxInput& i, PtxEach each) {
  if (i.is_array()) {
    const Array& a = i.array();
    const int pack = each == PtxEach::element ? 1 : a.pack();
    return plan.add_array(i.name(), Array::packed_type(a.dtype(), pack),
                          each == PtxEach::element ? a.elements() : a.registers(), each);
  }
  const Operand value = i.operand();
  plan.add({i.name(), r.builder().type_of(value), {value}}, true);
}

Array result_of(Recorder& r, const Output& o, PtxEach each) {
  const DType d = o.declared->dtype;
  std::vector<Operand> values = o.registers;
  if (!o.shaped) return Array(d, {}, Layout::WG_SPLAT(), {element_result(r, d, values.front())});
  if (each != PtxEach::element) return Array(d, o.shaped->shape, o.shaped->layout, std::move(values));
  for (Operand& e : values) e = element_result(r, d, e);
  return Array::from_elements(d, o.shaped->shape, o.shaped->layout, values);
}

}  // namespace

const Array& PtxResults::operator[](std::string_view name) const {
  for (const auto& [n, value] : values_)
    if (n == name) return value;
  fail(Code::unknown_name, fmt::format("the PTX text has no output \"{}\"", name));
}

const Array& PtxResults::operator[](size_t i) const {
  if (i >= values_.size())
    fail(Code::bad_inline_ptx, fmt::format("output {} of a PTX text with {} outputs", i, values_.size()),
         "outputs count from 0");
  return values_[i].second;
}

PtxResults::operator Array() const {
  if (values_.size() != 1)
    fail(Code::bad_inline_ptx, fmt::format("the PTX text has {} outputs", values_.size()),
         "take one by its name: results[\"y\"]");
  return values_.front().second;
}

Scalar PtxResults::scalar(std::source_location loc) const {
  const VerbScope at(loc);
  return Array(*this).scalar(loc);
}

PtxResults inline_ptx(const frontend::TextAt& text, const std::vector<PtxOutput>& outputs,
                      std::vector<PtxInput> inputs, const PtxOptions& options) {
  const VerbScope at(text.loc);
  Recorder& r = Recorder::current();
  std::vector<std::string> seen;
  for (const PtxOutput& o : outputs) check_name(o.name, seen);
  for (const PtxInput& i : inputs) {
    check_name(i.name(), seen);
    if (i.is_array()) i.array().check_assigned(text.loc);
  }
  std::optional<Shaped> like;
  if (options.each != PtxEach::array) like = unify_inputs(inputs);
  Plan plan;
  std::vector<Output> results;
  for (const PtxInput& i : inputs) plan_input(r, plan, i, options.each);
  for (const PtxOutput& o : outputs) results.push_back(plan_output(r, plan, o, like, options.each));
  const isa::Module parsed = read(r, r.module(), text, plan.slots, options);
  for (size_t k = 0; k < plan.recordings; ++k) Splice(r, parsed.functions.front(), plan.slots, k).record();
  std::vector<std::pair<std::string, Array>> values;
  for (const Output& o : results) values.emplace_back(o.declared->name, result_of(r, o, options.each));
  return PtxResults(std::move(values));
}

}  // namespace palladion::plgpu
