// Random calls of the driver and the runtime API with random arguments: no call may end the program, run for
// long, or touch memory that is not its own. `host_fuzz CALLS [SEED]`; `host_fuzz 1 SEED` repeats the process
// that it names. What is not given: pointers of the host that are none (but null), and copies from the host
// to the host.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cuda/abi/cuda.h"

namespace {

using namespace palladion::cuda;

constexpr size_t calls_a_process = 4000, host_bytes = size_t{8} << 20;
constexpr int conditional = 13;                  // CU_GRAPH_NODE_TYPE_CONDITIONAL
constexpr size_t most_of_allocation = 64 << 10;  // of those that succeed: what is filled takes memory

struct Call {
  const char* name;
  const char* arguments;
};
constexpr Call calls[] = {
#define CALL(name, arguments) {#name, arguments},
#include "tests/fuzz/host_calls.inc"
#undef CALL
};

constexpr const char* ptx =
    ".version 8.7\n.target sm_90\n.address_size 64\n.global .align 4 .u32 word;\n"
    ".visible .entry none() { ret; }\n"
    ".visible .entry store(.param .u64 p) { .reg .b64 %a; .reg .b32 %t; ld.param.u64 %a, [p]; mov.u32 %t, "
    "%tid.x;\n"
    "st.global.u32 [%a], %t; ret; }\n";

// What the parent reads when the process ends by a signal.
struct Shared {
  size_t calls = 0;
  char last[64] = "";
};

class Fuzzer {
 public:
  Fuzzer(uint64_t seed, Shared& shared)
      : random_(seed), shared_(shared), host_(host_bytes), guard_(64, canary) {
    const std::string folder = std::string(PLD_BINARY_DIR) + "/exec/";
    for (const char* library : {"libcuda.so.1", "libcudart.so.13"})
      if (void* const l = dlopen((folder + library).c_str(), RTLD_NOW | RTLD_GLOBAL); l == nullptr)
        std::fprintf(stderr, "%s\n", dlerror()), std::_Exit(2);
    for (const Call& c : calls) {
      functions_.push_back(reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, c.name)));
      if (functions_.back() == nullptr) std::fprintf(stderr, "no %s\n", c.name), std::_Exit(2);
    }
  }

  void begin() {
    if (below(20) == 0) return;  // without the initialisation
    invoke("cuInit", {0});
    if (below(20) == 0) return;  // without a context
    invoke("cuDevicePrimaryCtxRetain", {word(&context_), 0});
    invoke("cuCtxSetCurrent", {word(context_)});
    keep('c', word(context_));
    stores_ = below(3) == 0;  // a store to a wrong address is the last thing that the device does
    void *module = nullptr, *function = nullptr;
    invoke("cuModuleLoadData", {word(&module), word(ptx)});
    keep('m', word(module));
    for (const char* name : {"none", stores_ ? "store" : "none"}) {
      invoke("cuModuleGetFunction", {word(&function), word(module), word(name)});
      keep('f', word(function));
    }
  }
  void step() {
    const size_t i = below(std::size(calls));
    if (std::strcmp(calls[i].name, "cudaDeviceReset") == 0 && below(32) != 0) return;
    if (context_ != nullptr && below(32) == 0) invoke("cuCtxSetCurrent", {word(context_)});
    std::snprintf(shared_.last, sizeof shared_.last, "%s", calls[i].name);
    call(i);
    ++shared_.calls;
    if (std::ranges::any_of(guard_, [](uint64_t w) { return w != canary; })) std::abort();
  }

 private:
  using Function = int (*)(...);
  static constexpr uint64_t canary = 0x5afe'5afe'5afe'5afe;

  size_t below(size_t n) { return random_() % n; }
  template <class T>
  static uint64_t word(T* p) {
    return reinterpret_cast<uint64_t>(p);
  }
  void keep(char kind, uint64_t handle) {
    auto& all = handles_[kind];
    if (all.size() < 64)
      all.push_back(handle);
    else
      all[below(64)] = handle;
  }
  int invoke(const char* name, std::vector<uint64_t> a) {
    for (size_t i = 0; i < std::size(calls); ++i)
      if (std::strcmp(calls[i].name, name) == 0) return invoke(i, std::move(a));
    std::abort();
  }
  int invoke(size_t i, std::vector<uint64_t> a) {
    a.resize(12);
    return functions_[i](a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  }

  // Mostly one that was made, be it gone or not; else null, a number, or one of another kind.
  uint64_t handle(char kind) {
    const size_t choice = below(16);
    if (choice == 0) return 0;
    if (choice == 1) return kind == 'd' ? size() : 1 + below(0x10000);
    if (choice == 2 && kind != 'd') {
      auto other = handles_.begin();
      std::advance(other, static_cast<long>(below(std::max<size_t>(handles_.size(), 1))));
      if (!handles_.empty() && !other->second.empty()) return other->second[below(other->second.size())];
    }
    const auto& all = handles_[kind];
    if (all.empty()) return 0;
    return all[below(all.size())] + (kind == 'd' && below(4) == 0 ? below(512) : 0);
  }
  uint64_t size() {
    static constexpr uint64_t sizes[] = {0, 1, 2, 3, 4, 16, 255, 256, 4096, 65535, 65536, uint64_t{2} << 20};
    switch (below(4)) {
      case 0:
        return ~uint64_t{0} - below(70000);
      case 1:
        return uint64_t{1} << (40 + below(24));
      case 2:
        return below(most_of_allocation);
      default:
        return sizes[below(std::size(sizes))];
    }
  }
  // The address sanitizer maps what lies there (its shadow, below 2^45): memory that a program could
  // register.
  static uint64_t outside_of_shadow(uint64_t at) {
    return at >= uint64_t{1} << 40 && at < uint64_t{1} << 45 ? at << 5 : at;
  }
  uint64_t small() {
    static constexpr uint32_t numbers[] = {0,  1,  2,  3,    4,     5,          7,         8,
                                           16, 32, 64, 1024, 65536, 0x7fffffff, 0xffffffff};
    return below(3) == 0 ? numbers[below(std::size(numbers))] : below(20);
  }
  // Words that stay until the process has made some hundred calls more.
  uint64_t* words(size_t n) {
    kept_[next_kept_ = (next_kept_ + 1) % kept_.size()].assign(n, 0);
    return kept_[next_kept_].data();
  }
  uint64_t* numbers() {  // a description without pointers of the host
    uint64_t* const w = words(64);
    for (size_t i = 0; i < 20; ++i)
      w[i] = below(2) == 0   ? small() | small() << 32
             : below(2) == 0 ? handle(below(2) == 0 ? 'd' : 'a')
                             : size();
    return w;
  }
  uint64_t host() { return below(30) == 0 ? 0 : word(host_.data()); }
  uint64_t copy() {
    auto* const c = reinterpret_cast<Memcpy3D*>(words(sizeof(Memcpy3D) / 8 + 1));
    const auto count = [&] { return below(3) == 0 ? size() : below(64); };
    c->width = count(), c->height = count(), c->depth = count();
    c->src_x = below(4) == 0 ? size() : 0, c->src_y = below(4) == 0 ? size() : 0,
    c->dst_z = below(4) == 0 ? size() : 0;
    c->src_pitch = count(), c->dst_pitch = count(), c->src_height = count(), c->dst_height = count();
    c->src_type = memory_device, c->src_device = handle('d');
    c->dst_type = below(2) == 0 ? memory_device : memory_array, c->dst_device = handle('d');
    c->dst_array = reinterpret_cast<void*>(handle('a'));
    return word(c);
  }
  uint64_t params() {
    uint64_t* const w = words(4);
    w[3] = handle('d');
    w[0] = word(&w[3]);
    return below(10) == 0 ? 0 : word(w);
  }
  uint64_t kernel_node() {
    auto* const k = reinterpret_cast<KernelNode*>(words(sizeof(KernelNode) / 8 + 1));
    k->function = reinterpret_cast<void*>(handle('f'));
    for (auto* dims : {k->grid, k->block})
      for (int d = 0; d < 3; ++d) dims[d] = static_cast<unsigned>(below(8) == 0 ? small() % 100 : 1);
    k->params = reinterpret_cast<void**>(params());
    return word(k);
  }
  uint64_t graph_node() {
    static constexpr int kinds[] = {0, 1, 2, 3, 4, 4, 5, 6, 7, 10, 11, 13, 13, 13};  // CUgraphNodeType
    auto* const p = reinterpret_cast<NodeParams*>(words(sizeof(NodeParams) / 8 + 1));
    p->type = kinds[below(std::size(kinds))];
    switch (p->type) {
      case 0:
        p->of.kernel = *reinterpret_cast<KernelNode*>(kernel_node());
        break;
      case 1:
        p->of.memcpy.copy = *reinterpret_cast<Memcpy3D*>(copy());
        break;
      case 2:
        p->of.memset = *reinterpret_cast<MemsetNode*>(numbers());
        break;
      case 3:
        p->of.host = {reinterpret_cast<HostFn>(function()), nullptr};
        break;
      case 10:
        p->of.alloc.bytes = size();
        break;
      case conditional:
        p->of.conditional = {handle('q'), static_cast<ConditionalType>(below(4)),
                             static_cast<uint32_t>(below(16) == 0 ? small() : below(4)), nullptr, nullptr};
        break;
      default:
        p->of.graph = reinterpret_cast<void*>(handle(p->type == 4 ? 'g' : p->type == 11 ? 'd' : 'e'));
    }
    return word(p);
  }
  void keep_bodies(const NodeParams& p) {
    for (uint32_t i = 0; p.type == conditional && i < p.of.conditional.size && i < 4; ++i)
      keep('g', word(p.of.conditional.graphs[i]));
  }
  uint64_t launch() {
    auto* const l = reinterpret_cast<LaunchConfig*>(words(sizeof(LaunchConfig) / 8 + 1));
    for (auto* dims : {l->grid, l->block})
      for (int d = 0; d < 3; ++d) dims[d] = static_cast<unsigned>(below(8) == 0 ? small() % 100 : 1);
    l->stream = reinterpret_cast<void*>(handle('s'));
    return word(l);
  }
  static void nothing(void*) {}
  uint64_t function() { return below(10) == 0 ? 0 : reinterpret_cast<uint64_t>(&nothing); }
  uint64_t name() {
    static constexpr const char* names[] = {"none", "word", "", "no_such", "store"};
    return word(names[below(std::size(names) - (stores_ ? 0 : 1))]);
  }
  uint64_t node_list() {
    uint64_t* const w = words(32);
    for (size_t i = 0; i < 32; ++i) w[i] = handle('n');
    return below(8) == 0 ? 0 : word(w);
  }

  uint64_t argument(char kind) {
    switch (kind) {
      case 'z':
        return size();
      case 'i':
        return small();
      case 'v':  // an address that is none as often as not
        return below(2) == 0 ? outside_of_shadow(size()) : word(host_.data() + below(4096));
      case 'h':
        return host();
      case 'o':
      case 'O':
        return below(20) == 0 ? 0 : word(words(kind == 'o' ? 64 : 512));
      case '0':
        return 0;
      case '3':
        return copy();
      case 'k':
        return kernel_node();
      case 'l':
        return launch();
      case 'G':
        return graph_node();
      case 'P':
        return params();
      case 'H':
        return function();
      case 'F': {
        uint64_t* const w = words(4);
        return w[0] = function(), word(w);
      }
      case 'B':
        return name();
      case 'C':
        text_ = below(4) == 0 ? "no program" : ptx;
        return word(text_);
      case 'S':  // bytes of that text
        return below(std::strlen(text_) + 2);
      case 'j':  // from the device, to the host
        return 2;
      case 'N':
        return node_list();
      case 'w':
      case 'A':
      case 'R':
      case 'T':
      case 'V':
      case 'L':
        return below(20) == 0 ? 0 : word(numbers());
      default:
        return handle(kind);
    }
  }
  // Counts of lists that are given: no more than they have.
  void call(size_t i) {
    std::vector<uint64_t> a;
    char made = 0;
    size_t out = 0;
    for (const char* p = calls[i].arguments; *p != 0; ++p) {
      if (*p == '+') {
        made = *++p, out = a.size();
        a.push_back(below(30) == 0 ? 0 : word(words(8)));
      } else {
        a.push_back(argument(*p));
      }
      if (*p == 'i' && std::strchr(calls[i].arguments, 'N') != nullptr) a.back() %= 32;
      if (*p == 'i' && std::strstr(calls[i].arguments, "Vi") != nullptr) a.back() %= 2;
    }
    bound_lists(i, a);
    const int status = invoke(i, a);
    if (std::getenv("HOST_FUZZ_TALK") != nullptr) tell(calls[i].name, a, status);
    if (status == 0 && made != 0 && a[out] != 0) keep(made, *reinterpret_cast<uint64_t*>(a[out]));
    if (status == 0 && std::strcmp(calls[i].name, "cuGraphAddNode_v2") == 0)
      keep_bodies(*reinterpret_cast<NodeParams*>(a.back()));
  }
  static void tell(const char* name, const std::vector<uint64_t>& a, int status) {
    std::fprintf(stderr, "%s", name);
    for (const uint64_t w : a) std::fprintf(stderr, " %llx", static_cast<unsigned long long>(w));
    std::fprintf(stderr, ": %d\n", status);
  }
  // A list's length lies in memory; an answer's size is what the memory has.
  void bound_lists(size_t i, std::vector<uint64_t>& a) {
    const std::string name = calls[i].name, arguments = calls[i].arguments;
    if (arguments.find('O') != std::string::npos && a.back() != 0)
      *reinterpret_cast<uint64_t*>(a.back()) = below(512);
    if (name.starts_with("cuLaunch") && name != "cuLaunchHostFunc" && name != "cuLaunchKernelEx")
      for (size_t k = 1; k < 7; ++k) a[k] = below(8) == 0 ? small() % 100 : 1;
    // More than any host has: a copy of an allocation is never longer than the bytes of `h`.
    if ((name == "cuMemHostAlloc" || name == "cudaMallocHost") && a[1] > host_bytes)
      a[1] |= uint64_t{1} << 62;
    if (name == "cuDeviceGetName") a[1] = below(host_bytes);
    if (name == "cuModuleEnumerateFunctions") a[1] %= 8;
    if (name == "cuMemRangeGetAttribute") a[1] %= 64;
  }

  std::mt19937_64 random_;
  Shared& shared_;
  std::vector<uint8_t> host_;
  const char* text_ = "";
  std::vector<uint64_t> guard_;
  std::vector<std::vector<uint64_t>> kept_{4096};
  size_t next_kept_ = 0;
  std::vector<Function> functions_;
  void* context_ = nullptr;
  bool stores_ = false;
  std::map<char, std::vector<uint64_t>> handles_;
};

