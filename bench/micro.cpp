// Microbenchmarks of a chip's parts, on a GPU and in the machine.
//   bench_micro --device OUT.csv    measure
//   bench_micro [RECORD.csv]        replay the recorded cases in the machine: device, machine, ratio; with
//                                   --table FILE.md as a page, with --clock FILE under other parameters,
//                                   with --threads N several cases at once
//   bench_micro --functional        run all cases in the machine without a clock: are they sound
//   bench_micro --ptx DIR           write their PTX
// With --only PATTERN: the cases whose name and parameters contain it; ^PATTERN: begin with it.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "bench/device/micro_page.h"
#include "bench/device/micro_run.h"
#include "bench/open_device.h"
#include "cuda/native/codes.h"
#include "isa/arch/clock.h"

using namespace palladion;

namespace {

struct Choice {
  std::string mode = "replay", file = "bench/device/micro_h200.csv", only, samples, table, clock;
  unsigned threads = 1;
};

bool matches(const std::string& id, const std::string& pattern) {
  return pattern.starts_with('^') ? id.starts_with(pattern.substr(1)) : id.find(pattern) != std::string::npos;
}

std::vector<bench::Case> chosen(const Choice& choice) {
  std::vector<bench::Case> out;
  for (bench::Case& c : bench::all_cases())
    if (matches(c.id(), choice.only)) out.push_back(std::move(c));
  return out;
}

void write_head(std::ofstream& csv, const cuda::native::DeviceFacts& facts) {
  fmt::print("{}\n", facts.name);
  csv << fmt::format("# {}, {} SMs, driver interface {}, SM clock up to {} MHz, memory {} MHz\n", facts.name,
                     facts.sm_count, facts.driver_version, facts.sm_clock_mhz, facts.memory_clock_mhz)
      << "name,parameters,unit,median,min,max\n";
}

int measure(const Choice& choice) {
  const cuda::native::Device device = bench::open_device();
  std::ofstream csv(choice.file);
  write_head(csv, device.facts());
  bench::DeviceBench bench(device, choice.samples);
  int failed = 0;
  for (const bench::Case& c : chosen(choice)) {
    const auto r = bench.run(c, c.elapsed ? 3 : 7);
    if (c.elapsed) continue;  // launched for Nsight Compute, which writes the row
    if (!r) {
      fmt::print("FAIL {}\n{}", c.id(), isa::render(r.error()));
      ++failed;
      if (r.error().front().code == cuda::native::Code::kernel_failed ||
          r.error().front().code == cuda::native::Code::kernel_timed_out)
        return 1;
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

std::string file_text(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// All cases that the record has, on so many threads; a case's own run takes one.
std::vector<bench::Replayed> replayed(const Choice& choice, const sim::RunOptions& given) {
  const std::map<std::string, double> device = medians(choice.file);
  std::vector<bench::Case> cases = chosen(choice);
  std::erase_if(cases, [&](const bench::Case& c) { return !device.contains(c.id()); });
  std::vector<bench::Replayed> out(cases.size());
  std::atomic<size_t> next = 0;
  std::mutex printing;
  const auto work = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) {
      const bench::Case& c = cases[i];
      sim::RunOptions options = given;
      options.l2 = c.cold ? sim::L2Start::cold : sim::L2Start::warm;
      const bench::MachineReading r = bench::run_in_machine(c, *isa::find_arch("h200"), options);
      out[i] = {c.id(), c.unit, device.at(c.id()), r.value, r.problem};
      const std::scoped_lock lock(printing);
      fmt::print("{}", bench::line_of(out[i]));
      std::fflush(stdout);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < choice.threads; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return out;
}

int replay(const Choice& choice) {
  sim::RunOptions options;
  options.schedule.kind = sim::Schedule::Kind::hardware;
  options.threads = 1;
  std::optional<isa::ClockParameters> parameters;
  if (!choice.clock.empty()) {
    auto read = isa::ClockParameters::parse(file_text(choice.clock), choice.clock);
    if (!read) {
      fmt::print(stderr, "{}", isa::render(read.error()));
      return 2;
    }
    parameters = std::move(*read);
    options.parameters = &*parameters;
  }
  const std::vector<bench::Replayed> all = replayed(choice, options);
  fmt::print("{}", bench::summary_of(all));
  if (!choice.table.empty()) std::ofstream(choice.table) << bench::page_of(all);
  return 0;
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
    else if (word == "--table" && i + 1 < argc)
      choice.table = argv[++i];
    else if (word == "--clock" && i + 1 < argc)
      choice.clock = argv[++i];
    else if (word == "--threads" && i + 1 < argc)
      choice.threads = static_cast<unsigned>(std::stoul(argv[++i]));
    else if (word == "--functional")
      choice.mode = "functional";
    else if (word[0] != '-')
      choice.file = word;
    else {
      fmt::print(stderr,
                 "usage: bench_micro [--device OUT.csv | --functional | --ptx DIR | RECORD.csv] [--only "
                 "PATTERN] [--samples DIR] [--table FILE.md] [--clock FILE] [--threads N]\n");
      return 2;
    }
  }
  if (choice.mode == "device") return measure(choice);
  if (choice.mode == "functional") return soundness(choice);
  return choice.mode == "ptx" ? write_ptx(choice) : replay(choice);
}
