#pragma once
// Runs a recorded kernel in the machine on host arrays of doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "frontend/plgpu.h"
#include "isa/arch/arch.h"
#include "isa/formats/tensor_map.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"
#include "report/text/finding_text.h"
#include "sim/machine.h"

namespace palladion::test {

using Values = std::vector<double>;

inline double decode(pl::DType d, uint64_t bits) {
  const auto small = [&](int e_bits, int m_bits, bool has_inf) {
    const bool negative = (bits >> (e_bits + m_bits) & 1) != 0;
    const auto e = static_cast<int>(bits >> m_bits & ((1u << e_bits) - 1));
    const auto m = static_cast<double>(bits & ((1u << m_bits) - 1));
    const int bias = (1 << (e_bits - 1)) - 1;
    double v = e == 0 ? std::ldexp(m, 1 - bias - m_bits) : std::ldexp(1.0 + std::ldexp(m, -m_bits), e - bias);
    if (has_inf && e == (1 << e_bits) - 1) v = m == 0 ? INFINITY : NAN;
    if (!has_inf && (bits & 0x7F) == 0x7F) v = NAN;
    return negative ? -v : v;
  };
  switch (d) {
    case pl::DType::f16:
      return small(5, 10, true);
    case pl::DType::bf16:
      return small(8, 7, true);
    case pl::DType::e4m3:
      return small(4, 3, false);
    case pl::DType::e5m2:
      return small(5, 2, true);
    case pl::DType::f32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case pl::DType::f64:
      return std::bit_cast<double>(bits);
    case pl::DType::s8:
      return static_cast<int8_t>(bits);
    case pl::DType::s16:
      return static_cast<int16_t>(bits);
    case pl::DType::s32:
      return static_cast<int32_t>(bits);
    case pl::DType::s64:
      return static_cast<double>(static_cast<int64_t>(bits));
    default:
      return static_cast<double>(bits);
  }
}

inline uint64_t encode(pl::DType d, double v) {
  if (pl::is_float(d)) return frontend::encode_float(d, v);
  return static_cast<uint64_t>(static_cast<int64_t>(v));
}

inline std::vector<uint8_t> to_bytes(const pl::ShapeDtype& type, const Values& values) {
  std::vector<uint8_t> out(static_cast<size_t>(type.bytes()));
  const size_t size = static_cast<size_t>(pl::bytes(type.dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = encode(type.dtype, values[i]);
    std::memcpy(out.data() + i * size, &bits, size);
  }
  return out;
}

inline Values to_values(const pl::ShapeDtype& type, const std::vector<uint8_t>& bytes) {
  Values out(static_cast<size_t>(pl::volume(type.shape)));
  const size_t size = static_cast<size_t>(pl::bytes(type.dtype));
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    out[i] = decode(type.dtype, bits);
  }
  return out;
}

struct Ran {
  std::vector<Values> outputs;
  sim::RunResult result;
};

inline Ran run(const plgpu::Kernel& kernel, const std::vector<Values>& inputs,
               const sim::Schedule& schedule = {}, const isa::ArchSpec& arch = isa::default_arch()) {
  const auto diagnostics = isa::verify(kernel.module, arch);
  EXPECT_TRUE(diagnostics.empty()) << isa::render(diagnostics) << isa::print(kernel.module);
  sim::Machine machine(arch);
  std::vector<std::vector<uint8_t>> arrays;
  for (size_t i = 0; i < inputs.size(); ++i) arrays.push_back(to_bytes(kernel.launch.inputs[i], inputs[i]));
  for (const auto& type : kernel.launch.outputs)
    arrays.emplace_back(static_cast<size_t>(type.bytes()), uint8_t{0xCD});
  for (const auto& [in, out] : kernel.launch.aliases)
    arrays[inputs.size() + static_cast<size_t>(out)] = arrays[static_cast<size_t>(in)];
  std::vector<sim::Address> bases;
  for (size_t i = 0; i < arrays.size(); ++i)
    bases.push_back(machine.memory().bind(arrays[i], "array " + std::to_string(i)));
  const isa::Function* entry = kernel.module.find_entry(kernel.launch.entry);
  const auto layout = isa::param_layout(kernel.module, *entry);
  sim::Launch launch{.module = &kernel.module,
                     .entry = kernel.launch.entry,
                     .grid = kernel.launch.grid,
                     .block = kernel.launch.block,
                     .cluster = kernel.launch.cluster,
                     .dynamic_shared = kernel.launch.dynamic_smem_bytes};
  launch.params.resize(layout.size);
  for (size_t i = 0; i < kernel.launch.params.size(); ++i) {
    uint8_t* to = launch.params.data() + layout.offsets[i];
    const auto& param = kernel.launch.params[i];
    if (const auto* p = std::get_if<plgpu::PointerParam>(&param)) {
      std::memcpy(to, &bases[static_cast<size_t>(p->array)], 8);
    } else if (const auto* t = std::get_if<plgpu::TensorMapParam>(&param)) {
      isa::TensorMap map = t->map;
      map.global_address += bases[static_cast<size_t>(t->array)];
      EXPECT_TRUE(isa::validate(map, machine.arch()).empty());
      const auto encoded = isa::encode(map);
      std::memcpy(to, encoded.bytes.data(), encoded.bytes.size());
    } else if (const auto* s = std::get_if<plgpu::ScalarParam>(&param)) {
      std::memcpy(to, &s->bits, static_cast<size_t>(pl::bytes(s->dtype)));
    } else {
      const sim::Address scratch = machine.memory().allocate(
          static_cast<uint64_t>(std::get<plgpu::ScratchParam>(param).bytes), "scratch");
      std::memcpy(to, &scratch, 8);
    }
  }
  Ran ran;
  sim::RunOptions options;
  options.schedule = schedule;
  ran.result = machine.run(launch, options);
  std::string why = isa::render(ran.result.errors);
  for (const auto& f : ran.result.findings) why += report::finding_text(f) + "\n";
  EXPECT_TRUE(ran.result.clean()) << why;
  for (size_t i = 0; i < kernel.launch.outputs.size(); ++i)
    ran.outputs.push_back(to_values(kernel.launch.outputs[i], arrays[inputs.size() + i]));
  return ran;
}

inline Values iota(int64_t n, double start = 0) {
  Values v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = start + static_cast<double>(i);
  return v;
}

// Small whole numbers: sums and products of them are exact in every format.
inline Values small_integers(int64_t n, uint32_t seed, int low = -4, int high = 4) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> pick(low, high);
  Values v(static_cast<size_t>(n));
  for (double& x : v) x = pick(random);
  return v;
}

inline Values uniform(int64_t n, uint32_t seed, double low, double high) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> pick(static_cast<float>(low), static_cast<float>(high));
  Values v(static_cast<size_t>(n));
  for (double& x : v) x = pick(random);
  return v;
}

// Of an array in SMEM: tiles of 8 rows of `swizzle` bytes; 16 means no swizzle.
inline plgpu::AllocationOptions tiles(int64_t swizzle, pl::DType d) {
  if (swizzle == 16) return {};
  return {
      .transforms = {plgpu::TilingTransform({8, swizzle / pl::bytes(d)}), plgpu::SwizzleTransform(swizzle)}};
}

}  // namespace palladion::test
