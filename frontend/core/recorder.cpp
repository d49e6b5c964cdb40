#include "frontend/core/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "isa/arch/target.h"
#include "isa/core/whole_error.h"

namespace palladion::frontend {
namespace {

thread_local Recorder* active = nullptr;
// The line of the outermost verb, known even when no kernel is being recorded.
thread_local Loc verb_loc;

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

std::atomic<uint32_t> recorders = 0;
constexpr size_t max_instructions = 1'000'000;

std::string key_of(std::string_view mnemonic, const std::vector<Operand>& sources) {
  std::string key(mnemonic);
  for (const Operand& o : sources) append_key(key, o);
  return key;
}

}  // namespace

void fail(Code code, std::string message, const Loc& loc, std::string help) {
  throw isa::WholeError(isa::Diagnostic{fmt::format("PLD{:04}", static_cast<int>(code)), isa::Severity::error,
                                        std::move(message), place(loc), std::move(help)});
}

const Loc& last_verb() { return verb_loc; }
const Loc& author_line(const Loc& loc) { return active != nullptr && active->in_verb() ? verb_loc : loc; }

void fail(Code code, std::string message, std::string help) {
  fail(code, std::move(message), verb_loc, std::move(help));
}

void unsupported(std::string what, std::string help) {
  throw isa::WholeError(isa::Diagnostic{"PLD2999", isa::Severity::unsupported, std::move(what),
                                        place(verb_loc), std::move(help)});
}

int64_t MeshAxes::cluster_size() const {
  pl::Shape sizes;
  for (const Axis& a : cluster) sizes.push_back(a.size);
  return pl::volume(sizes);
}

void check_distinct(const std::vector<std::string>& axes, std::string_view what) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (std::find(axes.begin(), axes.begin() + static_cast<int64_t>(i), axes[i]) !=
        axes.begin() + static_cast<int64_t>(i))
      fail(Code::duplicate_name, fmt::format("{}: the axis \"{}\" is named twice", what, axes[i]),
           "name each axis once");
}

Recorder* Recorder::current_or_null() { return active; }

Recorder& Recorder::current() {
  if (active == nullptr) {
    fail(Code::no_kernel, "this verb records an instruction, but no kernel is being recorded",
         "call it inside the body given to plgpu::kernel");
  }
  return *active;
}

Recorder::Recorder(std::string_view kernel_name, MeshAxes mesh, Options options)
    : function_([&] {
        module_.functions.emplace_back();
        return &module_.functions.back();
      }()),
      builder_(module_, *function_),
      mesh_(std::move(mesh)),
      options_(options),
      serial_(++recorders) {
  if (active != nullptr) {
    fail(Code::no_kernel,
         "a kernel is being recorded already: plgpu::kernel cannot be called inside a kernel body",
         "record the other kernel first, outside of this body, or call its body as a function");
  }
  active = this;
  open_region("plgpu::kernel", verb_loc, false);
  module_.target = arch().ptx_target;
  const int version = isa::ptx_version_of(module_.target);
  module_.version_major = static_cast<uint32_t>(version / 10);
  module_.version_minor = static_cast<uint32_t>(version % 10);
  isa::Symbol symbol;
  symbol.name = kernel_name;
  symbol.kind = isa::Symbol::Kind::function;
  symbol.linkage = isa::Linkage::visible;
  symbol.function = 0;
  module_.symbols.push_back(std::move(symbol));
  function_->name = kernel_name;
  function_->symbol = 0;
  function_->entry = true;
}

Recorder::~Recorder() {
  active = nullptr;
  current_region = current_scope = 0;
}

isa::Instruction& Recorder::emit(std::string_view mnemonic, std::vector<Operand> operands,
                                 const Operand& guard) {
  // What the host unrolls without end would fill the memory.
  if (function_->body.size() >= max_instructions) {
    fail(Code::endless, fmt::format("the kernel has more than {} instructions", max_instructions),
         "a loop of the host is unrolled: pl::fori_loop and pl::while_loop record one body");
  }
  return builder_.emit(mnemonic, std::move(operands), guard);
}

const Operand* Recorder::find_known(const std::string& key) const {
  // The prologue runs first: it may use its own values alone.
  for (size_t i = in_prologue_ ? 1 : known_.size(); i-- > 0;) {
    const auto it = known_[i].find(key);
    if (it != known_[i].end()) return &it->second;
  }
  return nullptr;
}

