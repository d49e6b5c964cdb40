#include "verify/bundles/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "verify/bundles/contraction.h"
#include "verify/bundles/heap_note.h"
#include "verify/schedules/schedules.h"
#include "verify/schedules/trial.h"

namespace palladion::verify {

using namespace host;

namespace {

// Floats are 4 bytes or less; of a word that differs another byte may vary than the one that differs.
constexpr size_t word_bytes = 4;
constexpr uint64_t most_schedules = 32;
constexpr auto most_time = std::chrono::seconds(5);  // after which no further replay begins
constexpr uint64_t most_work = 32'000'000;           // warp instructions and words of buffers, of all replays

// Words of one buffer whose bits are not the device's.
struct Differing {
  OutputComparison* comparison = nullptr;
  const Array* got = nullptr;
  const Array* wanted = nullptr;
  size_t buffer = 0;
  std::vector<size_t> at;  // the first byte of each
  std::vector<bool> varies, as_device;

  size_t varying() const { return static_cast<size_t>(std::ranges::count(varies, true)); }
};

size_t size_at(const Array& a, size_t at) { return std::min(word_bytes, a.bytes.size() - at); }

bool same_word(const Array& a, const Array& b, size_t at) {
  return std::memcmp(a.bytes.data() + at, b.bytes.data() + at, size_at(a, at)) == 0;
}

std::vector<Differing> differing_buffers(const Replay& replay,
                                         std::span<OutputComparison* const> comparisons) {
  std::vector<Differing> out;
  auto comparison = comparisons.begin();
  for (size_t i = 0; i < replay.outcome.outputs.size() && comparison != comparisons.end(); ++i) {
    const std::optional<Array>& wanted = replay.recorded.after[i];
    if (!wanted) continue;
    OutputComparison& c = **comparison++;
    const Array& got = replay.outcome.outputs[i];
    if (c.comparison.ok() || got.bytes.size() != wanted->bytes.size()) continue;
    Differing d{.comparison = &c,
                .got = &got,
                .wanted = &*wanted,
                .buffer = i,
                .at = {},
                .varies = {},
                .as_device = {}};
    for (size_t at = 0; at < got.bytes.size(); at += word_bytes)
      if (!same_word(got, *wanted, at)) d.at.push_back(at);
    d.varies.resize(d.at.size());
    d.as_device.resize(d.at.size());
    out.push_back(std::move(d));
  }
  return out;
}

void look(Differing& d, const Array& other) {
  for (size_t k = 0; k < d.at.size(); ++k) {
    if (!same_word(other, *d.got, d.at[k])) d.varies[k] = true;
    if (same_word(other, *d.wanted, d.at[k])) d.as_device[k] = true;
  }
}

std::string text_of(const Differing& d, uint64_t schedules) {
  const size_t varies = d.varying();
  const auto as_device = std::ranges::count(d.as_device, true);
  const size_t others = d.at.size() - varies;
  const std::string what =
      others == 0 ? "the order of threads decides them, see `check`"
      : varies == 0
          ? "no order that was tried explains them"
          : fmt::format("the order of threads decides those; none that was tried explains the other {}",
                        others);
  return fmt::format(
      "\nwords of 4 bytes that differ: {}; under {} other schedule{} {} vary and {} get the device's bits: "
      "{}",
      d.at.size(), schedules, schedules == 1 ? "" : "s", varies, as_device, what);
}

// Gives the number of runs that reached their end.
uint64_t run_other_schedules(const Replay& replay, std::vector<Differing>& differing) {
  const uint64_t instructions = replay.outcome.result.instructions;
  TrialSetup setup{.job = replay.job, .arch = replay.arch, .run = replay.run, .checks = no_checks};
  setup.run.max_warp_instructions = 2 * instructions + 100'000;  // another order may never end
  uint64_t work = instructions + 1;
  for (const Array& a : replay.outcome.outputs) work += a.bytes.size() / word_bytes;
  uint64_t schedules = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t n = 1; n <= std::clamp<uint64_t>(most_work / work, 1, most_schedules); ++n) {
    if (n > 1 && std::chrono::steady_clock::now() - start > most_time) break;
    // CTAs one after the other, too: atomics of resident ones meet round by round.
    const auto conditions = sim::check::conditions_named(
        fmt::format("seeded:{},order=random:{},lanes={}{}", n, n, n, n % 2 == 0 ? ",resident=1" : ""));
    const Trial trial = try_under(setup, *conditions);
    if (stopped(setup.run)) break;
    if (!trial.outcome.result.completed) continue;
    for (Differing& d : differing) look(d, trial.outcome.outputs[d.buffer]);
    ++schedules;
  }
  return schedules;
}

}  // namespace

void explain_differences(const Replay& replay, std::span<OutputComparison* const> comparisons) {
  std::vector<Differing> differing = differing_buffers(replay, comparisons);
  // What is explained by the heap needs no other schedule.
  std::erase_if(differing, [&](const Differing& d) {
    const std::string note = heap_note(*replay.job.module, replay.recorded.manifest, *d.got, *d.wanted);
    d.comparison->note += note;
    return !note.empty();
  });
  if (differing.empty()) return;
  const uint64_t schedules = run_other_schedules(replay, differing);
  if (schedules != 0)
    for (const Differing& d : differing) d.comparison->note += text_of(d, schedules);
  if (replay.run.fmad && !stopped(replay.run) &&
      std::ranges::any_of(differing, [](const Differing& d) { return d.varying() != d.at.size(); }))
    differing.front().comparison->note += contraction_note(replay.job, replay.arch);
}

}  // namespace palladion::verify
