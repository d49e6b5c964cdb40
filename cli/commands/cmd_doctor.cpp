#include <fmt/format.h>

#include "cli/execute/execute.h"
#include "cli/options/command.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "cuda/native/device.h"
#include "cuda/toolkit/ptxas.h"
#include "isa/host/hardware.h"
#include "report/text/row.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::cli {
namespace {

std::string memory_text() {
  return fmt::format("{}, {} free", human_bytes(memory_bytes()), human_bytes(free_memory_bytes()));
}

std::string device_text(const cuda::native::DeviceFacts& d) {
  return fmt::format("{}, sm_{}, {} SMs, {}, driver {}.{}", d.name, d.sm, d.sm_count,
                     human_bytes(uint64_t(d.memory_bytes)), d.driver_version / 1000,
                     d.driver_version % 1000 / 10);
}

constexpr std::pair<const char*, const char*> tools[] = {{"ptxas", "tests and --registers ptxas"},
                                                         {"nvcc", "tests"}};

struct DoctorRequest {
  std::string json;  // a file

  void state(Words& words) { words.text("--json", json, "a file for the same as JSON", Value::output); }
  Outcome<DoctorRequest> request(const Invocation&) const { return *this; }
};

void print_host(const cuda::native::Availability& there) {
  print_out("palladion {}\n", version);
  print_out(row("processor", processor_name()));
  print_out(row("vectors", vector_units()));
  print_out(row("threads", fmt::format("{}", sim::hardware_threads())));
  print_out(row("memory", memory_text()));
  if (!there.usable()) {
    print_out(row("device", there.reason));
    print_out(row("", "not needed: the simulator runs everything"));
  }
  for (const cuda::native::DeviceFacts& d : there.devices) {
    print_out(row("device", device_text(d)));
    if (d.sm != 90) print_out(row("", "kernels here are written for sm_90a and do not run on it"));
  }
  for (const auto& [tool, users] : tools) {
    const auto path = cuda::toolkit::find_tool(tool);
    print_out(row(tool, path ? path->string()
                             : fmt::format("neither in CUDA_HOME nor on PATH; needed by {} only", users)));
  }
}

std::string host_json(const cuda::native::Availability& there) {
  const auto device = [](const cuda::native::DeviceFacts& d) {
    return json::object{{"name", d.name},
                        {"sm", d.sm},
                        {"sms", d.sm_count},
                        {"memory_bytes", d.memory_bytes},
                        {"driver", d.driver_version}};
  };
  json::object found;
  for (const auto& [tool, users] : tools) {
    const auto path = cuda::toolkit::find_tool(tool);
    found.emplace(tool, path ? json::value(path->string()) : json::value());
  }
  return json_text(json::object{{"palladion", version},
                                {"processor", processor_name()},
                                {"vectors", vector_units()},
                                {"threads", sim::hardware_threads()},
                                {"memory_bytes", memory_bytes()},
                                {"devices", array_of(there.devices, device)},
                                {"no_device", there.usable() ? "" : there.reason},
                                {"tools", std::move(found)}});
}

Outcome<ExitCode> examine_host(const DoctorRequest& request) {
  const cuda::native::Availability there = cuda::native::Device::available();
  print_host(there);
  Deliveries deliveries;
  deliveries.take(write_if_named(request.json, [&] { return host_json(there); }));
  return deliveries.code(exit_clean);
}

}  // namespace

Command doctor_command() {
  return {"doctor", "show what this host has: processor, device, toolkit",
          stated<DoctorRequest, examine_host>};
}

}  // namespace palladion::cli
