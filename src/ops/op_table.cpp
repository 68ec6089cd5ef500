#include "ops/table.h"

// Separate from the list of ops, so that a test program can define a table with its own ops
// (tests/added_op/added_op.cpp).
namespace lucid {

const OpTable& op_table() {
  static const OpTable& table = *new OpTable(standard_ops());  // never destroyed: used until the process ends
  return table;
}

}  // namespace lucid
