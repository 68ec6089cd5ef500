// Update ops of optimizers: functions from the old parameter and state to the new. The first operands are updated; the
// results are their new values in the same order, omitting absent ones. Numbers (learning rates, step counts, decays)
// are 0-d tensors, so that a plan does not depend on their values. Expressions of numbers alone are computed in f64,
// like scalars in a host language.

#include "ops/optimizer.h"

#include "ops/rules.h"

namespace lucid {
namespace {

/// Named access to the operands of an update, and the computations that updates share.
class Update {
 public:
  Update(Emitter& emitter, const Call& call, std::span<const Value> inputs)
      : e(emitter), call_(call), inputs_(inputs) {}

  bool has(std::string_view name) const { return call_.has(position(name)); }
  bool flag(std::string_view name) const { return call_.flag(name); }

  const Value& operator[](std::string_view name) const {
    const Value& value = inputs_[position(name)];
    LUCID_CHECK(value, "{}: {} is absent", call_.name(), name);
    return value;
  }

  /// The number `name` as a 0-d f64.
  Value number(std::string_view name) const {
    const size_t i = position(name);
    return inputs_[i] ? e.cast(inputs_[i], Dtype::kF64) : e.full(Dims{}, call_.operand(i), Dtype::kF64);
  }

  /// `number` in the dtype of the parameter.
  Value scale(const Value& number) const { return e.cast(number, (*this)["param"].dtype()); }
  Value scale(std::string_view name) const { return scale(number(name)); }

  Value next_step() const { return e.add(number("step"), 1); }

  /// The gradient to descend along, including the L2 penalty of `weight_decay`.
  Value gradient() const {
    const Value grad = signed_gradient();
    return has("weight_decay") ? e.add(grad, e.mul((*this)["param"], scale("weight_decay"))) : grad;
  }
  /// The gradient, negated for maximization.
  Value signed_gradient() const { return flag("maximize") ? e.neg((*this)["grad"]) : (*this)["grad"]; }

  /// The parameter after decoupled weight decay.
  Value decayed() const {
    if (!has("weight_decay")) return (*this)["param"];
    return e.mul((*this)["param"], scale(e.sub(1, e.mul(number("lr"), number("weight_decay")))));
  }

  /// x + weight * (end - x).
  Value lerp(const Value& x, const Value& end, const Value& weight) const {
    return e.add(x, e.mul(scale(weight), e.sub(end, x)));
  }
  /// decay * average + (1 - decay) * x * x.
  Value average(const Value& average, const Value& x, const Value& decay) const {
    return e.add(e.mul(average, scale(decay)), e.mul(e.mul(scale(e.sub(1, decay)), x), x));
  }
  /// x + number * numerator / denominator.
  Value add_quotient(const Value& x, const Value& number, const Value& numerator, const Value& denominator) const {
    return e.add(x, e.div(e.mul(scale(number), numerator), denominator));
  }
  /// 1 - beta^step.
  Value bias_correction(const Value& beta, const Value& step) const { return e.sub(1, e.pow(beta, step)); }

  /// The results, each in the dtype of the operand that it updates.
  Values results(std::initializer_list<Value> values) const {
    Values results;
    size_t i = 0;
    for (const Value& value : values) {
      while (!call_.has(i)) ++i;
      results.push_back(e.cast(value, inputs_[i++].dtype()));
    }
    return results;
  }

  Emitter& e;

 private:
  size_t position(std::string_view name) const {
    size_t i = 0;
    for (const Parameter& parameter : call_.op().schema.parameters) {
      if (parameter.name == name) return i;
      if (!is_attribute(parameter.kind)) ++i;
    }
    LUCID_CHECK(false, "{} has no operand {}", call_.name(), name);
    return 0;
  }

