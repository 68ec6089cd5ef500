#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ir/schema.h"

namespace lucid {

/// A parsed signature as JSON, for what is generated from it:
///   {"name": "sum", "parameters": [...], "results": [], "returns_list": false}
/// with, for each parameter,
///   {"name": "dim", "kind": "ints", "spread": false, "optional": true, "keyword_only": false, "aliases": ["axis"],
///    "default": null}
/// "spread" marks `ints*`. "default" is missing where the parameter has none; dtypes are named, and an infinite number
/// is the string "inf" or "-inf".
nlohmann::ordered_json to_json(const Schema& schema);

}  // namespace lucid
