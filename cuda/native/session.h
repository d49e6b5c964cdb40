#pragma once
// Inside of native: one retained context and the way every driver call is made and reported.
#include <string_view>

#include <fmt/format.h>

#include "cuda/native/codes.h"
#include "cuda/native/device.h"

namespace palladion::cuda::native {

// A failure with its code.
inline tl::unexpected<isa::Diagnostics> failure(Code code, std::string message, std::string help = {}) {
  return tl::unexpected(
      isa::Diagnostics{{.code = code, .message = std::move(message), .help = std::move(help)}});
}

class Session {  // the driver's primary context of one device, held until its last user is gone
 public:
  Session(std::shared_ptr<const driver::Api> api, driver::DeviceId device, driver::Context context,
          DeviceFacts facts)
      : api_(std::move(api)), device_(device), context_(context), facts_(std::move(facts)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (!lost_) api_->DevicePrimaryCtxRelease(device_);
  }

  // The driver's functions.
  const driver::Api& api() const { return *api_; }
  // Of its device.
  const DeviceFacts& facts() const { return facts_; }
  // Contexts are current per host thread, so every call begins with this.
  void enter() const { api_->CtxSetCurrent(context_); }
  // A kernel does not end. The driver waits for it in every call that frees something, so from here on
  // nothing is freed: the end of the process frees all.
  void lose() { lost_ = true; }
  bool lost() const { return lost_; }

  // The driver's error as a diagnostic.
  Result<void> check(driver::Status status, std::string_view what,
                     Code code = Code::driver_call_failed) const {
    if (status == driver::success) return {};
    return failure(code, fmt::format("{}: {}", what, api_->text(status)));
  }

 private:
  std::shared_ptr<const driver::Api> api_;
  driver::DeviceId device_;
  driver::Context context_;
  DeviceFacts facts_;
  bool lost_ = false;
};
// A module in the driver; its end unloads it.
struct LoadedModule {
  std::shared_ptr<Session> session;                           // that loaded it
  driver::Module handle = nullptr;                            // the driver's
  std::string info_log;                                       // what the compiler said
  std::map<std::string, ResourceUse, std::less<>> resources;  // of each entry

  LoadedModule() = default;
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  ~LoadedModule() {
    if (!handle || session->lost()) return;
    session->enter();
    session->api().ModuleUnload(handle);
  }
};

}  // namespace palladion::cuda::native