  const Call& call_;
  std::span<const Value> inputs_;
};

Op update(Op op, Values (*rule)(const Update&)) {
  op.names.audience = Audience::kOptimizers;
  op.dtypes = kFloats;
  op.decompose = [rule](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    return rule(Update(e, call, in));
  };
  return op;
}

Op sgd_step() {
  return update(
      {.signature = "sgd_step(param, momentum_buffer?, grad, lr, momentum?, dampening?, weight_decay?, *, "
                    "nesterov: bool = false, maximize: bool = false, first: bool = false) -> tensors",
       .doc = R"(Performs one step of stochastic gradient descent and returns the new `param`, followed by the new
`momentum_buffer` if one is given. `first` marks the first step with momentum, which copies the
gradient into the buffer; later steps compute momentum * buffer + (1 - dampening) * gradient.
`nesterov` selects Nesterov momentum and `maximize` ascends instead of descending. `weight_decay` adds
an L2 penalty to the gradient.

>>> param, *state = lucid.sgd_step(param, None, grad, lr))",
       .samples = {{{normal({37}), absent(), normal({37}), number(0.1), absent(), absent(), absent()}},
                   {{normal({3, 4}), absent(), normal({3, 4}), number(0.1), absent(), absent(), number(0.01)},
                    {{"maximize", true}}},
                   {{normal({3, 4}), normal({3, 4}), normal({3, 4}), number(0.1), number(0.9), number(0.5), absent()}},
                   {{strided({4, 3}, {1, 4}), normal({4, 3}), normal({4, 3}), number(0.1), number(0.9), number(0.0),
                     number(0.01)},
                    {{"nesterov", true}}},
                   {{normal({}), normal({}), normal({}), number(0.1), number(0.9), number(0.5), absent()},
                    {{"first", true}}}}},
      [](const Update& u) -> Values {
        Value grad = u.gradient();
        Value buffer;
        if (u.has("momentum_buffer")) {
          buffer = u.flag("first") ? grad
                                   : u.e.add(u.e.mul(u["momentum_buffer"], u.scale("momentum")),
                                             u.e.mul(grad, u.scale(u.e.sub(1, u.number("dampening")))));
          grad = u.flag("nesterov") ? u.e.add(grad, u.e.mul(buffer, u.scale("momentum"))) : buffer;
        }
        const Value param = u.e.sub(u["param"], u.e.mul(grad, u.scale("lr")));
        return buffer ? u.results({param, buffer}) : u.results({param});
      });
}

Op adam_step() {
  return update(
      {.signature = "adam_step(step, param, exp_avg, exp_avg_sq, max_exp_avg_sq?, grad, lr, beta1, beta2, eps, "
                    "weight_decay?, *, decoupled: bool = false, maximize: bool = false) -> tensors",
       .doc = R"(Performs one step of Adam and returns the new `step`, `param`, `exp_avg`, `exp_avg_sq` and, if given,
`max_exp_avg_sq`. `max_exp_avg_sq` selects the AMSGrad variant. `decoupled` applies `weight_decay` to
the parameter as AdamW does; otherwise it is an L2 penalty on the gradient. `maximize` ascends instead
of descending.

>>> step, param, *state = lucid.adam_step(step, param, exp_avg, exp_avg_sq, None, grad, lr, beta1, beta2, eps))",
       .samples = {{{positive({}), normal({37}), normal({37}), positive({37}), absent(), normal({37}), number(0.01),
                     number(0.9), number(0.999), number(1e-8), absent()}},
                   {{positive({}), normal({3, 4}), normal({3, 4}), positive({3, 4}), absent(), normal({3, 4}),
                     number(0.01), number(0.8), number(0.99), number(1e-8), number(0.1)},
                    {{"decoupled", true}}},
                   {{positive({}), strided({4, 3}, {1, 4}), normal({4, 3}), positive({4, 3}), positive({4, 3}),
                     normal({4, 3}), number(0.01), number(0.9), number(0.999), number(1e-8), number(0.1)},
                    {{"maximize", true}}}}},
      [](const Update& u) -> Values {
        const Value step = u.next_step();
        const Value beta1 = u.number("beta1");
        const Value beta2 = u.number("beta2");
        const bool decoupled = u.flag("decoupled");
        const Value grad = decoupled ? u.signed_gradient() : u.gradient();
        const Value param = decoupled ? u.decayed() : u["param"];
        const Value exp_avg = u.lerp(u["exp_avg"], grad, u.e.sub(1, beta1));
        const Value exp_avg_sq = u.average(u["exp_avg_sq"], grad, beta2);
        const Value step_size = u.e.div(u.number("lr"), u.bias_correction(beta1, step));
        const Value root = u.scale(u.e.sqrt(u.bias_correction(beta2, step)));
        const bool amsgrad = u.has("max_exp_avg_sq");
        const Value largest = amsgrad ? u.e.maximum(u["max_exp_avg_sq"], exp_avg_sq) : exp_avg_sq;
        const Value denominator = u.e.add(u.e.div(u.e.sqrt(largest), root), u.scale("eps"));
        const Value moved = u.add_quotient(param, u.e.neg(step_size), exp_avg, denominator);
        return amsgrad ? u.results({step, moved, exp_avg, exp_avg_sq, largest})
                       : u.results({step, moved, exp_avg, exp_avg_sq});
      });
}

