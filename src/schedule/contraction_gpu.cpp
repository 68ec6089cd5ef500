#include <string>

#include "schedule/group_product.h"

namespace lucid::contraction {

using loop::BufferRef;
using loop::Builder;
using loop::Value;

KernelStep group_step(const Product& product, RegisterTile tile) {
  KernelWriter writer("matmul_" + std::string(lucid::name_of(product.dtype)) + name_of(tile));
  Builder& builder = writer.builder();
  const BufferRef a_buffer = writer.buffer(product.a_use, product.dtype);
  const BufferRef b_buffer = writer.buffer(product.b_use, product.dtype);
  const BufferRef c = writer.buffer(product.c_use, product.dtype);
  const auto operand = [&](BufferRef buffer, SymInt batch_stride, SymInt across_stride, SymInt step_stride) {
    const Value batch = writer.param(batch_stride);
    const Value across = writer.param(across_stride);
    const Value step = writer.param(step_stride);
    return GroupOperand{
        .is_along_k = adjacency(step_stride, across_stride) != Adjacent::kAcross,
        .place = [=](Value i, Value at) { return std::vector{i * batch + at * across}; },
        .load = [=, &builder](std::span<const Value> place,
                              Value k) { return builder.gather(buffer, builder.splat(place[0] + k * step)); }};
  };
  const GroupOperand a = operand(a_buffer, product.a.batch, product.a.row, product.a.column);
  const GroupOperand b = operand(b_buffer, product.b.batch, product.b.column, product.b.row);
  const Value rows = writer.param(product.m);
  const Value columns = writer.param(product.n);
  return group_product_step(writer, {.dtype = compute_dtype(product.dtype),
                                     .tile = tile,
                                     .batches = product.batches,
                                     .m = product.m,
                                     .n = product.n,
                                     .k = product.k,
                                     .a = a,
                                     .b = b,
                                     .store = [&](Value batch, Value row, Value column, Value total, Value mask) {
                                       builder.store(c, (batch * rows + row) * columns + column,
                                                     builder.convert(total, product.dtype), mask);
                                     }});
}

}  // namespace lucid::contraction
