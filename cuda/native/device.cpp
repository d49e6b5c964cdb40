#include "cuda/native/device.h"

#include <algorithm>
#include <array>
#include <thread>

#include "cuda/native/session.h"
#include "isa/arch/arch.h"

namespace palladion::cuda::native {
namespace {

constexpr const char* simulator_help = "without a device, run on the simulator: `--on sim`";

int attribute(const driver::Api& api, driver::DeviceId device, driver::DeviceAttribute which) {
  int value = 0;
  return api.DeviceGetAttribute(&value, which, device) == driver::success ? value : 0;
}

DeviceFacts read_facts(const driver::Api& api, driver::DeviceId device, int ordinal) {
  using A = driver::DeviceAttribute;
  const auto get = [&](A which) { return attribute(api, device, which); };
  DeviceFacts f;
  f.ordinal = ordinal;
  std::array<char, 256> name{};
  api.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
  f.name = name.data();
  f.sm = get(A::compute_major) * 10 + get(A::compute_minor);
  f.sm_count = get(A::sm_count);
  f.sm_clock_mhz = get(A::sm_clock_khz) / 1000;
  f.memory_clock_mhz = get(A::memory_clock_khz) / 1000;
  f.l2_bytes = get(A::l2_bytes);
  f.shared_bytes_per_sm = get(A::shared_bytes_per_sm);
  f.shared_bytes_per_cta = get(A::shared_bytes_per_cta_optin);
  size_t memory = 0;
  api.DeviceTotalMem(&memory, device);
  f.memory_bytes = static_cast<int64_t>(memory);
  api.DriverGetVersion(&f.driver_version);
  return f;
}

struct Started {
  std::shared_ptr<const driver::Api> api;
  int devices = 0;
};

// Loads and initialises the driver; the failure's code distinguishes a missing driver from a missing device.
Result<Started> start(const std::string& library) {
  auto api = driver::load(library);
  if (!api) return failure(Code::no_driver, "no device: " + api.error(), simulator_help);
  Started started{*api};
  constexpr driver::Status no_device = 100, stub = 34;
  const driver::Status initialised = started.api->Init(0);
  if (initialised == stub)
    return failure(Code::no_driver,
                   fmt::format("no device: {} is CUDA's link-time stub, not a driver", library),
                   simulator_help);
  if (initialised != driver::success && initialised != no_device)
    return failure(Code::no_driver,
                   "no device: the CUDA driver does not start, " + started.api->text(initialised),
                   simulator_help);
  if (initialised == driver::success) started.api->DeviceGetCount(&started.devices);
  if (started.devices == 0)
    return failure(Code::no_device, "no device: the CUDA driver sees no GPU", simulator_help);
  return started;
}

}  // namespace

Availability Device::available(const std::string& library) {
  Availability out;
  const auto started = start(library);
  if (!started) {
    out.reason = started.error().front().message;
    return out;
  }
  for (int i = 0; i < started->devices; ++i) {
    driver::DeviceId device = 0;
    if (started->api->DeviceGet(&device, i) == driver::success)
      out.devices.push_back(read_facts(*started->api, device, i));
  }
  return out;
}

Result<Device> Device::open(int ordinal, const std::string& library) {
  const auto started = start(library);
  if (!started) return tl::unexpected(started.error());
  const driver::Api& api = *started->api;
  if (ordinal < 0 || ordinal >= started->devices)
    return failure(Code::no_device,
                   fmt::format("no device number {}: there are {}", ordinal, started->devices));
  driver::DeviceId device = 0;
  driver::Context context = nullptr;
  driver::Status status = api.DeviceGet(&device, ordinal);
  if (status == driver::success) status = api.DevicePrimaryCtxRetain(&context, device);
  if (status != driver::success)
    return failure(Code::no_device, fmt::format("device {} cannot be used: {}", ordinal, api.text(status)));
  return Device(std::make_shared<Session>(started->api, device, context, read_facts(api, device, ordinal)));
}

const DeviceFacts& Device::facts() const { return session_->facts(); }

// ---- memory --------------------------------------------------------------------------------------

Result<Buffer> Device::allocate(size_t bytes) const {
  session_->enter();
  driver::Address address = 0;
  const size_t wanted = std::max<size_t>(bytes, 1);  // the driver refuses 0
  const auto done = session_->check(session_->api().MemAlloc(&address, wanted),
                                    fmt::format("{} bytes of device memory", bytes));
  if (!done) return tl::unexpected(done.error());
  return Buffer(session_, address, bytes);
}

Buffer::Buffer(std::shared_ptr<Session> session, uint64_t address, size_t bytes)
    : session_(std::move(session)), address_(address), bytes_(bytes) {}
Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(session_, other.session_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
Buffer::~Buffer() {
  if (!session_ || session_->lost()) return;
  session_->enter();
  session_->api().MemFree(address_);
}

Result<void> Buffer::check_range(size_t offset, size_t bytes, std::string_view verb) const {
  if (!session_) return failure(Code::driver_call_failed, "an empty device buffer");
  if (offset > bytes_ || bytes > bytes_ - offset)
    return failure(Code::driver_call_failed, fmt::format("{} {} bytes at offset {} of a device buffer of {}",
                                                         verb, bytes, offset, bytes_));
  session_->enter();
  return {};
}

Result<void> Buffer::upload(std::span<const std::byte> from, size_t offset) {
  if (auto fits = check_range(offset, from.size(), "upload"); !fits) return fits;
  if (from.empty()) return {};
  return session_->check(session_->api().MemcpyHtoD(address_ + offset, from.data(), from.size()),
                         "copy to the device");
}

Result<void> Buffer::download(std::span<std::byte> to, size_t offset) const {
  if (auto fits = check_range(offset, to.size(), "download"); !fits) return fits;
  if (to.empty()) return {};
  return session_->check(session_->api().MemcpyDtoH(to.data(), address_ + offset, to.size()),
                         "copy from the device");
}

Result<void> Buffer::fill(uint8_t value) {
  if (auto fits = check_range(0, bytes_, "fill"); !fits) return fits;
  if (bytes_ == 0) return {};
  return session_->check(session_->api().MemsetD8Async(address_, value, bytes_, nullptr),
                         "fill device memory");
}

// ---- tensor maps ---------------------------------------------------------------------------------

Result<TensorMapHandle> Device::encode(const isa::TensorMap& map) const {
  isa::Diagnostics broken;
  if (map.mode > isa::TensorMapMode::im2col)
    return tl::unexpected(
        isa::Diagnostics{{.code = Code::bad_tensor_map,
                          .message = fmt::format("unsupported: tensor maps for {}", name(map.mode))}});
  isa::ArchSpec limits = isa::default_arch();  // the driver judges by its own
  limits.sm = facts().sm;
  for (const std::string& rule : isa::validate(map, limits))
    broken.push_back({.code = Code::bad_tensor_map, .message = "tensor map: " + rule});
  if (!broken.empty()) return tl::unexpected(std::move(broken));
  session_->enter();
  const driver::Api& api = session_->api();
  TensorMapHandle out{};
  void* address = reinterpret_cast<void*>(map.global_address);
  const int type = static_cast<int>(map.data_type), interleave = static_cast<int>(map.interleave),
            swizzle = static_cast<int>(map.swizzle), promotion = static_cast<int>(map.l2_promotion),
            fill = static_cast<int>(map.oob_fill);
  const auto rank = static_cast<uint32_t>(map.rank);
  const driver::Status status =
      map.mode == isa::TensorMapMode::tiled
          ? api.TensorMapEncodeTiled(&out.opaque, type, rank, address, map.dims.data(), map.strides.data(),
                                     map.box.data(), map.element_strides.data(), interleave, swizzle,
                                     promotion, fill)
          : api.TensorMapEncodeIm2col(&out.opaque, type, rank, address, map.dims.data(), map.strides.data(),
                                      map.lower_corner.data(), map.upper_corner.data(),
                                      map.channels_per_pixel, map.pixels_per_column,
                                      map.element_strides.data(), interleave, swizzle, promotion, fill);
  if (auto done = session_->check(status, "the driver refuses the tensor map", Code::bad_tensor_map); !done)
    return tl::unexpected(done.error());
  return out;
}

// ---- waiting and timing --------------------------------------------------------------------------

Result<void> Device::wait(const WaitOptions& options) const {
  session_->enter();
  const driver::Api& api = session_->api();
  if (options.limit || options.stop != nullptr) {
    const auto start = std::chrono::steady_clock::now();
    // Short kernels are seen soon, long ones cost no processor time.
    auto pause = std::chrono::microseconds(20);
    while (api.StreamQuery(nullptr) == driver::not_ready) {
      const bool stopped = options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
      if (stopped || (options.limit && std::chrono::steady_clock::now() - start > *options.limit)) {
        session_->lose();
        return failure(Code::kernel_timed_out,
                       stopped ? "the kernel had not ended on the device when it was interrupted"
                               : fmt::format("the kernel did not end on the device within {} ms",
                                             options.limit->count()),
                       "run it on the simulator, which reports what each warp waits for");
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(2000));
    }
  }
  return session_->check(api.CtxSynchronize(), "the kernel failed while it ran", Code::kernel_failed);
}

namespace {

// Two events per repeat, destroyed with the object.
class EventPairs {
 public:
  EventPairs(const Session& session, int count) : session_(session), events_(static_cast<size_t>(count) * 2) {
    for (driver::Event& e : events_) status_ = status_ ? status_ : session_.api().EventCreate(&e, 0);
  }
  EventPairs(const EventPairs&) = delete;
  EventPairs& operator=(const EventPairs&) = delete;
  ~EventPairs() {
    for (driver::Event e : events_)
      if (e && !session_.lost()) session_.api().EventDestroy(e);
  }
  driver::Status status() const { return status_; }
  driver::Status start(int i) { return session_.api().EventRecord(events_[2 * i], nullptr); }
  driver::Status stop(int i) { return session_.api().EventRecord(events_[2 * i + 1], nullptr); }
  double microseconds(int i) {
    float ms = 0;
    status_ = session_.api().EventElapsedTime(&ms, events_[2 * i], events_[2 * i + 1]);
    return ms * 1e3;
  }

 private:
  const Session& session_;
  std::vector<driver::Event> events_;
  driver::Status status_ = driver::success;
};

Timing summarise(std::vector<double> samples) {
  Timing t;
  t.samples_us = samples;
  std::ranges::sort(samples);
  const size_t n = samples.size();
  t.min_us = samples.front();
  t.max_us = samples.back();
  t.median_us = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
  return t;
}

}  // namespace

Result<Timing> Device::time(const std::function<Result<void>()>& work, const TimingOptions& options) const {
  if (options.repeats < 1) return failure(Code::driver_call_failed, "a timing needs at least one repeat");
  for (int i = 0; i < options.warmups; ++i)
    if (auto done = work(); !done) return tl::unexpected(done.error());
  if (auto done = wait(options.wait); !done) return tl::unexpected(done.error());

  Buffer flush;
  if (options.flush_l2) {
    auto buffer = allocate(static_cast<size_t>(facts().l2_bytes) * 2);
    if (!buffer) return tl::unexpected(buffer.error());
    flush = std::move(*buffer);
  }
  EventPairs events(*session_, options.repeats);
  if (auto made = session_->check(events.status(), "create events"); !made)
    return tl::unexpected(made.error());
  for (int i = 0; i < options.repeats; ++i) {
    if (options.flush_l2)
      if (auto done = flush.fill(static_cast<uint8_t>(i)); !done) return tl::unexpected(done.error());
    events.start(i);
    if (auto done = work(); !done) return tl::unexpected(done.error());
    events.stop(i);
  }
  if (auto done = wait(options.wait); !done) return tl::unexpected(done.error());
  std::vector<double> samples;
  for (int i = 0; i < options.repeats; ++i) samples.push_back(events.microseconds(i));
  if (auto read = session_->check(events.status(), "read events"); !read) return tl::unexpected(read.error());
  return summarise(std::move(samples));
}

}  // namespace palladion::cuda::native
