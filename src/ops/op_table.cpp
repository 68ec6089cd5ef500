#include "ops/table.h"

// Separate from the list of ops, so that a test program can define a table with its own ops
// (tests/added_op/added_op.cpp).
namespace lucid {

const OpTable& op_table() {
  static const OpTable table(standard_ops());
  return table;
}

}  // namespace lucid
