#include "verify/bundles/strip.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda/bundle/read.h"
#include "isa/host/files.h"

namespace palladion::verify {

using namespace host;

namespace {

using Kind = cuda::bundle::Contents::Kind;

bool points_to(const cuda::bundle::Manifest& m, uint64_t value) {
  return std::ranges::any_of(m.buffers,
                             [&](const cuda::bundle::Buffer& b) { return value - b.address < b.bytes; });
}

bool is_table(const cuda::bundle::Manifest& m, const std::vector<std::byte>& bytes) {
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + at, 8);
    if (points_to(m, value)) return true;
  }
  return false;
}

}  // namespace

Outcome<void> strip(const std::filesystem::path& folder, cuda::bundle::Manifest& m) {
  std::vector<std::string> files;
  uint64_t seed = 0;
  const auto replace = [&](cuda::bundle::Contents& before, cuda::bundle::Contents& after) {
    if (after.kind == Kind::file) files.push_back(after.file);
    after = {};
    if (before.kind != Kind::file) return;
    files.push_back(before.file);
    before = {.kind = Kind::seed, .file = {}, .value = seed};
  };
  for (cuda::bundle::Buffer& b : m.buffers) {
    ++seed;
    if (b.before.kind == Kind::file && b.bytes <= cuda::bundle::most_of_table) {
      const auto bytes = cuda::bundle::read_contents(folder, b.before, b.bytes);
      if (!bytes) return user_error(bytes.error());
      if (is_table(m, *bytes)) {
        cuda::bundle::Contents kept = std::exchange(b.before, {});
        replace(b.before, b.after);
        b.before = std::move(kept);
        continue;
      }
    }
    replace(b.before, b.after);
  }
  for (cuda::bundle::TexelArray& a : m.arrays) {
    ++seed;
    replace(a.before, a.after);
  }
  m.complete = false;
  if (const auto written = write_text(folder / cuda::bundle::manifest_file, cuda::bundle::text(m)); !written)
    return not_written(written.error());
  for (const std::string& file : files) {
    std::error_code failed;
    std::filesystem::remove(folder / file, failed);
    if (failed) return not_written((folder / file).string() + ": " + failed.message());
  }
  return {};
}

}  // namespace palladion::verify
