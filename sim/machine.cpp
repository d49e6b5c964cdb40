#include "sim/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "isa/verify/verify.h"
#include "sim/schedule/deadlock_spin.h"
#include "sim/sass/pressure.h"
#include "sim/machine/exec/values.h"
#include "sim/schedule/cluster_runner.h"
#include "sim/clock/grid/grid.h"
#include "sim/schedule/results.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::sim {
namespace {

constexpr uint64_t quantum = 1 << 22;       // warp instructions of one cluster between two edges
constexpr uint64_t spin_quantum = 1 << 16;  // the same once nothing has changed for a whole quantum
// Spins that count or look at clocks never repeat a state, and neither does a long walk through strong loads:
// after so many edges without a change a run is called stuck all the same.
constexpr uint32_t stuck_edges = 1 << 20;

void refuse(RunResult& r, std::string code, std::string message, std::string help = {}) {
  isa::Diagnostic d;
  d.code = std::move(code);
  d.message = std::move(message);
  d.help = std::move(help);
  r.errors.push_back(std::move(d));
}

bool divides(const isa::Dim3& part, const isa::Dim3& whole) {
  return part.x != 0 && part.y != 0 && part.z != 0 && whole.x % part.x == 0 && whole.y % part.y == 0 &&
         whole.z % part.z == 0;
}

void check_shape(const isa::ArchSpec& arch, const Launch& l, const isa::Function& entry, RunResult& r) {
  const auto threads = l.block.count();
  if (threads == 0 || threads > static_cast<uint64_t>(arch.max_threads_per_cta))
    refuse(r, "PLD3101",
           fmt::format("a block of {} threads: must be 1 to {}", threads, arch.max_threads_per_cta));
  if (l.grid.count() == 0) refuse(r, "PLD3102", "the grid is empty");
  if (!divides(l.cluster, l.grid))
    refuse(r, "PLD3103",
           fmt::format("a grid of {}x{}x{} is not a multiple of the cluster {}x{}x{}", l.grid.x, l.grid.y,
                       l.grid.z, l.cluster.x, l.cluster.y, l.cluster.z));
  if (l.cluster.count() > static_cast<uint64_t>(arch.max_cluster))
    refuse(r, "PLD3104",
           fmt::format("a cluster of {} CTAs: at most {}", l.cluster.count(), arch.max_cluster));
  if (entry.reqntid && !(*entry.reqntid == l.block))
    refuse(
        r, "PLD3105",
        fmt::format("the kernel requires a block of {}x{}x{} (.reqntid), the launch says {}x{}x{}",
                    entry.reqntid->x, entry.reqntid->y, entry.reqntid->z, l.block.x, l.block.y, l.block.z));
  if (entry.maxntid && entry.maxntid->count() < threads)
    refuse(r, "PLD3106",
           fmt::format("the kernel allows {} threads a block (.maxntid), the launch says {}",
                       entry.maxntid->count(), threads));
  if (entry.reqnctapercluster && entry.reqnctapercluster->count() > 1 &&
      !(*entry.reqnctapercluster == l.cluster))
    refuse(r, "PLD3107", "the launch's cluster differs from the kernel's .reqnctapercluster");
}

void check_resources(const isa::ArchSpec& arch, const Launch& l, const Program& program, uint32_t registers,
                     RunResult& r) {
  const uint64_t shared = uint64_t{program.static_shared} - reserved_shared_bytes + l.dynamic_shared;
  if (shared > static_cast<uint64_t>(arch.max_shared_bytes_per_cta)) {
    refuse(r, "PLD3108",
           fmt::format("{} bytes of shared memory a CTA: {} has {}", shared, arch.name,
                       arch.max_shared_bytes_per_cta));
    return;
  }
  isa::CtaResources need;
  need.threads = static_cast<int>(l.block.count());
  need.registers_per_thread = static_cast<int>(registers);
  need.shared_bytes = static_cast<int64_t>(shared);
  need.barriers = static_cast<int>(named_barriers(program));
  const isa::Occupancy o = isa::occupancy(arch, need);
  if (o.ctas_per_sm == 0) refuse(r, "PLD3109", fmt::format("not even one CTA fits an SM: {}", o.reason));
  r.resident_ctas_per_sm = static_cast<uint32_t>(o.ctas_per_sm);
  r.registers_per_thread = registers;
}

// Without a clock, how many CTAs an SM holds matters to nothing but the order of clusters. An estimate is
// never more than a CTA can have; what ptxas has found is taken as it is.
uint32_t registers_of(const isa::ArchSpec& arch, const Launch& l, const Program& program,
                      const RunOptions& options) {
  const bool clock = options.schedule.kind == Schedule::Kind::hardware;
  if (clock && options.registers != 0) return options.registers;
  const uint64_t threads = std::max<uint64_t>((l.block.count() + 31) / 32 * 32, 1);
  const uint64_t most = static_cast<uint64_t>(arch.registers_per_sm) / threads / 8 * 8;
  return std::min(clock ? estimated_registers(program) : program.launch_registers,
                  static_cast<uint32_t>(most));
}

// Null under schedules without a clock, or when there are no parameters (and `r` says so).
const isa::ClockParameters* clock_of(const isa::ArchSpec& arch, const RunOptions& options, RunResult& r) {
  if (options.schedule.kind != Schedule::Kind::hardware) return nullptr;
  if (options.parameters != nullptr) return options.parameters;
  const isa::ClockParameters* const found = isa::find_clock(arch.name);
  if (found == nullptr) {
    refuse(r, "PLD3121", fmt::format("the clock has no parameters of {}", arch.name),
           "name a file of them, or another architecture");
    r.errors.back().severity = isa::Severity::unsupported;
  }
  return found;
}

// The clusters of one launch: those that have not started, those that are resident.
class Grid {
 public:
  Grid(const RunContext& context, const RunOptions& options, uint64_t clusters, uint64_t resident,
       RunResult& result)
      : context_(context), options_(options), clusters_(clusters), limit_(resident), result_(result) {}

