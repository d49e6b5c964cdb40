#include "tests/property/random/random_program.h"

#include <algorithm>
#include <cstring>

#include "tests/property/random/random_writer.h"

namespace palladion::random_program {
namespace {

size_t number_of(char name) {
  return static_cast<size_t>(std::ranges::find(pools, name, &Pool::name) - std::begin(pools));
}

// Inputs are 8 bytes a thread: every register's, then the factors'.
int input_slot(char name, int index) {
  int slot = index;
  for (const Pool& p : pools) {
    if (p.name == name) return slot;
    slot += p.all;
  }
  return slot;
}
int factor_slot(size_t flavor, int index) {
  return input_slot('?', 0) + static_cast<int>(flavor) * factors_a_flavor + index;
}

constexpr int scalars_a_program = 220, products_a_program = 8;

constexpr std::string_view head = R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry random_program(.param .u64 input, .param .u64 output) .maxntid 128
{
  .reg .b16 %h<16>, %s<4>;
  .reg .b32 %r<32>, %t<8>, %m<16>, %c<8>, %e<8>, %tile, %row, %me, %lane, %warp;
  .reg .b64 %d<16>, %u<8>, %n<16>, %in8, %out2, %out4, %out8, %out16, %cta_cells, %g;
  .reg .f64 %f<16>;
  .reg .pred %p<8>, %q<4>;
  .shared .align 16 .b8 smem[2048];
  mov.u32 %me, %tid.x;
  mov.u32 %lane, %laneid;
  shr.u32 %warp, %me, 5;
  mov.u32 %tile, smem;
  shl.b32 %row, %me, 4;
  add.u32 %row, %row, %tile;
  mov.u32 %t0, %ctaid.x;
  mad.lo.u32 %t1, %t0, 128, %me;
  ld.param.u64 %u0, [input];
  cvta.to.global.u64 %u0, %u0;
  ld.param.u64 %g, [output];
  cvta.to.global.u64 %g, %g;
  mad.wide.u32 %in8, %t1, 8, %u0;
  mad.wide.u32 %out2, %t1, 2, %g;
  mad.wide.u32 %out4, %t1, 4, %g;
  mad.wide.u32 %out8, %t1, 8, %g;
  mad.wide.u32 %out16, %t1, 16, %g;
  mad.wide.u32 %cta_cells, %t0, 64, %g;
)";

}  // namespace

const Pool& pool(char name) { return pools[number_of(name)]; }

Flavor flavor_of(isa::Type type) {
  switch (type) {
    case isa::Type::f16:
    case isa::Type::f16x2:
      return Flavor::f16;
    case isa::Type::bf16:
    case isa::Type::bf16x2:
      return Flavor::bf16;
    case isa::Type::f32:
      return Flavor::f32;
    case isa::Type::tf32:
      return Flavor::tf32;
    case isa::Type::f64:
      return Flavor::f64;
    case isa::Type::e4m3:
      return Flavor::e4m3;
    case isa::Type::e5m2:
      return Flavor::e5m2;
    default:
      return Flavor::integer;
  }
}

char pool_of(isa::Type type, int width_factor) {
  const int bits = isa::bits(type) * width_factor;
  if (bits == 1) return 'p';
  if (bits == 64) return type == isa::Type::f64 ? 'f' : 'd';
  return bits == 32 ? 'r' : 'h';
}

Writer::Writer(const Catalogue& catalogue, uint64_t seed)
    : catalogue_(catalogue), rng_(seed * 0x9e3779b97f4a7c15 + 1) {
  program_.ctas = 1 + rng_.below(2);
  scalar_number_ = seed * scalars_a_program;
  product_number_ = seed * products_a_program;
  for (size_t p = 0; p < std::size(pools); ++p) {
    for (int i = 0; i < pools[p].all; ++i) {
      const int kind = i % 8;
      Flavor f = kind < 3    ? Flavor::f32
                 : kind == 3 ? Flavor::f16
                 : kind == 4 ? Flavor::bf16
                             : Flavor::integer;
      if (pools[p].name == 'h') f = kind < 3 ? Flavor::f16 : kind < 5 ? Flavor::bf16 : Flavor::integer;
      if (pools[p].name == 'f') f = Flavor::f64;
      if (pools[p].name == 'd' || pools[p].name == 'p') f = Flavor::integer;
      flavors_[p][static_cast<size_t>(i)] = f;
    }
  }
  load_inputs();
}

void Writer::load_inputs() {
  const uint32_t stride = 8 * program_.all_threads();
  for (const Pool& p : pools) {
    for (int i = 0; i < p.all; ++i) {
      const std::string from =
          fmt::format("[%in8+{}]", static_cast<uint32_t>(input_slot(p.name, i)) * stride);
      if (p.name == 'p') {
        line("  ld.global.u32 %t0, {};\n  and.b32 %t0, %t0, 1;\n  setp.ne.u32 %p{}, %t0, 0;", from, i);
      } else {
        line("  ld.global.{} %{}{}, {};",
             p.name == 'h'   ? "b16"
             : p.name == 'r' ? "b32"
             : p.name == 'f' ? "f64"
                             : "b64",
             p.name, i, from);
      }
    }
  }
}

void Writer::fill_inputs() {
  const uint32_t threads = program_.all_threads();
  const auto put = [&](int slot, uint32_t thread, uint64_t v) {
    std::memcpy(&program_.input[(static_cast<size_t>(slot) * threads + thread) * 8], &v, 8);
  };
  Rng rng(rng_.next());
  program_.input.resize(size_t{8} * threads * static_cast<size_t>(factor_slot(std::size(factor_flavors), 0)));
  for (uint32_t t = 0; t < threads; ++t) {
    for (size_t p = 0; p < std::size(pools); ++p)
      for (int i = 0; i < pools[p].all; ++i) {
        // flavors_ has moved on with what was written; the constant ones have not.
        const Flavor f = flavors_[p][static_cast<size_t>(i % pools[p].constant)];
        put(input_slot(pools[p].name, i), t, random_value(rng, f));
      }
    for (size_t f = 0; f < std::size(factor_flavors); ++f)
      for (int i = 0; i < factors_a_flavor; ++i)
        put(factor_slot(f, i), t, random_factor(rng, factor_flavors[f]));
  }
}

void Writer::add_line(const std::string& text) {
  body_ += text;
  body_ += '\n';
  step_.text += step_.text.empty() ? text : "\n" + text;
}

void Writer::begin(Reach reach) {
  step_ = {};
  step_.reach = reach;
  targets_.clear();
}

Reg Writer::source(char name, Flavor flavor) {
  const Pool& p = pool(name);
  const auto& flavors = flavors_[number_of(name)];
  const bool any = rng_.one_in(4);
  std::vector<Reg> fits, all;
  for (int i = 0; i < p.all; ++i) {
    const Reg r{name, i};
    if (std::ranges::find(step_.reads, r) != step_.reads.end()) continue;
    all.push_back(r);
    if (flavors[static_cast<size_t>(i)] == flavor) fits.push_back(r);
  }
  const Reg r = any || fits.empty() ? rng_.pick(all) : rng_.pick(fits);
  step_.reads.push_back(r);
  return r;
}

Reg Writer::target(char name, Flavor flavor) {
  const Pool& p = pool(name);
  Reg r{name, 0};
  do r.index = p.constant + static_cast<int>(rng_.below(static_cast<uint32_t>(p.all - p.constant)));
  while (std::ranges::find(targets_, r) != targets_.end());
  targets_.push_back(r);
  flavors_[number_of(name)][static_cast<size_t>(r.index)] = flavor;
  return r;
}

Reg Writer::updated(char name, Flavor flavor) {
  const Reg r = target(name, flavor);
  step_.reads.push_back(r);
  return r;
}

size_t Writer::reserve(size_t bytes_a_thread, size_t align) {
  program_.output_bytes = (program_.output_bytes + align - 1) / align * align;
  const size_t at = program_.output_bytes;
  program_.output_bytes += bytes_a_thread * program_.all_threads();
  return at;
}

std::string Writer::factor(Flavor flavor, int bytes) {
  const size_t f =
      static_cast<size_t>(std::ranges::find(factor_flavors, flavor) - std::begin(factor_flavors));
  const int slot = factor_slot(f, static_cast<int>(rng_.below(factors_a_flavor)));
  const uint32_t half = bytes == 4 ? 4 * rng_.below(2) : 0;
  return fmt::format("[%in8+{}]", static_cast<uint32_t>(slot) * 8 * program_.all_threads() + half);
}

std::string Writer::maybe_guard() {
  if (!rng_.one_in(10)) return {};
  const Reg g = source('p', Flavor::integer);
  return fmt::format("@{}{} ", rng_.one_in(2) ? "!" : "", g.name());
}

void Writer::store(const std::string& name, char pool_name, size_t offset) {
  switch (pool_name) {
    case 'p':
      body_ += fmt::format("  selp.u32 %t7, 1, 0, {};\n  st.global.b32 [%out4+{}], %t7;\n", name, offset);
      break;
    case 'h':
      body_ += fmt::format("  st.global.b16 [%out2+{}], {};\n", offset, name);
      break;
    case 'r':
      body_ += fmt::format("  st.global.b32 [%out4+{}], {};\n", offset, name);
      break;
    default:
      body_ +=
          fmt::format("  st.global.{} [%out8+{}], {};\n", pool_name == 'f' ? "f64" : "b64", offset, name);
  }
}

void Writer::reload(const Reg& r, size_t offset) {
  if (r.pool == 'p') {
    body_ += fmt::format("  ld.volatile.global.b32 %t7, [%out4+{}];\n  setp.ne.u32 {}, %t7, 0;\n", offset,
                         r.name());
    return;
  }
  const int bits = r.pool == 'h' ? 16 : r.pool == 'r' ? 32 : 64;
  body_ += fmt::format("  ld.volatile.global.{}{} {}, [%out{}+{}];\n", r.pool == 'f' ? 'f' : 'b', bits,
                       r.name(), bits / 8, offset);
}

void Writer::trace(const std::string& name, Reg as, int bytes) {
  const auto n = static_cast<size_t>(bytes);
  const size_t offset = reserve(n, 8);
  step_.writes.push_back({as, offset, n});
  store(name, as.pool, offset);
}

void Writer::end() {
  for (const Reg& r : targets_) {
    trace(r.name(), r, r.pool == 'h' ? 2 : r.pool == 'd' || r.pool == 'f' ? 8 : 4);
    if (reloads_) reload(r, step_.writes.back().offset);
    if (r.pool == 'f')
      body_ += fmt::format("  setp.nan.f64 %q3, {0}, {0};\n  selp.f64 {0}, 0d{1:016X}, {0}, %q3;\n", r.name(),
                           only_nan64);
  }
  if (region_) {
    step_.skippable = true;
    step_.reads.push_back(*region_);
    step_.reads.insert(step_.reads.end(), targets_.begin(), targets_.end());
  }
  if (step_.text.find('@') != std::string::npos)
    step_.reads.insert(step_.reads.end(), targets_.begin(), targets_.end());
  program_.steps.push_back(std::move(step_));
  step_ = {};
  targets_.clear();
  reloads_ = false;
}

Program Writer::finish() {
  for (const Pool& p : pools) {
    for (int i = p.constant; i < p.all; ++i) {
      begin(Reach::lane);
      step_.text = "at the end";
      step_.reads.push_back({p.name, i});
      targets_.push_back({p.name, i});
      end();
    }
  }
  fill_inputs();
  program_.ptx = std::string(head) + body_ + "  ret;\n}\n";
  return std::move(program_);
}

Program generate(const Catalogue& catalogue, uint64_t seed) {
  Writer w(catalogue, seed);
  constexpr void (*others[])(Writer&) = {move_step,       warp_step,          shared_step, matrix_memory_step,
                                         own_atomic_step, common_atomic_step, loop_step,   warp_step};
  for (int n = 0, products = 0; n < scalars_a_program;) {
    if (w.rng().one_in(12)) {  // a region that some lanes skip
      const Reg guard{'p', static_cast<int>(w.rng().below(3))};
      const int label = w.label();
      w.line("  @{} bra SKIP{};", guard.name(), label);
      w.enter_region(guard);
      for (uint32_t k = 3 + w.rng().below(4); k > 0; --k, ++n) scalar_step(w);
      w.leave_region();
      w.line("SKIP{}:\n  bar.warp.sync 0xffffffff;", label);
    }
    scalar_step(w);
    ++n;
    if (w.rng().one_in(5)) others[w.rng().below(std::size(others))](w);
    if (n * products_a_program > products * scalars_a_program) product_step(w), ++products;
  }
  return w.finish();
}

}  // namespace palladion::random_program
