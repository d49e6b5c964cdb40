#include "cuda/driver/order/host_access.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cuda/driver/order/judge.h"
#include "cuda/driver/state.h"

namespace palladion::cuda::driver {

#ifdef __x86_64__
namespace {

constexpr size_t page = 4096;
// Of larger blocks a page is closed only when all of it is in flight: a system call that gets a closed page
// fails.
constexpr size_t small_block = 64 * 1024;

enum Closed : uint8_t { open, to_writes, to_all };
auto& closed = *new std::map<Pointer, std::vector<Closed>>;  // pages, by the block's base

int protection(Closed c) {
  return c == open ? PROT_READ | PROT_WRITE : c == to_writes ? PROT_READ : PROT_NONE;
}

void apply(Pointer base, size_t index, Closed c) { mprotect(to(base + index * page), page, protection(c)); }

struct ClosedPage {
  Pointer base = 0;
  size_t index = 0;
};
bool is_watched(const Block& b) { return b.machine_view != nullptr && reaches_host(b.origin); }

// Pages that are open for one instruction of this thread.
thread_local std::vector<ClosedPage> open_for_one;

struct sigaction fault_before{}, trap_before{};
constexpr greg_t trap_flag = 0x100;

void pass_on(const struct sigaction& before, int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  sigaction(signal, &before, nullptr);                         // happens again, without us
  if (info->si_code <= 0 || signal == SIGTRAP) raise(signal);  // unless it was sent, or is a breakpoint
}

// Whether the page was closed: the instruction may go on.
bool open_page(Pointer at, bool writes, greg_t* registers) {
  const Block* const b = state().block_of(at);
  if (b == nullptr || !is_watched(*b)) return false;
  const ClosedPage p{b->base, (at - b->base) / page};
  const auto is_open = [&] {
    const auto found = closed.find(p.base);
    return found == closed.end() || found->second[p.index] == open;
  };
  if (is_open()) return true;  // another thread has just had the same fault
  const bool good = judge_host(at, writes);
  apply(p.base, p.index, open);
  if (is_open()) return true;
  if (!good) {  // it is said
    closed[p.base][p.index] = open;
    return true;
  }
  open_for_one.push_back(p);
  registers[REG_EFL] |= trap_flag;
  return true;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const Guard guard(state().lock);
  const auto at = reinterpret_cast<Pointer>(info->si_addr);
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const bool writes = (registers[REG_ERR] & 2) != 0;
  if (open_page(at, writes, registers)) return;
  tell_host_fault(at, writes, reinterpret_cast<const void*>(registers[REG_RIP]));
  pass_on(fault_before, signal, info, context);
}

void on_trap(int signal, siginfo_t* info, void* context) {
  if (open_for_one.empty()) return pass_on(trap_before, signal, info, context);
  const Guard guard(state().lock);
  for (const ClosedPage& p : open_for_one)
    if (const auto found = closed.find(p.base); found != closed.end())
      apply(p.base, p.index, found->second[p.index]);
  open_for_one.clear();
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
}

void close_part(const Block& b, order::Range r, Closed how) {
  r.begin = std::max(r.begin, b.base), r.end = std::min(r.end, b.base + b.size);
  if (r.end == b.base + b.size) r.end = b.base + b.mapped;
  size_t first = (r.begin - b.base) / page, last = (r.end - b.base + page - 1) / page;
  if (b.mapped > small_block) first = (r.begin - b.base + page - 1) / page, last = (r.end - b.base) / page;
  if (first >= last) return;
  auto& pages = closed[b.base];
  pages.resize(b.mapped / page);
  for (size_t i = first; i < last; ++i) {
    if (pages[i] >= how) continue;
    pages[i] = how;
    apply(b.base, i, how);
  }
}

void close(const order::Ranges& ranges, Closed how) {
  const auto& blocks = state().blocks;
  for (const order::Range& r : ranges.all()) {
    auto b = blocks.upper_bound(r.begin);
    if (b != blocks.begin()) --b;
    for (; b != blocks.end() && b->first < r.end; ++b)
      if (is_watched(b->second) && r.begin < b->first + b->second.size) close_part(b->second, r, how);
  }
}

}  // namespace

void watch_host() {
  [[maybe_unused]] static const bool done = [] {
    const auto handle = [](int signal, auto* handler, struct sigaction& before) {
      struct sigaction action{};
      action.sa_sigaction = handler;
      action.sa_flags = SA_SIGINFO | SA_NODEFER;
      sigemptyset(&action.sa_mask);
      sigaction(signal, &action, &before);
    };
    handle(SIGSEGV, on_fault, fault_before);
    handle(SIGTRAP, on_trap, trap_before);
    return true;
  }();
}

void close_to_host(const order::Touched& touched) {
  close(touched.read, to_writes);
  for (const order::Ranges* r : {&touched.written, &touched.strong_written}) close(*r, to_all);
}

void open_to_host(const order::InFlight& in_flight) {
  if (closed.empty()) return;
  const auto before = std::exchange(closed, {});
  for (const auto& [base, pages] : before)
    if (state().blocks.contains(base)) mprotect(to(base), pages.size() * page, PROT_READ | PROT_WRITE);
  in_flight.for_each([](const order::Touched& t) { close_to_host(t); });
}
#else
// The kind of a faulting access is not known here.
void watch_host() {}
void close_to_host(const order::Touched&) {}
void open_to_host(const order::InFlight&) {}
#endif

}  // namespace palladion::cuda::driver
