// Prints the driver's 128-byte tensor maps: one line a map, the arguments of the encode call and the 16
// words. cuTensorMapEncode* is deterministic and touches no memory, so one field at a time is varied, bit by
// bit; then come random valid maps, on which a decoder is tested.
//
//   nvcc -o tensor_map bench/device/tensor_map.cu -lcuda && ./tensor_map > tests/device/tensor_maps_h200.txt
//
//   tiled TYPE RANK ADDRESS d=DIMS s=STRIDES b=BOX e=ELEMENT_STRIDES i=INTERLEAVE w=SWIZZLE l=L2 o=OOB :
//   WORDS im2col TYPE RANK ADDRESS d= s= lo=LOWER hi=UPPER c=CHANNELS p=PIXELS e= i= w= l= o= : WORDS wide
//   TYPE RANK ADDRESS d= s= lo= hi= c= p= e= i= m=MODE w= l= o= : WORDS
//
// Numbers are the driver API's; lists are innermost dimension first. A map that the driver refuses is a
// comment.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

enum class Kind { tiled, im2col, wide };

struct Map {
  Kind kind = Kind::tiled;
  int type = 6, rank = 3;
  uint64_t address = 0x7f12'3400'0000;
  std::vector<uint64_t> dims{64, 32, 16, 8, 4}, strides{128, 4096, 65536, 524288};
  std::vector<uint32_t> box{8, 4, 2, 1, 1}, steps{1, 1, 1, 1, 1};
  std::vector<int> lower{0, 0, 0}, upper{0, 0, 0};
  uint32_t channels = 8, pixels = 16;
  int interleave = 0, swizzle = 0, l2 = 0, oob = 0, mode = 0;
};

template <class T>
std::string list(const std::vector<T>& values, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i ? "," : "") + std::to_string(values[i]);
  return text;
}

int element_bytes(int type) {
  constexpr int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};
  return bytes[type];
}

int printed = 0, refused = 0;

