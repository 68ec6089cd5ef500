#pragma once

#include "schedule/group.h"
#include "schedule/schedule.h"

/// Kernel writers, one for each kind of root. Each appends its steps to the schedule. The layouts of everything that
/// the group reads and of the root's result are known.
namespace lucid {

void schedule_elementwise(Schedule& schedule, const IRGraph& graph, const Group& group);
void schedule_reduce(Schedule& schedule, const IRGraph& graph, const Group& group);
void schedule_scan(Schedule& schedule, const IRGraph& graph, const Group& group);
void schedule_concat(Schedule& schedule, const IRGraph& graph, const Group& group);
void schedule_region(Schedule& schedule, const IRGraph& graph, const Group& group);
void schedule_convolution(Schedule& schedule, const IRGraph& graph, const Group& group);
void schedule_scatter(Schedule& schedule, const IRGraph& graph, const Group& group);
void schedule_attention(Schedule& schedule, const IRGraph& graph, const Group& group);

/// Copies an operand of the group's root to `target`, which is the root's result or a part of it.
void copy_operand(Schedule& schedule, const IRGraph& graph, const Group& group, ValueId operand,
                  const MemoryOperand& target, const std::string& name);

/// The memory of a value that is stored.
MemoryOperand memory_of(const Schedule& schedule, const IRGraph& graph, ValueId id);

/// A kernel name for profiles: the last few ops of the group.
std::string kernel_name(const IRGraph& graph, const Group& group);

}  // namespace lucid
