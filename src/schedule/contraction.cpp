#include "schedule/contraction.h"

#include <string_view>

#include "base/error.h"
#include "schedule/group_product.h"

namespace lucid {

using contraction::Blocking;
using contraction::Product;

namespace {

contraction::Strides strides_of(const MemoryOperand& operand) {
  const Geometry& geometry = operand.geometry;
  // The stride of an axis of size 1 is irrelevant. A fixed value lets equal cases share kernels.
  auto stride = [&](size_t axis, SymInt fallback) {
    return geometry.sizes[axis] == 1 ? fallback : geometry.strides[axis];
  };
  return {.batch = stride(0, 0), .row = stride(1, 0), .column = stride(2, 1)};
}

void check_operand(std::string_view name, const MemoryOperand& operand, Dtype dtype, SymInt batch, SymInt rows,
                   SymInt columns) {
  const Dims& sizes = operand.geometry.sizes;
  LUCID_CHECK(
      operand.dtype == dtype && sizes.size() == 3 && sizes[0] == batch && sizes[1] == rows && sizes[2] == columns,
      "contraction: {} is {}, expected {}", name, to_string(TensorType{operand.dtype, sizes}),
      to_string(TensorType{dtype, {batch, rows, columns}}));
}

BufferUse use_of(const MemoryOperand& operand) {
  return {.kind = BufferUse::Kind::kValue,
          .index = operand.id,
          .byte_offset = operand.geometry.offset * size_of(operand.dtype)};
}

Product describe(const MemoryOperand& a, const MemoryOperand& b, const MemoryOperand& c) {
  LUCID_CHECK(c.geometry.sizes.size() == 3 && a.geometry.sizes.size() == 3, "contraction: operands must have 3 axes");
  const Product product{.dtype = c.dtype,
                        .batches = c.geometry.sizes[0],
                        .m = c.geometry.sizes[1],
                        .n = c.geometry.sizes[2],
                        .k = a.geometry.sizes[2],
                        .a = strides_of(a),
                        .b = strides_of(b),
                        .a_use = use_of(a),
                        .b_use = use_of(b),
                        .c_use = use_of(c)};
  check_operand("a", a, c.dtype, product.batches, product.m, product.k);
  check_operand("b", b, c.dtype, product.batches, product.k, product.n);
  LUCID_CHECK(!is_bool(c.dtype), "contraction: bool operands are not supported");
  LUCID_CHECK(is_contiguous(c.geometry.sizes, c.geometry.strides),
              "contraction: c must be contiguous, but has strides {}", to_string(DimsView(c.geometry.strides)));
  return product;
}

/// Batches that share b become rows of one product, if the rows of a continue with the same stride.
void merge_batches(Product& product) {
  if (product.b.batch != 0 || product.batches == 1) return;
  if (product.m == 1) {
    product.a.row = product.a.batch;
  } else if (product.a.batch != product.m * product.a.row) {
    return;
  }
  product.m *= product.batches;
  product.batches = 1;
  product.a.batch = 0;
}

void schedule_tiles(Schedule& schedule, const Product& product, const Registers& registers) {
  const Blocking blocking = contraction::choose_blocking(product, registers);
  const Dtype dtype = compute_dtype(product.dtype);
  BufferUse b = product.b_use;
  if (blocking.packs_b) {
    const SymInt batches = product.b.batch == 0 ? SymInt(1) : product.batches;
    b = schedule.new_scratch(batches * blocking.panels * contraction::panel_rows(product.k) * blocking.tile.columns(),
                             dtype);
    schedule.steps.push_back(contraction::pack_step(product, blocking, b));
  }
  BufferUse totals;
  if (contraction::needs_totals(product)) {
    totals = schedule.new_scratch(product.batches * product.m * product.n, dtype);
  }
  schedule.steps.push_back(contraction::tile_step(product, blocking, registers, b, totals));
}

}  // namespace

void schedule_contraction(Schedule& schedule, const MemoryOperand& a, const MemoryOperand& b, const MemoryOperand& c) {
  schedule_contraction(schedule, a, b, c, schedule.target.registers);
}

void schedule_contraction(Schedule& schedule, const MemoryOperand& a, const MemoryOperand& b, const MemoryOperand& c,
                          const Registers& registers) {
  Product product = describe(a, b, c);
  if (product.batches == 0 || product.m == 0 || product.n == 0) return;
  merge_batches(product);
  if (product.k == 0) {
    schedule.steps.push_back(contraction::zero_step(product));
  } else if (is_float(product.dtype) && product.n == 1) {
    schedule.steps.push_back(contraction::column_step(product));
  } else if (schedule.target.has_groups()) {
    const auto tile = contraction::choose_group_tile(product.dtype, product.batches, product.m, product.n);
    schedule.steps.push_back(contraction::group_step(product, tile));
  } else if (is_integer(product.dtype)) {
    schedule.steps.push_back(contraction::integer_step(product));
  } else {
    schedule_tiles(schedule, product, registers);
  }
}

}  // namespace lucid
