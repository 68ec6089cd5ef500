#include "loop/kernel.h"
namespace lucid::loop { void verify(const Kernel&) {} }
