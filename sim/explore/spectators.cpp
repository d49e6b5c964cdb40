#include "sim/explore/spectators.h"

#include <algorithm>

namespace palladion::sim::check {
namespace {

uint32_t size_of(const Skeleton& s, uint32_t thread) {
  return static_cast<uint32_t>(s.threads[thread].ops.size());
}

// How much of its thread a prerequisite needs; it may need more than the thread has.
uint32_t position_of(const Skeleton& s, const Prerequisite& p) {
  return std::min(p.position, size_of(s, p.thread));
}

// By thread: the operations that others depend on, all before the first that only concerns the thread itself.
std::vector<uint32_t> effective_lengths(const Skeleton& s) {
  std::vector<uint32_t> length(s.threads.size());
  for (size_t t = 0; t < s.threads.size(); ++t) {
    const auto& ops = s.threads[t].ops;
    for (uint32_t i = 0; i < ops.size(); ++i)
      if (ops[i].kind != SyncKind::wait && ops[i].kind != SyncKind::nothing) length[t] = i + 1;
  }
  // An operation that another thread's effective part waits for is effective too.
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t t = 0; t < s.threads.size(); ++t) {
      for (uint32_t i = 0; i < length[t]; ++i) {
        for (const Prerequisite& p : s.threads[t].ops[i].after) {
          if (length[p.thread] >= position_of(s, p)) continue;
          length[p.thread] = position_of(s, p);
          grown = true;
        }
      }
    }
  }
  return length;
}

// `thread` needs its own waits and what these await.
void keep(const Skeleton& s, uint32_t thread, std::vector<uint32_t>& length) {
  length[thread] = size_of(s, thread);
  for (const SyncOp& op : s.threads[thread].ops)
    for (const Prerequisite& p : op.after)
      if (length[p.thread] < position_of(s, p)) keep(s, p.thread, length);
}

}  // namespace

std::vector<Skeleton> without_other_spectators(const Skeleton& skeleton) {
  const std::vector<uint32_t> length = effective_lengths(skeleton);
  std::vector<uint32_t> spectators;
  for (uint32_t t = 0; t < length.size(); ++t)
    if (length[t] < size_of(skeleton, t)) spectators.push_back(t);
  if (spectators.size() < 2) return {skeleton};
  std::vector<Skeleton> out;
  for (const uint32_t spectator : spectators) {
    std::vector<uint32_t> kept = length;
    keep(skeleton, spectator, kept);
    Skeleton& s = out.emplace_back(skeleton);
    for (size_t t = 0; t < kept.size(); ++t) s.threads[t].ops.resize(kept[t]);
  }
  return out;
}

}  // namespace palladion::sim::check
