#include "zoo/ptx_text.h"

#include <fmt/format.h>

#include "isa/core/diagnostic.h"

namespace palladion::zoo {

std::string entry_text(std::string_view shared, std::string_view body, std::string_view directives) {
  return fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
{}
.visible .entry zoo(.param .u64 src, .param .u64 dst) {}
{{
  .reg .pred %p<8>;
  .reg .b32 %r<24>, %t, %lane, %warp;
  .reg .b64 %rd<16>, %src, %dst;
  .reg .f32 %f<16>;
  ld.param.u64 %src, [src];
  ld.param.u64 %dst, [dst];
  cvta.to.global.u64 %src, %src;
  cvta.to.global.u64 %dst, %dst;
  mov.u32 %t, %tid.x;
  and.b32 %lane, %t, 31;
  shr.u32 %warp, %t, 5;
{}
  ret;
}}
)",
                     shared, directives, body);
}

Pair floats_pair(PtxPair pair, int64_t in, int64_t out) {
  const pl::ShapeDtype from{pl::f32, {in}}, to{pl::f32, {out}};
  pair.buffers = {{"src", Role::in, from, filled(from, {.kind = Fill::Kind::iota})},
                  {"dst", Role::out, to, {}}};
  pair.params = {PointerValue{0}, PointerValue{1}};
  return ptx_pair(std::move(pair));
}

// Where the line starts that holds `line`, as its beginning after the indent.
size_t Varied::find(std::string_view line) const {
  const std::string key = "\n  " + std::string(line);
  const size_t at = text_.find(key);
  PLD_CHECK(at != std::string::npos && text_.find(key, at + 1) == std::string::npos, line);
  return at + 1;
}

namespace {
std::string broken_lines(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    out += fmt::format("  {}  //! broken\n", lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}
}  // namespace

Varied& Varied::breaks(std::string_view line, std::string_view broken) {
  const size_t at = find(line), end = text_.find('\n', at);
  text_.insert(end, "  //! good");
  text_.insert(text_.find('\n', at) + 1, broken_lines(broken));
  return *this;
}

Varied& Varied::adds_before(std::string_view line, std::string_view broken) {
  text_.insert(find(line), broken_lines(broken));
  return *this;
}

Varied& Varied::mark(std::string_view line, int number) {
  const size_t at = find(line), end = text_.find('\n', at), twin = text_.find("  //!", at);
  text_.insert(std::min(end, twin), fmt::format("  // @{}", number));
  return *this;
}

std::string ring_text() {
  return entry_text(R"(.shared .align 8 .b64 full[2];
.shared .align 8 .b64 empty[2];
.shared .align 128 .f32 ring[128];)",
                    R"(  .reg .b32 %k, %slot, %parity, %full_at, %empty_at, %tile;
  .reg .b64 %from, %to;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  mbarrier.init.shared::cta.b64 [empty], 64;
  mbarrier.init.shared::cta.b64 [empty+8], 64;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  mov.u32 %k, 0;
  setp.ne.u32 %p0, %warp, 0;
  @%p0 bra consumer;
  setp.ne.u32 %p0, %lane, 0;
  @%p0 bra done;
  mov.u64 %from, %src;
produce:
  and.b32 %slot, %k, 1;
  mov.u32 %r0, full;
  mad.lo.u32 %full_at, %slot, 8, %r0;
  mov.u32 %r0, empty;
  mad.lo.u32 %empty_at, %slot, 8, %r0;
  mov.u32 %r0, ring;
  mad.lo.u32 %tile, %slot, 256, %r0;
  shr.u32 %parity, %k, 1;
  and.b32 %parity, %parity, 1;
  xor.b32 %parity, %parity, 1;
until_empty:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%empty_at], %parity;
  @!%p1 bra until_empty;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full_at], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%from], 256, [%full_at];
  add.u64 %from, %from, 256;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p2, %k, 6;
  @%p2 bra produce;
  bra done;
consumer:
  sub.u32 %t, %t, 32;
  mul.wide.u32 %to, %t, 4;
  add.u64 %to, %to, %dst;
