#include "frontend/sync/warps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/core/verbs.h"

namespace palladion::frontend {
namespace {

void check_mesh(const Recorder& r, const plgpu::WarpMesh& mesh, std::string_view verb) {
  if (r.warp)
    fail(Code::bad_warp, fmt::format("{} in warp-level code: warps do not fork again", verb),
         "leave the inner core_map away: the code inside runs in each warp already");
  const auto taken = [&](const Axis& a) { return !a.name.empty() && a.name == mesh.axis_name; };
  const MeshAxes& axes = r.mesh();
  if (std::ranges::any_of(axes.grid, taken) || std::ranges::any_of(axes.cluster, taken) || taken(axes.thread))
    fail(Code::duplicate_name,
         fmt::format("{}: the kernel has an axis named \"{}\" already", verb, mesh.axis_name),
         "choose another axis name for the mesh");
}

// All four warps execute it; what they did before is done.
void synchronize(Recorder& r) {
  if (r.options().auto_barriers)
    r.warpgroup_barrier();
  else
    r.emit("bar.warp.sync", {Operand::imm(-1)});
}

// While warp-level code is being recorded, also when that ends with an Error.
class WarpScope : Guard {
 public:
  WarpScope(Recorder& r, const std::string& axis) : recorder_(r) {
    recorder_.warp.emplace(axis, recorder_.last_instruction());
  }
  ~WarpScope() { recorder_.warp.reset(); }
  Recorder::WarpCode join() { return *std::exchange(recorder_.warp, std::nullopt); }

 private:
  Recorder& recorder_;
};

}  // namespace

void record_warps(const plgpu::WarpMesh& mesh, const std::function<void(const pl::Scalar&)>& body,
                  std::string_view verb) {
  Recorder& r = Recorder::current();
  check_mesh(r, mesh, verb);
  const pl::Scalar warp = pl::Scalar::from_register(pl::DType::s32, r.thread.warp_index(), true);
  synchronize(r);
  WarpScope scope(r, mesh.axis_name);
  {
    const Region region(r, verb);
    const UserCode user;
    body(warp);
  }
  const Recorder::WarpCode code = scope.join();
  synchronize(r);
  for (const auto& join : code.at_join) join();
}

}  // namespace palladion::frontend

namespace palladion::plgpu {

namespace {

// Recorded, but kept out of the body.
template <class Record>
std::vector<isa::Instruction> aside(Recorder& r, Record&& record) {
  auto& body = r.function().body;
  const auto first = static_cast<std::ptrdiff_t>(body.size());
  record();
  std::vector<isa::Instruction> out(std::make_move_iterator(body.begin() + first),
                                    std::make_move_iterator(body.end()));
  body.erase(body.begin() + first, body.end());
  return out;
}

}  // namespace

void BarrierRef::State::waits(Recorder& r) {
  if (!r.warp) {
    group_waits = true;
  } else if (joined_fork != r.warp->fork.index) {
    joined_fork = r.warp->fork.index;
    r.warp->at_join.emplace_back([this, &r, fork = r.warp->fork] { join_phases(r, fork); });
  }
}

// phases = those at the fork, with each bit changed that any warp changed.
void BarrierRef::State::join_phases(Recorder& r, Recorder::Mark fork) {
  const Operand before = r.reg(Type::b32), changed = r.reg(Type::b32);
  joins.emplace_back(fork, aside(r, [&] { r.emit("mov.b32", {before, phases}); }));
  const Recorder::Mark join = r.last_instruction();
  joins.emplace_back(join, aside(r, [&] {
                       r.emit("xor.b32", {changed, phases, before});
                       r.emit("mov.b32", {phases, before});
                       for (int64_t i = 0; i < count; ++i) {
                         const Operand bit = r.reg(Type::b32), mine = r.reg(Type::pred),
                                       any = r.reg(Type::pred), mask = Operand::imm(int64_t{1} << i);
                         r.emit("and.b32", {bit, changed, mask});
                         r.emit("setp.ne.s32", {mine, bit, Operand::imm(0)});
                         r.emit("bar.red.or.pred", {any, r.thread.named_barrier(), Operand::imm(128), mine});
                         r.emit("xor.b32", {phases, phases, mask}, any);
                       }
                     }));
}

}  // namespace palladion::plgpu
