// Microbenchmarks of a chip's parts, on a GPU and in the machine.
//   bench_micro --device OUT.csv    measure
//   bench_micro [RECORD.csv]        replay the recorded cases in the machine: device, machine, ratio
//   bench_micro --functional        run all cases in the machine without a clock: are they sound
//   bench_micro --ptx DIR           write their PTX
// With --only PATTERN: the cases whose name contains it.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/device/micro_run.h"

using namespace palladion;

namespace {

struct Choice {
  std::string mode = "replay", file = "bench/device/micro_h200.csv", only, samples;
};

std::vector<bench::Case> chosen(const Choice& choice) {
  std::vector<bench::Case> out;
  for (bench::Case& c : bench::all_cases())
    if (c.id().find(choice.only) != std::string::npos) out.push_back(std::move(c));
  return out;
}

void write_head(std::ofstream& csv, const native::DeviceFacts& facts) {
  fmt::print("{}\n", facts.name);
  csv << fmt::format("# {}, {} SMs, driver interface {}, SM clock up to {} MHz, memory {} MHz\n", facts.name,
                     facts.sm_count, facts.driver_version, facts.sm_clock_mhz, facts.memory_clock_mhz)
      << "name,parameters,unit,median,min,max\n";
}

int measure(const Choice& choice) {
  auto device = native::Device::open(0);
  if (!device) {
    fmt::print(stderr, "{}", isa::render(device.error()));
    return 2;
  }
  std::ofstream csv(choice.file);
  write_head(csv, device->facts());
  bench::DeviceBench bench(*device, choice.samples);
  int failed = 0;
  for (const bench::Case& c : chosen(choice)) {
    const auto r = bench.run(c);
    if (!r) {
      fmt::print("FAIL {}\n{}", c.id(), isa::render(r.error()));
      ++failed;
      if (r.error().front().code == "PLD8006" || r.error().front().code == "PLD8007") return 1;
      continue;
    }
    csv << fmt::format("{},{},{},{:.6g},{:.6g},{:.6g}\n", c.name, c.parameters, c.unit, r->median, r->min,
                       r->max)
        << std::flush;
  }
  fmt::print("{} cases failed\n", failed);
  return failed == 0 ? 0 : 1;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, ',');) out.push_back(part);
  return out;
}

std::map<std::string, double> medians(const std::string& file) {
  std::map<std::string, double> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> columns = split(line);
    if (line[0] == '#' || columns.size() != 6 || columns[0] == "name") continue;
    out[columns[1].empty() ? columns[0] : columns[0] + " " + columns[1]] = std::stod(columns[3]);
  }
  return out;
}

int soundness(const Choice& choice) {
  int failed = 0, all = 0;
  for (const bench::Case& c : chosen(choice)) {
    if (c.needs_clock) continue;
    ++all;
    const auto r = bench::run_in_machine(c, *isa::find_arch("h200"), {});
    if (r.problem.empty()) continue;
    ++failed;
    fmt::print("FAIL {}\n{}\n", c.id(), r.problem);
  }
  fmt::print("{} of {} cases run without findings\n", all - failed, all);
  return failed == 0 ? 0 : 1;
}

int write_ptx(const Choice& choice) {
  std::filesystem::create_directories(choice.file);
  for (const bench::Case& c : chosen(choice)) {
    std::string name = c.id() + ".ptx";
    for (char& ch : name)
      if (ch == ' ') ch = '_';
    std::ofstream(std::filesystem::path(choice.file) / name) << c.text;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Choice choice;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--only" && i + 1 < argc)
      choice.only = argv[++i];
    else if ((word == "--device" || word == "--ptx") && i + 1 < argc)
      choice.mode = word.substr(2), choice.file = argv[++i];
    else if (word == "--samples" && i + 1 < argc)
      choice.samples = argv[++i];
    else if (word == "--functional")
      choice.mode = "functional";
    else if (word[0] != '-')
      choice.file = word;
    else {
      fmt::print(stderr,
                 "usage: bench_micro [--device OUT.csv | --functional | --ptx DIR | RECORD.csv] [--only "
                 "PATTERN] [--samples DIR]\n");
      return 2;
    }
  }
  if (choice.mode == "device") return measure(choice);
  if (choice.mode == "functional") return soundness(choice);
  return write_ptx(choice);
}
