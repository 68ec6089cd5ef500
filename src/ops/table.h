#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace lucid {

// One function for each family of ops; each appends its entries. The table lists them in table.cpp. Every entry writes
// its signature as a literal, `.signature = "name(x, dim: int)"`, because the build reads it there (tools/signatures).
void add_arithmetic_ops(std::vector<Op>& ops);
void add_power_ops(std::vector<Op>& ops);
void add_math_ops(std::vector<Op>& ops);
void add_activation_ops(std::vector<Op>& ops);
void add_gated_ops(std::vector<Op>& ops);
void add_compare_ops(std::vector<Op>& ops);
void add_bitwise_ops(std::vector<Op>& ops);
void add_select_ops(std::vector<Op>& ops);
void add_reduce_ops(std::vector<Op>& ops);
void add_statistics_ops(std::vector<Op>& ops);
void add_scan_ops(std::vector<Op>& ops);
void add_softmax_ops(std::vector<Op>& ops);
void add_view_ops(std::vector<Op>& ops);
void add_slice_ops(std::vector<Op>& ops);
void add_movement_ops(std::vector<Op>& ops);
void add_join_ops(std::vector<Op>& ops);
void add_region_ops(std::vector<Op>& ops);
void add_pad_ops(std::vector<Op>& ops);
void add_transfer_ops(std::vector<Op>& ops);
void add_index_ops(std::vector<Op>& ops);
void add_scatter_ops(std::vector<Op>& ops);
void add_scatter_index_ops(std::vector<Op>& ops);
void add_create_ops(std::vector<Op>& ops);
void add_range_ops(std::vector<Op>& ops);
void add_random_ops(std::vector<Op>& ops);
void add_sample_ops(std::vector<Op>& ops);
void add_linalg_ops(std::vector<Op>& ops);
void add_einsum_ops(std::vector<Op>& ops);
void add_convolution_ops(std::vector<Op>& ops);
void add_convolution_layer_ops(std::vector<Op>& ops);
void add_max_pool_ops(std::vector<Op>& ops);
void add_mean_pool_ops(std::vector<Op>& ops);
void add_pool_layer_ops(std::vector<Op>& ops);
void add_fold_ops(std::vector<Op>& ops);
void add_sort_ops(std::vector<Op>& ops);
void add_search_ops(std::vector<Op>& ops);
void add_norm_ops(std::vector<Op>& ops);
void add_batch_norm_ops(std::vector<Op>& ops);
void add_loss_ops(std::vector<Op>& ops);
void add_class_loss_ops(std::vector<Op>& ops);
void add_distance_loss_ops(std::vector<Op>& ops);
void add_dropout_ops(std::vector<Op>& ops);
void add_interpolate_ops(std::vector<Op>& ops);
void add_grid_ops(std::vector<Op>& ops);
void add_bag_ops(std::vector<Op>& ops);
void add_ctc_ops(std::vector<Op>& ops);
void add_attention_ops(std::vector<Op>& ops);
void add_scaled_attention_ops(std::vector<Op>& ops);

/// All entries, in the order of their ids.
std::vector<Op> standard_ops();

/// The signatures that the build read from the sources, sorted by name. A test compares them with the table.
std::span<const std::string_view> generated_signatures();

}  // namespace lucid
