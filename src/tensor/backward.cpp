#include "base/blocking.h"
#include "base/error.h"
#include "tensor/accumulate.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/engine.h"
#include "tensor/grad_mode.h"

namespace lucid {
namespace {

struct Start {
  std::vector<Edge> edges;
  Values gradients;
};

TensorRef ones(const TensorImpl& like) {
  TensorRef tensor = make_tensor(like.dtype(), like.sizes(), contiguous_strides(like.sizes()), like.device());
  fill_into(*tensor, Scalar(1));
  return tensor;
}

/// Checks the outputs and the gradients given for them. Skips outputs whose gradient would be dropped.
Start check_outputs(const char* name, std::span<const TensorRef> outputs, std::span<const TensorRef> gradients) {
  if (!gradients.empty() && gradients.size() != outputs.size())
    throw RuntimeError("{}: got {} gradients for {} outputs; pass one for each, or none", name, gradients.size(),
                       outputs.size());
  Start start;
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorImpl& output = *outputs[i];
    if (!requires_grad(output))
      throw RuntimeError("{}: output {}, {}, does not require grad and was not computed by a recorded op", name, i,
                         to_string(output.type()));
    TensorRef gradient = gradients.empty() ? TensorRef() : gradients[i];
    if (!gradient) {
      if (output.numel() != 1)
        throw RuntimeError("{}: a gradient can be created implicitly only for outputs of one element; output {} is {}",
                           name, i, to_string(output.type()));
      gradient = ones(output);
    } else if (gradient->sizes() != output.sizes()) {
      throw RuntimeError("{}: the gradient given for output {} has shape {}, the output {}", name, i,
                         to_string(DimsView(gradient->sizes())), to_string(DimsView(output.sizes())));
    }
    Edge edge = gradient_edge(output);
    if (!edge) continue;
    start.edges.push_back(std::move(edge));
    start.gradients.emplace_back(own_handle(std::move(gradient)));
  }
  return start;
}

/// Runs a pass. Releases the caller's global lock (Python's GIL) meanwhile, because a pass may take long.
Values run(const BackwardPass::Settings& settings, Start start) {
  const BlockingScope running;
  return BackwardPass(settings).run(start.edges, std::move(start.gradients));
}

std::vector<Edge> check_inputs(const char* name, std::span<const TensorRef> inputs) {
  std::vector<Edge> edges;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!requires_grad(*inputs[i]))
      throw RuntimeError("{}: input {}, {}, does not require grad", name, i, to_string(inputs[i]->type()));
    edges.push_back(gradient_edge(*inputs[i]));
  }
  return edges;
}

}  // namespace

void backward(std::span<const TensorRef> outputs, std::span<const TensorRef> gradients, const BackwardOptions& options,
              std::span<const TensorRef> inputs) {
  Start start = check_outputs("backward", outputs, gradients);
  BackwardPass::Settings settings{.create_graph = options.create_graph,
                                  .retain_graph = options.retain_graph || options.create_graph};
  if (inputs.empty()) {
    run(settings, std::move(start));
    return;
  }
  const std::vector<Edge> edges = check_inputs("backward", inputs);
  settings.inputs = &edges;
  Values found = run(settings, std::move(start));
  const GradModeScope mode(options.create_graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!found[i]) continue;
    AutogradMeta& meta = inputs[i]->ensure_autograd();
    if (!meta.slot) meta.slot = make_ref<GradSlot>();
    const auto* end = dynamic_cast<const AccumulateNode*>(edges[i].node.get());
    accumulate_gradient(*meta.slot, std::move(found[i]), end ? DimsView(end->strides()) : DimsView(),
                        options.create_graph);
  }
}

std::vector<TensorRef> grad(std::span<const TensorRef> outputs, std::span<const TensorRef> inputs,
                            std::span<const TensorRef> gradients, const BackwardOptions& options, bool allow_unused) {
  if (inputs.empty()) throw ValueError("grad: no inputs were given to differentiate with respect to");
  Start start = check_outputs("grad", outputs, gradients);
  const std::vector<Edge> edges = check_inputs("grad", inputs);
  Values found = run({.create_graph = options.create_graph,
                      .retain_graph = options.retain_graph || options.create_graph,
                      .inputs = &edges},
                     std::move(start));
  const GradModeScope mode(options.create_graph);
  std::vector<TensorRef> results(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!found[i]) {
      if (!allow_unused)
        throw RuntimeError(
            "grad: input {}, {}, was not used in computing the outputs; pass allow_unused=True to get None for it", i,
            to_string(inputs[i]->type()));
      continue;
    }
    // Copy gradients that share memory with each other or with tensors that the caller passed.
    const bool shared = tensor_of(found[i])->cell()->use_count() > 1 || found[i].get()->use_count() > 1;
    results[i] = TensorRef(tensor_of(shared ? eager().clone(found[i]) : found[i]));
  }
  return results;
}

}  // namespace lucid
