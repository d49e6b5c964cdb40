#pragma once
// Which launches are wanted, what the program loaded, and the recording of a launch. One a process; all
// functions may be called from any thread.
#include <cstdint>
#include <string>

#include "capture/driver.h"

namespace palladion::capture {

// The settings of `palladion capture`, from the environment: PALLADION_CAPTURE_DIR, _KERNEL (a POSIX extended
// regular expression on the name, as it is or demangled), _SKIP, _LAUNCHES, _MAX_BYTES. Without a folder
// nothing is recorded.
struct Settings {
  std::string folder, kernel;
  uint64_t skip = 0, launches = 1, max_bytes = uint64_t{4} << 30;
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

// `owner`: the module or library that the driver made of `image`.
void loaded(Handle owner, const void* image);
void loaded_file(Handle owner, const char* path);
// `part` (a function, kernel or module) belongs to `owner`.
void belongs(Handle part, Handle owner);

bool wanted(Handle function);
// Records memory, launches with `go`, waits, records memory again. The program sees the result of its launch.
Status record(const Request& request, Status (*go)(void*), void* argument);
void note_graph_launch();

// Inside our own calls of the driver.
inline thread_local bool inside = false;

}  // namespace palladion::capture
