#include "sim/clock/report/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "isa/formats/tcgen05_descriptor.h"
#include "sim/machine/exec/place.h"
#include "sim/program/compile/compile.h"

namespace palladion::sim {
namespace {

uint64_t total_of(const LineTime& line) {
  return std::accumulate(line.cycles.begin(), line.cycles.end(), uint64_t{0});
}

int bits_of(isa::Tcgen05Kind kind) {
  if (isa::is_mxf4(kind)) return 4;
  return kind == isa::Tcgen05Kind::f16 ? 16 : kind == isa::Tcgen05Kind::tf32 ? 32 : 8;
}

void add(WarpTime& to, const WarpTime& time) {
  to.warps |= time.warps;
  to.issued += time.issued;
  for (size_t i = 0; i < stall_count; ++i) to.cycles[i] += time.cycles[i];
}

void add(WarpTime& to, const LineTime& line) {
  to.warps |= line.warps;
  to.issued += line.issued;
  for (size_t i = 0; i < stall_count; ++i) to.cycles[i] += line.cycles[i];
}

// Instructions without a source stand alone, by their line of PTX, else by pc.
using LineKey = std::tuple<std::string, uint32_t, uint32_t>;
LineKey key_of(const Site& site, Pc pc) {
  if (site.source.known()) return {site.source.file, site.source.line, 0};
  return site.ptx_line != 0 ? LineKey{{}, 0, site.ptx_line} : LineKey{{}, 0, pc};
}

bool is_line(const isa::SourceLoc& a, const isa::SourceLoc& b) {
  return a.file == b.file && a.line == b.line;
}

// The lines around the one that is shown at which its function was inlined, each once.
std::vector<isa::SourceLoc> callers_of(const Site& site) {
  std::vector<isa::SourceLoc> out;
  bool is_around = false;
  for (const isa::Frame& frame : site.frames) {
    const auto is_this = [&](const isa::SourceLoc& loc) { return is_line(loc, frame.at); };
    if (is_around && frame.at.known() && !is_this(site.source) && std::ranges::none_of(out, is_this))
      out.push_back(frame.at);
    is_around |= is_this(site.source);
  }
  return out;
}

template <class Part>
void sort_by_cycles(std::vector<Part>& parts) {
  std::ranges::stable_sort(parts, std::greater{}, &Part::total);
}

class Lines {
 public:
  void take(const Program& program, const LineTime& line) {
    const Site site = site_at(program, line.pc, {}, {}, 0);
    Entry& e = entries_[key_of(site, line.pc)];
    add(e.line, line);
    for (const isa::SourceLoc& at : callers_of(site)) add(caller(e.line, at), line);
    if (const uint64_t cost = total_of(line); e.line.instruction.empty() || cost > e.costliest) {
      e.costliest = cost;
      e.line.source = site.source;
      e.line.ptx_line = site.ptx_line;
      e.line.instruction = site.instruction;
    }
  }
  std::vector<LineWhere> sorted() {
    std::vector<LineWhere> out;
    out.reserve(entries_.size());
    for (auto& [key, entry] : entries_) {
      sort_by_cycles(entry.line.callers);
      out.push_back(std::move(entry.line));
    }
    sort_by_cycles(out);
    return out;
  }

