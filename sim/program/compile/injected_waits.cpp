#include "sim/program/compile/injected_waits.h"

#include <algorithm>
#include <map>

#include "sim/program/products.h"
#include "sim/program/registers.h"

namespace palladion::sim {
namespace {

// By register: numbers of the wgmmas that accumulate there.
std::map<uint32_t, std::vector<uint32_t>> accumulating(const Program& program, const ProductFlow& flow) {
  std::map<uint32_t, std::vector<uint32_t>> writers;
  for (uint32_t k = 0; k < flow.products().size(); ++k) {
    const uint32_t i = flow.products()[k];
    for_each_register(program, flow.op(i), [&](const RegisterUse& use) {
      if (use.operand == flow.wgmma(i)->acc) writers[use.reg].push_back(k);
    });
  }
  return writers;
}

void place_waits(Program& program, uint32_t function) {
  const ProductFlow flow(program, function);
  if (flow.products().empty()) return;
  const auto writers = accumulating(program, flow);
  flow.for_each([&](uint32_t i, const std::vector<uint32_t>& flying) {
    if (flow.wgmma(i) != nullptr || flying.empty()) return;
    InjectedWait wait;
    for_each_register(program, flow.op(i), [&](const RegisterUse& use) {
      const auto of = writers.find(use.reg);
      if (of == writers.end()) return;
      for (const uint32_t k : of->second)
        if (std::ranges::binary_search(flying, k)) wait.products.push_back(flow.op(flow.products()[k]).pc);
    });
    if (wait.products.empty()) return;
    std::ranges::sort(wait.products);
    program.injected_waits.emplace(flow.op(i).pc, std::move(wait));
  });
}

}  // namespace

void place_injected_waits(Program& program) {
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id) place_waits(program, f);
}

}  // namespace palladion::sim
