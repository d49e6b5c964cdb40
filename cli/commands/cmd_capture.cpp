#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "cli/capture/launch.h"
#include "cli/capture/match.h"
#include "cli/capture/strip.h"
#include "cli/commands/commands.h"
#include "cli/support/files.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cuda/bundle/read.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t most_of_image = uint64_t{256} << 20;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::map<std::string, std::string> variables_of(const Options& o, const fs::path& library) {
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

// Finds the PTX of a bundle that has a cubin only. What to say of the bundle.
Outcome<std::string> complete(const fs::path& folder, const std::vector<fs::path>& ptx_folders) {
  auto manifest = cuda::bundle::read_manifest(folder);
  if (!manifest) return "not usable: " + manifest.error();
  if (!manifest->ptx_file.empty()) return std::string("with its PTX");
  if (manifest->image_file.empty()) return std::string("without PTX: the program's image is not known");
  const auto cubin = read_text(folder / manifest->image_file, most_of_image);
  if (!cubin) return "without PTX: " + cubin.error();
  const Match match = match_ptx(*cubin, manifest->entry, ptx_folders);
  if (match.ptx.empty()) return "without PTX: " + match.why_not;
  manifest->ptx_file = "kernel.ptx";
  manifest->ptx_checksum = cuda::bundle::checksum(std::as_bytes(std::span(match.ptx)));
  manifest->ptx_source = match.source;
  if (const auto written = write_text(folder / manifest->ptx_file, match.ptx); !written)
    return not_written(written.error());
  if (const auto written = write_text(folder / cuda::bundle::manifest_file, cuda::bundle::text(*manifest));
      !written)
    return not_written(written.error());
  return "PTX from " + match.source;
}

Outcome<void> check_options(const Options& o) {
  if (o.command_line.empty() && o.ptx_dirs.empty() && !o.strip)
    return user_error("a command is missing",
                      fmt::format("{} capture -o DIR -- ./program arguments", program_name()));
  if (o.output.empty()) return user_error("-o DIR is missing: the folder that gets the bundles");
  std::error_code failed;
  fs::create_directories(o.output, failed);
  if (failed) return user_error(fmt::format("the folder {} cannot be made: {}", o.output, failed.message()));
  for (const std::string& folder : o.ptx_dirs)
    if (!fs::is_directory(folder, failed))
      return user_error(fmt::format("--ptx-dir {}: there is no such folder", folder));
  return {};
}

Outcome<void> strip_bundle(const fs::path& folder) {
  auto manifest = cuda::bundle::read_manifest(folder);
  if (!manifest) return user_error(manifest.error());
  if (const auto done = strip(folder, *manifest); !done) return done;
  print_out("{}: stripped: seeds stand for the memory's contents, {} buffers\n", folder.string(),
            std::ranges::count(manifest->buffers, cuda::bundle::Contents::Kind::seed,
                               [](const cuda::bundle::Buffer& b) { return b.before.kind; }));
  return {};
}

// The bundles that were not there before.
Outcome<size_t> complete_all(const Options& options, const std::set<fs::path>& old) {
  std::vector<fs::path> folders(options.ptx_dirs.begin(), options.ptx_dirs.end());
  for (const fs::path& folder : dump_folders()) folders.push_back(folder);
  size_t found = 0;
  for (const fs::path& folder : bundles_in(options.output)) {
    if (old.contains(folder)) continue;
    const auto said = complete(folder, folders);
    if (!said) return tl::make_unexpected(said.error());
    print_out("{}: {}\n", folder.string(), *said);
    if (options.strip && options.command_line.empty())  // else nothing was written that is to be stripped
      if (const auto stripped = strip_bundle(folder); !stripped) return tl::make_unexpected(stripped.error());
    ++found;
  }
  return found;
}

}  // namespace

Outcome<ExitCode> cmd_capture(const Options& options) {
  if (const auto ok = check_options(options); !ok) return tl::make_unexpected(ok.error());
  const bool runs = !options.command_line.empty();  // else it is about bundles that are there
  std::set<fs::path> old;
  int code = 0;
  if (runs) {
    const auto library = capture_library();
    if (!library)
      return unsupported("libpalladion_capture.so is not beside this program", "build it: ./dev build");
    old = bundles_in(options.output);
    const auto ended = run_with(options.command_line, variables_of(options, *library));
    if (!ended) return tl::make_unexpected(ended.error());
    code = *ended;
  }
  const auto found = complete_all(options, old);
  if (!found) return tl::make_unexpected(found.error());
  if (code != 0) print_err(fmt::format("the program ended with {}\n", code));
  if (*found == 0)
    return user_error(runs ? "no launch was recorded" : "there is no bundle in " + options.output,
                      !runs || options.kernel.empty()
                          ? "did the program launch a kernel through libcuda.so.1?"
                          : fmt::format("no kernel's name matches `{}`", options.kernel));
  print_out("try   {} compare {}\n", program_name(), bundles_in(options.output).rbegin()->string());
  return code == 0 ? exit_clean : exit_findings;
}

}  // namespace palladion::cli
