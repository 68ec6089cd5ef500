#pragma once

#include "schedule/group.h"
#include "schedule/schedule.h"

/// Writers of kernels, one for each kind of root. Each appends its launches to the schedule. The layouts of everything
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

/// Copies an operand of the group's root to `place`, all or a part of its result.
void copy_operand(Schedule& schedule, const IRGraph& graph, const Group& group, ValueId operand,
                  const MemoryOperand& place, const std::string& name);

/// The memory of a value that has some.
MemoryOperand memory_of(const Schedule& schedule, const IRGraph& graph, ValueId id);

/// A name that says what the kernel computes, for profiles: the ops of the group, at most a few.
std::string kernel_name(const IRGraph& graph, const Group& group);

}  // namespace lucid