Op rmsprop_step() {
  return update(
      {.signature =
           "rmsprop_step(step, param, square_avg, grad_avg?, momentum_buffer?, grad, lr, alpha, eps, momentum?, "
           "weight_decay?, *, maximize: bool = false) -> tensors",
       .doc = R"(Performs one step of RMSprop and returns the new `step`, `param`, `square_avg` and, if given,
`grad_avg` and `momentum_buffer`. `grad_avg` selects the centered variant, which normalizes by an
estimate of the variance. `momentum_buffer` selects momentum. `weight_decay` adds an L2 penalty to the
gradient and `maximize` ascends instead of descending.

>>> step, param, *state = lucid.rmsprop_step(step, param, square_avg, None, None, grad, lr, alpha, eps))",
       .samples = {{{positive({}), normal({37}), positive({37}), absent(), absent(), normal({37}), number(0.01),
                     number(0.99), number(1e-8), absent(), absent()}},
                   {{positive({}), normal({3, 4}), filled({3, 4}, Fill::kLarge), unit({3, 4}), normal({3, 4}),
                     unit({3, 4}), number(0.01), number(0.9), number(1e-8), number(0.9), number(0.1)}}}},
      [](const Update& u) -> Values {
        const Value alpha = u.number("alpha");
        const Value grad = u.gradient();
        const Value square_avg = u.average(u["square_avg"], grad, alpha);
        Value spread = square_avg;
        Value grad_avg;
        if (u.has("grad_avg")) {
          grad_avg = u.lerp(u["grad_avg"], grad, u.e.sub(1, alpha));
          spread = u.e.sub(square_avg, u.e.mul(grad_avg, grad_avg));
        }
        const Value denominator = u.e.add(u.e.sqrt(spread), u.scale("eps"));
        Value param;
        Value buffer;
        if (u.has("momentum_buffer")) {
          buffer = u.e.add(u.e.mul(u["momentum_buffer"], u.scale("momentum")), u.e.div(grad, denominator));
          param = u.e.sub(u["param"], u.e.mul(buffer, u.scale("lr")));
        } else {
          param = u.add_quotient(u["param"], u.e.neg(u.number("lr")), grad, denominator);
        }
        Values results = u.results({u.next_step(), param, square_avg});
        for (const Value& optional : {grad_avg, buffer})
          if (optional) results.push_back(optional);
        return results;
      });
}

Op adagrad_step() {
  return update({.signature = "adagrad_step(step, param, sum, grad, lr, lr_decay, eps, weight_decay?, *, "
                              "maximize: bool = false) -> tensors",
                 .doc = R"(Performs one step of Adagrad and returns the new `step`, `param` and `sum`, where `sum`
accumulates squared gradients. The learning rate is lr / (1 + step * lr_decay), with `step`
counted from 0. `weight_decay` adds an L2 penalty to the gradient and `maximize` ascends
instead of descending.

>>> step, param, *state = lucid.adagrad_step(step, param, sum, grad, lr, lr_decay, eps))",
                 .samples = {{{positive({}), normal({37}), positive({37}), normal({37}), number(0.01), number(0.1),
                               number(1e-10), absent()}},
                             {{positive({}), normal({3, 4}), positive({3, 4}), normal({3, 4}), number(0.01),
                               number(0.0), number(1e-10), number(0.1)}}}},
                [](const Update& u) -> Values {
                  const Value grad = u.gradient();
                  const Value rate =
                      u.e.div(u.number("lr"), u.e.add(u.e.mul(u.number("step"), u.number("lr_decay")), 1));
                  const Value sum = u.e.add(u["sum"], u.e.mul(grad, grad));
                  const Value denominator = u.e.add(u.e.sqrt(sum), u.scale("eps"));
                  return u.results({u.next_step(), u.add_quotient(u["param"], u.e.neg(rate), grad, denominator), sum});
                });
}

