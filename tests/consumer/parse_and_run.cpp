// Foreign PTX in the machine: what a program links that needs nothing else.
#include <palladion/isa/text/parse.h>
#include <palladion/isa/verify/verify.h>
#include <palladion/report/text/finding_text.h>
#include <palladion/sim/machine.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace isa = palladion::isa;
namespace report = palladion::report;
namespace sim = palladion::sim;

constexpr const char* ptx = R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry store_tid(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
)";

int main() {
  const auto module = isa::parse(ptx, "store_tid.ptx");
  if (!module) {
    std::fputs(isa::render(module.error(), ptx).c_str(), stderr);
    return 1;
  }
  const auto complaints = isa::verify(*module);
  std::fputs(isa::render(complaints, ptx).c_str(), stderr);

  std::vector<uint32_t> out(64, ~0U);
  sim::Machine machine(*isa::find_arch("h200"));
  const uint64_t address =
      machine.memory().bind({reinterpret_cast<uint8_t*>(out.data()), out.size() * 4}, "out");
  sim::Launch launch;
  launch.module = &*module;
  launch.block = {64, 1, 1};
  launch.params.resize(8);
  std::memcpy(launch.params.data(), &address, 8);
  const sim::RunResult result = machine.run(launch);
  for (const sim::Finding& f : result.findings) std::fputs(report::finding_text(f).c_str(), stderr);
  for (uint32_t i = 0; i < out.size(); ++i)
    if (out[i] != i) return 1;
  return complaints.empty() && result.clean() ? 0 : 1;
}
