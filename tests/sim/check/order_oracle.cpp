// Happens-before between the points of all threads of a random program.
#include <algorithm>

#include "tests/sim/check/order_programs.h"

namespace palladion::tests::order {
namespace {

using Kind = Step::Kind;

// Which points of the program's threads come before a point.
class Points {
 public:
  uint32_t add(const std::vector<uint32_t>& before) {
    std::vector<uint64_t> all(before_.size() / 64 + 1);
    for (const uint32_t p : before) {
      for (size_t i = 0; i < before_[p].size(); ++i) all[i] |= before_[p][i];
      all[p / 64] |= uint64_t{1} << p % 64;
    }
    before_.push_back(std::move(all));
    return static_cast<uint32_t>(before_.size() - 1);
  }
  // Or one point.
  bool in_order(uint32_t a, uint32_t b) const {
    return a == b || (a / 64 < before_[b].size() && (before_[b][a / 64] >> a % 64 & 1) != 0);
  }

 private:
  std::vector<std::vector<uint64_t>> before_;
};

struct Access {
  uint32_t begin = 0, end = 0;  // bytes
  bool writes = false;
  bool async_proxy = false;  // of a bulk copy
  uint32_t point = 0;        // or that of its issue
  bool is_async = false;
  std::vector<uint32_t> done = {};  // waits that have seen it complete
};

class Oracle {
 public:
  explicit Oracle(const Program& program) : phases_(program.expected.size()) {
    for (uint32_t t = 0; t < threads; ++t) last_.push_back(points_.add({}));
    initialise();
    for (const Step& s : program.steps) execute(s);
  }

  // A write stands for what it is ordered behind, also where a copy completes it and makes nothing else of
  // its issuer visible.
  bool has_race() const {
    std::array<std::vector<size_t>, 4 * slots> live;  // by word, the last write and the reads since
    for (size_t later = 0; later < accesses_.size(); ++later) {
      const Access& now = accesses_[later];
      for (uint32_t word = now.begin / 4; word < now.end / 4; ++word) {
        for (const size_t earlier : live[word]) {
          const Access& then = accesses_[earlier];
          if ((then.writes || now.writes) && !ordered(then, now)) return true;
        }
        if (now.writes) live[word].clear();
        live[word].push_back(later);
      }
    }
    return false;
  }

 private:
  struct Copy {
    size_t access = 0;
    uint32_t group = ~0U;  // number of the thread's commits before that of this one
  };
  struct Phase {
    std::vector<uint32_t> released;
    std::vector<size_t> completes;  // accesses
  };

  uint32_t step(uint32_t thread, std::vector<uint32_t> also = {}) {
    also.push_back(last_[thread]);
    return last_[thread] = points_.add(also);
  }

  // Every thread writes its slot and fences, and all meet.
  void initialise() {
    for (uint32_t t = 0; t < threads; ++t) {
      accesses_.push_back({.begin = 16 * t, .end = 16 * t + 16, .writes = true, .point = step(t)});
      fences_.push_back(step(t));
    }
    meet({~0U, ~0U});
  }

  void meet(const std::array<uint32_t, warps>& lanes) {
    std::vector<uint32_t> all;
    const Step s{.lanes = lanes};
    for (uint32_t t = 0; t < threads; ++t)
      if (s.executes(t)) all.push_back(last_[t]);
    const uint32_t met = points_.add(all);
    for (uint32_t t = 0; t < threads; ++t)
      if (s.executes(t)) step(t, {met});
  }

  void execute(const Step& s) {
    if (s.kind == Kind::barrier || s.kind == Kind::warp_sync) return meet(s.lanes);
    for (uint32_t t = 0; t < threads; ++t)
      if (s.executes(t)) execute(s, t);
  }

  void execute(const Step& s, uint32_t t) {
    const uint32_t slot = 16 * (t ^ s.flip), word = slot + 4 * s.word;
    switch (s.kind) {
      case Kind::store:
      case Kind::load:
        accesses_.push_back(
            {.begin = word, .end = word + 4, .writes = s.kind == Kind::store, .point = step(t)});
        return;
      case Kind::arrive:
        return phases_[s.mbarrier].released.push_back(step(t));
      case Kind::wait:
        return wait(s, t);
      case Kind::fence:
        return fences_.push_back(step(t));
      case Kind::copy:
        copies_[t].push_back({accesses_.size()});
        accesses_.push_back(
            {.begin = slot, .end = slot + s.bytes, .writes = true, .point = step(t), .is_async = true});
        return;
      case Kind::commit:
        for (Copy& c : copies_[t]) c.group = std::min(c.group, commits_[t]);
        ++commits_[t];
        return;
      case Kind::wait_group: {
        const uint32_t here = step(t);
        for (const Copy& c : copies_[t])
          if (c.group != ~0U && c.group + s.groups < commits_[t]) accesses_[c.access].done.push_back(here);
        return;
      }
      case Kind::copy_arrive:
        for (const Copy& c : copies_[t]) phases_[s.mbarrier].completes.push_back(c.access);
        return;
      case Kind::store_async: {
        Phase& phase = phases_[s.mbarrier + (t % 32 >= 16 ? 1 : 0)];
        phase.released.push_back(step(t));
        phase.completes.push_back(accesses_.size());
        accesses_.push_back(
            {.begin = word, .end = word + 4, .writes = true, .point = step(t), .is_async = true});
        return;
      }
      case Kind::bulk:
        phases_[s.mbarrier].released.push_back(step(t));
        phases_[s.mbarrier].completes.push_back(accesses_.size());
        accesses_.push_back({.begin = 16 * s.first,
                             .end = 16 * (s.first + s.count),
                             .writes = true,
                             .async_proxy = true,
                             .point = step(t),
                             .is_async = true});
        return;
      default:
        return;
    }
  }

  void wait(const Step& s, uint32_t t) {
    const Phase& phase = phases_[s.mbarrier];
    const uint32_t here = step(t, phase.released);
    for (const size_t a : phase.completes) accesses_[a].done.push_back(here);
  }

  bool ordered(const Access& a, const Access& b) const {
    const auto before = [&](uint32_t point) {
      if (!b.async_proxy || a.async_proxy) return points_.in_order(point, b.point);
      return std::ranges::any_of(fences_, [&](uint32_t fence) {
        return points_.in_order(point, fence) && points_.in_order(fence, b.point);
      });
    };
    return a.is_async ? std::ranges::any_of(a.done, before) : before(a.point);
  }

  Points points_;
  std::vector<uint32_t> last_;  // by thread
  std::vector<Phase> phases_;
  std::vector<Access> accesses_;
  std::vector<uint32_t> fences_;
  std::array<std::vector<Copy>, threads> copies_;
  std::array<uint32_t, threads> commits_{};
};

}  // namespace

bool has_race(const Program& program) { return Oracle(program).has_race(); }

}  // namespace palladion::tests::order