Op adamax_step() {
  return update(
      {.signature = "adamax_step(step, param, exp_avg, exp_inf, grad, lr, beta1, beta2, eps, weight_decay?, *, "
                    "maximize: bool = false) -> tensors",
       .doc = R"(Performs one step of Adamax, the variant of Adam based on the infinity norm, and returns the new
`step`, `param`, `exp_avg` and `exp_inf`. `weight_decay` adds an L2 penalty to the gradient and
`maximize` ascends instead of descending.

>>> step, param, *state = lucid.adamax_step(step, param, exp_avg, exp_inf, grad, lr, beta1, beta2, eps))",
       .samples = {{{positive({}), normal({37}), normal({37}), positive({37}), normal({37}), number(0.01), number(0.9),
                     number(0.999), number(1e-8), number(0.1)}}}},
      [](const Update& u) -> Values {
        const Value step = u.next_step();
        const Value grad = u.gradient();
        const Value exp_avg = u.lerp(u["exp_avg"], grad, u.e.sub(1, u.number("beta1")));
        const Value exp_inf =
            u.e.maximum(u.e.mul(u["exp_inf"], u.scale("beta2")), u.e.add(u.e.abs(grad), u.scale("eps")));
        const Value rate = u.e.div(u.number("lr"), u.bias_correction(u.number("beta1"), step));
        return u.results({step, u.add_quotient(u["param"], u.e.neg(rate), exp_avg, exp_inf), exp_avg, exp_inf});
      });
}

Op nadam_step() {
  return update(
      {.signature = "nadam_step(step, mu_product, param, exp_avg, exp_avg_sq, grad, lr, beta1, beta2, eps, "
                    "momentum_decay, weight_decay?, *, decoupled: bool = false, maximize: bool = false) -> tensors",
       .doc = R"(Performs one step of NAdam, which is Adam with Nesterov momentum, and returns the new `step`,
`mu_product`, `param`, `exp_avg` and `exp_avg_sq`. `decoupled` applies `weight_decay` to the parameter
as AdamW does; otherwise it is an L2 penalty on the gradient. `maximize` ascends instead of descending.

>>> step, param, *state = lucid.nadam_step(step, mu_product, param, exp_avg, exp_avg_sq, grad, lr, beta1, beta2, eps, momentum_decay))",
       .samples = {{{positive({}), unit({}), normal({37}), normal({37}), positive({37}), normal({37}), number(0.01),
                     number(0.9), number(0.999), number(1e-8), number(0.004), number(0.1)},
                    {{"decoupled", true}}}}},
      [](const Update& u) -> Values {
        Emitter& e = u.e;
        const Value step = u.next_step();
        const Value lr = u.number("lr");
        const Value beta1 = u.number("beta1");
        const Value beta2 = u.number("beta2");
        const bool decoupled = u.flag("decoupled");
        const Value grad = decoupled ? u.signed_gradient() : u.gradient();
        Value param = decoupled ? u.decayed() : u["param"];
        const auto momentum_at = [&](const Value& at) {
          const Value decay = e.pow(0.96, e.mul(at, u.number("momentum_decay")));
          return e.mul(beta1, e.sub(1, e.mul(decay, 0.5)));
        };
        const Value mu = momentum_at(step);
        const Value mu_next = momentum_at(e.add(step, 1));
        // The product is computed in the dtype in which it is stored.
        const Value mu_product = e.mul(u["mu_product"], e.cast(mu, u["mu_product"].dtype()));
        const Value product = e.cast(mu_product, Dtype::kF64);
        const Value exp_avg = u.lerp(u["exp_avg"], grad, e.sub(1, beta1));
        const Value exp_avg_sq = u.average(u["exp_avg_sq"], grad, beta2);
        const Value correction = u.scale(u.bias_correction(beta2, step));
        const Value denominator = e.add(e.sqrt(e.div(exp_avg_sq, correction)), u.scale("eps"));
        const Value now = e.div(e.mul(e.neg(lr), e.sub(1, mu)), e.sub(1, product));
        const Value next = e.div(e.mul(e.neg(lr), mu_next), e.sub(1, e.mul(product, mu_next)));
        param = u.add_quotient(param, now, grad, denominator);
        param = u.add_quotient(param, next, exp_avg, denominator);
        return u.results({step, mu_product, param, exp_avg, exp_avg_sq});
      });
}

