#pragma once
// Makes findings of conflicts in tensor memory: which mistake it is, what is missing, what to change.
#include "sim/check/core/context.h"
#include "sim/check/core/options.h"
#include "sim/check/memory/races.h"

namespace palladion::sim::check {

// The smallest rectangle of lanes and columns around bytes as tensor_byte() names them.
Object tensor_object(const ClusterState& cluster, uint64_t address, uint64_t bytes);

class TensorRaceReporter final : public ConflictSink {
 public:
  TensorRaceReporter(const ClusterContext& context, const HappensBefore& order, const Options& options)
      : context_(context), order_(order), options_(options) {}
  void use(const Records& records) { records_ = &records; }

  void conflict(const Actor& later, const Conflict& c) override;
  void uninitialised(const Actor& reader, uint64_t address, uint64_t bytes, Lane lane) override;
  // Of shared memory alone.
  void barrier_bytes(const Actor&, uint32_t, uint64_t, Lane) override {}
  void fill_read(const Actor&, uint32_t, uint64_t, Lane) override {}
  void read_after(const Actor&, uint32_t, uint64_t) override {}

 private:
  struct Pair;
  Code code_of(const Pair& p) const;
  bool has_been_read(const Pair& p) const;
  Code of_product(const Pair& p) const;
  Statement missing(const Pair& p, Code code) const;
  Origin origin_of(const Record& r) const;
  Site site_of(const Record& r, Part part) const;
  const TensorOrder::Commit* foreign_commit(const AsyncRecord& op) const;

  const ClusterContext& context_;
  const HappensBefore& order_;
  const Options& options_;
  const Records* records_ = nullptr;
};

}  // namespace palladion::sim::check
