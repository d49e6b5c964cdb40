// Programs launch kernels while they end: from destructors of global objects and of threads, from handlers of
// atexit, from threads that still run. So this library registers nothing at the C library's exit: its objects
// live as long as the process, and those of a thread until that thread ends, which exit does not do. These
// two functions stand in place of the C library's for this library alone.
#include <pthread.h>

#include <utility>

namespace {

struct OfThread {
  void (*destroy)(void*);
  void* object;
  OfThread* before;
};

pthread_key_t key;

void end_thread(void* newest) {
  for (auto* o = static_cast<OfThread*>(newest); o != nullptr; delete std::exchange(o, o->before))
    o->destroy(o->object);
}

}  // namespace

extern "C" {

int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

int __cxa_thread_atexit(void (*destroy)(void*), void* object, void*) {
  static pthread_once_t made = PTHREAD_ONCE_INIT;
  pthread_once(&made, [] { pthread_key_create(&key, end_thread); });
  return pthread_setspecific(key,
                             new OfThread{destroy, object, static_cast<OfThread*>(pthread_getspecific(key))});
}
}
