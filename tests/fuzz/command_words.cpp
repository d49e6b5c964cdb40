#include "tests/fuzz/command_words.h"

#include <algorithm>
#include <fstream>
#include <functional>

#include "cli/subjects/npy.h"
#include <isa/arch/clock_files.h>  // made by cmake/ClockFiles.cmake

namespace palladion::fuzz {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string npy_file(std::string_view dtype, const cli::npy::Shape& shape) {
  size_t bytes = cli::npy::size_of(dtype);
  for (const int64_t d : shape) bytes *= static_cast<size_t>(d);
  return cli::npy::header(dtype, shape) + std::string(bytes, '\1');
}

// Sizes that a run within a moment has.
const Words kernels = {"vector_add --shape n=2048",
                       "vector_add --shape n=1024 --set dtype=f16,tile=128",
                       "iota --shape n=1024",
                       "histogram --shape n=2048 --set ctas=2",
                       "reduce_sum --shape n=4096 --set ctas=2",
                       "softmax --shape m=4,n=256",
                       "rms_norm --shape m=4,n=256 --set ctas=2",
                       "cluster_exchange --shape clusters=1,n=256 --set rounds=2",
                       "transpose --shape m=64,n=64",
                       "stream_copy --shape n=16384 --set ctas=2",
                       "matmul_ws --shape m=256,n=128,k=128 --set sms=1,profile=1",
                       "matmul_pipelined --shape m=128,n=128,k=128",
                       "matmul_split_k --shape m=128,n=128,k=256 --set splits=2,ctas=2",
                       "ref_add",
                       "ref_queue",
                       "ref_wgmma",
                       "ref_cluster_barrier",
                       "zoo/mbarrier-memory-reused",
                       "zoo/wgmma-no-fence:good",
                       "zoo/divergent-shuffle"};

const Words absurd_words = {"0",
                            "-1",
                            "1e9",
                            "4294967296",
                            "18446744073709551616",
                            "99999999999999999999999",
                            "nan",
                            "inf",
                            "",
                            " ",
                            ",",
                            "=",
                            "a=",
                            "=a",
                            "x,y,z",
                            "1..",
                            "..",
                            "\x1b[2J",
                            "\xff\xfe",
                            "\n",
                            "''",
                            "%s%n",
                            "--help",
                            "-",
                            "--",
                            std::string(300, 'A'),
                            "m=1,m=2",
                            "n=0",
                            "n=4611686018427387904",
                            "in:f32[1]=zeros",
                            "tmap:f16[64,64]@0,box=16x16",
                            "tmap:in:f16[64,64]=const(3),box=16x16,swizzle=32",
                            "bytes:@/dev/null",
                            "f32:1e400",
                            "u8:256",
                            "out:bf16[3,5]"};

Words split_at_spaces(const std::string& text) {
  Words out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

struct OptionWord {
  std::string name;
  std::function<std::string(Files&, Random&)> value;  // none: a flag
};

auto one_of(Words words) {
  return [words = std::move(words)](Files&, Random& random) { return random.of(words); };
}
auto file_of(std::string kind, std::string before = {}) {
  return [kind = std::move(kind), before = std::move(before)](Files& files, Random& random) {
    return before + files.any(kind, random);
  };
}
auto output_of(std::string ending, std::string before = {}) {
  return [ending = std::move(ending), before = std::move(before)](Files& files, Random& random) {
    return before + files.output(ending, random);
  };
}

const std::vector<OptionWord>& run_options() {
  static const std::vector<OptionWord> all = {
      {"--shape", one_of({"n=1024", "m=64,n=64", "m=128", "k=128"})},
      {"--set", one_of({"dtype=f16", "stages=2", "tile=128", "profile=1", "cluster=2", "variant=plain"})},
      {"--seed", one_of({"1", "7", "18446744073709551615"})},
      {"--in", file_of("npy", "a=")},
      {"--in", file_of("npy", "x=")},
      {"--out", output_of(".npy", "out=")},
      {"--out", output_of(".npy", "arg1=")},
      {"--arch", one_of({"h200", "h100", "b200", "h20"})},
      {"--schedule",
       one_of({"functional", "hardware", "seeded:3", "latest", "earliest", "functional,resident=1",
               "seeded:1,order=descending", "latest,fail_waits=3,elect=2", "hardware,elect=1"})},
      {"--check", one_of({"all", "none", "race", "barrier,memory", "numerics", "deadlock", "fault,race"})},
      {"--strict", {}},
      {"--suppress", file_of("suppress")},
      {"--limit", one_of({"1", "20", "1000000000"})},
      {"--sarif", output_of(".sarif")},
      {"--json", output_of(".json")},
      {"--values", one_of({"full", "none"})},
      {"--l2", one_of({"cold", "warm"})},
      {"--sm-clock", one_of({"1980", "1", "999999", "0.5"})},
      {"--clock", file_of("clock")},
      {"--registers", one_of({"estimate", "24", "255", "1"})},
      {"--why", {}},
      {"--lines", one_of({"1", "1000"})},
      {"--threads", one_of({"0", "1", "2", "3"})},
      {"--max-instructions", one_of({"1", "1000", "20000"})},
      {"--trace", output_of(".txt")},
      {"--trace", output_of(".jsonl")},
      {"--trace", output_of(".pftrace")},
      {"--trace-ctas", one_of({"all", "0", "0..1", "sm:0", "sm:0..5"})},
      {"--trace-cycles", one_of({"0..100", "5000..9000"})},
      {"--trace-limit", one_of({"1MB", "0", "65536", "2GB"})},
      {"--device-trace", file_of("scopes")},
      {"--on", one_of({"sim", "device", "both"})},
      {"--repeats", one_of({"0", "1"})},
      {"--no-reference", {}},
      {"--report", one_of({"x"})},
      {"--seeds", one_of({"0", "1", "3"})},
      {"--explore", one_of({"1", "50", "500"})},
      {"--grid", one_of({"1", "2,2", "4", "1,1,2"})},
      {"--block", one_of({"32", "64", "128", "33", "1"})},
      {"--cluster", one_of({"1", "2", "4"})},
      {"--smem", one_of({"0", "1024", "232448"})},
      {"--entry", one_of({"saxpy", "k", "sum_integers"})},
      {"--arg", one_of({"u32:64", "f32:2", "in:f32[64]=iota", "inout:f32[64]=zeros", "u64:0", "out:u8[64]"})},
      {"--lowered", {}},
      {"--output", output_of(".ptx")},
      {"--top", one_of({"0", "1"})},
      {"--state", output_of(".state")},
      {"--resume", file_of("state")}};
  return all;
}

// A file of PTX with a launch that fits it, more or less.
Words foreign_subject(Files& files, Random& random) {
  static const Words launches = {
      "--grid 4 --block 256 --arg u32:1000 --arg f32:2 --arg in:f32[1000]=iota --arg "
      "inout:f32[1000]=const(1)",
      "--grid 1 --block 32 --arg tmap:in:f16[64,64]=const(3),box=16x16 --arg out:f16[16,16] --arg u32:56 "
      "--arg u32:8",
      "--grid 2 --block 64",
      "--grid 1 --block 128 --arg inout:u32[1]=zeros",
      "--grid 1 --block 128 --arg inout:u32[64]=zeros --arg u64:0",
      "--grid 2 --block 96 --arg in:f32[256]=randn(1) --arg out:f32[256]",
      "--grid 1 --block 32 --arg u64:0"};
  Words words = {"--ptx", files.any("ptx", random)};
  append(words, split_at_spaces(random.of(launches)));
  append(words, {"--max-instructions", "20000"});
  return words;
}

Words named_subject(Random& random) {
  Words words = split_at_spaces(random.of(kernels));
  if (random.one_in(30)) words[0] = random.of(absurd_words);
  return words;
}

void add_options(Words& words, Files& files, Random& random) {
  const auto& options = run_options();
  for (size_t n = random.below(6); n-- > 0;) {
    const OptionWord& option = options[random.below(options.size())];
    words.push_back(option.name);
    if (option.value)
      words.push_back(random.one_in(8) ? random.of(absurd_words) : option.value(files, random));
  }
}

void damage(Words& words, Random& random) {
  const size_t at = random.below(words.size());
  switch (random.below(4)) {
    case 0:
      words.erase(words.begin() + static_cast<ptrdiff_t>(at));
      break;
    case 1:
      words.insert(words.begin() + static_cast<ptrdiff_t>(at), words[random.below(words.size())]);
      break;
    case 2:
      words[at] = random.of(absurd_words);
      break;
    default:
      if (!words[at].empty())
        words[at][random.below(words[at].size())] = static_cast<char>(1 + random.below(255));
  }
}

Words small_command(Random& random) {
  static const Words lines = {"list",
                              "list h200",
                              "list matmul_ws",
                              "list zoo",
                              "list nothing",
                              "doctor",
                              "lab",
                              "explain PLD3001 PLD4113",
                              "explain wgmma",
                              "explain 'long scoreboard'",
                              "explain",
                              "explain mma cp.async.bulk PLD9999",
                              "--help",
                              "--version",
                              "run --help",
                              "sweep --help",
                              "",
                              "explain ld st atom red"};
  return split_at_spaces(random.of(lines));
}

Words sweep_words(Files& files, Random& random) {
  static const Words lines = {"sweep vector_add --shape n=1024 --set tile=128,256",
                              "sweep softmax --shape m=4,n=256 --set rows=1..2",
                              "sweep matmul_ws --shape m=256,n=128,k=128 --set stages=2..3 --set sms=1",
                              "sweep histogram --shape n=2048 --set bins=128,256 --set ctas=1"};
  Words words = split_at_spaces(random.of(lines));
  add_options(words, files, random);
  return words;
}

}  // namespace

Files::Files(const fs::path& sources, const fs::path& folder) : folder_(folder) {
  size_t number = 0;
  for (const char* below :
       {"tests/cli/ptx", "tests/isa/ptx", "tests/fuzz/corpus/check_fuzz", "tests/fuzz/corpus/parse_fuzz"}) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(sources / below)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) add("ptx", std::to_string(number++) + ".ptx", content_of(path));
  }
  add("npy", "f32_2048.npy", npy_file("f32", {2048}));
  add("npy", "f32_1000.npy", npy_file("f32", {1000}));
  add("npy", "f16_16_16.npy", npy_file("f16", {16, 16}));
  for (const isa::ClockFile& file : isa::clock_files)
    add("clock", std::string(file.arch) + ".clock", std::string(file.text));
  add("clock", "small.clock", "inherit h200\n");
  add("suppress", "accepted.txt", "PLD3080 *.ptx # accepted\nPLD43* kernels/x.cpp:41 # drained before\n");
  add("state", "sweep.jsonl", "");
  add("scopes", "device.scopes", "what = device\nkernel = matmul_ws\n");
}

