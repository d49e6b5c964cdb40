#include "bench/device/micro_text.h"

#include <fmt/format.h>

namespace palladion::bench {
namespace {

const char* const head = R"(.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 window[];
.visible .entry micro(.param .u64 p_out, .param .u32 p_n, .param .u64 p_data, .param .align 64 .b8 p_map[128]) <directives> {
.reg .b32 %x<128>; .reg .b32 %c<8>; .reg .f32 %f<260>; .reg .f32 %g<8>; .reg .b64 %q<64>; .reg .b64 %k<8>;
.reg .b16 %h<32>; .reg .f64 %d<16>; .reg .f64 %m<2>; .reg .pred %p<16>; .reg .b64 %e<2>;
.reg .b32 %n, %s, %me, %lane, %warp, %cta, %i, %sink, %t<8>; .reg .b64 %out, %data, %map, %samples, %u<12>; .reg .pred %z<4>;
ld.param.u64 %out, [p_out]; ld.param.u32 %n, [p_n]; ld.param.u64 %data, [p_data];
mov.b64 %map, p_map; cvta.param.u64 %map, %map;
mov.u32 %s, window; mov.u32 %me, %tid.x; mov.u32 %lane, %laneid; mov.u32 %cta, %ctaid.x;
shr.u32 %t0, %me, 5; shfl.sync.idx.b32 %warp, %t0, 0, 31, -1;
mov.b64 %e0, 0; mov.b64 %e1, 0;
)";

bool names(const std::string& text, const std::string& reg) { return text.find(reg) != std::string::npos; }

// The values differ from lane to lane and are unknown to the compiler. Only those that `rest` names:
// ptxas would leave out the others, the machine would not.
std::string constants(const std::string& rest) {
  const bool doubles = names(rest, "%m0") || names(rest, "%m1");
  std::string out;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    const bool as_float = names(rest, "%g" + n) || (doubles && i < 2);
    if (as_float || names(rest, "%c" + n))
      out += fill("ld.global.u32 %c<i>, [%u0+<o>];\n", {{"i", n}, {"o", std::to_string(4 * i)}});
    if (as_float)
      out += fill("and.b32 %t0, %c<i>, 0x7fffff; or.b32 %t0, %t0, 0x3f000000; mov.b32 %g<i>, %t0;\n",
                  {{"i", n}});
    if (i < 4 && names(rest, "%k" + n))
      out += fill("ld.global.u64 %k<i>, [%u0+<o>];\n", {{"i", n}, {"o", std::to_string(32 + 8 * i)}});
  }
  if (doubles) out += "cvt.f64.f32 %m0, %g0; cvt.f64.f32 %m1, %g1;\n";
  return out.empty() ? out : "mul.wide.u32 %u0, %lane, 64; add.u64 %u0, %u0, %data;\n" + out;
}

const char* const place_of_samples =
    "mov.u32 %t0, %nctaid.x; mov.u32 %t1, %ntid.x; add.u32 %t1, %t1, 31; shr.u32 %t1, %t1, 5; mul.lo.u32 "
    "%t0, %t0, "
    "%t1;\nmul.wide.u32 %samples, %t0, 64; add.u64 %samples, %samples, %out; add.u64 %samples, %samples, "
    "256;\n";

// All CTAs count up and wait for the last.
const char* const meet = R"(bar.sync 0;
setp.ne.u32 %z0, %me, 0;
@%z0 bra $met;
mov.u32 %t1, %nctaid.x;
red.release.gpu.global.add.u32 [%out], 1;
$meeting: ld.acquire.gpu.global.u32 %t2, [%out];
setp.lt.u32 %z1, %t2, %t1;
@%z1 bra $meeting;
$met: bar.sync 0;
)";

const char* const cluster_meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

