#pragma once
// The bundle of a launch while it is made.
#include <string>

#include "cuda/bundle/bundle.h"
#include "cuda/capture/memory.h"
#include "cuda/capture/recorder.h"

namespace palladion::cuda::capture {

class Recording {
 public:
  explicit Recording(const Request& request) : r_(request) {}

  // Finds what the launch reaches and tells its size, before anything is written. False: this launch cannot
  // be recorded, which was said.
  bool prepare();
  bool before();
  void after(Status launched, Status ended);

 private:
  void describe_launch();
  void find_program(uint32_t compute);
  void find_memory();
  void tell(uint64_t bytes) const;
  bool begin();
  bool write(const std::string& file, const std::string& text);
  bool write_manifest();

  const Request& r_;
  bundle::Manifest m_;
  RecordedArrays arrays_;
  std::string folder_, ptx_, image_;
  std::vector<std::string> linked_;
};

}  // namespace palladion::cuda::capture
