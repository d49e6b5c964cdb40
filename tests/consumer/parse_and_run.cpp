#include <palladion/isa/parse.h>
#include <palladion/isa/print.h>
#include <palladion/isa/verify.h>

#include <cstdio>

namespace isa = palladion::isa;

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
  std::fputs(isa::print(*module).c_str(), stdout);
  return complaints.empty() && module->find_entry("store_tid") != nullptr ? 0 : 1;
}
