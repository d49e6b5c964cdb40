#include "bench/device/micro_run.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>

#include "isa/text/parse.h"
#include "report/text/finding_text.h"

namespace palladion::bench {
namespace {

void put(std::vector<uint8_t>& bytes, uint64_t at, uint64_t value) { std::memcpy(&bytes[at], &value, 8); }

std::vector<uint8_t> random_bytes(uint64_t count) {
  std::mt19937_64 random(11);
  std::vector<uint8_t> out((count + 7) / 8 * 8);
  for (uint64_t i = 0; i < out.size(); i += 8) put(out, i, random());
  return out;
}

uint64_t warps_of(const Case& c) {
  return uint64_t{c.grid.x} * c.grid.y * c.grid.z * ((c.block.x * c.block.y * c.block.z + 31) / 32);
}
size_t out_bytes(const Case& c) {
  if (c.output_bytes > 0) return c.output_bytes;
  return stamps_offset + warps_of(c) * sizeof(Stamp) + size_t{c.sample_count} * 4;
}

double measured(const Case& c, std::span<const uint8_t> out) {
  std::vector<Stamp> stamps(warps_of(c));
  std::memcpy(stamps.data(), out.data() + stamps_offset, stamps.size() * sizeof(Stamp));
  std::vector<uint32_t> samples(c.sample_count);
  const size_t at = stamps_offset + stamps.size() * sizeof(Stamp);
  std::memcpy(samples.data(), out.data() + at, samples.size() * 4);
  return c.measure({stamps, samples});
}

cuda::native::Dim3 dims(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

}  // namespace

std::vector<uint8_t> contents(const Data& data, uint64_t base) {
  if (data.kind == Data::Kind::zeros) return std::vector<uint8_t>(data.bytes);
  std::vector<uint8_t> out = random_bytes(data.bytes);
  if (data.kind == Data::Kind::random) return out;
  // A cycle through all places that begins at the first.
  std::vector<uint64_t> order(data.bytes / data.stride);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(7);
  for (size_t i = order.size() - 1; i > 1; --i) std::swap(order[i], order[1 + random() % i]);
  for (size_t i = 0; i < order.size(); ++i)
    put(out, order[i] * data.stride, base + order[(i + 1) % order.size()] * data.stride);
  return out;
}

cuda::native::Result<uint64_t> DeviceBench::place(const Data& data) {
  if (data.kind == Data::Kind::random) {
    if (random_.bytes() >= data.bytes) return random_.address();
    auto made = device_->allocate(data.bytes);
    if (!made) return tl::unexpected(made.error());
    random_ = std::move(*made);
    const std::vector<uint8_t> block = contents({.bytes = std::min<uint64_t>(data.bytes, 64 << 20)}, 0);
    for (uint64_t at = 0; at < data.bytes; at += block.size()) {
      const auto some =
          std::as_bytes(std::span(block).first(std::min<uint64_t>(block.size(), data.bytes - at)));
      if (auto done = random_.upload(some, at); !done) return tl::unexpected(done.error());
    }
    return random_.address();
  }
  auto made = device_->allocate(data.bytes);
  if (!made) return tl::unexpected(made.error());
  own_ = std::move(*made);
  const std::vector<uint8_t> bytes = contents(data, own_.address());
  if (auto done = own_.upload(std::as_bytes(std::span(bytes))); !done) return tl::unexpected(done.error());
  return own_.address();
}

cuda::native::Result<double> DeviceBench::once(const Case& c, const cuda::native::Function& function,
                                               uint64_t data, uint32_t n) {
  cuda::native::Arguments arguments;
  arguments.add(out_.address()).add(n).add(data);
  if (c.map) {
    isa::TensorMap map = *c.map;
    map.global_address += data;
    const auto handle = device_->encode(map);
    if (!handle) return tl::unexpected(handle.error());
    arguments.add(handle->opaque);
  } else {
    arguments.add(cuda::native::driver::OpaqueTensorMap{});
  }
  if (!c.elapsed)
    if (auto done = out_.fill(0); !done) return tl::unexpected(done.error());
  if (c.cold && !c.elapsed)  // Nsight Compute empties it
    if (auto done = flush_.fill(1); !done) return tl::unexpected(done.error());
  cuda::native::LaunchShape shape{.grid = dims(c.grid), .block = dims(c.block)};
  if (c.cluster.x * c.cluster.y * c.cluster.z > 1) shape.cluster = dims(c.cluster);
  shape.dynamic_shared_bytes = c.shared_bytes;
  if (auto done = function.launch(shape, arguments); !done) return tl::unexpected(done.error());
  if (auto done = device_->wait({.limit = std::chrono::seconds(10)}); !done)
    return tl::unexpected(done.error());
  if (c.elapsed) return 0;
  std::vector<uint8_t> out(out_bytes(c));
  if (auto done = out_.download(std::as_writable_bytes(std::span(out))); !done)
    return tl::unexpected(done.error());
  if (!samples_.empty() && c.sample_count > 0)
    std::ofstream(samples_ + "/" + c.id() + ".u32", std::ios::binary)
        .write(reinterpret_cast<const char*>(out.data()) + out.size() - c.sample_count * 4,
               c.sample_count * 4);
  if (!samples_.empty() &&
      (c.name.starts_with("launch.") || c.name.starts_with("dsmem.") || c.name.starts_with("HBM.")))
    std::ofstream(samples_ + "/" + c.id() + ".stamps", std::ios::binary)
        .write(reinterpret_cast<const char*>(out.data()) + stamps_offset,
               std::streamsize(warps_of(c) * sizeof(Stamp)));
  return measured(c, out);
}

cuda::native::Result<Reading> DeviceBench::run(const Case& c, int repeats) {
  const auto module = device_->load(c.text);
  if (!module) return tl::unexpected(module.error());
  const auto function = module->function("micro");
  if (!function) return tl::unexpected(function.error());
  const auto data = place(c.data);
  if (!data) return tl::unexpected(data.error());
  if (out_.bytes() < out_bytes(c)) {
    auto made = device_->allocate(std::max<size_t>(out_bytes(c), 1 << 20));
    if (!made) return tl::unexpected(made.error());
    out_ = std::move(*made);
  }
  if (c.cold && flush_.bytes() == 0) {
    auto made = device_->allocate(256 << 20);
    if (!made) return tl::unexpected(made.error());
    flush_ = std::move(*made);
  }
  std::vector<double> values;
  for (int i = -1; i < repeats; ++i) {  // the first is a warm-up
    double shorter = 0;
    if (c.shorter != 0) {
      const auto s = once(c, *function, *data, c.shorter);
      if (!s) return tl::unexpected(s.error());
      shorter = *s;
    }
    const auto longer = once(c, *function, *data, c.longer);
    if (!longer) return tl::unexpected(longer.error());
    if (i >= 0) values.push_back(value_of(c, shorter, *longer));
  }
  std::ranges::sort(values);
  return Reading{values[values.size() / 2], values.front(), values.back()};
}

namespace {

struct MachineRun {
  sim::RunResult result;
  double value = 0;
};

MachineRun once(const Case& c, const isa::Module& module, const isa::ArchSpec& arch,
                const sim::RunOptions& options, uint32_t n) {
  sim::Machine machine(arch);
  std::vector<uint8_t> out(out_bytes(c)), data(c.data.bytes);
  const uint64_t out_base = machine.memory().bind(out, "out", c.output_bytes > 0);
  const uint64_t data_base = machine.memory().bind(data, "data");
  const std::vector<uint8_t> bytes = contents(c.data, data_base);
  std::copy_n(bytes.begin(), data.size(), data.begin());

  sim::Launch launch;
  launch.module = &module;
  launch.grid = c.grid;
  launch.block = c.block;
  launch.cluster = c.cluster;
  launch.dynamic_shared = c.shared_bytes;
  if (c.output_bytes > 0) launch.written = {sim::Address(out_base)};
  const isa::ParamLayout layout = isa::param_layout(module, *module.find_entry(""));
  launch.params.resize(layout.size);
  const auto set = [&](size_t i, const void* from, size_t size) {
    std::memcpy(launch.params.data() + layout.offsets[i], from, size);
  };
  set(0, &out_base, 8);
  set(1, &n, 4);
  set(2, &data_base, 8);
  if (c.map) {
    isa::TensorMap map = *c.map;
    map.global_address += data_base;
    set(3, isa::encode(map).bytes.data(), isa::tensor_map_bytes);
  }
  MachineRun run{machine.run(launch, options)};
  if (run.result.clean()) run.value = c.elapsed ? double(run.result.clock.cycles) : measured(c, out);
  return run;
}

std::string problem_of(const sim::RunResult& result) {
  if (!result.errors.empty()) return isa::render(result.errors);
  if (!result.findings.empty()) return report::finding_text(result.findings.front());
  return result.clean() ? "" : "did not end";
}

}  // namespace

MachineReading run_in_machine(const Case& c, const isa::ArchSpec& arch, const sim::RunOptions& given) {
  sim::RunOptions options = given;
  if (!c.values) options.values = sim::Values::none;
  const auto module = isa::parse(c.text);
  if (!module) return {.problem = isa::render(module.error())};
  MachineRun shorter;
  if (c.shorter != 0) shorter = once(c, *module, arch, options, c.shorter);
  const MachineRun longer = once(c, *module, arch, options, c.longer);
  MachineReading reading;
  reading.problem = c.shorter != 0 ? problem_of(shorter.result) : "";
  if (reading.problem.empty()) reading.problem = problem_of(longer.result);
  reading.value = value_of(c, shorter.value, longer.value);
  reading.instructions = shorter.result.instructions + longer.result.instructions;
  return reading;
}

}  // namespace palladion::bench
