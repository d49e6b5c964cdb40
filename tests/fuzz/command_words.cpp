#include "tests/fuzz/command_words.h"

#include <algorithm>
#include <fstream>
#include <functional>

#include <isa/arch/clock_files.h>  // made by cmake/ClockFiles.cmake
#include "verify/arrays/npy.h"

namespace palladion::fuzz {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string npy_file(std::string_view dtype, const npy::Shape& shape) {
  size_t bytes = npy::size_of(dtype);
  for (const int64_t d : shape) bytes *= static_cast<size_t>(d);
  return npy::header(dtype, shape) + std::string(bytes, '\1');
}

// A subject: words of the command line that fit together, with files (`expanded`), and options that fit it.
// Their sizes are such that a run takes a millisecond.
struct Subject {
  std::string words;
  Words options;
};

const Subject kernels[] = {
    {"vector_add --shape n=256 --set tile=128",
     {"--in a=<f32_256.npy", "--in a=<f32_256.npy --in b=<f32_256.npy", "--out out=>.npy"}},
    {"vector_add --shape n=256 --set dtype=f16,tile=128", {"--out out=>.npy"}},
    {"iota --shape n=256 --set tile=128", {"--out out=>.npy"}},
    {"histogram --shape n=256 --set ctas=1,tile=256,bins=128", {}},
    {"reduce_sum --shape n=256 --set ctas=1,tile=256", {"--in x=<f32_256.npy", "--out sum=>.npy"}},
    {"softmax --shape m=1,n=128", {"--in x=<f32_1_128.npy", "--out y=>.npy"}},
    {"rms_norm --shape m=2,n=128 --set ctas=1", {"--in weight=<f32_128.npy", "--out y=>.npy"}},
    {"cluster_exchange --shape clusters=1,n=128 --set rounds=1", {"--out y=>.npy"}},
    {"transpose --shape m=64,n=64", {"--out out=>.npy"}},
    {"stream_copy --shape n=4096 --set ctas=1", {"--out y=>.npy"}},
    {"matmul_ws --shape m=256,n=128,k=64 --set sms=1,profile=1", {"--out d=>.npy"}},
    {"matmul_pipelined --shape m=128,n=128,k=64", {"--out d=>.npy"}},
    {"ref_add", {"--out o=>.npy"}},
    {"ref_queue", {}},
    {"ref_wgmma", {}},
    {"ref_cluster_barrier", {}},
    {PLD_FUZZ_KERNELS ":scaled",
     {"--shape n=256", "--set twice=1", "--in a=<f32_128.npy", "--out out=>.npy"}},
    {PLD_FUZZ_KERNELS ":ones", {"--shape n=256", "--out out=>.npy"}}};

const Subject ptx_files[] = {
    {"--ptx <saxpy.ptx --grid 1 --block 64 --arg u32:64 --arg f32:2 --arg in:f32[64]=iota --arg "
     "inout:f32[64]=const(1)",
     {"--out arg3=>.npy", "--entry saxpy"}},
    {"--ptx <saxpy.ptx --grid 2 --block 32 --arg u32:64 --arg f32:2 --arg in:f32[64]=<f32_64.npy --arg "
     "inout:f32[64]=<f32_64.npy",
     {"--out arg3=>.npy"}},
    {"--ptx <tile.ptx --grid 1 --block 32 --arg tmap:in:f16[64,64]=const(3),box=16x16 --arg out:f16[16,16] "
     "--arg u32:16 --arg u32:8",
     {"--out arg1=>.npy"}},
    {"--ptx <reduction.ptx --entry sum --grid 1 --block 128 --arg in:f32[128]=iota --arg out:f32[4] --arg "
     "u32:128",
     {"--out arg1=>.npy"}},
    {"--ptx <histogram.ptx --entry histogram --grid 1 --block 64 --arg in:u32[64]=iota --arg "
     "inout:u32[256]=zeros --arg u32:64",
     {}},
    {"--ptx <functions.ptx --entry choose --grid 1 --block 32 --arg in:f32[256]=iota --arg out:f32[256]", {}},
    {"--ptx <warps.ptx --entry votes --grid 1 --block 32 --arg inout:u32[512]=zeros --arg "
     "inout:u32[512]=zeros",
     {}},
    {"--ptx <halves.ptx --entry halves --grid 1 --block 32 --arg in:f16[256]=iota --arg in:f16[256]=iota "
     "--arg out:f16[1024]",
     {}},
    {"--ptx <spin.ptx --grid 1 --block 32 --arg inout:u32[64]=zeros", {}}};

// What fits every subject of `run` and `check`; one line at most of those that begin alike.
const Words options_of_both = {"--seed 7",
                               "--arch h200",
                               "--arch h100",
                               "--limit 1",
                               "--strict",
                               "--suppress <suppress",
                               "--json >.json",
                               "--json >.json",
                               "--sarif >.sarif",
                               "--lines 3",
                               "--threads 2",
                               "--registers 24",
                               "--registers estimate",
                               "--no-reference"};
const Words options_of_run = {"--schedule functional",
                              "--schedule seeded:3",
                              "--schedule latest,fail_waits=3,elect=2,lanes=4",
                              "--schedule earliest",
                              "--schedule functional,resident=1",
                              "--schedule seeded:1,order=descending",
                              "--schedule hardware --values none",
                              "--schedule hardware --l2 warm",
                              "--schedule hardware --sm-clock 1200",
                              "--schedule hardware --clock <h200.clock",
                              "--schedule hardware --clock <small.clock",
                              "--schedule hardware --trace >.pftrace",
                              "--schedule hardware --trace >.jsonl --trace-ctas all",
                              "--schedule hardware --trace >.txt --trace-limit 65536",
                              "--schedule hardware --trace >.txt --trace-cycles 0..900",
                              "--schedule hardware --why",
                              "--trace >.txt",
                              "--check all",
                              "--check race",
                              "--check barrier,memory",
                              "--check numerics"};
const Words options_of_ptx = {"--lowered", "--output >.ptx", "--launch >.json", "--arch h100"};

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
                            "tex:f32[16,16]=iota,filter=linear,address=wrap/border,coords=normalized",
                            "tex:u8[8,8,4]@0,channels=4,read=normalized",
                            "surf:inout:f32[16,16]=zeros,geometry=2d",
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
      {"--launch", output_of(".json")},
      {"--output", output_of(".ptx")},
      {"--top", one_of({"0", "1"})},
      {"--state", output_of(".state")},
      {"--resume", file_of("state")}};
  return all;
}