consume:
  and.b32 %slot, %k, 1;
  mov.u32 %r1, full;
  mad.lo.u32 %full_at, %slot, 8, %r1;
  mov.u32 %r1, empty;
  mad.lo.u32 %empty_at, %slot, 8, %r1;
  mov.u32 %r1, ring;
  mad.lo.u32 %tile, %slot, 256, %r1;
  mad.lo.u32 %tile, %t, 4, %tile;
  shr.u32 %r2, %k, 1;
  and.b32 %r2, %r2, 1;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%full_at], %r2;
  @!%p1 bra until_full;
  ld.shared.f32 %f0, [%tile];
  fence.proxy.async.shared::cta;
  mbarrier.arrive.shared::cta.b64 _, [%empty_at];
  st.global.f32 [%to], %f0;
  add.u64 %to, %to, 256;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, 6;
  @%p0 bra consume;
done:)");
}

std::string prefetch_text() {
  return entry_text(R"(.shared .align 8 .b64 full[2];
.shared .align 128 .f32 tiles[128];)",
                    R"(  .reg .b32 %k, %slot, %parity, %full_at, %tile;
  .reg .b64 %from, %to;
  setp.ne.u32 %p0, %t, 0;
  mul.wide.u32 %to, %t, 4;
  add.u64 %to, %to, %dst;
  mov.u64 %from, %src;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  mov.u32 %k, 0;
fetch:
  and.b32 %slot, %k, 1;
  mov.u32 %r0, full;
  mad.lo.u32 %full_at, %slot, 8, %r0;
  mov.u32 %r0, tiles;
  mad.lo.u32 %tile, %slot, 256, %r0;
  @%p0 bra fetched;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full_at], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%from], 256, [%full_at];
fetched:
  add.u64 %from, %from, 256;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p2, %k, 2;
  @%p2 bra fetch;
  bar.sync 0;
next:
  sub.u32 %r1, %k, 2;
  and.b32 %slot, %r1, 1;
  mov.u32 %r0, full;
  mad.lo.u32 %full_at, %slot, 8, %r0;
  mov.u32 %r0, tiles;
  mad.lo.u32 %tile, %slot, 256, %r0;
  mad.lo.u32 %r2, %t, 4, %tile;
  shr.u32 %parity, %r1, 1;
  and.b32 %parity, %parity, 1;
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%full_at], %parity;
  @!%p1 bra until_full;
  ld.shared.f32 %f0, [%r2];
  fence.proxy.async.shared::cta;
  bar.sync 0;
  st.global.f32 [%to], %f0;
  add.u64 %to, %to, 256;
  setp.lt.u32 %p2, %k, 6;
  @!%p2 bra refilled;
  @%p0 bra refilled;
  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%full_at], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%from], 256, [%full_at];
refilled:
  add.u64 %from, %from, 256;
  add.u32 %k, %k, 1;
  setp.lt.u32 %p2, %k, 8;
  @%p2 bra next;)");
}

std::string load_text() {
  return entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[64];)",
                    R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  @%p0 bra until_full;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%src], 256, [full];
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];
  add.f32 %f0, %f0, %f0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %rd0, %dst;
  st.global.f32 [%rd0], %f0;)");
}

std::string two_loads_text() {
  return entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 a[64];
.shared .align 128 .f32 b[64];)",
                    R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  @%p0 bra until_full;
  add.u64 %rd0, %src, 256;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [%src], 256, [full];
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [b], [%rd0], 256, [full];
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  shl.b32 %r0, %t, 2;
  mov.u32 %r1, a;
  add.u32 %r1, %r1, %r0;
  ld.shared.f32 %f0, [%r1];
  mov.u32 %r1, b;
  add.u32 %r1, %r1, %r0;
  ld.shared.f32 %f1, [%r1];
  add.f32 %f0, %f0, %f1;
  mul.wide.u32 %rd1, %t, 4;
  add.u64 %rd1, %rd1, %dst;
  st.global.f32 [%rd1], %f0;)");
}

}  // namespace palladion::zoo