Operand Recorder::pure(std::string_view mnemonic, std::vector<Operand> sources, Type result) {
  std::string key = key_of(mnemonic, sources);
  if (const Operand* known = find_known(key)) return *known;
  const Operand d = reg(result);
  sources.insert(sources.begin(), d);
  emit(mnemonic, std::move(sources));
  (in_prologue_ ? known_.front() : known_.back()).emplace(std::move(key), d);
  return d;
}

std::pair<Operand, Operand> Recorder::pure_pair(std::string_view mnemonic, const Operand& source,
                                                Type result) {
  const std::string key = key_of(fmt::format("{}2", mnemonic), {source});
  const Operand* known = find_known(key);
  if (known == nullptr) {
    const Operand d = Operand::vector({reg(result), reg(result)});
    emit(mnemonic, {d, source});
    known = &(in_prologue_ ? known_.front() : known_.back()).emplace(key, d).first->second;
  }
  return {known->elements[0], known->elements[1]};
}

Operand Recorder::at_entry(std::string_view mnemonic, std::vector<Operand> sources, Type result) {
  Operand d;
  in_prologue([&] { d = pure(mnemonic, std::move(sources), result); });
  return d;
}

void Recorder::in_prologue(const std::function<void()>& record) {
  if (in_prologue_) return record();
  in_prologue_ = true;
  std::swap(function_->body, prologue_);
  record();
  std::swap(function_->body, prologue_);
  in_prologue_ = false;
}

void Recorder::insert_after(Mark mark, std::vector<isa::Instruction> instructions) {
  insertions_.emplace_back(mark.index, std::move(instructions));
}

// --- shared memory --------------------------------------------------------------------------------

Operand Recorder::smem_base() {
  if (smem_symbol_ == isa::no_id) {
    isa::Variable v;
    v.space = isa::Space::shared_cta;
    v.type = Type::b8;
    v.align = 1024;
    v.dims = {0};
    smem_symbol_ = builder_.add_variable("palladion_smem", std::move(v), true);
    module_.symbols[smem_symbol_].linkage = isa::Linkage::extern_;
  }
  return at_entry("mov.u32", {Operand::symbol(smem_symbol_)}, Type::b32);
}

int64_t Recorder::allocate_smem(int64_t bytes, int64_t align) {
  smem_base();
  const int64_t at = pl::align_to(smem_top_, align);
  smem_top_ = at + bytes;
  smem_high_ = std::max(smem_high_, smem_top_);
  return at;
}

int64_t Recorder::allocate_barriers(int64_t count) {
  barrier_base();
  const int64_t at = barriers_;
  barriers_ += count;
  return at * 8;
}

void Recorder::name_smem(isa::BufferName buffer) { module_.buffers.push_back(std::move(buffer)); }
void Recorder::name_barriers(isa::BufferName buffer) { barrier_names_.push_back(std::move(buffer)); }

std::string Recorder::distinct_name(const std::string& name) {
  const int n = ++taken_names_[name];
  return n == 1 ? name : fmt::format("{} #{}", name, n);
}

// The symbol, and where barriers are, is known when the kernel is complete.
void Recorder::place_names() {
  for (isa::BufferName& b : barrier_names_) {
    b.offset += static_cast<uint64_t>(pl::align_to(smem_high_, 16));
    module_.buffers.push_back(std::move(b));
  }
  for (isa::BufferName& b : module_.buffers) b.symbol = smem_symbol_;
}

// The offsets behind the arrays are known when the kernel is complete; finish() writes them.
Operand Recorder::barrier_base() {
  if (!barrier_base_.is(Operand::Kind::reg)) {
    const Operand base = smem_base();
    in_prologue([&] {
      barrier_base_ = reg(Type::b32);
      emit("add.s32", {barrier_base_, base, Operand::imm(0)});
    });
  }
  return barrier_base_;
}

Operand Recorder::tensor_base() {
  if (!tensor_base_.is(Operand::Kind::reg)) tensor_base_ = reg(Type::b32);
  return tensor_base_;
}

