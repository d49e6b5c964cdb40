// Plans by their numbers, and their execution as operations of a stream.
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "cuda/driver/cufft/plan.h"
#include "cuda/driver/stand_in.h"

namespace palladion::cuda::cufft {
namespace {

using Status = int;  // cufftResult
constexpr Status success = 0, invalid_plan = 1, invalid_type = 3, invalid_value = 4, exec_failed = 6,
                 invalid_size = 8, not_supported = 16;
constexpr int version[] = {12, 0, 0};
enum Type : int { r2c = 0x2a, c2r = 0x2c, c2c = 0x29, d2z = 0x6a, z2d = 0x6c, z2z = 0x69 };

struct Entry {
  std::optional<Plan> plan;  // none: it was not made yet
  Type type{};
  void* stream = nullptr;
};

std::mutex lock;
std::map<int, Entry>& all() {
  static auto* const entries = new std::map<int, Entry>;  // programs transform while they end
  return *entries;
}

Entry* find(int number) {
  const auto at = all().find(number);
  return at == all().end() ? nullptr : &at->second;
}

Status create(int* number) {
  if (number == nullptr) return invalid_value;
  const std::scoped_lock guard(lock);
  *number = all().empty() ? 1 : all().rbegin()->first + 1;
  all()[*number];
  return success;
}

struct Asked {
  std::vector<int64_t> sizes;
  int64_t batch = 1;
  std::optional<Layout> in, out;
};

template <class Int>
Layout layout_of(const Int* embed, int rank, Int stride, Int distance) {
  return {{embed, embed + rank}, stride, distance};
}

// Null embeddings: dense, whatever the strides are.
template <class Int>
std::optional<Asked> many(int rank, const Int* n, const Int* in, Int in_stride, Int in_distance,
                          const Int* out, Int out_stride, Int out_distance, Int batch) {
  if (rank < 1 || rank > 3 || n == nullptr) return std::nullopt;
  Asked a{{n, n + rank}, batch, {}, {}};
  if (in == nullptr || out == nullptr) return a;
  a.in = layout_of(in, rank, in_stride, in_distance);
  a.out = layout_of(out, rank, out_stride, out_distance);
  return a;
}

std::optional<Plan::Kind> kind_of(Type type) {
  switch (type) {
    case c2c:
    case z2z:
      return Plan::Kind::complex;
    case r2c:
    case d2z:
      return Plan::Kind::to_complex;
    case c2r:
    case z2d:
      return Plan::Kind::to_real;
  }
  return std::nullopt;
}

Status make(int number, const std::optional<Asked>& asked, Type type, size_t* work) {
  const std::scoped_lock guard(lock);
  Entry* const e = find(number);
  if (e == nullptr || e->plan) return invalid_plan;
  const auto kind = kind_of(type);
  if (!kind) return invalid_type;
  if (!asked || asked->batch < 1) return invalid_size;
  for (const int64_t n : asked->sizes)
    if (n < 1) return invalid_size;
  Plan plan{asked->sizes, asked->batch, *kind, type >= z2z, !asked->in, {}, {}};
  if (asked->in) plan.in = *asked->in, plan.out = *asked->out;
  e->plan = std::move(plan), e->type = type;
  if (work != nullptr) *work = 0;
  return success;
}

Status create_and_make(int* number, const std::optional<Asked>& asked, Type type) {
  if (const Status status = create(number); status != success) return status;
  const Status status = make(*number, asked, type, nullptr);
  if (status != success) {
    const std::scoped_lock guard(lock);
    all().erase(*number);
  }
  return status;
}

// The memory of one side: a piece for each batch where these are dense, else all from the first to the last.
void add_pieces(std::vector<Piece>& pieces, const void* at, const Layout& layout,
                const std::vector<int64_t>& sizes, int64_t batch, size_t element, bool writes) {
  const size_t span = static_cast<size_t>(layout.last(sizes) + 1) * element,
               distance = static_cast<size_t>(layout.distance) * element;
  if (layout.stride == 1 && distance >= span)
    pieces.push_back({at, span, static_cast<size_t>(batch), distance, !writes, writes});
  else
    pieces.push_back({at, static_cast<size_t>(batch - 1) * distance + span, 1, 0, !writes, writes});
}

Status execute(const char* name, int number, void* in, void* out, bool inverse, std::optional<Type> type) {
  std::unique_lock guard(lock);
  const Entry* const e = find(number);
  if (e == nullptr || !e->plan) return invalid_plan;
  if (type && *type != e->type) return invalid_type;
  if (in == nullptr || out == nullptr) return invalid_value;
  const Plan plan = *e->plan;
  void* const stream = e->stream;
  guard.unlock();
  const bool in_place = in == out;
  const size_t real = plan.is_double ? sizeof(double) : sizeof(float);
  const bool from_real = plan.kind == Plan::Kind::to_complex, to_real = plan.kind == Plan::Kind::to_real;
  std::vector<Piece> pieces;
  add_pieces(pieces, in, plan.input(in_place), from_real ? plan.sizes : plan.half(), plan.batch,
             from_real ? real : 2 * real, false);
  add_pieces(pieces, out, plan.output(in_place), to_real ? plan.sizes : plan.half(), plan.batch,
             to_real ? real : 2 * real, true);
  const bool backward = plan.kind == Plan::Kind::complex ? inverse : to_real;
  const int done = compute_on_host(name, stream, pieces, [plan, backward](void* const* views) {
    transform(plan, views[0], views[1], backward);
  });
  return done == 0 ? success : exec_failed;
}

template <class F>
Status with(int number, F f) {
  const std::scoped_lock guard(lock);
  Entry* const e = find(number);
  return e == nullptr ? invalid_plan : (f(*e), success);
}

Status say_size(size_t* work) { return work == nullptr ? invalid_value : (*work = 0, success); }

// Types of the two sides and of the computation, as cudaDataType has them.
std::optional<Type> type_of(int in, int out, int executed) {
  constexpr int f32 = 0, f64 = 1, c32 = 4, c64 = 5;
  if (executed == c32) {
    if (in == c32 && out == c32) return c2c;
    if (in == f32 && out == c32) return r2c;
    if (in == c32 && out == f32) return c2r;
  }
  if (executed == c64) {
    if (in == c64 && out == c64) return z2z;
    if (in == f64 && out == c64) return d2z;
    if (in == c64 && out == f64) return z2d;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace palladion::cuda::cufft

using namespace palladion::cuda::cufft;

PLD_STAND_IN Status cufftCreate(int* plan) { return create(plan); }
PLD_STAND_IN Status cufftDestroy(int plan) {
  const std::scoped_lock guard(lock);
  return all().erase(plan) == 1 ? success : invalid_plan;
}
PLD_STAND_IN Status cufftPlan1d(int* plan, int x, Type type, int batch) {
  return create_and_make(plan, Asked{{x}, batch, {}, {}}, type);
}
PLD_STAND_IN Status cufftPlan2d(int* plan, int x, int y, Type type) {
  return create_and_make(plan, Asked{{x, y}, 1, {}, {}}, type);
}
PLD_STAND_IN Status cufftPlan3d(int* plan, int x, int y, int z, Type type) {
  return create_and_make(plan, Asked{{x, y, z}, 1, {}, {}}, type);
}
PLD_STAND_IN Status cufftPlanMany(int* plan, int rank, int* n, int* in, int is, int id, int* out, int os,
                                  int od, Type type, int batch) {
  return create_and_make(plan, many(rank, n, in, is, id, out, os, od, batch), type);
}
PLD_STAND_IN Status cufftMakePlan1d(int plan, int x, Type type, int batch, size_t* work) {
  return make(plan, Asked{{x}, batch, {}, {}}, type, work);
}
PLD_STAND_IN Status cufftMakePlan2d(int plan, int x, int y, Type type, size_t* work) {
  return make(plan, Asked{{x, y}, 1, {}, {}}, type, work);
}
PLD_STAND_IN Status cufftMakePlan3d(int plan, int x, int y, int z, Type type, size_t* work) {
  return make(plan, Asked{{x, y, z}, 1, {}, {}}, type, work);
}
PLD_STAND_IN Status cufftMakePlanMany(int plan, int rank, int* n, int* in, int is, int id, int* out, int os,
                                      int od, Type type, int batch, size_t* work) {
  return make(plan, many(rank, n, in, is, id, out, os, od, batch), type, work);
}
PLD_STAND_IN Status cufftMakePlanMany64(int plan, int rank, long long* n, long long* in, long long is,
                                        long long id, long long* out, long long os, long long od, Type type,
                                        long long batch, size_t* work) {
  return make(plan, many(rank, n, in, is, id, out, os, od, batch), type, work);
}
PLD_STAND_IN Status cufftXtMakePlanMany(int plan, int rank, long long* n, long long* in, long long is,
                                        long long id, int in_type, long long* out, long long os, long long od,
                                        int out_type, long long batch, size_t* work, int executed) {
  const auto type = type_of(in_type, out_type, executed);
  if (type) return make(plan, many(rank, n, in, is, id, out, os, od, batch), *type, work);
  palladion_exec_unsupported("cufftXtMakePlanMany of half precision");
  return not_supported;
}

// Nothing but the operands is needed.
PLD_STAND_IN Status cufftGetSize(int plan, size_t* work) {
  const Status status = with(plan, [](const Entry&) {});
  return status == success ? say_size(work) : status;
}
PLD_STAND_IN Status cufftEstimate1d(int, Type, int, size_t* work) { return say_size(work); }
PLD_STAND_IN Status cufftEstimate2d(int, int, Type, size_t* work) { return say_size(work); }
PLD_STAND_IN Status cufftEstimate3d(int, int, int, Type, size_t* work) { return say_size(work); }
PLD_STAND_IN Status cufftSetWorkArea(int plan, void*) {
  return with(plan, [](const Entry&) {});
}
PLD_STAND_IN Status cufftSetAutoAllocation(int plan, int) {
  return with(plan, [](const Entry&) {});
}
PLD_STAND_IN Status cufftSetStream(int plan, void* stream) {
  return with(plan, [&](Entry& e) { e.stream = stream; });
}
PLD_STAND_IN Status cufftGetVersion(int* out) {
  return out == nullptr ? invalid_value : (*out = version[0] * 1000 + version[1] * 100, success);
}
PLD_STAND_IN Status cufftGetProperty(int type, int* out) {
  if (out == nullptr || type < 0 || type > 2) return invalid_value;
  return *out = version[type], success;
}

PLD_STAND_IN Status cufftExecC2C(int plan, void* in, void* out, int direction) {
  return execute("cufftExecC2C", plan, in, out, direction > 0, c2c);
}
PLD_STAND_IN Status cufftExecZ2Z(int plan, void* in, void* out, int direction) {
  return execute("cufftExecZ2Z", plan, in, out, direction > 0, z2z);
}
PLD_STAND_IN Status cufftExecR2C(int plan, void* in, void* out) {
  return execute("cufftExecR2C", plan, in, out, false, r2c);
}
PLD_STAND_IN Status cufftExecD2Z(int plan, void* in, void* out) {
  return execute("cufftExecD2Z", plan, in, out, false, d2z);
}
PLD_STAND_IN Status cufftExecC2R(int plan, void* in, void* out) {
  return execute("cufftExecC2R", plan, in, out, true, c2r);
}
PLD_STAND_IN Status cufftExecZ2D(int plan, void* in, void* out) {
  return execute("cufftExecZ2D", plan, in, out, true, z2d);
}
PLD_STAND_IN Status cufftXtExec(int plan, void* in, void* out, int direction) {
  return execute("cufftXtExec", plan, in, out, direction > 0, std::nullopt);
}
