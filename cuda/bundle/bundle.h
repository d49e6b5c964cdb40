#pragma once
// A bundle: one launch of a kernel, recorded on a GPU, as a folder. README.md documents the files.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/bundle/contents.h"
#include "cuda/bundle/textures.h"

namespace palladion::cuda::bundle {

inline constexpr int format_version = 3;  // versions 1 and 2 are read too
// Stripped bundles keep buffers of at most so many bytes that hold the address of another.
inline constexpr uint64_t most_of_table = 64 << 10;
inline constexpr std::string_view manifest_file = "bundle.json";

struct Buffer {
  std::string name;  // "buffer0"; of a variable of the module: its name
  uint64_t address = 0, bytes = 0;
  bool variable = false;     // .global or .const of the module
  bool host_writes = false;  // pinned or managed: the host can write there while a kernel runs
  Contents before, after;
};

struct PtxFile {
  std::string file;
  uint64_t checksum = 0;
};

struct Manifest {
  std::string chip, program;  // "NVIDIA H200"; what ran
  int driver = 0;             // 13000
  std::string entry;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t dynamic_shared = 0;
  bool cooperative = false, programmatic_serialization = false;
  bool complete = false;  // the launch ended and the contents after it were recorded
  int result = 0;         // the driver's number for the launch and the wait for its end
  std::vector<uint8_t> parameters;
  std::string ptx_file, ptx_source;  // empty file: no PTX was found
  uint64_t ptx_checksum = 0;
  std::vector<PtxFile> linked;  // other modules of which the program was linked
  std::string image_file;       // what was loaded, where it had no PTX: a cubin
  uint64_t image_checksum = 0;
  std::vector<Buffer> buffers;
  std::vector<TexelArray> arrays;
  std::vector<Object> objects;
};

// 64 bits over the length and then the bytes as little-endian 64-bit words, the last filled with zeros. From
// 0xcbf29ce484222325 on, each word is xored in, the sum multiplied by 0x100000001b3, and its upper half xored
// into its lower half.
uint64_t checksum(std::span<const std::byte> bytes);
// That of formats 1 and 2: the upper half is folded into the lower one at the end alone.
uint64_t checksum_of_format_2(std::span<const std::byte> bytes);

// False of a grid or block that no driver launches: a dimension is 0 or above INT32_MAX.
bool launchable(const Manifest& manifest);

std::string text(const Buffer& buffer);
std::string text(const PtxFile& file);
std::string text(const Manifest& manifest);  // bundle.json

}  // namespace palladion::cuda::bundle