  void run();

 private:
  void admit();
  uint64_t started(uint64_t n);
  void retire();
  void tell_edge();
  void tell_retired(ClusterState& c);
  void collect(ClusterState& c);
  uint64_t total_progress() const;
  unsigned host_threads() const;
  // Warp instructions of a cluster between two edges: no more than the run may execute.
  uint64_t at_most(uint64_t instructions) const {
    const uint64_t limit = options_.max_instructions;
    return limit == 0 ? instructions : std::min(instructions, limit);
  }

  const RunContext& context_;
  const RunOptions& options_;
  uint64_t clusters_, limit_, next_ = 0, finished_ = 0, progress_done_ = 0;
  std::vector<std::unique_ptr<ClusterState>> resident_;
  std::vector<uint32_t> order_;  // of a random start
  RunResult& result_;
  bool faulted_ = false;
};

unsigned Grid::host_threads() const {
  const unsigned all =
      options_.threads != 0 ? options_.threads : std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<uint64_t>(all, std::min(limit_, clusters_)));
}

// The cluster that is the n-th to start.
uint64_t Grid::started(uint64_t n) {
  if (options_.order.kind == StartOrder::Kind::ascending) return n;
  if (options_.order.kind == StartOrder::Kind::descending) return clusters_ - 1 - n;
  if (order_.empty()) {
    order_.resize(clusters_);
    std::iota(order_.begin(), order_.end(), 0U);
    for (uint64_t i = clusters_ - 1; i > 0; --i)
      std::swap(order_[i], order_[scramble(scramble(options_.order.seed) + i) % (i + 1)]);
  }
  return order_[n];
}

void Grid::admit() {
  while (resident_.size() < limit_ && next_ < clusters_) {
    auto c = std::make_unique<ClusterState>();
    c->index = static_cast<uint32_t>(started(next_++));
    resident_.push_back(std::move(c));
  }
}

void Grid::tell_edge() {
  if (options_.observer == nullptr) return;
  std::vector<ClusterState*> view;
  view.reserve(resident_.size());
  for (const auto& c : resident_) view.push_back(c.get());
  options_.observer->edge(view);
}

void Grid::tell_retired(ClusterState& c) {
  if (c.observer) options_.observer->retire(c);
}

void Grid::collect(ClusterState& c) {
  tell_retired(c);
  progress_done_ += c.progress;
  faulted_ |= take_results(c, result_);
}

