#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ir/schema.h"

namespace lucid {

/// A parsed signature as JSON, the input of code generators:
///   {"name": "sum", "parameters": [...], "results": [], "returns_list": false}
/// with, for each parameter,
///   {"name": "dim", "kind": "ints", "spread": false, "optional": true, "keyword_only": false, "aliases": ["axis"],
///    "default": null}
/// "spread" is true for `ints*`. "default" is missing if the parameter has none. Dtypes are written as names, and an
/// infinite number as the string "inf" or "-inf".
nlohmann::ordered_json to_json(const Schema& schema);

}  // namespace lucid
