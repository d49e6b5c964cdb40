// The relaxations, as data. A factor of 0 makes something free, `unlimited` takes a rate out of the way.
#include "sim/clock/report/relax.h"

namespace palladion::sim {
namespace {

constexpr double unlimited = 1000;

constexpr RelaxedKey hbm_rate[] = {
    {"hbm.read", unlimited}, {"hbm.write", unlimited}, {"hbm.mixed", unlimited}};
constexpr RelaxedKey hbm_latency[] = {{"hbm.latency", 0},
                                      {"hbm.spread", 0},
                                      {"hbm.loaded_latency", 0},
                                      {"hbm.scattered", 0},
                                      {"hbm.write_queue", 0}};
constexpr Resource hbm[] = {Resource::hbm};

constexpr RelaxedKey l2_rate[] = {
    {"l2.bytes_per_cycle", unlimited},       {"l2.gpc_shared_bytes_per_cycle", unlimited},
    {"l2.mixed_bytes_per_cycle", unlimited}, {"l2.gpc_bytes_per_cycle", unlimited},
    {"l2.sm_bytes_per_cycle", unlimited},    {"l2.sm_write_bytes_per_cycle", unlimited},
    {"l2.write_bytes_per_cycle", unlimited}};
constexpr RelaxedKey l2_latency[] = {{"l2.latency", 0.5}, {"l2.spread", 0.5}, {"l2.slice_spread", 0.5}};
constexpr RelaxedKey atomics[] = {{"l2.atomic_interval", 0}, {"l2.atomic_latency", 0}};
constexpr Resource l2[] = {Resource::l2};

constexpr RelaxedKey l1_rate[] = {{"l1.bytes_per_cycle", unlimited}};
constexpr Resource l1[] = {Resource::l1};

constexpr RelaxedKey tensor_rate[] = {{"wgmma.macs_per_cycle", 2}, {"wgmma.least_rs", 0.5}};
constexpr RelaxedKey tensor_waits[] = {{"wgmma.overhead", 0},
                                       {"wgmma.tail_ss", 0},
                                       {"wgmma.tail_rs", 0},
                                       {"wgmma.start", 0},
                                       {"wgmma.queue", 16}};
constexpr Resource tensor[] = {Resource::tensor};

constexpr RelaxedKey smem_rate[] = {{"smem.bytes_per_cycle", unlimited}, {"smem.lsu_interval", 0}};
constexpr Resource smem[] = {Resource::smem};

constexpr RelaxedKey tma_issue[] = {{"tma.issue_interval", 0},
                                    {"tma.row_interval", 0},
                                    {"tma.descriptor_miss", 0},
                                    {"tma.queue", unlimited},
                                    {"tma.next", unlimited}};
constexpr RelaxedKey tma_time[] = {{"tma.latency", 0},
                                   {"tma.bytes_per_cycle", unlimited},
                                   {"bulk.bytes_per_cycle", unlimited},
                                   {"tma.overtaken", 0},
                                   {"tma.multicast", 0},
                                   {"tma.store_latency", 0},
                                   {"tma.store_done", 0},
                                   {"bulk.latency", 0}};
constexpr Resource tma[] = {Resource::tma};

constexpr RelaxedKey wake_ups[] = {
    {"mbarrier.wake", 0},    {"mbarrier.wake_tx", 0},        {"mbarrier.remote", 0}, {"barrier.latency", 0},
    {"barrier.per_warp", 0}, {"cluster_barrier.latency", 0}, {"async_group.wake", 0}};
constexpr Stall barriers[] = {Stall::mbarrier, Stall::barrier, Stall::cluster_barrier, Stall::async_group};

constexpr RelaxedKey network[] = {
    {"dsm.latency", 0},       {"dsm.bytes_per_cycle", unlimited}, {"dsm.in_bytes_per_cycle", unlimited},
    {"dsm.store_latency", 0}, {"dsm.copy_interval", 0},           {"dsm.copy_latency", 0}};
constexpr Stall network_stalls[] = {Stall::cluster_barrier, Stall::short_scoreboard, Stall::long_scoreboard};

constexpr RelaxedKey launch[] = {{"launch.overhead", 0},    {"launch.cta_interval", 0},
                                 {"launch.cta_replace", 0}, {"launch.cluster", 0},
                                 {"launch.warp", 0},        {"issue.first_instruction", 0}};

constexpr RelaxedKey branches[] = {{"branch.taken", 0}};
constexpr Stall branch_stalls[] = {Stall::branch_resolving};

constexpr std::string_view arithmetic[] = {
    "alu",  "cvt",  "cvt64",  "cvt_half", "cvt_pack", "ddiv",   "dfma",         "dsetp",
    "fdiv", "ffma", "hfma",   "hsetp",    "idiv32",   "idiv64", "imad",         "imad64",
    "mov",  "mufu", "mufu64", "mufu_x2",  "popc",     "irem32", "sdiv32_again", "udiv32_again"};
constexpr Resource pipes[] = {Resource::alu, Resource::fma, Resource::fp64, Resource::sfu};
constexpr Stall fixed_latency[] = {Stall::wait};

const Relaxation table[] = {
    {.group = RelaxedGroup::rates,
     .name = "HBM without limit",
     .advice = "move fewer bytes: larger tiles, neighbouring tiles at the same time so that they meet in L2, "
               "narrower types, a result written once",
     .keys = hbm_rate,
     .resources = hbm},
    {.group = RelaxedGroup::latencies,
     .name = "HBM latency hidden",
     .advice =
         "have more bytes on their way: more stages, larger copies, cp.async.bulk.prefetch into L2, more "
         "resident CTAs",
     .keys = hbm_latency,
     .resources = hbm},
    {.group = RelaxedGroup::rates,
     .name = "L2 without limit",
     .advice = "fetch what several CTAs need once: multicast in a cluster, larger tiles, DSMEM between "
               "neighbours",
     .keys = l2_rate,
     .resources = l2},
    {.group = RelaxedGroup::latencies,
     .name = "L2 latency halved",
     .advice = "issue copies earlier: more stages, a producer warp of its own, loads before they are used",
     .keys = l2_latency,
     .resources = l2},
    {.group = RelaxedGroup::rates,
     .name = "atomics free",
     .advice = "reduce in registers and shared memory first, then one atomic a CTA; spread hot addresses",
     .keys = atomics,
     .needs = {.atomics = true, .clusters = false},
     .resources = l2},
    {.group = RelaxedGroup::rates,
     .name = "L1 without limit",
     .advice = "fetch with TMA or cp.async.bulk, which pass L1 by; wider loads (v4), fewer sectors a warp",
     .keys = l1_rate,
     .resources = l1},
    {.group = RelaxedGroup::tensor_rate,
     .name = "tensor core twice as fast",
     .advice =
         "narrower operands (f16 to fp8), or less work; where it is busy nearly all the time, the kernel "
         "is as fast as the chip",
     .keys = tensor_rate,
     .resources = tensor},
    {.group = RelaxedGroup::tensor_gaps,
     .name = "no gaps between wgmmas",
     .advice = "keep the tensor core fed: wait for the last wgmma one step late (wait_group 1), larger N, a "
               "second consumer warpgroup, the epilogue of one tile under the products of the next",
     .keys = tensor_waits,
     .resources = tensor},
    {.group = RelaxedGroup::sm,
     .name = "shared memory without limit",
     .advice = "fewer bytes to and from shared memory: wider accesses (ldmatrix, "
               "stmatrix, v4), operand A from registers, larger wgmma tiles",
     .keys = smem_rate,
     .resources = smem},
    {.group = RelaxedGroup::sm,
     .name = "no bank conflicts",
     .advice = "lanes of a warp that touch other banks: swizzled layouts, a padded row, v4 accesses of "
               "neighbours, ldmatrix and stmatrix",
     .no_bank_conflicts = true},
    {.group = RelaxedGroup::barriers,
     .name = "TMA issue free",
     .advice = "fewer, larger copies: boxes with long rows, one copy a stage instead of several; issue from "
               "several warps; prefetch.tensormap before the first use",
     .keys = tma_issue,
     .resources = tma},
    {.group = RelaxedGroup::latencies,
     .name = "TMA without latency or limit",
     .advice = "have copies on their way earlier: more stages, a producer that runs ahead, stores that are "
               "waited for late",
     .keys = tma_time,
     .resources = tma},
    {.group = RelaxedGroup::barriers,
     .name = "barrier wake-ups free",
     .advice = "synchronise less often: larger stages, one barrier for several copies, mbarriers instead of "
               "bar.sync over all warps, no cluster barrier in the loop",
     .keys = wake_ups,
     .stalls = barriers},
    {.group = RelaxedGroup::barriers,
     .name = "distributed shared memory without limit",
     .advice =
         "fewer trips to other CTAs' shared memory: st.async or bulk copies of whole blocks, partners in "
         "pairs",
     .keys = network,
     .needs = {.atomics = false, .clusters = true},
     .stalls = network_stalls},
    {.group = RelaxedGroup::launch,
     .name = "launch and start free",
     .advice =
         "a persistent grid of one wave, programmatic dependent launch, a smaller kernel, or simply more "
         "work a launch",
     .keys = launch},
    {.group = RelaxedGroup::sm,
     .name = "half the arithmetic",
     .advice = "fewer instructions an element: packed types (f16x2), indices computed once, less predication",
     .ops = {arithmetic, 0.5, 0.5, 1},
     .resources = pipes},
    {.group = RelaxedGroup::sm,
     .name = "arithmetic latency halved",
     .advice = "more independent work at a time: unrolled loops, several accumulators, more warps",
     .ops = {arithmetic, 1, 1, 0.5},
     .stalls = fixed_latency},
    {.group = RelaxedGroup::sm,
     .name = "branches free",
     .advice = "unroll short loops; predicate or select instead of branching",
     .keys = branches,
     .stalls = branch_stalls},
};

}  // namespace

std::span<const Relaxation> relaxations() { return table; }

}  // namespace palladion::sim