void Grid::retire() {
  for (auto& c : resident_) {
    if (c->ctas.empty()) continue;
    const bool done = c->finished();
    if (!done && c->findings.empty()) continue;
    if (done) {
      result_.ctas += c->ctas.size();
      ++finished_;
      collect(*c);
      c.reset();
    } else {
      faulted_ |= take_findings(*c, result_);
    }
  }
  std::erase_if(resident_, [](const auto& c) { return c == nullptr; });
  if (options_.progress) options_.progress(finished_, clusters_);
}

uint64_t Grid::total_progress() const {
  uint64_t sum = progress_done_;
  for (const auto& c : resident_) sum += c->progress;
  return sum;
}

void Grid::run() {
  WorkerPool pool(host_threads());
  SpinDetector spins(context_.program);
  uint64_t last_progress = ~0ULL, budget = at_most(quantum);
  uint32_t stuck = 0;
  while (!faulted_) {
    admit();
    if (resident_.empty()) break;
    std::vector<QuantumResult> ran(resident_.size());
    pool.for_each(resident_.size(), [&](size_t i, unsigned) {
      ClusterState& c = *resident_[i];
      if (c.ctas.empty()) start_cluster(context_, c);
      ran[i] = run_quantum(context_, c, budget);
      if (!c.finished()) return;
      if (c.observer) c.observer->ended();
      for (CtaState& cta : c.ctas) {  // its memory is not needed until the edge
        cta.shared = {};
        cta.warps.clear();
      }
    });
    bool useful = std::ranges::any_of(ran, &QuantumResult::useful);
    bool at_edge = false;
    tell_edge();
    for (auto& c : resident_)
      if (!c->faulted) at_edge |= run_edge(context_, *c);
    const size_t before = resident_.size();
    retire();
    if (options_.stop != nullptr && options_.stop->load()) {
      result_.interrupted = true;
      break;
    }
    const uint64_t progress = total_progress();
    const bool polls_only = progress == last_progress && resident_.size() == before;
    last_progress = progress;
    const bool cut_short =
        std::ranges::any_of(ran, [&](const QuantumResult& q) { return q.executed >= budget; });
    budget = at_most(polls_only ? spin_quantum : quantum);
    if (!polls_only) spins.reset();
    stuck = !polls_only ? 0 : cut_short ? stuck : stuck + 1;
    const bool nothing_runs =
        !useful && !at_edge && polls_only &&
        std::ranges::all_of(ran, [](const QuantumResult& q) { return q.executed == 0; });
    const bool spinning = polls_only && !nothing_runs && spins.all_spin(resident_);
    if (!faulted_ && !resident_.empty() && (nothing_runs || spinning || stuck >= stuck_edges)) {
      report_deadlock(context_.program, resident_, next_ < clusters_, options_.observer, result_);
      break;
    }
    uint64_t instructions = result_.instructions;
    for (const auto& c : resident_) instructions += c->instructions;
    if (options_.max_instructions != 0 && instructions > options_.max_instructions) {
      result_.findings.push_back(given_up(instructions));
      break;
    }
  }
  for (auto& c : resident_) collect(*c);
  result_.completed = finished_ == clusters_;
}

}  // namespace

void Machine::load(const isa::Module& module) {
  if (loaded_.contains(&module)) return;
  std::vector<uint64_t> addresses(module.symbols.size(), 0);
  const auto is_global = [](const isa::Symbol& s) {
    return s.kind == isa::Symbol::Kind::variable &&
           (s.variable.space == isa::Space::global || s.variable.space == isa::Space::const_);
  };
  for (isa::SymbolId id = 0; id < module.symbols.size(); ++id) {
    const isa::Symbol& s = module.symbols[id];
    if (s.kind == isa::Symbol::Kind::function) addresses[id] = function_addresses + s.function;
    if (!is_global(s)) continue;
    addresses[id] = memory_.allocate(s.variable.size(), s.name);
    uint8_t* bytes = memory_.find(addresses[id], s.variable.size());
    std::copy_n(s.variable.init.begin(), std::min<uint64_t>(s.variable.init.size(), s.variable.size()),
                bytes);
  }
  for (isa::SymbolId id = 0; id < module.symbols.size(); ++id) {
    const isa::Symbol& s = module.symbols[id];
    if (!is_global(s)) continue;
    for (const isa::Relocation& r : s.variable.relocations) {
      const uint64_t value = addresses[r.symbol] + static_cast<uint64_t>(r.addend);
      std::memcpy(memory_.find(addresses[id] + r.at, r.size), &value, r.size);
    }
  }
  loaded_.emplace(&module, std::move(addresses));
}

