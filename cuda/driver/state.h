#pragma once
// What the library knows: one device, its memory, the program's modules, what was launched. All of it is
// behind one lock.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "cuda/cubin/cubin.h"
#include "cuda/driver/abi.h"
#include "cuda/driver/judged.h"
#include "cuda/order/ranges.h"
#include "sim/check/core/options.h"
#include "sim/machine.h"

namespace palladion::cuda::driver {

// What `palladion exec` asks for: the variable PALLADION_EXEC, "v1;key=value;...".
struct Settings {
  std::string arch = "h200", schedule = "functional", check = "none", schedules = "1";
  unsigned threads = 0;
  uint64_t max_instructions = uint64_t{1} << 30;
  // The pipe of exec (report/json/exec_record.h): a file of this process and, with the same number, of that
  // one.
  struct Report {
    int file = -1;  // none
    uint64_t inode = 0;
    int process = 0;
  } report;
  bool fmad = true;  // RunOptions::fmad
};
Settings settings_of(const char* text);

// Objects that the program knows by their addresses: one that is none's, or no longer, is distinguished from
// them.
template <class T>
class Handled {
 public:
  static bool exists(const void* handle) { return all().contains(handle); }
  static size_t count() { return all().size(); }
  Handled& operator=(const Handled&) = default;

 private:
  friend T;
  Handled(const Handled&) : Handled() {}
  Handled() { all().insert(static_cast<T*>(this)); }
  ~Handled() { all().erase(static_cast<T*>(this)); }
  static std::unordered_set<const void*>& all() {
    static auto* const objects = new std::unordered_set<const void*>;
    return *objects;
  }
};
// Whether each of them is one.
template <class... T>
bool exist(const T*... handles) {
  return (Handled<T>::exists(handles) && ...);
}

struct Image;  // a module or a library: PTX, parsed when it is first needed
// What a thread, or a CTA, of a kernel needs of the chip.
struct Needs {
  int registers = 0, max_threads = 1024;
  bool counted = false;  // by ptxas, in machine code that came with the PTX; else the registers are estimated
  int64_t static_shared = 0, local = 0, constants = 0;
  int barriers = 1;
};
struct Kernel : Handled<Kernel> {
  Image* image = nullptr;
  std::string name;
  uint32_t max_dynamic_shared = 48 * 1024;
  int carveout = -1;
  bool nonportable_cluster = false;
  bool estimate_told = false;
  std::optional<Needs> needs;  // needs_of finds them once: each launch asks
};
struct Image : Handled<Image> {
  std::vector<std::string> ptx;      // several: of the objects that a program was linked from (-rdc=true)
  bool newer = false;                // it is for a newer chip
  int ptx_chip = 0;                  // of its .target: 90
  std::string why;                   // there is no PTX
  std::vector<const void*> fatbins;  // of the program's own memory, whose machine code was not read yet
  cubin::Registers registers;        // by ptxas, of functions
  std::string log;                   // what the compiler said of it
  bool tried = false;
  std::unique_ptr<isa::Module> module;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
};

struct Context {
  bool active = false, destroyed = false;
  unsigned flags = 0, retained = 0;
  int cache_config = 0;
  uint64_t id = 1;
};

enum class Origin : uint8_t { device, host, managed, registered, array, mapped };
// Whether the program's host code can use the bytes at their address.
inline bool reaches_host(Origin o) {
  return o == Origin::host || o == Origin::managed || o == Origin::registered;
}
struct Block {
  Pointer base = 0;
  size_t size = 0, mapped = 0;
  uint8_t* machine_view = nullptr;  // its bytes; null: where the program has them
  sim::ZeroedBytes owned;           // that view, where the block has it
  Origin origin = Origin::device;
  uint64_t id = 0;
  uint32_t host_flags = 0;
  bool variable = false;  // of a module
  bool synchronous = false;
  const Context* owner = nullptr;
};

struct LaunchRecord {
  std::string kernel;
  isa::Dim3 grid, block;
  uint64_t begun = 0, launches = 0, findings = 0, instructions = 0, cycles = 0;
  double microseconds = 0, seconds = 0;
  std::vector<sim::Finding> found;   // of all launches, merged
  std::set<std::string> incomplete;  // why they were not checked as a whole
  std::optional<Judged> judged;      // none: not checked
};

struct Missing {
  uint32_t number = 0;  // in the order of the first calls
  uint64_t count = 0;
};

enum : int {
  limit_stack = 0,
  limit_printf = 1,
  limit_heap = 2,
  limit_pending_launches = 4,
  limit_l2_fetch = 5,
  limit_l2_persisting = 6
};

struct State {
  State();
  std::recursive_mutex lock;
  Settings settings;
  const isa::ArchSpec* arch = nullptr;
  std::unique_ptr<sim::Machine> machine;
  bool initialised = false;
  bool forked = false;  // behind the initialisation: this process has no device
  Context primary;
  std::map<Pointer, Block> blocks;
  std::set<Image*> images;
  Status sticky = success;  // of a kernel that failed: every later call gives it
  uint64_t errors = 0, next_id = 1;
  // CUlimit, as an H200 answers (measured).
  size_t limits[10] = {1024, 8650752, 8388608, 0, 2048, 64, 11796480, 232448, 0, 0};
  bool heap_used = false;          // by a kernel: its size is fixed
  Pointer device_queue = 0;        // device_launches.cpp
  Pointer conditions = 0;          // conditions.cpp
  uint64_t performed = 0;          // launches of kernels
  std::atomic<bool> stop = false;  // the launch that runs now is to end where it is
  int nested = 0;                  // launches by kernels that are performed now
  double clock_us = 0;             // the device's time under a schedule with a clock
  std::vector<LaunchRecord> launches;
  std::vector<sim::Finding> host_findings;  // of the order of operations, PLD70xx
  std::map<std::string, Missing> missing;   // calls that are not there
  std::map<std::string, Missing> computed;  // on the host
  std::string printed;                      // of kernels, shown at the next synchronisation

