#pragma once

// Neural network modules.

#include "lucid/nn/activation.h"
#include "lucid/nn/attention.h"
#include "lucid/nn/clip.h"
#include "lucid/nn/compile.h"
#include "lucid/nn/container.h"
#include "lucid/nn/conv.h"
#include "lucid/nn/dropout.h"
#include "lucid/nn/embedding.h"
#include "lucid/nn/functional.h"
#include "lucid/nn/image.h"
#include "lucid/nn/init.h"
#include "lucid/nn/layer.h"
#include "lucid/nn/linear.h"
#include "lucid/nn/loss.h"
#include "lucid/nn/module.h"
#include "lucid/nn/norm.h"
#include "lucid/nn/pool.h"
#include "lucid/nn/rnn.h"
#include "lucid/nn/transformer.h"
