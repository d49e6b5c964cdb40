#pragma once
// Fatbins: what nvcc embeds in a program and hands to the driver, PTX and machine code for several chips. The
// format is not documented; this is what CUDA 12 and 13 write:
//
//   fatbin   u32 magic 0xBA55ED50   u16 version   u16 header bytes (16)   u64 bytes of all entries
//   entry    u16 kind               u16 version   u32 header bytes        u64 payload bytes, with padding
//            u32 compressed bytes   u32 offset of the options             u16 minor, u16 major of the version
//            u32 arch (90)          u32 offset, u32 bytes of the name     u64 flags    u64 zero
//            u64 bytes when decompressed; then the payload, header bytes after the entry's start
//
// Flags: 0x2000 LZ4 block, 0x8000 zstd frame; neither: as it is.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace palladion::cuda::fatbin {

using Bytes = std::span<const std::byte>;

enum class Kind : uint16_t { ptx = 1, cubin = 2 };

struct Entry {
  Kind kind{};
  uint32_t arch = 0;  // 90
  uint16_t version_major = 0, version_minor = 0;
  uint64_t flags = 0;
  uint64_t full_bytes = 0;  // of the contents, decompressed
  std::string_view options, name;
  Bytes payload;  // as stored
};

// Nothing is read outside `bytes`, whatever they say.
tl::expected<std::vector<Entry>, std::string> entries(Bytes bytes);
// Decompressed. `most`: an entry that says it is larger is an error.
tl::expected<std::vector<std::byte>, std::string> contents(const Entry& entry,
                                                           uint64_t most = uint64_t{1} << 30);
// Of a PTX entry, without the padding around it.
tl::expected<std::string, std::string> text(const Entry& entry);

// The PTX that runs on a chip (`compute`: 90), the newest first. `nvcc -arch=sm_90a` embeds two of one
// number: the one for that chip alone (`.target sm_90a`), of which its machine code is made, comes before the
// other.
std::vector<Entry> usable_ptx(std::span<const Entry> all, uint32_t compute);
std::string_view target_of(std::string_view ptx);  // the word behind `.target`
// Whether its target is `sm_90a`: features of this chip alone.
bool is_for_one_chip(std::string_view ptx);
bool is_for_family(std::string_view ptx);  // `sm_100f`

// What the driver is given to load, by its first bytes.
enum class Image : uint8_t { unknown, wrapper, fatbin, elf, ptx };
Image image_of(const void* first);
// Bytes of an image in memory, of which only its start is known, as the driver is given it: the length that
// its own header states. 0: unknown. A wrapper (__fatBinC_Wrapper_t) is 24 bytes, its fatbin is at `data_of`.
uint64_t bytes_of(const void* first);
const void* data_of(const void* wrapper);

}  // namespace palladion::cuda::fatbin
