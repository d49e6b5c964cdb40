#include "cuda/driver/session.h"

#include <cstring>
#include <utility>

#include "report/json/findings_json.h"
#include "report/text/finding_text.h"

namespace palladion::cuda::driver {
namespace {

namespace json = report::json;

struct Session {
  bool listens = false, quiet = false;
  json::array findings;
};

Session& session() {
  static auto* const all = new Session;
  return *all;
}

json::array dims_json(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

char* given(const json::value& value) { return ::strdup(report::json_line(value).c_str()); }

}  // namespace

void note_finding(const verify::SeenFinding& seen, const LaunchRecord* launch, size_t schedules) {
  if (!session().listens) return;
  json::object noted;
  if (launch != nullptr)
    noted = {{"kernel", report::named_json(launch->kernel)},
             {"grid", dims_json(launch->grid)},
             {"block", dims_json(launch->block)}};
  noted.emplace("finding", report::findings_json({&seen, 1}).front());
  noted.emplace("text", report::finding_text(seen, {.schedules = schedules}));
  session().findings.push_back(std::move(noted));
}

bool prints_findings() { return !session().quiet; }
bool clears_faults() { return session().listens; }

}  // namespace palladion::cuda::driver

using namespace palladion::cuda::driver;

PLD_CUDA palladion_exec_listen(int quiet) {
  const Guard guard(state().lock);
  session().listens = true;
  session().quiet = quiet != 0;
  return success;
}

char* palladion_exec_findings() {
  const Guard guard(state().lock);
  char* const text = given(session().findings);
  session().findings.clear();
  return text;
}

char* palladion_exec_launches() {
  State& s = state();
  const Guard guard(s.lock);
  return given(palladion::report::array_of(s.launches, [](const LaunchRecord& l) {
    return json::object{{"kernel", palladion::report::named_json(l.kernel)},
                        {"grid", dims_json(l.grid)},
                        {"block", dims_json(l.block)},
                        {"launches", l.launches},
                        {"instructions", l.instructions},
                        {"cycles", l.cycles},
                        {"microseconds", l.microseconds},
                        {"incomplete", palladion::report::array_of(l.incomplete)}};
  }));
}

PLD_CUDA palladion_exec_clear_fault() {
  State& s = state();
  const Guard guard(s.lock);
  if (s.forked) return s.sticky;
  return std::exchange(s.sticky, success);
}

PLD_CUDA palladion_exec_end_launches() {
  State& s = state();
  s.stop = true;
  const Guard guard(s.lock);
  s.stop = false;
  end_all_operations();
  return success;
}

PLD_CUDA palladion_exec_schedule(const char* name) {
  State& s = state();
  const Guard guard(s.lock);
  if (!palladion::sim::schedule_named(name)) return invalid_value;
  end_all_operations();
  s.settings.schedule = name;
  return success;
}
