#pragma once

// Modules: parts of networks.

#include "lucid/nn/activation.h"
#include "lucid/nn/container.h"
#include "lucid/nn/functional.h"
#include "lucid/nn/init.h"
#include "lucid/nn/layer.h"
#include "lucid/nn/linear.h"
#include "lucid/nn/module.h"
