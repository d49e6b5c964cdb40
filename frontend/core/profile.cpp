#include "frontend/core/profile.h"

#include <algorithm>
#include <cstring>

#include "frontend/core/recorder.h"

namespace palladion::frontend {
namespace {

// A warpgroup's part of the buffer: a header of 48 bytes {clock, time: u64} at the entry, the same at the
// end, {events, SM: u32}; then events of 16 bytes {clock, tag: u64}, where a tag is twice the scope, plus one
// at its exit.
constexpr int64_t header_bytes = 48, event_bytes = 16;

Operand special(Recorder& r, isa::Special s, int component = -1) {
  const Type type = s == isa::Special::clock64 || s == isa::Special::globaltimer ? Type::b64 : Type::b32;
  const Operand value = r.reg(type);
  r.emit(type == Type::b64 ? "mov.u64" : "mov.u32", {value, Operand::special_reg(s, component)});
  return value;
}

Operand computed(Recorder& r, std::string_view mnemonic, std::vector<Operand> sources, Type type) {
  const Operand value = r.reg(type);
  sources.insert(sources.begin(), value);
  r.emit(mnemonic, std::move(sources));
  return value;
}

// x + nx * (y + ny * z), as many warpgroups each, and this one's.
Operand part_of_buffer(Recorder& r) {
  using S = isa::Special;
  const Operand yz =
      computed(r, "mad.lo.s32", {special(r, S::ctaid, 2), special(r, S::nctaid, 1), special(r, S::ctaid, 1)},
               Type::b32);
  const Operand cta =
      computed(r, "mad.lo.s32", {yz, special(r, S::nctaid, 0), special(r, S::ctaid, 0)}, Type::b32);
  return computed(r, "mad.lo.s32", {cta, Operand::imm(r.thread_count()), r.thread.index()}, Type::b32);
}

}  // namespace

void ProfileEvents::store_times(Recorder& r, int64_t offset) {
  const Operand clock = special(r, isa::Special::clock64), time = special(r, isa::Special::globaltimer);
  r.emit("st.global.v2.u64", {Operand::address(part_, offset), Operand::vector({clock, time})}, r.elected());
}

void ProfileEvents::begin(Recorder& r) {
  const int64_t space = r.options().profile_space;
  if (space == 0) return;
  r.in_prologue([&] {
    const int64_t bytes = header_bytes + event_bytes * space;
    const Operand base = r.params.profile_pointer();
    part_ = computed(r, "mad.wide.s32", {part_of_buffer(r), Operand::imm(bytes), base}, Type::b64);
    next_ = computed(r, "add.s64", {part_, Operand::imm(header_bytes)}, Type::b64);
    end_ = computed(r, "add.s64", {part_, Operand::imm(bytes)}, Type::b64);
    store_times(r, 0);
  });
}

void ProfileEvents::end(Recorder& r) {
  if (!recorded()) return;
  store_times(r, 16);
  const Operand used = computed(r, "sub.s64", {next_, part_}, Type::b64);
  const Operand low = computed(r, "cvt.u32.u64", {used}, Type::b32);
  const Operand bytes = computed(r, "sub.s32", {low, Operand::imm(header_bytes)}, Type::b32);
  const Operand events = computed(r, "shr.u32", {bytes, Operand::imm(4)}, Type::b32);
  const Operand sm = special(r, isa::Special::smid);
  r.emit("st.global.v2.u32", {Operand::address(part_, 32), Operand::vector({events, sm})}, r.elected());
}

void ProfileEvents::scope(Recorder& r, const std::string& name, bool exit) {
  if (name.empty())
    fail(Code::bad_scope, "a profile_scope has no name", "give the name under which the timeline shows it");
  if (!recorded()) return;
  if (r.warp)
    unsupported("a profile_scope in warp-level code (plgpu::TraceScope::WARP)",
                "put the scope around warp_map");
  const auto known = std::ranges::find(scopes_, name);
  const auto number = known - scopes_.begin();
  if (known == scopes_.end()) scopes_.push_back(name);
  const Operand clock = special(r, isa::Special::clock64);
  const Operand room = computed(r, "setp.lt.u64", {next_, end_}, Type::pred);
  const Operand writes = computed(r, "and.pred", {room, r.elected()}, Type::pred);
  const Operand tag = computed(r, "mov.u64", {Operand::imm(2 * number + (exit ? 1 : 0))}, Type::b64);
  r.emit("st.global.v2.u64", {Operand::address(next_, 0), Operand::vector({clock, tag})}, writes);
  r.emit("add.s64", {next_, next_, Operand::imm(event_bytes)});
}

void record_scope_event(const std::string& name, bool exit) {
  Recorder& r = Recorder::current();
  r.profile.scope(r, name, exit);
}

void run_user_code(const std::function<void()>& body) {
  const UserCode user;
  body();
}

}  // namespace palladion::frontend

namespace palladion::plgpu {

std::vector<ProfiledWarpgroup> read_profile(const Profile& profile, std::span<const std::byte> buffer) {
  const auto part = static_cast<size_t>(profile.bytes_per_warpgroup());
  const auto word = [&](size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, buffer.data() + at, sizeof value);
    return value;
  };
  std::vector<ProfiledWarpgroup> out;
  for (size_t i = 0; (i + 1) * part <= buffer.size(); ++i) {
    const size_t at = i * part;
    ProfiledWarpgroup w{.cta = i / profile.warpgroups,
                        .warpgroup = static_cast<uint32_t>(i % profile.warpgroups)};
    const auto recorded = static_cast<uint32_t>(word(at + 32));
    w.sm = static_cast<uint32_t>(word(at + 32) >> 32);
    w.clock_start = word(at), w.time_start = word(at + 8);
    w.clock_end = word(at + 16), w.time_end = word(at + 24);
    if (w.clock_end == 0) continue;
    const uint64_t kept = std::min<uint64_t>(recorded, static_cast<uint64_t>(profile.space));
    w.lost = recorded - kept;
    for (uint64_t e = 0; e < kept; ++e) {
      const uint64_t clock = word(at + 48 + 16 * e), tag = word(at + 56 + 16 * e);
      if (tag / 2 < profile.scopes.size())
        w.events.push_back({static_cast<uint32_t>(tag / 2), tag % 2 != 0, clock});
    }
    out.push_back(std::move(w));
  }
  return out;
}

}  // namespace palladion::plgpu
