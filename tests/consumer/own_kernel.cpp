// A kernel of one's own, recorded and run.
#include <palladion/frontend/plgpu.h>
#include <palladion/verify/launch/runner.h>

#include <cstdio>

namespace pl = palladion::pl;
namespace plgpu = palladion::plgpu;

int main() {
  const pl::ShapeDtype type{pl::f32, {4096}};
  const plgpu::Kernel add = plgpu::kernel(
      [](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& out) {
        const auto tile = pl::ds(pl::program_id(0) * 1024, 1024);
        out.at(tile).store(a.at(tile).load() + b.at(tile).load());
      },
      {.in_types = {type, type}, .out_type = type, .grid = {4}, .name = "add"});

  palladion::sim::Machine machine(*palladion::isa::find_arch("h200"));
  const palladion::Array iota = palladion::filled(type, {.kind = palladion::Fill::Kind::iota});
  const palladion::SimOutcome outcome = palladion::run(add, {iota, iota}, machine);
  if (!outcome.result.clean()) return 1;
  for (int64_t i = 0; i < 4096; ++i)
    if (value_at(outcome.outputs[0], i) != 2.0 * static_cast<double>(i)) return 1;
  std::puts("4096 sums are right");
  return 0;
}
