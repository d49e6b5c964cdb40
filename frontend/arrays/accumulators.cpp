#include "frontend/arrays/accumulators.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"
#include "isa/formats/fragments.h"

namespace palladion::plgpu {

namespace {

void check_window(const Ref& acc) {
  const bool matrix = acc.rank() == 2;
  if (!matrix || acc.is_transposed() || acc.starts()[0].as_int() % 64 != 0 || acc.shape(0) % 64 != 0 ||
      acc.starts()[1].as_int() % 8 != 0 || acc.shape(1) % 8 != 0) {
    fail(Code::bad_accumulator,
         fmt::format("{}: an accumulator is sliced by 64 rows and 8 columns", to_string(acc)));
  }
}

}  // namespace

std::vector<Operand> accumulator_registers(const Ref& acc, int64_t block) {
  const Accumulator& whole = *acc.base().accumulator;
  const int64_t per_8 = isa::wgmma_d(8, pl::bits(whole.dtype)).registers;
  const int64_t row = acc.starts()[0].as_int() / accumulator_rows + block, col = acc.starts()[1].as_int() / 8;
  const auto first = whole.registers.begin() + (row * (whole.n / 8) + col) * per_8;
  return {first, first + acc.shape(1) / 8 * per_8};
}

Ref make_accumulator(int64_t m, int64_t n, DType dtype, std::source_location loc) {
  const VerbScope at(loc);
  if (dtype != DType::f32 && dtype != DType::f16 && dtype != DType::s32) {
    fail(Code::bad_accumulator, fmt::format("ACC of {}: accumulators are f32, f16 or s32", pl::name(dtype)));
  }
  Recorder& r = Recorder::current();
  const isa::ArchSpec& arch = r.arch();
  if (!arch.has_wgmma)
    fail(Code::bad_accumulator,
         fmt::format(
             "ACC({}, {}): {} has no wgmma, whose accumulators these registers are; Hopper (sm_90a) has", m,
             n, arch.name),
         "record for a Hopper chip (--arch h200), or use plgpu::TMEM and plgpu::tcgen05_mma");
  pl::volume({m, n});  // an Error for a negative size, or one that overflows
  if (m < arch.mma_m || m % arch.mma_m != 0 || n < arch.mma_n_step || n % arch.mma_n_step != 0) {
    fail(
        Code::bad_accumulator,
        fmt::format("ACC({}, {}): m must be a multiple of {} and n of {}", m, n, arch.mma_m, arch.mma_n_step),
        "pad the tile, or use plgpu::mma for fewer rows");
  }
  auto acc = std::make_shared<Accumulator>();
  acc->m = m;
  acc->n = n;
  acc->dtype = dtype;
  const Type type = dtype == DType::f32 ? Type::f32 : Type::b32;
  const int64_t registers =
      (m / arch.mma_m) * (n / arch.mma_n_step) * isa::wgmma_d(arch.mma_n_step, pl::bits(dtype)).registers;
  if (registers > arch.max_accumulators) {
    fail(Code::bad_accumulator,
         fmt::format("ACC({}, {}) of {} takes {} registers of each lane; a lane has {} at most", m, n,
                     pl::name(dtype), registers, arch.max_registers_per_thread),
         "split the tile over more warpgroups");
  }
  for (int64_t i = 0; i < registers; ++i) {
    acc->registers.push_back(r.reg(type));
    r.emit(dtype == DType::f32 ? "mov.f32" : "mov.b32",
           {acc->registers.back(), dtype == DType::f32 ? Operand::f32(0) : Operand::imm(0)});
  }
  auto allocation = std::make_shared<Allocation>();
  allocation->space = MemorySpace::regs;
  allocation->name = "acc";
  allocation->dtype = dtype;
  allocation->shape = {m, n};
  allocation->physical.dims = {{64, 1, 0}, {8, 1, 0}};
  allocation->accumulator = std::move(acc);
  return Ref(std::move(allocation));
}

Array load_accumulator(const Ref& acc, int wait_n, std::source_location loc) {
  const VerbScope at(loc);
  check_window(acc);
  Recorder& r = Recorder::current();
  r.needs_warpgroup("a load of an accumulator");
  if (wait_n >= 0) r.emit("wgmma.wait_group.sync.aligned", {Operand::imm(wait_n)});
  const bool single = acc.dtype() == DType::f32;
  std::vector<Operand> out;
  for (int64_t block = 0; block < acc.shape(0) / accumulator_rows; ++block) {
    for (const Operand& reg : accumulator_registers(acc, block)) {
      out.push_back(r.reg(single ? Type::f32 : Type::b32));
      r.emit(single ? "mov.f32" : "mov.b32", {out.back(), reg});
    }
  }
  return Array(acc.dtype(), acc.shape(), Layout::WGMMA, std::move(out));
}

void store_accumulator(const Ref& acc, const Array& value, std::source_location loc) {
  const VerbScope at(loc);
  check_window(acc);
  Recorder& r = Recorder::current();
  std::vector<Array> both{value};
  if (value.layout().is_splat()) {
    const std::vector<Operand> spread(static_cast<size_t>(Layout::WGMMA.elements(acc.shape())),
                                      value.registers().front());
    both[0] = Array::from_elements(value.dtype(), acc.shape(), Layout::WGMMA, spread);
  } else if (!(value.layout() == Layout::WGMMA)) {
    fail(Code::layout_mismatch,
         fmt::format("a store of an {} into an accumulator, which has layout WGMMA", to_string(value)),
         "use plgpu::layout_cast(x, Layout::WGMMA)");
  }
  r.emit("wgmma.wait_group.sync.aligned", {Operand::imm(0)});
  size_t next = 0;
  for (int64_t block = 0; block < acc.shape(0) / accumulator_rows; ++block) {
    for (const Operand& reg : accumulator_registers(acc, block)) {
      r.emit(acc.dtype() == DType::f32 ? "mov.f32" : "mov.b32", {reg, both[0].registers()[next++]});
    }
  }
}

}  // namespace palladion::plgpu
