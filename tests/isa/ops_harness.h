// Runs one pure instruction over 32 lanes, named by its PTX words, on registers of chosen widths.
#pragma once

#include <gtest/gtest.h>

#include <cfenv>
#include <cstring>
#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/core/builder.h"
#include "isa/core/op.h"
#include "isa/num/formats.h"

namespace palladion::isa::test {

using Lanes = std::vector<uint64_t>;  // 32 values, or one mask

inline Type register_of(int width) {
  switch (width) {
    case 1:
      return Type::pred;
    case 8:
      return Type::b8;
    case 16:
      return Type::b16;
    case 64:
      return Type::b64;
    default:
      return Type::b32;
  }
}

// The lanes of one register as the machine holds them.
struct RegisterFile {
  alignas(64) uint8_t bytes[256] = {};
  int width = 32;

  void set(const Lanes& values) {
    if (width == 1) {
      const auto mask = static_cast<uint32_t>(values.at(0));
      std::memcpy(bytes, &mask, 4);
      return;
    }
    for (size_t i = 0; i < 32; ++i) std::memcpy(bytes + i * width / 8, &values.at(i), width / 8);
  }
  Lanes get() const {
    if (width == 1) {
      uint32_t mask = 0;
      std::memcpy(&mask, bytes, 4);
      return {mask};
    }
    Lanes values(32);
    for (size_t i = 0; i < 32; ++i) std::memcpy(&values[i], bytes + i * width / 8, width / 8);
    return values;
  }
};

// The form of words with so many operands, whatever they are.
inline Matched match_count(std::string_view mnemonic, size_t operands) {
  return match(mnemonic, std::vector<Operand>(operands));
}

class Bench {
 public:
  // Operand widths in bits, destinations first; 0: as the form says.
  explicit Bench(const std::string& mnemonic, std::vector<int> widths = {}, size_t operands = 0) {
    module_.functions.emplace_back();
    Builder builder(module_, module_.functions[0]);
    if (operands == 0) operands = widths.size();
    const Matched matched = match_count(mnemonic, operands == 0 ? first_count(mnemonic) : operands);
    if (matched.form == nullptr) {
      ADD_FAILURE() << mnemonic << ": " << matched.reason;
      return;
    }
    const size_t count = operands == 0 ? first_count(mnemonic) : operands;
    Instruction shape;
    shape.op = matched.op;
    shape.form = matched.form;
    shape.mods = matched.mods;
    std::vector<Operand> list;
    const bool without_pair = count < matched.form->operands.size();  // a second destination (d|p) left out
    for (const OperandDef& def : matched.form->operands) {
      if (list.size() == count || (without_pair && def.joined && def.optional)) continue;
      const size_t k = list.size();
      const int width = k < widths.size() && widths[k] != 0 ? widths[k] : width_of(shape, def);
      list.push_back(builder.reg(register_of(width)));
      list.back().joined = def.joined;
      auto& file = def.writes ? destinations : sources;
      file.emplace_back().width = width;
    }
    builder.emit(mnemonic, list);
    effect_ = isa::effect(module_.functions[0].body[0],
                          DecodeContext{module_, module_.functions[0], default_arch()});
    unit_ = timing(module_.functions[0].body[0]).unit;
    if (const auto* pure = std::get_if<Pure>(&effect_)) {
      fn_ = pure->fn;
      constant_ = pure->constant;
    }
  }

  std::vector<RegisterFile> destinations, sources;

  bool is_pure() const { return fn_ != nullptr; }
  const Effect& effect() const { return effect_; }
  Unit unit() const { return unit_; }

  Lanes run(uint32_t mask = ~0U) {
    if (fn_ == nullptr) {
      ADD_FAILURE() << "no function";
      return destinations[0].get();
    }
    fn_(arguments(mask));
    return destinations[0].get();
  }
  LaneArgs arguments(uint32_t mask = ~0U) {
    LaneArgs a{};
    for (size_t k = 0; k < destinations.size(); ++k) a.d[k] = destinations[k].bytes;
    size_t next = 0;
    if (constant_) a.s[next++] = &*constant_;
    for (const RegisterFile& source : sources) a.s[next++] = source.bytes;
    a.mask = mask;
    return a;
  }
  LanesFn fn() const { return fn_; }

 private:
  static size_t first_count(const std::string& mnemonic) {
    for (size_t n = 0; n <= 6; ++n)
      if (match_count(mnemonic, n).form != nullptr) return n;
    return 0;
  }
  static int width_of(const Instruction& shape, const OperandDef& def) {
    if (def.kind == OperandKind::predicate) return 1;
    const Type t = def.type_slot.empty() ? def.literal : shape.type(def.type_slot);
    return std::max(8, bits(t) * def.width_factor);
  }

  Module module_;
  Effect effect_;
  Unit unit_ = Unit::none;
  LanesFn fn_ = nullptr;
  std::optional<uint64_t> constant_;
};

// One lane's result; every lane computes the same.
inline uint64_t one_lane(const std::string& name, std::vector<uint64_t> operands) {
  Bench bench(name);
  for (size_t k = 0; k < operands.size(); ++k)
    bench.sources.at(k).set(Lanes(bench.sources[k].width == 1 ? 1 : 32, operands[k]));
  return bench.run()[7 % bench.destinations[0].get().size()];
}

__extension__ using i128 = __int128;

// The low bits of a value, as a register of that width holds them.
inline uint64_t in_register(i128 value, int width) {
  const auto low = static_cast<uint64_t>(value);
  return width == 64 ? low : low & ((uint64_t{1} << width) - 1);
}

template <class F>
double value_of(uint64_t b, bool ftz) {
  auto x = static_cast<num::bits_of<F>>(b);
  if (ftz) x = num::flush_subnormal<F>(x);
  return num::to_double<F>(x);
}

struct HostRounding {
  const char* word;
  int mode;
};
inline constexpr HostRounding host_roundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

}  // namespace palladion::isa::test
