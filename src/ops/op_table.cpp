#include "ops/table.h"

// Apart from the list of ops, so that a program of the tests can define a table with ops of its own
// (tests/added_op/added_op.cpp).
namespace lucid {

const OpTable& op_table() {
  static const OpTable table(standard_ops());
  return table;
}

}  // namespace lucid
