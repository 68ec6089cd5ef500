#pragma once

#include <string>

#include "base/device.h"

namespace lucid {

/// The device of this machine with a name such as "gpu:1". Throws ValueError, which begins with the name of the
/// function and lists the devices, if there is none.
Device find_device(const std::string& function, const std::string& name);

}  // namespace lucid
