#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/options/command.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cuda/bundle/read.h"
#include "cuda/cubin/carried_ptx.h"
#include "cuda/programs/capture.h"
#include "cuda/toolkit/match.h"
#include "verify/bundles/complete.h"
#include "verify/bundles/strip.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

struct CaptureRequest : cuda::programs::CaptureSettings {
  std::vector<std::string> ptx_dirs;
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
  words.text("-o,--output", given.folder, "the folder that gets a bundle for each launch", Value::folder);
}

Outcome<CaptureRequest> WordsOfCapture::request(const Invocation& invocation) const {
  CaptureRequest request = given;
  request.program = invocation.program;
  if (!request.runs() && request.ptx_dirs.empty() && !request.strip)
    return user_error("a command is missing",
                      fmt::format("{} capture -o DIR -- ./program arguments", program_name()));
  if (request.folder.empty()) return user_error("-o DIR is missing: the folder that gets the bundles");
  std::error_code failed;
  for (const std::string& folder : request.ptx_dirs)
    if (!request.runs() && !fs::is_directory(folder, failed))  // else the program may make it
      return user_error(fmt::format("--ptx-dir {}: there is no such folder", folder));
  return request;
}

std::set<fs::path> bundles_in(const fs::path& folder) {
  std::set<fs::path> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (cuda::bundle::is_bundle(entry.path())) out.insert(entry.path());
  return out;
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
  for (const fs::path& folder : bundles_in(request.folder)) {
    if (old.contains(folder)) continue;
    const auto completed = verify::complete(folder, folders);
    if (!completed) return tl::make_unexpected(completed.error());
    print_out("{}: {}\n", folder.string(), completed->text);
    without += completed->lacks_ptx ? 1 : 0;
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
  fs::create_directories(request.folder, failed);
  if (failed)
    return user_error(fmt::format("the folder {} cannot be made: {}", request.folder, failed.message()));
  std::set<fs::path> old;
  int code = 0;
  if (request.runs()) {
    old = bundles_in(request.folder);
    const auto ended = cuda::programs::run_captured(request.program, request);
    if (!ended) return tl::make_unexpected(ended.error());
    code = *ended;
  }
  const auto found = complete_all(request, old);
  if (!found) return tl::make_unexpected(found.error());
  if (code != 0) print_err(fmt::format("the program ended with {}\n", code));
  if (*found == 0)
    return user_error(request.runs() ? "no launch was recorded" : "there is no bundle in " + request.folder,
                      !request.runs() || request.kernel.empty()
                          ? "did the program launch a kernel through libcuda.so.1?"
                          : fmt::format("no kernel's name matches `{}`", request.kernel));
  print_out("try   {} compare {}\n", program_name(), bundles_in(request.folder).rbegin()->string());
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
