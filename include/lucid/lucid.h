#pragma once

// Everything that a program using Lucid needs.
#include "lucid/autograd.h"
#include "lucid/ops.h"
#include "lucid/random.h"
#include "lucid/tensor.h"
