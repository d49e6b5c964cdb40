#include "tests/property/random/random_run.h"
#include "report/text/finding_text.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <map>

#include "isa/text/parse.h"
#include "isa/verify/verify.h"

namespace palladion::random_program {
namespace {

uint64_t value_at(const std::vector<uint8_t>& from, const Write& w, uint32_t thread) {
  uint64_t v = 0;
  std::memcpy(&v, &from[w.offset + w.bytes * thread], w.bytes);
  return v;
}

// Where a register's value was stored last.
using LastWrites = std::map<std::pair<char, int>, const Write*>;

std::string describe(const Step& s, const LastWrites& last, const std::vector<uint8_t>& left,
                     const std::vector<uint8_t>& right, uint32_t thread) {
  std::string text = s.text;
  for (const Reg& r : s.reads) {
    const auto at = last.find({r.pool, r.index});
    if (at != last.end())
      text += fmt::format("\n    {} = {:x}", r.name(), value_at(left, *at->second, thread));
    else
      text += fmt::format("\n    {} = input", r.name());
  }
  for (const Write& w : s.writes)
    text += fmt::format("\n    {} -> {:x} and {:x}", w.reg.name(), value_at(left, w, thread),
                        value_at(right, w, thread));
  return text;
}

class Tracker {
 public:
  Tracker(const Program& p, const std::vector<uint8_t>& left, const std::vector<uint8_t>& right)
      : p_(p), left_(left), right_(right) {}

  std::vector<Difference> run() {
    std::vector<Difference> all;
    for (size_t i = 0; i < p_.steps.size(); ++i) {
      const std::vector<bool> wrong = tainted(p_.steps[i]);
      Difference d{.step = i};
      for (uint32_t t = 0; t < p_.all_threads(); ++t) {
        const bool differs = update(p_.steps[i], t);
        if (!differs || wrong[t]) continue;
        if (d.threads++ == 0) {
          d.thread = t;
          d.text = describe(p_.steps[i], last_, left_, right_, t);
        }
      }
      for (const Write& w : p_.steps[i].writes) last_[{w.reg.pool, w.reg.index}] = &w;
      if (d.threads != 0) all.push_back(std::move(d));
    }
    return all;
  }

 private:
  // Threads for which something that the step read differs already.
  std::vector<bool> tainted(const Step& s) {
    const uint32_t n = p_.all_threads();
    const uint32_t group = s.reach == Reach::lane ? 1 : s.reach == Reach::warp ? 32 : p_.threads;
    std::vector<bool> out(n, false);
    for (uint32_t first = 0; first < n; first += group) {
      bool any = false;
      for (const Reg& r : s.reads) {
        const auto at = taint_.find({r.pool, r.index});
        if (at == taint_.end()) continue;
        for (uint32_t t = first; t < first + group; ++t) any |= at->second[t];
      }
      for (uint32_t t = first; t < first + group; ++t) out[t] = any;
    }
    return out;
  }

  bool update(const Step& s, uint32_t t) {
    bool any = false;
    for (const Write& w : s.writes) {
      const bool differs = value_at(left_, w, t) != value_at(right_, w, t);
      auto& bits = taint_.try_emplace({w.reg.pool, w.reg.index}, p_.all_threads(), false).first->second;
      bits[t] = differs || (s.skippable && bits[t]);
      any |= differs;
    }
    return any;
  }

  const Program& p_;
  const std::vector<uint8_t>&left_, &right_;
  std::map<std::pair<char, int>, std::vector<bool>> taint_;
  LastWrites last_;
};

}  // namespace

SimRun run_in_machine(const Program& program, const sim::RunOptions& options) {
  SimRun run;
  auto module = isa::parse(program.ptx);
  if (!module) {
    run.problem = isa::render(module.error(), program.ptx);
    return run;
  }
  const isa::Diagnostics wrong = isa::verify(*module);
  if (!wrong.empty()) {
    run.problem = isa::render(wrong, program.ptx);
    return run;
  }
  std::vector<uint8_t> input = program.input;
  run.output.assign(program.output_bytes, 0);
  sim::Machine machine(*isa::find_arch("h200"));
  const uint64_t params[] = {machine.memory().bind({input.data(), input.size()}, "input"),
                             machine.memory().bind({run.output.data(), run.output.size()}, "output")};
  sim::Launch launch{.module = &*module, .entry = {}, .grid = {program.ctas}, .block = {program.threads}};
  launch.params.resize(sizeof params);
  std::memcpy(launch.params.data(), params, sizeof params);
  run.result = machine.run(launch, options);
  run.problem = isa::render(run.result.errors);
  for (const sim::Finding& f : run.result.findings) run.problem += report::finding_text(f);
  if (run.problem.empty() && !run.result.completed) run.problem = "did not complete";
  return run;
}

std::vector<Difference> differences(const Program& program, const std::vector<uint8_t>& left,
                                    const std::vector<uint8_t>& right) {
  return Tracker(program, left, right).run();
}

uint64_t hash(const void* data, size_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  uint64_t h = 0xcbf29ce484222325 ^ bytes;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t v = 0;
    std::memcpy(&v, p + i, std::min<size_t>(8, bytes - i));
    h = (h ^ v) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  }
  return h;
}

uint64_t program_hash(const Program& p) {
  return hash(p.ptx.data(), p.ptx.size()) ^ hash(p.input.data(), p.input.size()) * 3;
}

std::vector<Recorded> read_recorded(const std::string& path) {
  std::vector<Recorded> all;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    Recorded r;
    if (!line.empty() && line[0] != '#' &&
        std::sscanf(line.c_str(), "%lu;%lx;%lx", &r.seed, &r.program, &r.output) == 3)
      all.push_back(r);
  }
  return all;
}

}  // namespace palladion::random_program
