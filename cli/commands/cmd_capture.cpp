#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "cli/options/command.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cuda/bundle/read.h"
#include "cuda/cubin/carried_ptx.h"
#include "cuda/toolkit/match.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "verify/bundles/strip.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t most_of_image = uint64_t{256} << 20;

struct CaptureRequest {
  std::string kernel;               // a regular expression; empty: all kernels
  uint64_t skip = 0, launches = 1;  // of each kernel
  uint64_t max_bytes = uint64_t{4} << 30;
  bool strip = false;
  std::vector<std::string> ptx_dirs;
  std::string output;                // the folder of the bundles
  std::vector<std::string> program;  // with its arguments; empty: it is about bundles that are there

  bool runs() const { return !program.empty(); }
};

struct WordsOfCapture {
  CaptureRequest given;

  void state(Words& words);
  Outcome<CaptureRequest> request(const Invocation& invocation) const;
};

void WordsOfCapture::state(Words& words) {
  words.text("--kernel", given.kernel,
             "kernels whose name, as it is or demangled, has this regular expression");
  words.number("--skip", given.skip, 0, any_number, "launches of each kernel to pass by first (0)");
  words.number("--launches", given.launches, 1, any_number, "launches of each kernel to record (1)");
  words.bytes("--max-bytes", given.max_bytes, 1, "launches that reach more memory are not recorded (4 GiB)");
  words.texts(
      "--ptx-dir", given.ptx_dirs,
      "a folder with PTX, for programs that load machine code: it is matched by assembling; the dumps "
      "of Triton and XLA are looked through as well",
      Value::folder);
  words.flag(
      "--strip", given.strip,
      "put seeds in place of the memory's contents; tables of addresses stay; without a command: of the "
      "bundles in DIR");
  words.text("-o,--output", given.output, "the folder that gets a bundle for each launch", Value::folder);
}

Outcome<CaptureRequest> WordsOfCapture::request(const Invocation& invocation) const {
  CaptureRequest request = given;
  request.program = invocation.program;
  if (!request.runs() && request.ptx_dirs.empty() && !request.strip)
    return user_error("a command is missing",
                      fmt::format("{} capture -o DIR -- ./program arguments", program_name()));
  if (request.output.empty()) return user_error("-o DIR is missing: the folder that gets the bundles");
  std::error_code failed;
  for (const std::string& folder : request.ptx_dirs)
    if (!request.runs() && !fs::is_directory(folder, failed))  // else the program may make it
      return user_error(fmt::format("--ptx-dir {}: there is no such folder", folder));
  return request;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Beside this program, or where it was installed to.
std::optional<fs::path> capture_library() {
  std::error_code failed;
  const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* folder : {".", "../lib", "../lib64", "../lib/x86_64-linux-gnu"}) {
    const fs::path path = here / folder / "libpalladion_capture.so";
    if (fs::exists(path, failed)) return fs::weakly_canonical(path, failed);
  }
  return std::nullopt;
}

