#pragma once

#include <string>

#include "lucid/print.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// The text of a tensor: `tensor([1., 2.])`, where `name` is the word before the parenthesis.
std::string text_of(TensorImpl& tensor, const std::string& name, const PrintOptions& options);

}  // namespace lucid