void print(const Map& m) {
  alignas(64) CUtensorMap out{};
  const auto type = static_cast<CUtensorMapDataType>(m.type);
  const auto interleave = static_cast<CUtensorMapInterleave>(m.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(m.swizzle);
  const auto l2 = static_cast<CUtensorMapL2promotion>(m.l2);
  const auto oob = static_cast<CUtensorMapFloatOOBfill>(m.oob);
  void* address = reinterpret_cast<void*>(m.address);
  const int spatial = m.rank - 2 < 0 ? 0 : m.rank - 2;
  std::string head;
  CUresult status = CUDA_SUCCESS;
  const std::string tensor = std::to_string(m.type) + " " + std::to_string(m.rank) + " " +
                             std::to_string(m.address) + " d=" + list(m.dims, m.rank) +
                             " s=" + list(m.strides, m.rank - 1);
  const std::string tail = " e=" + list(m.steps, m.rank) + " i=" + std::to_string(m.interleave) +
                           (m.kind == Kind::wide ? " m=" + std::to_string(m.mode) : "") +
                           " w=" + std::to_string(m.swizzle) + " l=" + std::to_string(m.l2) +
                           " o=" + std::to_string(m.oob);
  const std::string pixels = " c=" + std::to_string(m.channels) + " p=" + std::to_string(m.pixels);
  switch (m.kind) {
    case Kind::tiled:
      head = "tiled " + tensor + " b=" + list(m.box, m.rank) + tail;
      status = cuTensorMapEncodeTiled(&out, type, m.rank, address, m.dims.data(), m.strides.data(),
                                      m.box.data(), m.steps.data(), interleave, swizzle, l2, oob);
      break;
    case Kind::im2col:
      head = "im2col " + tensor + " lo=" + list(m.lower, spatial) + " hi=" + list(m.upper, spatial) + pixels +
             tail;
      status = cuTensorMapEncodeIm2col(&out, type, m.rank, address, m.dims.data(), m.strides.data(),
                                       m.lower.data(), m.upper.data(), m.channels, m.pixels, m.steps.data(),
                                       interleave, swizzle, l2, oob);
      break;
    case Kind::wide:
      head = "wide " + tensor + " lo=" + std::to_string(m.lower[0]) + " hi=" + std::to_string(m.upper[0]) +
             pixels + tail;
      status = cuTensorMapEncodeIm2colWide(&out, type, m.rank, address, m.dims.data(), m.strides.data(),
                                           m.lower[0], m.upper[0], m.channels, m.pixels, m.steps.data(),
                                           interleave, static_cast<CUtensorMapIm2ColWideMode>(m.mode),
                                           swizzle, l2, oob);
      break;
  }
  if (status != CUDA_SUCCESS) {
    std::printf("# refused (%d): %s\n", static_cast<int>(status), head.c_str());
    ++refused;
    return;
  }
  std::printf("%s :", head.c_str());
  for (const uint64_t word : out.opaque) std::printf(" %016llx", static_cast<unsigned long long>(word));
  std::printf("\n");
  ++printed;
}

// Strides that leave room for the rows.
void pack(Map& m) {
  uint64_t bytes = (m.dims[0] * element_bytes(m.type) + 31) / 32 * 32;
  for (int i = 0; i < 4; ++i) {
    m.strides[i] = bytes;
    bytes *= m.dims[i + 1];
  }
}

void vary(Map base) {
  print(base);
  for (int type = 0; type < 16; ++type) {
    Map m = base;
    m.type = type;
    if (type >= 13) m.dims[0] = 128, m.box[0] = 128;
    m.strides = {1024, 65536, 1 << 22, 1 << 26};
    print(m);
  }
  for (int rank = 1; rank <= 5; ++rank) {
    Map m = base;
    m.rank = rank;
    if (m.kind == Kind::tiled || rank >= 3) print(m);
  }
  for (int bit = 4; bit < 57; ++bit) {
    Map m = base;
    m.address = uint64_t{1} << bit;
    print(m);
  }
  base.rank = 5;
  for (int i = 0; i < 5; ++i)
    for (int bit = 0; bit <= 32; ++bit) {
      Map m = base;
      m.dims[i] = uint64_t{1} << bit;
      if (i == 0) m.strides = {uint64_t{1} << 36, uint64_t{1} << 37, uint64_t{1} << 38, uint64_t{1} << 39};
      print(m);
    }
  for (int i = 0; i < 4; ++i)
    for (int bit = 4; bit < 40; ++bit) {
      Map m = base;
      m.strides[i] = uint64_t{1} << bit;
      print(m);
    }
  for (int i = 0; i < 5; ++i)
    for (int step = 1; step <= 8; ++step) {
      Map m = base;
      m.steps[i] = step;
      print(m);
    }
  if (base.kind == Kind::tiled) {
    for (int i = 0; i < 5; ++i)
      for (const uint32_t size : {1, 2, 3, 4, 8, 16, 32, 64, 128, 255, 256}) {
        Map m = base;
        m.type = 0;
        m.box = {16, 1, 1, 1, 1};
        m.box[i] = i == 0 && size < 16 ? 16 * size : size;
        print(m);
      }
  } else {
    for (const uint32_t size : {1, 2, 3, 4, 8, 16, 32, 64, 128, 255, 256}) {
      Map m = base;
      m.channels = size;
      m.type = 0;
      if (size % 16 == 0) print(m);
      m = base;
      m.pixels = size;
      print(m);
      m.pixels = size * 4;
      print(m);
    }
    for (int rank = 3; rank <= 5; ++rank)
      for (int i = 0; i < rank - 2; ++i)
        for (const int corner :
             {-1, 1, -2, 2, 3, -3, 7, -8, 15, -16, 31, 100, -100, 127, -128, 1000, -32768, 32767}) {
          Map m = base;
          m.rank = rank;
          m.lower[i] = corner;
          print(m);
          m = base;
          m.rank = rank;
          m.upper[i] = corner;
          print(m);
        }
  }
  for (int interleave = 0; interleave < 3; ++interleave)
    for (int swizzle = 0; swizzle < 7; ++swizzle)
      for (int l2 = 0; l2 < 4; ++l2)
        for (int oob = 0; oob < 2; ++oob)
          for (int mode = 0; mode < (base.kind == Kind::wide ? 2 : 1); ++mode) {
            Map m = base;
            m.address &= ~uint64_t{31};
            m.interleave = interleave, m.swizzle = swizzle, m.l2 = l2, m.oob = oob, m.mode = mode;
            if (interleave == 2) m.box[0] = 8;
            print(m);
          }
}

void random_maps(Kind kind, int count) {
  std::mt19937_64 engine(static_cast<unsigned>(kind) + 17);
  const auto draw = [&](uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(engine);
  };
  for (int n = 0; n < count; ++n) {
    Map m;
    m.kind = kind;
    m.type = static_cast<int>(draw(0, 12));
    m.rank = static_cast<int>(draw(kind == Kind::tiled ? 1 : 3, 5));
    m.address = draw(1, uint64_t{1} << 42) * 32;
    const int largest = static_cast<int>(draw(3, 9));
    for (uint64_t& size : m.dims) size = draw(1, uint64_t{1} << largest);
    pack(m);
    for (uint64_t& stride : m.strides) stride += 32 * draw(0, 3);
    for (uint32_t& size : m.box) size = static_cast<uint32_t>(draw(1, 8));
    m.box[0] = 16 / element_bytes(m.type) * static_cast<uint32_t>(draw(1, 2));
    for (uint32_t& step : m.steps) step = static_cast<uint32_t>(draw(0, 3) ? 1 : draw(1, 8));
    for (int& corner : m.lower) corner = static_cast<int>(draw(0, 10)) - 5;
    for (int& corner : m.upper) corner = static_cast<int>(draw(0, 10)) - 5;
    m.channels = 16 / element_bytes(m.type) * static_cast<uint32_t>(draw(1, 2));
    m.pixels = static_cast<uint32_t>(draw(1, 256));
    m.swizzle = static_cast<int>(draw(0, 3));
    m.l2 = static_cast<int>(draw(0, 3));
    m.oob = m.type >= 6 ? static_cast<int>(draw(0, 1)) : 0;
    print(m);
  }
}

}  // namespace

int main() {
  cuInit(0);
  CUdevice device = 0;
  CUcontext context = nullptr;
  char name[100] = "";
  int version = 0;
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuDeviceGetName(name, sizeof name, device);
  cuDriverGetVersion(&version);
  std::printf("# chip: %s, driver API %d, CUDA %d\n", name, version, CUDA_VERSION);
  for (const Kind kind : {Kind::tiled, Kind::im2col, Kind::wide}) {
    Map base;
    base.kind = kind;
    vary(base);
    random_maps(kind, 400);
  }
  std::fprintf(stderr, "%d maps, %d refused\n", printed, refused);
}
