#include "ops/table.h"

#include "ops/optimizer.h"

namespace lucid {

std::vector<Op> standard_ops() {
  std::vector<Op> ops;
  add_arithmetic_ops(ops);
  add_power_ops(ops);
  add_math_ops(ops);
  add_activation_ops(ops);
  add_gated_ops(ops);
  add_compare_ops(ops);
  add_bitwise_ops(ops);
  add_select_ops(ops);
  add_reduce_ops(ops);
  add_statistics_ops(ops);
  add_scan_ops(ops);
  add_softmax_ops(ops);
  add_view_ops(ops);
  add_slice_ops(ops);
  add_movement_ops(ops);
  add_join_ops(ops);
  add_region_ops(ops);
  add_pad_ops(ops);
  add_index_ops(ops);
  add_scatter_ops(ops);
  add_scatter_index_ops(ops);
  add_create_ops(ops);
  add_range_ops(ops);
  add_transfer_ops(ops);
  add_random_ops(ops);
  add_sample_ops(ops);
  add_linalg_ops(ops);
  add_einsum_ops(ops);
  add_convolution_ops(ops);
  add_convolution_layer_ops(ops);
  add_max_pool_ops(ops);
  add_mean_pool_ops(ops);
  add_pool_layer_ops(ops);
  add_fold_ops(ops);
  add_sort_ops(ops);
  add_search_ops(ops);
  add_norm_ops(ops);
  add_batch_norm_ops(ops);
  add_loss_ops(ops);
  add_class_loss_ops(ops);
  add_distance_loss_ops(ops);
  add_dropout_ops(ops);
  add_interpolate_ops(ops);
  add_grid_ops(ops);
  add_bag_ops(ops);
  add_ctc_ops(ops);
  add_attention_ops(ops);
  add_scaled_attention_ops(ops);
  add_optimizer_ops(ops);
  return ops;
}

}  // namespace lucid
