#include "report/run/lowered_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "isa/text/print.h"

namespace palladion::report {
namespace {

using isa::Unit;
using sim::sass::Gather;
using sim::sass::LoweredInstruction;

constexpr std::array<std::string_view, 11> units{"-",   "ALU",     "FMA",  "FP64", "MUFU",  "branch",
                                                 "LSU", "uniform", "sync", "TMA",  "tensor"};
std::string_view name(Unit unit) { return units[static_cast<size_t>(unit)]; }

constexpr std::array<std::string_view, 5> gathers{
    "", "lanes are added up already", "lanes are counted, one adds", "lanes are added up by REDUX",
    "lanes are added up by SHFL"};
std::string_view name(Gather gather) { return gathers[static_cast<size_t>(gather)]; }

// The remarks on an instruction, with commas.
std::string remarks_of(const LoweredInstruction& l, uint32_t product) {
  std::vector<std::string> all;
  if (product != sim::sass::no_pc) all.push_back(fmt::format("fma with the product ({})", product));
  const auto say = [&](bool holds, std::string_view what) {
    if (holds) all.emplace_back(what);
  };
  if (l.is_folded() && l.into != sim::sass::no_pc)
    all.push_back(fmt::format("{} ({})", name(l.fold), l.into));
  else
    say(l.is_folded(), name(l.fold));
  if (l.scoreboard != 0) all.push_back(fmt::format("scoreboard {}", l.scoreboard));
  say(l.gather != Gather::none, name(l.gather));
  say(l.loops, "a loop around a compare-and-swap");
  say(l.halves == 2, "half by half");
  say(l.releases, "behind a fence");
  say(l.early && !l.is_folded(), "early in its block");
  say(l.unrolled, "loop unrolled by four");
  say(l.spins, "spins");
  return fmt::format("{}", fmt::join(all, ", "));
}

class LoweredText {
 public:
  LoweredText(const sim::Program& program, const sim::sass::Lowered& lowered)
      : program_(program), lowered_(lowered), products_(program.code.size(), sim::sass::no_pc) {
    for (const sim::Contracted& c : program.contracted) products_[c.sum] = c.product;
    for (uint32_t f = 0; f < program.function_start.size(); ++f) {
      if (program.function_start[f] == isa::no_id) continue;
      for (const isa::Label& l : program.module->functions[f].labels)
        if (l.target != isa::no_id) labels_.emplace_back(program.function_start[f] + l.target, l.name);
    }
    std::ranges::stable_sort(labels_, {}, &std::pair<uint32_t, std::string_view>::first);
  }

  std::string run() {
    out_ = fmt::format("{:>5}  {:>5}  {:<7}  {:<32}  {}\n", "pc", "slots", "unit", "lowering", "PTX");
    for (const sim::MicroOp& op : program_.code) line(op);
    totals();
    return std::move(out_);
  }

 private:
  const isa::Function& function_of(const sim::MicroOp& op) const {
    return program_.module->functions[op.function];
  }

  void line(const sim::MicroOp& op) {
    const uint32_t first = program_.function_start[op.function];
    if (op.pc == first) out_ += fmt::format("{}:\n", function_of(op).name);
    for (; next_label_ < labels_.size() && labels_[next_label_].first <= op.pc; ++next_label_)
      out_ += fmt::format("{:>55}{}:\n", "", labels_[next_label_].second);
    if (op.instruction == nullptr) return;
    const LoweredInstruction& l = lowered_.code[op.pc];
    ++count_;
    folded_ += l.is_folded() ? 1 : 0;
    slots_[static_cast<size_t>(l.pipe)] += l.slots;
    const std::string slots = l.is_folded() ? "-" : fmt::format("{}", l.slots);
    out_ += fmt::format("{:>5}  {:>5}  {:<7}  {:<32}  {}\n", op.pc, slots, l.is_folded() ? "" : name(l.pipe),
                        remarks_of(l, products_[op.pc]),
                        isa::print(*program_.module, function_of(op), *op.instruction));
  }

  void totals() {
    uint32_t all = 0;
    std::vector<std::string> by_unit;
    for (size_t u = 0; u < slots_.size(); ++u) {
      all += slots_[u];
      if (slots_[u] != 0) by_unit.push_back(fmt::format("{} {}", units[u], slots_[u]));
    }
    out_ += fmt::format("\nregisters   {} a thread (an estimate)\n", lowered_.thread_registers);
    out_ += fmt::format("issue slots {} for {} instructions of PTX, of which {} fold away\n", all, count_,
                        folded_);
    if (const uint32_t sums = program_.sums_across_passes; sums != 0)
      out_ += fmt::format(
          "contraction {} sums not decided: of products of an earlier pass, if ptxas unrolls\n", sums);
    out_ += fmt::format("by unit     {}\n", fmt::join(by_unit, ", "));
  }

  const sim::Program& program_;
  const sim::sass::Lowered& lowered_;
  std::vector<uint32_t> products_;                             // that a sum takes in, by pc
  std::vector<std::pair<uint32_t, std::string_view>> labels_;  // by pc
  size_t next_label_ = 0;
  std::string out_;
  uint32_t count_ = 0, folded_ = 0;
  std::array<uint32_t, units.size()> slots_{};
};

}  // namespace

std::string lowered_text(const sim::Program& program, const sim::sass::Lowered& lowered) {
  return LoweredText(program, lowered).run();
}

}  // namespace palladion::report
