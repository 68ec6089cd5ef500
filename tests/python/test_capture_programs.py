"""No plan is ever stale: programs that change Python's state between calls.

The compiler itself is not needed: `capture_harness.Shadow` runs every call and, when guards say that a plan could have
run instead, compares the ops of the call with those of the plan.
"""

import capture_random
import pytest
from capture_harness import Shadow
from capture_programs import PROGRAMS

# Values of tensors decide what these do. Guards know nothing of values: whoever records the ops does.
READS_VALUES = {
    "assert_value",
    "early_exit",
    "guard_after_state_write",
    "if_sum",
    "int_item_index",
    "item_in_condition",
    "item_returned",
    "item_times_tensor",
    "numpy_inside",
    "tensor_max_builtin",
    "tolist_inside",
    "while_tol",
}

# A new number or shape at each call: there is nothing to run again.
NEVER_TWICE = {
    "scalar_bigint",
    "scalar_branch",
    "scalar_complex_pow",
    "scalar_dict_key",
    "scalar_floor",
    "scalar_fstring",
    "scalar_hidden_in_list_comp",
    "scalar_into_tensor",
    "scalar_isinstance",
    "scalar_json",
    "scalar_match",
    "scalar_math_exp",
    "scalar_min",
    "scalar_numpy_sqrt",
    "scalar_returned",
    "scalar_step_arg",
    "scalar_temperature",
    "scalar_type_is",
    "scalar_zero_division",
    "shape_arange_mask",
    "shape_branch",
    "shape_eq_assert",
    "shape_len",
    "shape_math_sqrt",
    "shape_mean_manual",
    "shape_of_derived",
    "shape_rand",
    "shape_slice_half",
    "shape_unpack_tuple",
    "user_object_arg_fresh",
}

# What runs eagerly, and why.
EAGER = {
    "cat_state_grows": "the call writes closure o.k",
    "class_counter": "the call writes M.calls",
    "closure_in_generator_held": "reads closure g, a generator whose state cannot be checked",
    "closure_nonlocal_counter": "the call writes closure n",
    "contextvar_": "calls _contextvars.ContextVar.get",
    "dataclass_arg": "reads d.t, a tensor in an attribute of an argument: pass it by itself",
    "dataclass_arg_number_varies": "reads d.t, a tensor in an attribute of an argument: pass it by itself",
    "default_arg_accumulates": "the call writes a default of f",
    "defaultdict_grows": "the call writes closure d['n']",
    "deque_held": "the call writes closure q[0]",
    "eval_string": "calls eval",
    "exception_first": "the call writes closure st[0]",
    "file_read": "calls open",
    "float_logged_list": "the call writes closure log",
    "global_written_inside": "the call writes global GN",
    "globals_call": "calls globals",
    "grad_accum_counter": "the call writes closure st.n",
    "item_ema_on_self": "the call writes self.scale",
    "item_logged_and_read": "the call writes closure log",
    "item_logged_list": "the call writes closure log",
    "itertools_count_held": "reads closure c, a itertools.count whose state cannot be checked",
    "itertools_cycle_held": "reads closure c, a itertools.cycle whose state cannot be checked",
    "kv_cache_list_grows": "the call writes closure cache",
    "lru_cache_helper": "may call closure sc, which keeps results in a cache that cannot be checked",
    "lru_cache_tensor": "may call closure mask, which keeps results in a cache that cannot be checked",
    "np_default_rng_bound_held": "may call closure r, whose effects cannot be known",
    "np_default_rng_held": "reads closure r, a numpy.random._generator.Generator whose state cannot be checked",
    "np_random": "may call global np.random.random, whose effects cannot be known",
    "numpy_array_big": "reads closure a, a numpy.ndarray that is too large to be compared at each call",
    "print_in_helper": "calls print",
    "print_plain": "calls print",
    "print_tensor": "the call writes closure buf",
    "random_choice": "calls random.Random.getrandbits",
    "random_from_import": "calls random.Random.random",
    "random_instance_inside": "calls random.Random.seed",
    "random_random": "calls random.Random.random",
    "scalar_deepcopy": "calls id",
    "sched_inside": "calls LRScheduler.step, which counts the steps of a schedule",
    "self_counter": "the call writes self.n",
    "self_counter_branch": "the call writes self.n",
    "self_counter_used": "the call writes self.n",
    "self_counter_warmup": "the call writes self.n",
    "self_hidden_state": "the call writes self.hidden",
    "self_last_output_saved": "the call writes self.last",
    "shape_stored_on_self": "the call writes self.bs",
    "singledispatch_": "reads a key of closure dispatch_cache.data, "
    "a weakref.ReferenceType whose state cannot be checked",
    "slots_counter": "the call writes closure o.k",
    "tensor_logged_list": "the call writes closure log",
    "thread_local": "reads closure tl, a _thread._local whose state cannot be checked",
    "time_time": "calls time.time",
    "weakref_deref": "reads closure r, a weakref.ReferenceType whose state cannot be checked",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_guards_are_never_stale(name):
    shadows = []

    def compile(function):
        shadows.append(Shadow(function, reads_values=name in READS_VALUES))
        return shadows[-1]

    for _ in PROGRAMS[name](compile):
        pass
    shadow = shadows[-1]
    if name in EAGER:
        assert shadow.hits == 0
        where, _, reason = shadow.reason.partition(": ")
        assert where.partition(":")[0].endswith(".py")
        assert reason == EAGER[name]
    else:
        assert shadow.reason is None
        assert (shadow.hits == 0) == (name in NEVER_TWICE)


def test_programs_run_the_same_without_a_compiler():
    assert len(PROGRAMS) >= 210
    for program in PROGRAMS.values():
        for _ in program(lambda function: function):
            pass


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_guards_of_random_programs_are_never_stale(first):
    shadows = [capture_random.run(seed, Shadow) for seed in range(first, first + 20)]
    assert [shadow.reason for shadow in shadows] == [None] * 20
    assert sum(shadow.hits for shadow in shadows) > 50