Op radam_step() {
  return update(
      {.signature = "radam_step(step, param, exp_avg, exp_avg_sq, grad, lr, beta1, beta2, eps, weight_decay?, *, "
                    "decoupled: bool = false, maximize: bool = false) -> tensors",
       .doc = R"(Performs one step of RAdam, which is Adam with a rectified variance, and returns the new `step`,
`param`, `exp_avg` and `exp_avg_sq`. Early steps, for which the variance is intractable, omit the
adaptive learning rate. `decoupled` applies `weight_decay` to the parameter as AdamW does; otherwise it
is an L2 penalty on the gradient. `maximize` ascends instead of descending.

>>> step, param, *state = lucid.radam_step(step, param, exp_avg, exp_avg_sq, grad, lr, beta1, beta2, eps))",
       .samples = {{{filled({}, Fill::kLarge), normal({37}), normal({37}), positive({37}), normal({37}), number(0.01),
                     number(0.9), number(0.999), number(1e-8), absent()}}}},
      [](const Update& u) -> Values {
        Emitter& e = u.e;
        const Value step = u.next_step();
        const Value beta1 = u.number("beta1");
        const Value beta2 = u.number("beta2");
        const bool decoupled = u.flag("decoupled");
        const Value grad = decoupled ? u.signed_gradient() : u.gradient();
        const Value param = decoupled ? u.decayed() : u["param"];
        const Value exp_avg = u.lerp(u["exp_avg"], grad, e.sub(1, beta1));
        const Value exp_avg_sq = u.average(u["exp_avg_sq"], grad, beta2);
        const Value correction2 = u.bias_correction(beta2, step);
        const Value rho_inf = e.sub(e.div(2, e.sub(1, beta2)), 1);
        const Value rho = e.sub(rho_inf, e.div(e.mul(e.mul(step, 2), e.pow(beta2, step)), correction2));
        // Unused for rho <= 5, where the radicand may be negative. Replaced there, since its derivative would still be
        // NaN.
        const Value radicand = e.div(e.mul(e.mul(e.sub(rho, 4), e.sub(rho, 2)), rho_inf),
                                     e.mul(e.mul(e.sub(rho_inf, 4), e.sub(rho_inf, 2)), rho));
        const Value rect = e.sqrt(e.where(e.gt(rho, 5), radicand, 1));
        const Value corrected = e.div(exp_avg, u.scale(u.bias_correction(beta1, step)));
        const Value plain = e.mul(corrected, u.scale("lr"));
        const Value adaptive = e.div(u.scale(e.sqrt(correction2)), e.add(e.sqrt(exp_avg_sq), u.scale("eps")));
        const Value rectified = e.mul(e.mul(plain, adaptive), u.scale(rect));
        return u.results({step, e.sub(param, e.where(e.gt(rho, 5), rectified, plain)), exp_avg, exp_avg_sq});
      });
}

Op adadelta_step() {
  return update(
      {.signature = "adadelta_step(step, param, square_avg, acc_delta, grad, lr, rho, eps, weight_decay?, *, "
                    "maximize: bool = false) -> tensors",
       .doc = R"(Performs one step of Adadelta and returns the new `step`, `param`, `square_avg` and `acc_delta`. `rho`
is the decay of both running averages. `weight_decay` adds an L2 penalty to the gradient and `maximize`
ascends instead of descending.

>>> step, param, *state = lucid.adadelta_step(step, param, square_avg, acc_delta, grad, lr, rho, eps))",
       .samples = {{{positive({}), normal({37}), positive({37}), positive({37}), normal({37}), number(1.0), number(0.9),
                     number(1e-6), number(0.1)}}}},
      [](const Update& u) -> Values {
        Emitter& e = u.e;
        const Value rho = u.number("rho");
        const Value grad = u.gradient();
        const Value square_avg = u.average(u["square_avg"], grad, rho);
        const Value spread = e.sqrt(e.add(square_avg, u.scale("eps")));
        const Value delta = e.mul(e.div(e.sqrt(e.add(u["acc_delta"], u.scale("eps"))), spread), grad);
        const Value acc_delta = u.average(u["acc_delta"], delta, rho);
        return u.results({u.next_step(), e.sub(u["param"], e.mul(delta, u.scale("lr"))), square_avg, acc_delta});
      });
}

