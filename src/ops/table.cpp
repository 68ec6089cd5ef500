#include "ops/table.h"

namespace lucid {

const OpTable& op_table() {
  static const OpTable table = [] {
    std::vector<Op> ops;
    add_arithmetic_ops(ops);
    add_select_ops(ops);
    add_create_ops(ops);
    return OpTable(std::move(ops));
  }();
  return table;
}

}  // namespace lucid