// Adds whole options; an option stands at most once, except --in and --out.
void add_fitting(Words& words, const Words& options, size_t most, Random& random) {
  for (size_t n = random.below(most + 1); n-- > 0;) {
    const Words more = split_at_spaces(random.of(options));
    const bool twice = std::ranges::any_of(
        more, [&](const std::string& w) { return w.starts_with("--") && std::ranges::count(words, w) != 0; });
    if (!twice) append(words, more);
  }
}

// `run`, `check` or `ptx` of a kernel, a file of kernels, a file of PTX, or a kernel of the zoo.
Words fitting_command(Files& files, Random& random) {
  static const Words commands = {"run", "run", "run", "run", "check", "check", "check", "ptx"};
  Words words = {random.of(commands)};
  const std::string command = words[0];
  const size_t kind = random.below(8);
  if (kind < 3) {
    const Subject& subject = kernels[random.below(std::size(kernels))];
    append(words, split_at_spaces(subject.words));
    if (command != "ptx" && !subject.options.empty()) add_fitting(words, subject.options, 2, random);
  } else if (kind < 6 && command != "ptx") {
    const Subject& subject = ptx_files[random.below(std::size(ptx_files))];
    append(words, split_at_spaces(subject.words));
    if (!subject.options.empty()) add_fitting(words, subject.options, 1, random);
  } else {
    words.push_back("zoo/" + files.zoo_kernel(random));
  }
  if (command == "ptx") {
    add_fitting(words, options_of_ptx, 2, random);
    return words;
  }
  if (command == "run") add_fitting(words, options_of_run, 2, random);
  if (command == "check") append(words, {"--seeds", random.one_in(20) ? "3" : "1"});
  add_fitting(words, options_of_both, 3, random);
  static const Words limits = {"500", "2000", "2000", "20000"};
  append(words, {"--max-instructions", random.of(limits)});
  if (std::ranges::count(words, "--threads") == 0) append(words, {"--threads", "1"});
  return words;
}

// Any option with any value.
void add_option(Words& words, Files& files, Random& random) {
  const auto& options = run_options();
  const OptionWord& option = options[random.below(options.size())];
  words.push_back(option.name);
  if (option.value) words.push_back(random.one_in(3) ? random.of(absurd_words) : option.value(files, random));
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
                              "list vector_add",
                              "doctor",
                              "explain PLD3001 PLD4113",
                              "explain wgmma",
                              "new",
                              "list " PLD_FUZZ_KERNELS,
                              "explain mma cp.async.bulk",
                              "--help",
                              "--version",
                              "run --help",
                              "sweep --help",
                              "help check",
                              "help --man",
                              "completion bash",
                              "completion fish",
                              "",
                              "explain ld st atom red"};
  Words words = split_at_spaces(random.of(lines));
  if (words == Words{"new"}) words.push_back("project_" + std::to_string(random.below(1'000'000)));
  return words;
}

Words sweep_words(Random& random) {
  static const Words lines = {"sweep vector_add --shape n=256 --set tile=128,256",
                              "sweep softmax --shape m=2,n=128 --set rows=1..2",
                              "sweep matmul_ws --shape m=256,n=128,k=64 --set stages=2..3 --set sms=1",
                              "sweep histogram --shape n=256 --set bins=128,256 --set ctas=1,tile=256"};
  static const Words options = {"--top 1",     "--json >.json",      "--state >.state", "--seed 3",
                                "--l2 cold",   "--sm-clock 1500",    "--arch h100",     "--resume <state",
                                "--threads 1", "--clock <h200.clock"};
  Words words = split_at_spaces(random.of(lines));
  add_fitting(words, options, 3, random);
  return words;
}

