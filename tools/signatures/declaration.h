#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace lucid::signatures {

/// Parses the signature of a class with options, such as
///   "(in_features: int, out_features: int, _bias: bool = True, dtype: dtype? = None)"
/// and returns its parameters as JSON, the input of tools/generate:
///   [{"name": "in_features", "kind": "int", "only": "", "optional": false, "required": true, "private": false,
///     "keyword_only": false}, ...]
/// The grammar is that of ops, with other kinds and with four additions:
///   groups: int! = 1          Python requires it; the default is that of C++, where every option has one
///   cpp value: float = 0.0    only C++ has it; `python` is the opposite
///   _bias: bool = True        the option `bias` is the setting `_bias`: the attribute `bias` is something else
///   stride: sizes? = size     None stands for the value of that earlier parameter
/// "default" is the literal, which is written as in Python; it is missing if there is none. "same_as" names the
/// parameter that None stands for. Throws std::runtime_error that shows the text if it is not valid.
nlohmann::ordered_json parse_declaration(std::string_view text);

}  // namespace lucid::signatures
