// L-BFGS: a quasi-Newton method that keeps a history of its last steps. The whole group is one vector.

#include <lucid/autograd.h>
#include <lucid/ops.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "optim/rules.h"
#include "tensor/api.h"

namespace lucid::optim {
namespace {

double dot_of(const Tensor& x, const Tensor& y) { return dot(x, y).item<double>(); }
double max_abs(const Tensor& x) { return amax(abs(x)).item<double>(); }

/// The loss and its gradient at some step along a direction.
struct Point {
  double step = 0;
  double loss = 0;
  Tensor gradient;
  double slope = 0;  // along the direction
};

/// The minimum of the cubic through two points with given slopes, clamped to [low, high].
double cubic_minimum(const Point& a, const Point& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.step - b.step);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double at = a.step <= b.step
                        ? b.step - (b.step - a.step) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                        : a.step - (a.step - b.step) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  return std::min(std::max(at, low), high);
}

/// The loss as a function of one vector that holds all parameters.
class Problem {
 public:
  Problem(const ParamGroup& group, const std::function<Tensor()>& closure) : group_(group), closure_(closure) {
    for (const Tensor& param : group.params) size_ += param.numel();
  }

  /// The number of elements of the vector.
  int64_t size() const { return size_; }

  Tensor evaluate() {
    const EnableGrad enable_grad;
    const Tensor loss = closure_();
    if (!loss.defined()) throw TypeError("LBFGS: the closure must return the loss");
    return loss;
  }

  Tensor gradient() const {
    std::vector<Tensor> parts;
    for (const Tensor& param : group_.params) {
      const Tensor grad = param.grad();
      parts.push_back(reshape(grad.defined() ? grad : zeros_like(param.detach()), {-1}));
    }
    return cat(parts);
  }

  void move(double step, const Tensor& direction) {
    int64_t offset = 0;
    for (const Tensor& param : group_.params) {
      const int64_t count = param.numel();
      Tensor target = param.detach();
      target += reshape(narrow(direction, 0, offset, count), target.shape()) * step;
      offset += count;
    }
  }

  std::vector<Tensor> values() const {
    std::vector<Tensor> copies;
    for (const Tensor& param : group_.params) copies.push_back(clone(param.detach()));
    return copies;
  }
  void restore(const std::vector<Tensor>& values) {
    for (size_t i = 0; i < values.size(); ++i) group_.params[i].detach().copy_(values[i]);
  }

  /// Evaluates the loss at a step along a direction; restores the parameters.
  Point probe(const std::vector<Tensor>& from, double step, const Tensor& direction) {
    move(step, direction);
    Point point{step, evaluate().item<double>(), gradient(), 0};
    point.slope = dot_of(point.gradient, direction);
    restore(from);
    return point;
  }

 private:
  const ParamGroup& group_;
  const std::function<Tensor()>& closure_;
  int64_t size_ = 0;
};

/// Searches for a step length that satisfies the strong Wolfe conditions.
class LineSearch {
 public:
  LineSearch(Problem& problem, const Tensor& direction, Point start, int64_t max_rounds)
      : problem_(problem),
        direction_(direction),
        start_(std::move(start)),
        max_rounds_(max_rounds),
        from_(problem.values()) {}

  Point run(double first_step) {
    Point now = probe(first_step);
    Point before = start_;
    while (rounds_ < max_rounds_) {
      if (too_high(now) || (rounds_ > 1 && now.loss >= before.loss)) return refine(before, now);
      if (flat_enough(now)) return now;
      if (now.slope >= 0) return refine(before, now);
      const double step = cubic_minimum(before, now, now.step + 0.01 * (now.step - before.step), now.step * 10);
      before = std::exchange(now, Point());
      now = probe(step);
      ++rounds_;
    }
    return start_.loss <= now.loss ? start_ : now;
  }
  int64_t evaluations() const { return evaluations_; }

 private:
  static constexpr double kSufficientDecrease = 1e-4;
  static constexpr double kCurvature = 0.9;
  static constexpr double kMinChange = 1e-9;

  Point probe(double step) {
    ++evaluations_;
    return problem_.probe(from_, step, direction_);
  }
  bool too_high(const Point& point) const {
    return point.loss > start_.loss + kSufficientDecrease * point.step * start_.slope;
  }
  bool flat_enough(const Point& point) const { return std::abs(point.slope) <= -kCurvature * start_.slope; }

