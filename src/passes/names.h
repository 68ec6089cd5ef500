#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

/// Names that LUCID_DISABLE_PASSES may contain, in addition to the names of the graph passes (pipeline.h).
namespace lucid {

/// Plan passes that can be disabled, in the order in which they run (compiler/plan_pipeline.cpp).
inline constexpr std::string_view kRematerialize = "Rematerialize";
inline constexpr std::string_view kPlaceInResults = "PlaceInResults";
inline constexpr std::string_view kFuseSteps = "FuseSteps";
inline constexpr std::string_view kHorizontalFusion = "HorizontalFusion";
inline constexpr std::string_view kNarrowIndices = "NarrowIndices";
inline constexpr std::string_view kDonateBuffers = "DonateBuffers";
inline constexpr std::string_view kReuseMemory = "ReuseMemory";
inline constexpr std::string_view kPlanPasses[] = {kRematerialize, kPlaceInResults, kFuseSteps,  kHorizontalFusion,
                                                   kNarrowIndices, kDonateBuffers,  kReuseMemory};

/// A name that a pass had in earlier versions.
struct PassAlias {
  std::string_view alias;
  std::string_view name;
};
inline constexpr PassAlias kPassAliases[] = {
    {"Recompute", kRematerialize}, {"LaunchBeside", kHorizontalFusion}, {"OverwriteState", kDonateBuffers}};

/// The name of the pass that `name` or an alias of it denotes.
std::string_view canonical_pass_name(std::string_view name);

/// Canonical names of passes.
using PassNames = std::set<std::string, std::less<>>;

/// Parses a comma-separated list of names, such as LUCID_DISABLE_PASSES. Aliases are replaced; unknown names are kept.
PassNames parse_pass_names(std::string_view list);

}  // namespace lucid
