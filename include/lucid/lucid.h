#pragma once

// The whole public API.
#include "lucid/autograd.h"
#include "lucid/compile.h"
#include "lucid/data.h"
#include "lucid/lr_scheduler.h"
#include "lucid/models.h"
#include "lucid/nn.h"
#include "lucid/ops.h"
#include "lucid/optim.h"
#include "lucid/random.h"
#include "lucid/serialize.h"
#include "lucid/tensor.h"
#include "lucid/tree.h"
