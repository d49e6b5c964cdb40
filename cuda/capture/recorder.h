#pragma once
// Which launches are wanted, what the program loaded, and the recording of a launch. One a process; all
// functions may be called from any thread.
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/capture/driver.h"

namespace palladion::cuda::capture {

// The settings of `palladion capture`, from the environment: PALLADION_CAPTURE_DIR, _KERNEL (a POSIX extended
// regular expression on the name, as it is or demangled), _SKIP, _LAUNCHES, _MAX_BYTES, _STRIP (seeds stand
// for the contents). Without a folder nothing is recorded.
struct Settings {
  std::string folder, kernel;
  uint64_t skip = 0, launches = 1, max_bytes = uint64_t{4} << 30;
  bool strip = false;
};
const Settings& settings();

struct Request {
  Handle function = nullptr, stream = nullptr;
  uint32_t grid[3]{}, block[3]{}, cluster[3]{1, 1, 1};
  bool names_cluster = false;
  uint32_t dynamic_shared = 0;
  bool cooperative = false, programmatic_serialization = false;
  void** params = nullptr;
  void** extra = nullptr;
};

// Whether this launch is to be recorded; it is counted. Not on a stream of which a graph is made.
bool wanted(Handle function, Handle stream);
// Whether one of these launches, one after the other, would be; and that they were made, unrecorded.
bool wants_any(const std::vector<Handle>& functions);
void count_launches(const std::vector<Handle>& functions);
// Launches on this stream become nodes of a graph.
bool makes_graph(Handle stream);
// The handle is of another kernel from now on.
void forget(Handle function);
// Records memory, launches with `go`, waits, records memory again. The program sees the result of its launch.
Status record(const Request& request, Status (*go)(void*), void* argument);

// Inside our own calls of the driver.
inline thread_local bool inside = false;

}  // namespace palladion::cuda::capture