 private:
  struct Entry {
    LineWhere line;
    uint64_t costliest = 0;
  };
  static CallerWhere& caller(LineWhere& of, const isa::SourceLoc& at) {
    const auto known =
        std::ranges::find_if(of.callers, [&](const CallerWhere& c) { return is_line(c.at, at); });
    return known != of.callers.end() ? *known : of.callers.emplace_back(CallerWhere{{}, at});
  }
  std::map<LineKey, Entry> entries_;
};

// What copies of a family are called; empty: they say nothing about the warps that issue them.
std::string_view copies_of(const isa::Footprint& f) {
  using enum isa::AsyncFamily;
  const bool loads = f.signals_mbarrier();
  switch (f.writes_memory() ? f.async.family : none) {
    case cp_async:
      return "cp.async";
    case tensor:
      return loads ? "TMA loads" : "TMA stores";
    case bulk:
      return loads ? "bulk loads" : "bulk stores";
    case tcgen05:
      return "tcgen05.cp";
    case none:
    case remote_store:
    case deferred_arrival:
    case wgmma:
    case tcgen05_commit:
    case cluster_launch:
      return {};
  }
  return {};
}

// What an instruction says about the warps that execute it; empty: nothing.
std::string_view work_of(const isa::Footprint& f) {
  if (f.products != 0) return f.issues() ? "wgmma" : "mma";
  if (f.issues(isa::AsyncFamily::tcgen05) && f.reads(isa::Space::tensor)) return "tcgen05.mma";
  return copies_of(f);
}

// An atomic that is not certain to stay in shared memory.
bool modifies_global(const isa::Footprint& f) {
  return std::ranges::any_of(f.memory, [](const isa::MemoryUse& m) {
    return m.modifies() && (m.space == isa::Space::global || m.space == isa::Space::generic);
  });
}

// Of one warp instruction; a wgmma is issued by all warps of a warpgroup.
double flops_of(const isa::Footprint& f, const isa::ArchSpec& arch) {
  return 2.0 * f.products / (f.participants == isa::Participants::warpgroup ? arch.mma_warps : 1);
}

class Roles {
 public:
  void take(const Program& program, const LineTime& line) {
    if (line.warps == 0) return;
    Entry& e = entries_[line.warps];
    add(e.role, line);
    const std::string_view work = work_of(program.footprints[line.pc]);
    if (!work.empty() && line.issued != 0) e.operations.insert(work);
  }
  std::vector<RoleWhere> sorted() {
    std::vector<RoleWhere> out;
    for (auto& [warps, entry] : entries_) {
      for (const std::string_view work : entry.operations)
        entry.role.operations += (entry.role.operations.empty() ? "" : ", ") + std::string(work);
      out.push_back(std::move(entry.role));
    }
    sort_by_cycles(out);
    return out;
  }