Address Machine::symbol(const isa::Module& module, std::string_view name) {
  load(module);
  const isa::SymbolId id = module.find_symbol(name);
  return id == isa::no_id ? 0 : loaded_.at(&module)[id];
}

RunResult Machine::run(const Launch& launch, const RunOptions& options) {
  RunResult result;
  const isa::Function* entry = launch.module->find_entry(launch.entry);
  if (entry == nullptr) {
    refuse(result, "PLD3100",
           launch.entry.empty() ? "the module has no entry, or several: name one"
                                : fmt::format("the module has no entry `{}`", launch.entry));
    return result;
  }
  check_shape(*arch_, launch, *entry, result);
  load(*launch.module);
  auto program = decode(*launch.module, *entry, loaded_.at(launch.module));
  if (!program) {
    result.errors.insert(result.errors.end(), program.error().begin(), program.error().end());
    return result;
  }
  if (result.errors.empty())
    check_resources(*arch_, launch, **program, registers_of(*arch_, launch, **program, options), result);
  const uint32_t param_bytes = isa::param_layout(*launch.module, *entry).size;
  if (launch.params.size() != param_bytes)
    refuse(result, "PLD3110",
           fmt::format("the kernel takes {} bytes of parameters, the launch gives {}", param_bytes,
                       launch.params.size()));
  const isa::ClockParameters* const clock = clock_of(*arch_, options, result);
  if (result.errors.empty() && options.values == Values::none) result.errors = leave_out_values(**program);
  if (!result.errors.empty()) return result;

  LaunchState state;
  if (clock != nullptr) state.clock_mhz = clock->sm_clock;
  state.grid = launch.grid;
  state.block = launch.block;
  state.cluster = launch.cluster;
  state.dynamic_shared = launch.dynamic_shared;
  state.params = launch.params;
  state.sm_count = static_cast<uint32_t>(arch_->sm_count);
  state.fail_waits = options.fail_waits;
  state.elect = options.elect;
  state.explicit_cluster = launch.cluster.count() > 1 || entry->explicitcluster;
  state.param_base = memory_.allocate(launch.params.size(), "kernel parameters");
  std::copy(launch.params.begin(), launch.params.end(), memory_.find(state.param_base, launch.params.size()));
  if ((*program)->tracks_global) memory_.track_left_out();

  std::vector<uint8_t> watch;
  if (options.observer != nullptr) {
    options.observer->start({program->get(), &state, &memory_});
    for (uint32_t pc = 0; pc < (*program)->code.size(); ++pc) watch.push_back(options.observer->watches(pc));
  }
  const RunContext context{
      **program,   state, memory_, options.schedule, options.observer, watch.empty() ? nullptr : watch.data(),
      options.stop};
  const uint64_t per_cluster = launch.cluster.count();
  const uint64_t clusters = launch.grid.count() / per_cluster;
  result.resident_clusters =
      std::max<uint64_t>(1, uint64_t{result.resident_ctas_per_sm} * state.sm_count / per_cluster);
  const uint64_t resident =
      options.resident_clusters != 0 ? options.resident_clusters : result.resident_clusters;
  if (clock != nullptr)
    hardware::run_grid(context, options, *arch_, *clock,
                       {.clusters = clusters,
                        .ctas_per_cluster = static_cast<uint32_t>(per_cluster),
                        .ctas_per_sm = result.resident_ctas_per_sm,
                        .shared_bytes = (*program)->static_shared + launch.dynamic_shared,
                        .written = launch.written},
                       result);
  else
    Grid(context, options, clusters, resident, result).run();
  if (options.observer != nullptr) options.observer->finish(result.findings);
  memory_.forget_left_out();
  memory_.release(state.param_base);
  return result;
}

}  // namespace palladion::sim
