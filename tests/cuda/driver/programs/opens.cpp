// Opens the library of its argument twice, with a third one between, and gives what it says.
#include <dlfcn.h>

int main(int, char** arguments) {
  int result = 0;
  for (int i = 0; i < 2 && result == 0; ++i) {
    void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 10;
    auto* const ask = reinterpret_cast<int (*)()>(dlsym(library, "result_of_the_library"));
    result = ask != nullptr ? ask() : 11;
    dlclose(library);
    if (void* const other = dlopen("libm.so.6", RTLD_NOW)) dlclose(other);
  }
  return result;
}