void run_process(uint64_t seed, size_t n, Shared& shared) {
  setenv("PALLADION_EXEC", "v1;max=1000;threads=1", 1);
  if (std::getenv("HOST_FUZZ_TALK") == nullptr && freopen("/dev/null", "w", stderr) == nullptr) std::_Exit(2);
  const rlimit seconds{60, 60};  // of the processor: the machine may be busy
  setrlimit(RLIMIT_CPU, &seconds);
  alarm(600);
  Fuzzer fuzzer(seed, shared);
  fuzzer.begin();
  for (size_t i = 0; i < n; ++i) fuzzer.step();
}

}  // namespace

int main(int argc, char** argv) {
  const size_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const auto most = std::chrono::seconds(argc > 3 ? std::atoi(argv[3]) : 1'000'000);
  const auto start = std::chrono::steady_clock::now();
  auto* const shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  size_t done = 0, failed = 0;
  for (; done < wanted && std::chrono::steady_clock::now() - start < most; done += calls_a_process, ++seed) {
    *shared = {};
    const pid_t child = fork();
    if (child == 0) {
      run_process(seed, calls_a_process, *shared);
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) continue;
    ++failed;
    std::printf("seed %llu: call %zu, %s: %s %d\n", static_cast<unsigned long long>(seed), shared->calls,
                shared->last, WIFSIGNALED(status) ? "signal" : "exit code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    std::fflush(stdout);  // a forked process would print it again
  }
  std::printf("%zu calls, %zu of %zu processes failed\n", done, failed, done / calls_a_process);
  return failed == 0 ? 0 : 1;
}
