#include "cuda/capture/links.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>

#include "cuda/bundle/bundle.h"
#include "cuda/capture/loaded.h"
#include "cuda/capture/recorder.h"
#include "cuda/fatbin/fatbin.h"

namespace palladion::cuda::capture {
namespace {

constexpr int type_ptx = 1;                      // CU_JIT_INPUT_PTX
constexpr size_t most_kept = size_t{256} << 20;  // bytes of PTX

// Made on first use and never destroyed.
struct Links {
  std::mutex lock;
  std::map<Handle, std::vector<LinkInput>> open;
  std::map<uint64_t, LinkInputs> done;  // by the machine code's checksum
  size_t bytes = 0;
};
Links& links() {
  static auto* const l = new Links;
  return *l;
}

uint64_t sum_of(std::string_view bytes) { return bundle::checksum(std::as_bytes(std::span(bytes))); }

std::string ptx_text(int type, std::string_view bytes) {
  if (type != type_ptx && fatbin::image_of(bytes.data()) != fatbin::Image::ptx) return {};
  return std::string(bytes.substr(0, bytes.find('\0')));
}

}  // namespace

void link_input(Handle state, int type, const void* data, size_t bytes, const char* name) {
  if (settings().folder.empty() || data == nullptr || bytes == 0) return;
  Links& l = links();
  const std::lock_guard guard(l.lock);
  LinkInput input{name == nullptr ? "" : name, ptx_text(type, {static_cast<const char*>(data), bytes})};
  if (l.bytes + input.text.size() > most_kept) input.text.clear();
  l.bytes += input.text.size();
  l.open[state].push_back(std::move(input));
}

void link_input_file(Handle state, int type, const char* path) {
  if (settings().folder.empty() || path == nullptr) return;
  std::string text = bytes_of_file(path);
  const size_t bytes = text.size();
  text.resize(std::max<size_t>(bytes, 64));  // its first bytes tell what it is
  link_input(state, type, text.data(), bytes, path);
}

void link_completed(Handle state, const char* linker, const void* cubin, size_t bytes) {
  if (settings().folder.empty() || cubin == nullptr) return;
  Links& l = links();
  const std::lock_guard guard(l.lock);
  // As many bytes as are found again where the driver is given no length.
  const size_t known = std::min<uint64_t>(bytes, fatbin::bytes_of(cubin));
  l.done[sum_of({static_cast<const char*>(cubin), known})] = {linker, l.open[state]};
}

void link_destroyed(Handle state) {
  Links& l = links();
  const std::lock_guard guard(l.lock);
  l.open.erase(state);
}

LinkInputs inputs_of_link(std::string_view cubin) {
  Links& l = links();
  const std::lock_guard guard(l.lock);
  const auto found = l.done.find(sum_of(cubin));
  return found == l.done.end() ? LinkInputs() : found->second;
}

}  // namespace palladion::cuda::capture