const char* const stamp = R"(
mov.u32 %t3, %ntid.x; add.u32 %t3, %t3, 31; shr.u32 %t3, %t3, 5;
mad.lo.u32 %t1, %cta, %t3, %warp;
mul.wide.u32 %u8, %t1, 64; add.u64 %u8, %u8, %out;
mov.u32 %t2, %smid; cvt.u64.u32 %u6, %t2; cvt.u64.u32 %u7, %sink;
setp.ne.u32 %z0, %lane, 0;
@%z0 bra $stamped<r>;
st.global.v2.u64 [%u8+256], {%u2, %u3}; st.global.v2.u64 [%u8+272], {%u7, %u6};
st.global.v2.u64 [%u8+288], {%u4, %u5}; st.global.v2.u64 [%u8+304], {%e0, %e1};
$stamped<r>:
)";

const char* const counted_loop = R"(setp.eq.u32 %z2, %n, 0;
@%z2 bra $done<r>;
$again<r>:
<body>
add.u32 %i, %i, 1;
setp.lt.u32 %z2, %i, %n;
@%z2 bra $again<r>;
$done<r>:
)";

const char* const background_loop = R"($again<r>:
<body>
add.u32 %i, %i, 1;
ld.volatile.shared.u32 %t2, [%s+<flag>];
setp.eq.u32 %z2, %t2, 0;
@%z2 bra $again<r>;
cvt.u64.u32 %e0, %i;
)";

std::string timed_loop(const Part& part, const std::string& r) {
  std::string out = "mov.u32 %i, 0;\n";
  if (part.timed) out += "mov.u64 %u4, %globaltimer;\nmov.u64 %u2, %clock64;\n";
  if (!part.body.empty())
    out += fill(part.background ? background_loop : counted_loop,
                {{"r", r}, {"body", part.body}, {"flag", std::to_string(stop_flag)}});
  out += part.drain + "\n";
  if (part.timed) out += "mov.u64 %u3, %clock64;\nmov.u64 %u5, %globaltimer;\n";
  return out;
}

std::string text(const Part& part, int index, bool stops) {
  const std::string r = std::to_string(index);
  std::string out = fmt::format("setp.lt.u32 %z0, %warp, {};\n@%z0 bra $skip{};\n", part.first_warp, r);
  out += fmt::format("setp.ge.u32 %z0, %warp, {};\n@%z0 bra $skip{};\n", part.first_warp + part.warps, r);
  out += part.before + "\n" + timed_loop(part, r);
  if (stops) out += fmt::format("mov.u32 %t2, 1; st.volatile.shared.u32 [%s+{}], %t2;\n", stop_flag);
  out += part.after + "\nmov.u32 %sink, 0;\n";
  for (const std::string& reg : part.use) out += "xor.b32 %sink, %sink, " + reg + ";\n";
  if (part.timed) out += fill(stamp, {{"r", r}});
  return out + "$skip" + r + ":\n";
}

}  // namespace

std::string fill(std::string text, std::initializer_list<std::pair<std::string, std::string>> values) {
  for (const auto& [key, value] : values) {
    const std::string mark = "<" + key + ">";
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::string repeat(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fill(text, {{"i", std::to_string(i)}}) + "\n";
  return out;
}

std::string text(const KernelText& kernel) {
  bool background = false;
  for (const Part& part : kernel.parts) background |= part.background;
  std::string rest = kernel.prologue + "\nbar.sync 0;\n";
  if (background)
    rest += fmt::format("mov.u32 %t2, 0; st.volatile.shared.u32 [%s+{}], %t2;\nbar.sync 0;\n", stop_flag);
  if (kernel.clusters) rest += cluster_meet;
  if (kernel.chip_wide) rest += meet;
  for (size_t i = 0; i < kernel.parts.size(); ++i)
    rest += text(kernel.parts[i], int(i), background && i == 0);
  if (kernel.clusters) rest += cluster_meet;
  std::string out = fill(head, {{"directives", kernel.directives}}) + kernel.declarations + "\n";
  if (names(rest, "%samples")) out += place_of_samples;
  return out + constants(rest) + rest + "ret;\n}\n";
}

}  // namespace palladion::bench