void Files::add(const std::string& kind, const std::string& name, std::string content) {
  seeds_.push_back({kind, std::move(content), folder_ / name});
  std::ofstream(seeds_.back().path, std::ios::binary) << seeds_.back().content;
}

// Bytes are changed, lines removed and repeated, pieces of another seed put in.
std::string Files::mutated(const Seed& seed, Random& random) {
  std::string text = seed.content;
  for (size_t rounds = 1 + random.below(4); rounds-- > 0;) {
    const size_t at = random.below(text.size()), length = std::min(random.below(64), text.size() - at);
    const std::string& other = seeds_[random.below(seeds_.size())].content;
    switch (random.below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text.replace(at, length, other.substr(random.below(other.size() + 1), random.below(64)));
        break;
      case 3:
        if (random.one_in(4)) text.resize(at);
        break;
      case 4: {
        const size_t start = text.find('\n', at), end = text.find('\n', start + 1);
        if (start != std::string::npos && end != std::string::npos) text.erase(start, end - start);
        break;
      }
      default:
        if (!text.empty()) text[at] = static_cast<char>(random.below(256));
    }
  }
  const fs::path path = folder_ / ("mutated" + seed.path.extension().string());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  return path.string();
}

std::string Files::any(const std::string& kind, Random& random) {
  static const Words strange = {"/dev/null",      "/dev/zero",  "/dev/full",     "/",
                                "/nonexistent/x", "/dev/stdin", "/proc/self/mem"};
  if (random.one_in(12)) return random.of(strange);
  const bool other = random.one_in(10);
  std::vector<const Seed*> fitting;
  for (const Seed& seed : seeds_)
    if (other || seed.kind == kind) fitting.push_back(&seed);
  const Seed& seed = *fitting[random.below(fitting.size())];
  return random.one_in(2) ? seed.path.string() : mutated(seed, random);
}

std::string Files::output(const std::string& ending, Random& random) {
  static const Words strange = {"/dev/null", "/dev/full", "/", "/nonexistent/x", "/dev/stdout"};
  if (random.one_in(10)) return random.of(strange);
  if (random.one_in(40)) return seeds_[random.below(seeds_.size())].path.string() + ending;
  return (folder_ / ("out" + std::to_string(random.below(3)) + ending)).string();
}

Words command_line(Files& files, Random& random) {
  static const Words runs = {"run", "run", "run", "check", "check", "ptx", "compare"};
  Words words;
  if (random.one_in(20)) {
    words = small_command(random);
  } else if (random.one_in(15)) {
    words = sweep_words(files, random);
  } else {
    words = {random.of(runs)};
    append(words, random.one_in(3) ? named_subject(random) : foreign_subject(files, random));
    add_options(words, files, random);
  }
  for (size_t n = random.below(10); n >= 8 && !words.empty(); --n) damage(words, random);
  // Words of a command line hold no zero byte.
  for (std::string& word : words) std::erase(word, '\0');
  return words;
}

}  // namespace palladion::fuzz