int64_t Recorder::allocate_tensor(int64_t columns, int ctas) {
  if (tensor_ctas_ == 0) tensor_slot_ = allocate_barriers(1);
  tensor_ctas_ = ctas;
  const int64_t at = tensor_top_;
  tensor_top_ += columns;
  tensor_high_ = std::max(tensor_high_, tensor_top_);
  return at;
}

// What tcgen05.alloc takes: a power of two, at least its unit.
int64_t Recorder::tensor_columns() const {
  return std::max<int64_t>(arch().tensor_unit_columns, pl::next_power_of_2(tensor_high_));
}

int64_t Recorder::reduction_scratch() {
  if (reduction_scratch_ < 0) {
    // Behind the barriers, one a thread; kept for the whole kernel.
    reduction_scratch_ = allocate_barriers(
        pl::cdiv(pl::align_to(options_.reduction_scratch_bytes, 16) * thread_count(), 8) + 1);
    reduction_scratch_ = pl::align_to(reduction_scratch_, 16);
    const int64_t bytes = pl::align_to(options_.reduction_scratch_bytes, 16);
    name_barriers({.offset = static_cast<uint64_t>(reduction_scratch_),
                   .bytes = static_cast<uint64_t>(bytes * thread_count()),
                   .name = "reduction scratch",
                   .element = "u8",
                   .shape = {thread_count(), bytes}});
  }
  return reduction_scratch_;
}

// --- parameters -----------------------------------------------------------------------------------

Operand Recorder::array_pointer(int array) {
  for (size_t i = 0; i < params_.size(); ++i) {
    const auto* p = std::get_if<plgpu::PointerParam>(&params_[i]);
    if (p != nullptr && p->array == array) return param_values_[i];
  }
  return pointer_param(plgpu::PointerParam{array});
}

Operand Recorder::tensor_map(int array, const isa::TensorMap& map) {
  for (size_t i = 0; i < params_.size(); ++i) {
    const auto* p = std::get_if<plgpu::TensorMapParam>(&params_[i]);
    if (p != nullptr && p->array == array && p->map == map) return param_values_[i];
  }
  isa::Variable v;
  v.type = Type::b8;
  v.align = isa::tensor_map_alignment;
  v.dims = {isa::tensor_map_bytes};
  const auto symbol =
      builder_.add_param(fmt::format("{}_param_{}", function_->name, params_.size()), std::move(v));
  const Operand address = at_entry("mov.b64", {Operand::symbol(symbol)}, Type::b64);
  params_.push_back(plgpu::TensorMapParam{array, map});
  param_values_.push_back(at_entry("cvta.param.u64", {address}, Type::b64));
  return param_values_.back();
}

// A parameter that points to GMEM, as a global address.
Operand Recorder::pointer_param(plgpu::Param param) {
  isa::Variable v;
  v.type = Type::u64;
  v.pointer = true;
  v.pointee = isa::Space::global;
  v.pointee_align = 16;
  const auto symbol =
      builder_.add_param(fmt::format("{}_param_{}", function_->name, params_.size()), std::move(v));
  const Operand generic = at_entry("ld.param.u64", {Operand::address(Operand::symbol(symbol))}, Type::b64);
  params_.push_back(param);
  param_values_.push_back(at_entry("cvta.to.global.u64", {generic}, Type::b64));
  return param_values_.back();
}

Operand Recorder::scratch_array(int64_t bytes, std::string name) {
  return pointer_param(plgpu::ScratchParam{bytes, std::move(name)});
}

Operand Recorder::profile_pointer() { return pointer_param(plgpu::ProfileParam{}); }

// --- position of the thread
// -------------------------------------------------------------------------------------

Operand Recorder::tid() {
  return at_entry("mov.u32", {Operand::special_reg(isa::Special::tid, 0)}, Type::b32);
}

Operand Recorder::lane_in_group() {
  if (thread_count() == 1) return tid();
  return at_entry("and.b32", {tid(), Operand::imm(127)}, Type::b32);
}

namespace {
// The value of lane 0, which is then uniform in the warp for ptxas as well.
Operand broadcast_lane_0(Recorder& r, const Operand& value) {
  return r.at_entry("shfl.sync.idx.b32", {value, Operand::imm(0), Operand::imm(31), Operand::imm(-1)},
                    Type::b32);
}
}  // namespace

