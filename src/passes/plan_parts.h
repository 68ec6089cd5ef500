#pragma once

#include <string_view>

namespace lucid {

/// What is done to a graph after the passes, when its kernels are scheduled; LUCID_DISABLE_PASSES may name these too.
inline constexpr std::string_view kRecompute = "Recompute";            // cheap values are computed again, not kept
inline constexpr std::string_view kPlaceInResults = "PlaceInResults";  // values begin where the result will lie
inline constexpr std::string_view kFuseSteps = "FuseSteps";            // kernels over the same units become one
inline constexpr std::string_view kLaunchBeside = "LaunchBeside";      // launches of one kernel become one
inline constexpr std::string_view kOverwriteState = "OverwriteState";  // state is written where it lies
inline constexpr std::string_view kReuseMemory = "ReuseMemory";        // values take the place of those that they end
inline constexpr std::string_view kPlanParts[] = {kRecompute,    kPlaceInResults, kFuseSteps,
                                                  kLaunchBeside, kOverwriteState, kReuseMemory};

/// Whether LUCID_DISABLE_PASSES names a part.
bool is_disabled(std::string_view part);

}  // namespace lucid
