#pragma once
// Which CTA sends to which in the clusters of a microbenchmark, as PTX that computes it.
#include <string>

#include "bench/device/micro.h"

namespace palladion::bench {

struct Route {
  enum class Way : uint8_t {
    one_way,     // rank 0 to rank 1
    both_ways,   // each to the other
    self,        // each to itself, through the cluster's window
    ring,        // each to the next
    all_to_all,  // each to all others, one after another
    everyone,    // each to all, one after another, itself first
    to_one,      // all others to rank 0
    from_one,    // rank 0 to all others, one after another
  };
  Way way = Way::one_way;
  int ctas = 2;      // of a cluster
  int clusters = 1;  // that work at the same time

  int targets() const;  // of a sender
  int sources() const;  // of a receiver
  bool sends(int rank) const;
  // For the prologue: %rank; %to<j>, %from<j>: the windows of receivers and of senders; %sends and
  // %receives.
  std::string prologue() const;
  std::string describe() const;  // "both ways", "ring ctas=4"
};

extern const char* const route_registers;  // for KernelText::declarations

// What goes round takes part when its CTA has `role` ("%sends", "%receives").
std::string only(const char* role);
// A case of two CTAs or more; the measure is that of the first sender, with many senders of one kind the
// mean.
Case cluster_case(std::string name, const std::string& parameters, KernelText kernel, const Route& route,
                  int warps);

}  // namespace palladion::bench