std::map<std::string, std::string> variables_of(const CaptureRequest& o, const fs::path& library) {
  const std::string before = variable("LD_PRELOAD");
  std::map<std::string, std::string> out = {
      {"LD_PRELOAD", before.empty() ? library.string() : library.string() + ":" + before},
      {"PALLADION_CAPTURE_DIR", fs::absolute(o.output).string()},
      {"PALLADION_CAPTURE_KERNEL", o.kernel},
      {"PALLADION_CAPTURE_SKIP", std::to_string(o.skip)},
      {"PALLADION_CAPTURE_LAUNCHES", std::to_string(o.launches)},
      {"PALLADION_CAPTURE_MAX_BYTES", std::to_string(o.max_bytes)}};
  if (o.strip) out["PALLADION_CAPTURE_STRIP"] = "1";
  // Programs on XLA take three quarters of the memory as one allocation, which no bundle can hold.
  for (const auto& [name, value] :
       {std::pair{"XLA_PYTHON_CLIENT_PREALLOCATE", "false"}, {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"}})
    if (variable(name).empty()) out[name] = value;
  return out;
}

std::set<fs::path> bundles_in(const fs::path& folder) {
  std::set<fs::path> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (fs::exists(entry.path() / cuda::bundle::manifest_file, failed)) out.insert(entry.path());
  return out;
}

Outcome<void> take_ptx(const fs::path& folder, cuda::bundle::Manifest& manifest,
                       const cuda::toolkit::Match& match) {
  manifest.ptx_file = "kernel.ptx";
  manifest.ptx_checksum = cuda::bundle::checksum(std::as_bytes(std::span(match.ptx)));
  manifest.ptx_source = match.source;
  if (const auto written = write_text(folder / manifest.ptx_file, match.ptx); !written)
    return not_written(written.error());
  if (const auto written = write_text(folder / cuda::bundle::manifest_file, cuda::bundle::text(manifest));
      !written)
    return not_written(written.error());
  return {};
}

// Of PTX that machine code carried, the file with its comments and all lines.
Outcome<std::string> complete_text(const fs::path& folder, cuda::bundle::Manifest& manifest,
                                   const std::vector<fs::path>& ptx_folders) {
  const auto carried = cuda::bundle::read_ptx(folder, manifest);
  if (!carried) return "not usable: " + carried.error();
  const cuda::toolkit::Match match = cuda::toolkit::match_text(*carried, manifest.entry, ptx_folders);
  if (match.ptx.empty()) return std::string("with its PTX, which the machine code carried");
  if (const auto taken = take_ptx(folder, manifest, match); !taken) return tl::unexpected(taken.error());
  return "PTX from " + match.source;
}

constexpr std::string_view without_ptx = "without PTX: ";

// Finds the PTX of a bundle that has a cubin only. What to say of the bundle.
Outcome<std::string> complete(const fs::path& folder, const std::vector<fs::path>& ptx_folders) {
  auto manifest = cuda::bundle::read_manifest(folder);
  if (!manifest) return "not usable: " + manifest.error();
  if (manifest->ptx_source == cuda::cubin::carried_source)
    return complete_text(folder, *manifest, ptx_folders);
  if (!manifest->ptx_file.empty()) return std::string("with its PTX");
  if (manifest->image_file.empty()) return std::string(without_ptx) + "the program's image is not known";
  const auto cubin = read_text(folder / manifest->image_file, most_of_image);
  if (!cubin) return std::string(without_ptx) + cubin.error();
  const cuda::toolkit::Match match = cuda::toolkit::match_ptx(*cubin, manifest->entry, ptx_folders);
  if (match.ptx.empty()) return std::string(without_ptx) + match.why_not;
  if (const auto taken = take_ptx(folder, *manifest, match); !taken) return tl::unexpected(taken.error());
  return "PTX from " + match.source;
}

Outcome<void> strip_bundle(const fs::path& folder) {
  auto manifest = cuda::bundle::read_manifest(folder);
  if (!manifest) return user_error(manifest.error());
  if (const auto done = verify::strip(folder, *manifest); !done) return done;
  print_out("{}: stripped: seeds stand for the memory's contents, {} buffers\n", folder.string(),
            std::ranges::count(manifest->buffers, cuda::bundle::Contents::Kind::seed,
                               [](const cuda::bundle::Buffer& b) { return b.before.kind; }));
  return {};
}

// The bundles that were not there before.
Outcome<size_t> complete_all(const CaptureRequest& request, const std::set<fs::path>& old) {
  std::vector<fs::path> folders(request.ptx_dirs.begin(), request.ptx_dirs.end());
  for (const fs::path& folder : cuda::toolkit::dump_folders()) folders.push_back(folder);
  size_t found = 0, without = 0;
  for (const fs::path& folder : bundles_in(request.output)) {
    if (old.contains(folder)) continue;
    const auto said = complete(folder, folders);
    if (!said) return tl::make_unexpected(said.error());
    print_out("{}: {}\n", folder.string(), *said);
    without += said->starts_with(without_ptx) ? 1 : 0;
    if (request.strip && !request.runs())  // else nothing was written that is to be stripped
      if (const auto stripped = strip_bundle(folder); !stripped) return tl::make_unexpected(stripped.error());
    ++found;
  }
  if (without != 0)
    print_out("bundles without PTX: {}; machine code carries it when it is made with line information. {}\n",
              without, cuda::cubin::ways_to_carry());
  return found;
}

Outcome<ExitCode> capture(const CaptureRequest& request) {
  std::error_code failed;
  fs::create_directories(request.output, failed);
  if (failed)
    return user_error(fmt::format("the folder {} cannot be made: {}", request.output, failed.message()));
  std::set<fs::path> old;
  int code = 0;
  if (request.runs()) {
    const auto library = capture_library();
    if (!library)
      return unsupported("libpalladion_capture.so is not beside this program", "build it: ./dev build");
    old = bundles_in(request.output);
    const auto ended = run_with(request.program, variables_of(request, *library));
    if (!ended) return tl::make_unexpected(ended.error());
    code = *ended;
  }
  const auto found = complete_all(request, old);
  if (!found) return tl::make_unexpected(found.error());
  if (code != 0) print_err(fmt::format("the program ended with {}\n", code));
  if (*found == 0)
    return user_error(request.runs() ? "no launch was recorded" : "there is no bundle in " + request.output,
                      !request.runs() || request.kernel.empty()
                          ? "did the program launch a kernel through libcuda.so.1?"
                          : fmt::format("no kernel's name matches `{}`", request.kernel));
  print_out("try   {} compare {}\n", program_name(), bundles_in(request.output).rbegin()->string());
  return code == 0 ? exit_clean : exit_findings;
}

}  // namespace

Command capture_command() {
  return {
      .name = "capture",
      .doc = "run another program on a GPU and record its launches as bundles: capture -o DIR -- ./program",
      .state = stated<WordsOfCapture, capture>,
      .takes_program = true};
}

}  // namespace palladion::cli