  /// Shrinks a bracket that contains an acceptable point.
  Point refine(Point a, Point b) {
    Point bracket[] = {std::move(a), std::move(b)};
    const double length = max_abs(direction_);
    bool stuck = false;
    size_t best = bracket[0].loss <= bracket[1].loss ? 0 : 1;
    while (rounds_ < max_rounds_) {
      const auto [low, high] = std::minmax(bracket[0].step, bracket[1].step);
      if ((high - low) * length < kMinChange) break;
      double step = cubic_minimum(bracket[0], bracket[1], low, high);
      const double margin = 0.1 * (high - low);
      if (std::min(high - step, step - low) < margin) {
        if (stuck || step >= high || step <= low) {
          step = std::abs(step - high) < std::abs(step - low) ? high - margin : low + margin;
          stuck = false;
        } else {
          stuck = true;
        }
      } else {
        stuck = false;
      }
      Point now = probe(step);
      ++rounds_;
      if (too_high(now) || now.loss >= bracket[best].loss) {
        bracket[1 - best] = std::move(now);
        best = bracket[0].loss <= bracket[1].loss ? 0 : 1;
      } else {
        const bool done = flat_enough(now);
        if (!done && now.slope * (bracket[1 - best].step - bracket[best].step) >= 0) bracket[1 - best] = bracket[best];
        bracket[best] = std::move(now);
        if (done) break;
      }
    }
    return bracket[best];
  }

  Problem& problem_;
  const Tensor& direction_;
  Point start_;
  int64_t max_rounds_;
  std::vector<Tensor> from_;
  int64_t rounds_ = 0;
  int64_t evaluations_ = 0;
};

/// The history, stored in the state of the first parameter. The closure may clear or replace that state: then the
/// history is stored in one that nobody sees.
struct Memory {
  /// `size`: the number of elements of the vector.
  Memory(Optimizer::State shared, int64_t size) : state_(std::move(shared)) {
    Tree::Dict& state = *state_;
    if (!state.has("n_iter")) state = {{"func_evals", 0}, {"n_iter", 0}};
    evaluations = state.at("func_evals").as_integer("func_evals");
    iterations = state.at("n_iter").as_integer("n_iter");
    if (!state.has("d")) {
      // Nothing to continue from.
      iterations = 0;
      return;
    }
    const auto vector = [size](const Tree& entry, const char* name) {
      const Tensor& tensor = entry.as_tensor(name);
      if (tensor.dim() != 1 || tensor.numel() != size)
        throw ValueError("LBFGS: {} of the state must have shape [{}], the elements of all parameters, got {}", name,
                         size, to_string(unwrap(tensor).type()));
      return tensor;
    };
    direction = vector(state.at("d"), "d");
    step = state.at("t").as_real("t");
    gradient = vector(state.at("prev_flat_grad"), "prev_flat_grad");
    scale = state.at("H_diag").as_real("H_diag");
    for (const Tree& item : state.at("old_dirs").as_items("old_dirs")) changes.push_back(vector(item, "old_dirs"));
    for (const Tree& item : state.at("old_stps").as_items("old_stps")) moves.push_back(vector(item, "old_stps"));
    for (const Tree& item : state.at("ro").as_items("ro")) inverses.push_back(item.as_real("ro"));
    if (changes.size() != moves.size() || changes.size() != inverses.size())
      throw ValueError("LBFGS: old_dirs, old_stps and ro of the state must have the same length, got {}, {} and {}",
                       changes.size(), moves.size(), inverses.size());
  }

  void store(double loss) const {
    Tree::Dict& state = *state_;
    state.set("func_evals", evaluations);
    state.set("n_iter", iterations);
    if (iterations == 0) return;
    state.set("d", direction);
    state.set("t", step);
    state.set("old_dirs", Tree::List(changes.begin(), changes.end()));
    state.set("old_stps", Tree::List(moves.begin(), moves.end()));
    state.set("ro", Tree::List(inverses.begin(), inverses.end()));
    state.set("H_diag", scale);
    state.set("prev_flat_grad", gradient);
    state.set("prev_loss", loss);
  }

  /// Adds the last move to the history and computes the next direction.
  void update_direction(const Tensor& now, size_t history) {
    if (iterations == 1) {
      direction = -now;
      changes.clear();
      moves.clear();
      inverses.clear();
      scale = 1;
      return;
    }
    const Tensor change = now - gradient;
    const Tensor move = direction * step;
    if (const double curvature = dot_of(change, move); curvature > 1e-10) {
      while (changes.size() >= history) {
        changes.erase(changes.begin());
        moves.erase(moves.begin());
        inverses.erase(inverses.begin());
      }
      changes.push_back(change);
      moves.push_back(move);
      inverses.push_back(1 / curvature);
      scale = curvature / dot_of(change, change);
    }
    Tensor q = -now;
    std::vector<double> weights(changes.size());
    for (size_t i = changes.size(); i-- > 0;) {
      weights[i] = dot_of(moves[i], q) * inverses[i];
      q -= changes[i] * weights[i];
    }
    Tensor r = q * scale;
    for (size_t i = 0; i < changes.size(); ++i) {
      const double other = dot_of(changes[i], r) * inverses[i];
      r += moves[i] * (weights[i] - other);
    }
    direction = r;
  }

