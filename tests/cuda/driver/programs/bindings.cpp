// Functions that refer to the names of functions of the runtime library, each alone, in a program without it.
#include <cstdio>

namespace {

#define BINDING(name, result)                      \
  [[gnu::noinline]] long call_##name(long given) { \
    if (given == 0) std::puts("cuda" #name);       \
    return given * 7 + result;                     \
  }
BINDING(Malloc, 1)
BINDING(Free, 2)
BINDING(GetDeviceCount, 3)
BINDING(StreamSynchronize, 4)

}  // namespace

int main(int argc, char**) {
  const long given = argc;
  const bool right = call_Malloc(given) == given * 7 + 1 && call_Free(given) == given * 7 + 2 &&
                     call_GetDeviceCount(given) == given * 7 + 3 &&
                     call_StreamSynchronize(given) == given * 7 + 4;
  return right ? 0 : 1;
}