Operand Recorder::thread_index() {
  if (thread_count() == 1) return Operand::imm(0);
  thread_index_ = broadcast_lane_0(*this, at_entry("shr.u32", {tid(), Operand::imm(7)}, Type::b32));
  return thread_index_;
}

Operand Recorder::elected_in_warp() {
  Operand p;
  in_prologue([&] {
    if (const Operand* known = find_known("elect")) {
      p = *known;
      return;
    }
    p = reg(Type::pred);
    Operand joined = p;
    joined.joined = true;
    emit("elect.sync", {Operand::sink(), joined, Operand::imm(-1)});
    known_.front().emplace("elect", p);
  });
  return p;
}

Operand Recorder::warp_index() {
  return broadcast_lane_0(*this, at_entry("shr.u32", {lane_in_group(), Operand::imm(5)}, Type::b32));
}

Operand Recorder::elected() {
  if (warp) return elected_in_warp();
  const Operand first = at_entry("setp.eq.s32", {warp_index(), Operand::imm(0)}, Type::pred);
  elected_ = at_entry("and.pred", {first, elected_in_warp()}, Type::pred);
  return elected_;
}

// Named barrier 0 is the whole CTA's; thread t of several has barrier t + 1.
Operand Recorder::named_barrier() {
  if (thread_count() == 1) return Operand::imm(0);
  return at_entry("add.s32", {thread_index(), Operand::imm(1)}, Type::b32);
}

void Recorder::warpgroup_barrier() {
  if (warp) {
    emit("bar.warp.sync", {Operand::imm(-1)});
    return;
  }
  if (thread_count() == 1) {
    emit("bar.sync", {Operand::imm(0)});
    return;
  }
  emit("bar.sync", {named_barrier(), Operand::imm(128)});
}

void Recorder::needs_warpgroup(std::string_view what, std::string_view help) const {
  if (warp)
    fail(Code::bad_warp, fmt::format("{} in warp-level code: it takes a whole warpgroup", what),
         std::string(help.empty() ? "move it before or behind the warp-level code" : help));
}

// --- places ---------------------------------------------------------------------------------------

At::At(const Loc& loc) : recorder_(active), saved_(verb_loc) {
  if (recorder_ == nullptr) {
    verb_loc = loc;
    return;
  }
  if (recorder_->depth_++ == 0) {
    verb_loc = loc;
    recorder_->loc_ = loc;
    recorder_->builder_.set_source(place(loc));
  }
}

At::~At() {
  if (recorder_ == nullptr) {
    verb_loc = saved_;
  } else if (active == recorder_) {
    --recorder_->depth_;
  }
}

UserCode::UserCode() : recorder_(active), depth_(0), saved_(verb_loc) {
  if (recorder_ == nullptr) return;
  depth_ = recorder_->depth_;
  saved_ = recorder_->loc_;
  recorder_->depth_ = 0;
}

UserCode::~UserCode() {
  if (recorder_ == nullptr || active != recorder_) return;
  recorder_->depth_ = depth_;
  if (depth_ > 0) {
    verb_loc = saved_;
    recorder_->loc_ = saved_;
    recorder_->builder_.set_source(place(saved_));
  }
}

// --- regions --------------------------------------------------------------------------------------

void Recorder::open_region(std::string_view verb, const Loc& loc, bool allocates) {
  open_.push_back(static_cast<uint32_t>(regions_.size()));
  regions_.push_back({verb, loc, allocates});
  current_scope = id_of(open_.back());
  if (!allocates) current_region = current_scope;
}

void Recorder::close_region() {
  regions_[open_.back()].open = false;
  open_.pop_back();
  const auto values =
      std::ranges::find_if(open_.rbegin(), open_.rend(), [&](uint32_t i) { return !regions_[i].allocates; });
  current_region = id_of(*values);
  current_scope = id_of(open_.back());
}

void Recorder::enter_region(std::string_view verb) {
  open_region(verb, verb_loc, false);
  known_.emplace_back();
}
void Recorder::leave_region() {
  known_.pop_back();
  close_region();
}
void Recorder::enter_scope(std::string_view verb, const Loc& loc) { open_region(verb, loc, true); }
void Recorder::leave_scope() { close_region(); }

}  // namespace palladion::frontend
