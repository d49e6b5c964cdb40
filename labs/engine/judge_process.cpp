#include "labs/engine/judge_process.h"

#include <unistd.h>

#include <csignal>
#include <map>
#include <string>

#include "isa/host/files.h"

namespace palladion::labs {

using namespace host;

std::map<std::string, std::string> variables_of_judge(const std::filesystem::path& temporary) {
  std::map<std::string, std::string> variables{{"TMPDIR", temporary.string()}};
#ifdef PLD_SANITIZED  // the search for leaks reads /proc, which is closed to a judge
  variables.emplace("LSAN_OPTIONS", "detect_leaks=0");
#endif
  return variables;
}

Ended run_judge(const JudgeOrder& order) {
  constexpr size_t most_answer = size_t{256} << 20;
  const TemporaryFolder temporary;  // ends with this scope, or with the judge
  std::vector<std::string> words = {confined_program(), "lab", "judge"};
  const Orders orders{::getpid(), temporary.path(), order.unconfined};
  for (const std::vector<std::string>& more :
       {orders.words(),
        {order.file.string(), order.lab->name, order.program, "--seconds", std::to_string(order.seconds),
         "--threads", std::to_string(order.threads)},
        order.options})
    words.insert(words.end(), more.begin(), more.end());
  return run_quietly(words, {.most = most_answer,
                             .ended_by = SIGTERM,
                             .environment = environment_with(variables_of_judge(temporary.path())),
                             .passes_errors = order.passes_errors});
}

bool was_late(const Ended& judge) { return judge.signal == SIGALRM || judge.signal == SIGXCPU; }

Enter begin_judging(const Orders& orders, const std::filesystem::path& file, unsigned seconds,
                    unsigned threads) {
  constexpr uint64_t memory = uint64_t{8} << 30;  // bytes of address space, the machine's among them
  const Limits limits{
      .cpu_seconds = seconds * threads, .wall_seconds = 3 * seconds, .memory = memory, .is_ours = true};
  supervise(orders, limits);
  limit_resources(limits);
  return [file, unconfined = orders.unconfined]() -> Outcome<void> {
    if (confine_judge({.readable = system_folders(), .submission = file}) || unconfined) return {};
    return unsupported("the judge is not confined: this kernel offers no Landlock, or no seccomp",
                       "--unconfined insists");
  };
}

}  // namespace palladion::labs