  int64_t evaluations = 0;
  int64_t iterations = 0;
  Tensor direction;
  double step = 0;
  Tensor gradient;
  double scale = 1;
  std::vector<Tensor> changes;  // of the gradient
  std::vector<Tensor> moves;    // of the parameters
  std::vector<double> inverses;

 private:
  const Optimizer::State state_;
};

size_t history_size(const Options& options) {
  const int64_t size = options.get("history_size").as_integer("LBFGS: history_size");
  if (size < 1) throw ValueError("LBFGS: history_size must be at least 1, got {}", size);
  return static_cast<size_t>(size);
}

Tensor step_lbfgs(Optimizer& optimizer, const std::function<Tensor()>& closure) {
  if (optimizer.param_groups().size() != 1) throw ValueError("LBFGS: only one parameter group is supported");
  if (!closure) throw TypeError("LBFGS: step() needs a closure that computes the loss and its gradients");
  const NoGrad no_grad;
  const std::shared_ptr<ParamGroup> held = optimizer.param_groups()[0];
  const ParamGroup& group = *held;
  if (group.params.empty()) throw ValueError("LBFGS: the parameter group is empty");
  const Options& options = group.options;
  const double rate = options.real("lr");
  const double tolerance_grad = options.real("tolerance_grad");
  const double tolerance_change = options.real("tolerance_change");
  const int64_t max_iterations = options.get("max_iter").as_integer("max_iter");
  const Tree given_max_evaluations = options.get("max_eval");
  const int64_t max_evaluations =
      given_max_evaluations.is_none() ? max_iterations * 5 / 4 : given_max_evaluations.as_integer("max_eval");
  const size_t history = history_size(options);
  const Tree search_name = options.get("line_search_fn");
  if (!search_name.is_none() && search_name.as_text("LBFGS: line_search_fn") != "strong_wolfe")
    throw ValueError("LBFGS: line_search_fn must be None or 'strong_wolfe'");

  Problem problem(group, closure);
  Memory memory(optimizer.state(group.params[0]), problem.size());
  const Tensor first_loss = problem.evaluate();
  double loss = first_loss.item<double>();
  int64_t evaluations = 1;
  ++memory.evaluations;
  Tensor gradient = problem.gradient();
  if (max_abs(gradient) <= tolerance_grad) return first_loss;

  double loss_before = loss;
  for (int64_t round = 1; round <= max_iterations; ++round) {
    ++memory.iterations;
    memory.update_direction(gradient, history);
    memory.gradient = gradient;
    loss_before = loss;
    memory.step = memory.iterations == 1 ? std::min(1.0, 1 / sum(abs(gradient)).item<double>()) * rate : rate;
    const double slope = dot_of(gradient, memory.direction);
    if (slope > -tolerance_change) break;
    int64_t probes = 0;
    if (!search_name.is_none()) {
      LineSearch search(problem, memory.direction, {0, loss, gradient, slope}, max_evaluations - evaluations);
      const Point found = search.run(memory.step);
      memory.step = found.step;
      loss = found.loss;
      gradient = found.gradient;
      probes = search.evaluations();
      problem.move(memory.step, memory.direction);
    } else {
      problem.move(memory.step, memory.direction);
      if (round != max_iterations) {
        loss = problem.evaluate().item<double>();
        gradient = problem.gradient();
        probes = 1;
      }
    }
    evaluations += probes;
    memory.evaluations += probes;
    if (evaluations >= max_evaluations || max_abs(gradient) <= tolerance_grad ||
        max_abs(memory.direction * memory.step) <= tolerance_change || std::abs(loss - loss_before) < tolerance_change)
      break;
  }
  memory.store(loss_before);
  return first_loss;
}

}  // namespace

Rule lbfgs_rule() {
  return {.name = "LBFGS",
          .signature =
              "(lr: rate = 1.0, max_iter: int = 20, max_eval: int? = None, tolerance_grad: float = 1e-7, "
              "tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str? = None)",
          .check =
              [](const Options& options) {
                require_at_least("LBFGS", options, "lr", 0);
                history_size(options);
              },
          .step = step_lbfgs};
}

}  // namespace lucid::optim