  Block* block_of(Pointer p);
};
State& state();
inline void* to(Pointer p) { return reinterpret_cast<void*>(p); }
using Guard = std::lock_guard<std::recursive_mutex>;

Context* current();   // of this thread; null: none
Status of_current();  // why it can't be used: there is none, or it was destroyed
// Why no operation can be asked for: the library was not initialised, no context is current, a kernel failed.
Status usable();

// A call that the library does not have, or not with these arguments: named once.
Status unsupported(const std::string& what);
void show_printed();
uint64_t count_missing(const std::string& what);  // how often until now
void count_errors(uint64_t n);
void end_all_operations();
// A process that is forked from now on has no device: every call gives CUDA_ERROR_NOT_INITIALIZED.
void forbid_use_by_forked_processes();

// images.cpp, code.cpp
int64_t constant_bytes(const isa::Module& module);  // of its .const variables
isa::Module* module_of(Image& image);               // null: it has none, or a refused one
// Once for each `what`, where there is none.
void say_no_ptx(Image& image, const std::string& what);
Kernel* kernel_of(Image& image, const char* name, Status& status);

// launch.cpp
struct LaunchWork {
  Kernel* kernel = nullptr;
  isa::Dim3 grid, block, cluster;
  uint32_t shared = 0;
  bool cooperative = false;
  bool clustered = false;  // the launch states a cluster
  int priority = 0;
  std::map<uint32_t, LaunchAttributeValue> hints;  // attributes without an effect here, kept for questions
  bool programmatic() const {                      // may begin before the kernel in front of it is over
    const auto hint = hints.find(static_cast<uint32_t>(LaunchAttributeId::programmatic_stream_serialization));
    return hint != hints.end() && hint->second.flag != 0;
  }
  std::vector<uint8_t> params;
  std::vector<void*> pointers;  // to each of them, for the one who asks
};
Status prepare(LaunchWork& work, void* function, void** params, void** extra);
struct Doing;  // order/judge.h
// Begins it, and ends it unless it waits for what another stream or the host writes.
Status perform(const LaunchWork& work, const Doing& doing);
// Launches that wait go on; whether one of them did anything.
bool resume_launches();
bool some_launch_waits();
std::vector<std::string> waiting_kernels();
// They are deadlocks.
void end_waiting_launches();
// device_launches.cpp: kernels that kernels launch.
bool launches_kernels(const isa::Module& module);
void give_queue(State& s, sim::Launch& launch);
Status perform_launched(State& s, const LaunchWork& parent, const Doing& doing);
// conditions.cpp: kernels that set the conditions of graphs.
bool sets_conditions(const isa::Module& module);
void give_conditions(State& s, sim::Launch& launch);
tl::expected<Needs, Status> needs_of(Kernel& kernel);
std::optional<int> counted_registers(Image& image, const std::string& kernel);
int ctas_per_sm(const Needs& needs, int threads, size_t dynamic_shared);
int resident_clusters(int ctas_per_sm, const isa::Dim3& cluster);  // of the whole chip
void** parameter_pointers(LaunchWork& work);                       // valid until it changes

// memory.cpp
bool is_known(const void* p);  // memory of the machine, else the program's own
// Addresses that nothing else gets, with a gap behind them.
Pointer take_addresses(size_t bytes, size_t alignment);
Status put_memory(Pointer at, size_t bytes, Origin origin, const char* name);
Status allocate(Pointer& out, size_t bytes, Origin origin, const char* name);
Status release(Pointer p);
size_t used_bytes();             // of the device
size_t created_bytes();          // virtual_memory.cpp
void forget_in_pool(Pointer p);  // pools.cpp
const void* pool_that_gave(Pointer p);
void forget_advice(Pointer p, size_t bytes);  // managed.cpp
void trim_pools();                            // at a synchronisation
Status copy(void* to, const void* from, size_t bytes);
Status copy_3d(const Memcpy3D& c);
std::string text_of(const Memcpy3D& c);  // "copy of 256 bytes from the host"
order::Touched touched_by(const Memcpy3D& c);
order::Touched touched_by(const MemsetNode& m);
order::Touched touched_by_owner(Pointer p);  // who allocates or frees it
bool is_pinned_or_managed(const void* p);
bool is_given_out(Pointer p);  // an address that `take_addresses` has given, also one in a gap
Status fill(Pointer to, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height);

}  // namespace palladion::cuda::driver