Op rprop_step() {
  return update(
      {.signature =
           "rprop_step(step, param, prev, step_size, grad, etaminus, etaplus, step_size_min, step_size_max, *, "
           "maximize: bool = false) -> tensors",
       .doc = R"(Performs one step of Rprop (resilient backpropagation) and returns the new `step`, `param`, `prev` and
`step_size`. A step size is multiplied by `etaplus` where the gradient kept its sign since the previous
step and by `etaminus` where it changed, and is then clamped to [step_size_min, step_size_max].
Parameters whose gradient changed sign are not updated. `maximize` ascends instead of descending.

>>> step, param, *state = lucid.rprop_step(step, param, prev, step_size, grad, etaminus, etaplus, low, high))",
       .samples = {{{positive({}), normal({37}), normal({37}), positive({37}), normal({37}), number(0.5), number(1.2),
                     number(1e-6), number(50.0)}}}},
      [](const Update& u) -> Values {
        Emitter& e = u.e;
        const Value grad = u.signed_gradient();
        const Value agreement = e.mul(grad, u["prev"]);
        const Value sign_changed = e.lt(agreement, 0);
        const Value factor =
            e.where(e.gt(agreement, 0), u.scale("etaplus"), e.where(sign_changed, u.scale("etaminus"), 1));
        const Value step_size =
            e.minimum(e.maximum(e.mul(u["step_size"], factor), u.scale("step_size_min")), u.scale("step_size_max"));
        const Value next_prev = e.where(sign_changed, 0, grad);
        return u.results({u.next_step(), e.sub(u["param"], e.mul(e.sign(next_prev), step_size)), next_prev, step_size});
      });
}

Op asgd_step() {
  return update({.signature = "asgd_step(step, eta, mu, param, ax, grad, lr, lambd, alpha, t0, weight_decay?, *, "
                              "maximize: bool = false) -> tensors",
                 .doc = R"(Performs one step of averaged stochastic gradient descent and returns the new `step`, `eta`,
`mu`, `param` and `ax`, where `ax` is the running average of the parameter. Averaging starts
after step `t0`. `weight_decay` adds an L2 penalty to the gradient and `maximize` ascends
instead of descending.

>>> step, param, *state = lucid.asgd_step(step, eta, mu, param, ax, grad, lr, lambd, alpha, t0))",
                 .samples = {{{positive({}), positive({}), positive({}), normal({37}), normal({37}), normal({37}),
                               number(0.01), number(1e-4), number(0.75), number(1.0), number(0.1)}}}},
                [](const Update& u) -> Values {
                  Emitter& e = u.e;
                  const Value step = u.next_step();
                  const Value eta = u.number("eta");
                  const Value lr = u.number("lr");
                  const Value shrunk = e.mul(u["param"], u.scale(e.sub(1, e.mul(u.number("lambd"), eta))));
                  const Value param = e.sub(shrunk, e.mul(u.gradient(), u.scale(eta)));
                  const Value averaged = u.lerp(u["ax"], param, u.number("mu"));
                  const Value ax = e.where(e.eq(u.number("mu"), 1), param, averaged);
                  const Value growth = e.add(e.mul(e.mul(u.number("lambd"), lr), step), 1);
                  const Value next_eta = e.div(lr, e.pow(growth, u.number("alpha")));
                  const Value next_mu = e.div(1, e.maximum(e.sub(step, u.number("t0")), 1));
                  return u.results({step, next_eta, next_mu, param, ax});
                });
}

Op lion_step() {
  return update(
      {.signature = "lion_step(param, exp_avg, grad, lr, beta1, beta2, weight_decay?, *, "
                    "maximize: bool = false) -> tensors",
       .doc = R"(Performs one step of Lion and returns the new `param` and `exp_avg`. The update is `lr` times the sign
of an interpolation between `exp_avg` and the gradient. `weight_decay` is decoupled from the gradient,
as in AdamW. `maximize` ascends instead of descending.

>>> param, *state = lucid.lion_step(param, exp_avg, grad, lr, beta1, beta2))",
       .samples = {{{normal({37}), normal({37}), normal({37}), number(0.01), number(0.9), number(0.99), number(0.1)}}}},
      [](const Update& u) -> Values {
        const Value grad = u.signed_gradient();
        const auto mixed = [&](const Value& beta) {
          return u.e.add(u.e.mul(u["exp_avg"], u.scale(beta)), u.e.mul(grad, u.scale(u.e.sub(1, beta))));
        };
        const Value direction = u.e.sign(mixed(u.number("beta1")));
        return u.results({u.e.sub(u.decayed(), u.e.mul(direction, u.scale("lr"))), mixed(u.number("beta2"))});
      });
}

}  // namespace

void add_optimizer_ops(std::vector<Op>& ops) {
  for (Op (*op)() : {sgd_step, adam_step, rmsprop_step, adagrad_step, adamax_step, nadam_step, radam_step,
                     adadelta_step, rprop_step, asgd_step, lion_step})
    ops.push_back(op());
}

}  // namespace lucid
