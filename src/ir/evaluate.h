#pragma once

#include "base/size_trace.h"
#include "ir/graph.h"

namespace lucid {

// Whether anything in it is a traced size.
bool is_traced(DimsView dims);
bool is_traced(const Geometry& geometry);
bool is_traced(const Attributes& attributes);
/// Whether an operand or an attribute is, so that the result types may be.
bool is_traced(const Call& call);

// Whether numbers are the same for all sizes: the same expressions. Unlike a comparison by value, this makes nothing
// depend on the sizes. For rewrites that are optional.
bool is_same(DimsView a, DimsView b);
bool is_same(const Geometry& a, const Geometry& b);

/// Replaces the traced sizes in a part of a recorded call.
class SizeReplacer {
 public:
  enum class Kind : uint8_t { kPlain, kTraced };

  /// By the plain sizes of the recorded call.
  SizeReplacer() = default;
  /// By those of another call.
  explicit SizeReplacer(const SizeTrace::Evaluation& sizes, Kind kind = Kind::kPlain) : sizes_(&sizes), kind_(kind) {}

  SymInt operator()(SymInt dim) const {
    if (!sizes_) return dim.unguarded();
    return kind_ == Kind::kPlain ? (*sizes_)(dim) : sizes_->retraced(dim);
  }
  Dims operator()(const Dims& dims) const;
  Geometry operator()(const Geometry& geometry) const;
  Attributes operator()(const Attributes& attributes) const;
  IRGraph operator()(const IRGraph& graph) const;

 private:
  const SizeTrace::Evaluation* sizes_ = nullptr;
  Kind kind_ = Kind::kPlain;
};

}  // namespace lucid
