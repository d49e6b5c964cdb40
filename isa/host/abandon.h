// Work that cannot be interrupted, without waiting for it after Ctrl-C.
#pragma once

#include <future>
#include <optional>
#include <thread>

#include "isa/host/interrupt.h"

namespace palladion::host {

// Some work still runs and is not waited for: the program must end without destroying anything.
bool work_was_abandoned();
void note_abandoned_work();

// The result of `work`, performed by another thread; nothing when Ctrl-C came first. `work` then runs on: it
// owns all that it uses.
template <class Work>
auto unless_interrupted(Work work) -> std::optional<decltype(work())> {
  using namespace std::chrono_literals;
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  while (result.wait_for(50ms) != std::future_status::ready) {
    if (!interrupted()) continue;
    note_abandoned_work();
    return std::nullopt;
  }
  return result.get();
}

}  // namespace palladion::host