// A file of the words becomes a mutation of it or a strange one, an option is added, a word is damaged.
void make_mistake(Words& words, Files& files, Random& random) {
  std::vector<std::string*> inputs;
  for (std::string& word : words)
    if (word.find('<') != std::string::npos) inputs.push_back(&word);
  if (!inputs.empty() && random.below(4) != 0) {
    std::string& word = *inputs[random.below(inputs.size())];
    word.insert(word.find('<') + 1, random.one_in(6) ? "?" : "!");
  } else if (random.one_in(3)) {
    add_option(words, files, random);
  } else if (!words.empty()) {
    damage(words, random);
  }
}

// "out=>.npy" -> "out=/folder/out1.npy"; "<saxpy.ptx", "<!saxpy.ptx" (a mutation), "<?saxpy.ptx" (a strange
// one) -> its path.
std::string expanded(const std::string& word, Files& files, Random& random) {
  if (const size_t at = word.find(">."); at != std::string::npos)
    return word.substr(0, at) + files.output(word.substr(at + 1), random);
  const size_t at = word.find('<');
  if (at == std::string::npos || at + 2 >= word.size()) return word;
  const std::string before = word.substr(0, at);
  switch (word[at + 1]) {
    case '!':
      return before + files.mutation(word.substr(at + 2), random);
    case '?':
      return before + files.any(word.substr(at + 2), random);
    default:
      return before + files.whole(word.substr(at + 1), random);
  }
}

}  // namespace

Files::Files(const fs::path& sources, const fs::path& folder) : folder_(folder) {
  size_t number = 0;
  for (const char* below :
       {"tests/cli/ptx", "tests/isa/ptx", "tests/fuzz/corpus/check_fuzz", "tests/fuzz/corpus/parse_fuzz"}) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(sources / below)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
      std::string name = path.filename().string();
      if (fs::exists(folder_ / name)) name = std::to_string(number++) + name;
      add("ptx", name, content_of(path));
    }
  }
  add("npy", "f32_2048.npy", npy_file("f32", {2048}));
  add("npy", "f32_64.npy", npy_file("f32", {64}));
  add("npy", "f32_128.npy", npy_file("f32", {128}));
  add("npy", "f32_256.npy", npy_file("f32", {256}));
  add("npy", "f32_1_128.npy", npy_file("f32", {1, 128}));
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

std::string Files::zoo_kernel(Random& random) {
  std::string name;
  do {
    name = seeds_[random.below(seeds_.size())].path.filename().string();
  } while (!name.ends_with(".good.ptx"));
  return name.substr(0, name.size() - std::string(".good.ptx").size()) + (random.one_in(2) ? ":good" : "");
}

const Files::Seed& Files::seed(const std::string& what, Random& random) const {
  std::vector<const Seed*> fitting;
  for (const Seed& seed : seeds_)
    if (seed.kind == what || seed.path.filename() == what) fitting.push_back(&seed);
  return fitting.empty() ? seeds_.front() : *fitting[random.below(fitting.size())];
}

std::string Files::whole(const std::string& what, Random& random) { return seed(what, random).path.string(); }

std::string Files::mutation(const std::string& what, Random& random) {
  return mutated(seed(what, random), random);
}

// Bytes are changed, lines removed and repeated, pieces of another seed put in.
std::string Files::mutated(const Seed& seed, Random& random) {
  std::string text = seed.content;
  for (size_t rounds = 1 + random.below(3); rounds-- > 0;) {
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

std::string Files::any(const std::string& what, Random& random) {
  static const Words strange = {"/dev/null",      "/dev/zero",  "/dev/full",     "/",
                                "/nonexistent/x", "/dev/stdin", "/proc/self/mem"};
  if (random.one_in(3)) return random.of(strange);
  if (random.one_in(3)) return seeds_[random.below(seeds_.size())].path.string();
  return random.one_in(2) ? whole(what, random) : mutation(what, random);
}

std::string Files::output(const std::string& ending, Random& random) {
  static const Words strange = {"/dev/null", "/dev/full", "/", "/nonexistent/x", "/dev/stdout"};
  if (random.one_in(20)) return random.of(strange);
  if (random.one_in(80)) return seeds_[random.below(seeds_.size())].path.string() + ending;
  return (folder_ / ("out" + std::to_string(random.below(3)) + ending)).string();
}

Words command_line(Files& files, Random& random) {
  Words words;
  if (random.one_in(20)) {
    words = small_command(random);
  } else if (random.one_in(25)) {
    words = sweep_words(random);
  } else {
    words = fitting_command(files, random);
    if (random.one_in(60)) words[0] = "compare";
  }
  // Three in five are whole; the others have one mistake or two.
  if (random.below(5) >= 3)
    for (size_t n = 1 + random.below(2); n > 0; --n) make_mistake(words, files, random);
  for (std::string& word : words) {
    word = expanded(word, files, random);
    std::erase(word, '\0');  // words of a command line hold no zero byte
  }
  return words;
}

}  // namespace palladion::fuzz