 private:
  struct Entry {
    RoleWhere role;
    std::set<std::string_view> operations;
  };
  std::map<uint32_t, Entry> entries_;
};

}  // namespace

uint64_t WarpTime::total() const { return std::accumulate(cycles.begin(), cycles.end(), uint64_t{0}); }

std::vector<Stall> WarpTime::reasons() const {
  std::vector<Stall> out;
  for (size_t i = 0; i < stall_count; ++i)
    if (cycles[i] != 0 && static_cast<Stall>(i) != Stall::selected) out.push_back(static_cast<Stall>(i));
  std::ranges::stable_sort(out, std::greater{}, [&](Stall s) { return cycles[static_cast<size_t>(s)]; });
  return out;
}

Where where_time_went(const isa::Module& module, std::string_view entry, const isa::ArchSpec& arch,
                      const ClockReport& report) {
  Where out;
  const isa::Function* function = module.find_entry(entry);
  if (function == nullptr) return out;
  const auto program = compile(module, *function, arch, std::vector<uint64_t>(module.symbols.size(), 0));
  out.tensor_flops = 2.0 * static_cast<double>(report.counters.tcgen05_products);
  out.operand_bits = operand_bits_of(*program);
  out.atomics = std::ranges::any_of(program->footprints, modifies_global);
  Lines lines;
  Roles roles;
  for (const LineTime& line : report.lines) {
    if (line.pc >= program->code.size() || program->code[line.pc].instruction == nullptr) continue;
    out.warp_cycles += total_of(line);
    out.tensor_flops += flops_of(program->footprints[line.pc], arch) * static_cast<double>(line.issued);
    lines.take(*program, line);
    roles.take(*program, line);
  }
  out.lines = lines.sorted();
  out.roles = roles.sorted();
  return out;
}

int operand_bits_of(const Program& program) {
  int narrowest = 0;
  const auto take = [&](int bits) { narrowest = narrowest == 0 ? bits : std::min(narrowest, bits); };
  for (const MicroOp& op : program.code) {
    if (op.effect == nullptr) continue;
    if (const auto* w = std::get_if<isa::Wgmma>(op.effect)) take(isa::bits(w->a));
    if (const auto* m = std::get_if<isa::Mma>(op.effect)) take(isa::bits(m->a));
    if (const auto* t = std::get_if<isa::Tcgen05Mma>(op.effect)) take(bits_of(t->kind));
  }
  return narrowest;
}

double peak_tflops(const isa::ArchSpec& arch, const isa::ClockParameters& clock, int operand_bits) {
  // 16-bit multiplications of an SM in a cycle; tcgen05 takes a K of 32 bytes, so 16 of them, in all lanes.
  const double macs = arch.has_tcgen05() ? clock.tcgen05_columns_per_cycle * arch.tensor_lanes * 16
                                         : clock.wgmma_macs_per_cycle;
  return 2 * macs * 16 / operand_bits * arch.sm_count * clock.sm_clock * 1e-6;
}

std::optional<PipelineWaits> pipeline_waits(const Where& where) {
  const auto does = [](const RoleWhere& role, std::initializer_list<std::string_view> works) {
    return std::ranges::any_of(
        works, [&](std::string_view work) { return role.operations.find(work) != std::string::npos; });
  };
  PipelineWaits out;
  WarpTime consumers, producers;
  for (const RoleWhere& role : where.roles) {
    const bool multiplies = does(role, {"mma"}),
               fetches = does(role, {"TMA loads", "bulk loads", "cp.async"});
    if (multiplies && fetches) return std::nullopt;
    if (multiplies) add(consumers, role);
    if (fetches) add(producers, role);
  }
  if (consumers.total() == 0 || producers.total() == 0) return std::nullopt;
  const auto waits = [](const WarpTime& t) {
    return static_cast<double>(t.cycles[static_cast<size_t>(Stall::mbarrier)]) /
           static_cast<double>(t.total());
  };
  out.consumers = consumers.warps;
  out.producers = producers.warps;
  out.for_full = waits(consumers);
  out.for_free = waits(producers);
  uint64_t most = 0;
  for (const LineWhere& line : where.lines) {
    const uint64_t cycles = line.cycles[static_cast<size_t>(Stall::mbarrier)];
    if ((line.warps & consumers.warps) == 0 || cycles <= most) continue;
    most = cycles;
    out.line = line.source;
    out.ptx_line = line.ptx_line;
  }
  return out;
}

std::string warps_text(uint32_t warps, uint32_t of_cta) {
  const uint32_t all = of_cta >= 32 ? ~0U : (1U << of_cta) - 1;
  if (warps == all) return "all warps";
  std::string out;
  int runs = 0;
  for (uint32_t w = 0; w < 32; ++w) {
    if ((warps >> w & 1) == 0) continue;
    uint32_t last = w;
    while (last < 31 && (warps >> (last + 1) & 1) != 0) ++last;
    out += fmt::format("{}{}", runs++ == 0 ? "" : ", ", w);
    if (last != w) out += fmt::format("-{}", last);
    w = last;
  }
  const bool one = (warps & (warps - 1)) == 0;
  return fmt::format("warp{} {}", one ? "" : "s", out);
}

Resource critical(const ClockReport& report) {
  return static_cast<Resource>(std::ranges::max_element(report.busy) - report.busy.begin());
}

Stall longest_wait(const ClockReport& report) {
  WarpTime all;
  for (const LineTime& line : report.lines) add(all, line);
  const auto reasons = all.reasons();
  return reasons.empty() ? Stall::selected : reasons.front();
}

std::string limit_text(const ClockReport& report) {
  const Resource most = critical(report);
  const Stall wait = longest_wait(report);
  if (report.busy[static_cast<size_t>(most)] >= busy_enough || wait == Stall::selected)
    return std::string(name(most));
  return fmt::format("waiting: {}", name(wait));
}

}  // namespace palladion::sim
