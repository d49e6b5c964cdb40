// Device memory for who computes on the host in place of a kernel of which there is machine code alone.
#include "cuda/driver/order/written.h"
#include "cuda/driver/session.h"
#include "cuda/driver/sizes.h"

using namespace palladion::cuda::driver;

void* palladion_exec_host_view(Pointer p, size_t bytes, int writes) {
  State& s = state();
  const Guard guard(s.lock);
  const Block* const b = s.block_of(p);
  if (b == nullptr || !fits(p - b->base, bytes, b->size)) return nullptr;
  if (writes != 0) wrote(p, bytes);
  return b->machine_view != nullptr ? b->machine_view + (p - b->base) : to(p);
}
