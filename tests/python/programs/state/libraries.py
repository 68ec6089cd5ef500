"""The standard library and NumPy: objects whose state a call reads, and settings of the process."""

import datetime
import decimal
import os
import random
import warnings

import numpy as np

from .._harness import Programs, set_zone, time_zone, vary, x0


class Zone(datetime.tzinfo):
    def __init__(self):
        self.hours = 1

    def utcoffset(self, moment):
        return datetime.timedelta(hours=self.hours)

    def dst(self, moment):
        return None

    def tzname(self, moment):
        return "zone"


class Libraries(Programs):
    def time_zone_with_state(run):
        zone = Zone()
        moment = datetime.datetime(2024, 1, 1, tzinfo=zone)
        f = run.compile(lambda x: x * moment.utcoffset().total_seconds())
        run.steps(f, lambda: setattr(zone, "hours", zone.hours + 1))

    def time_zone_with_state_in_an_argument(run):
        zone = Zone()
        moment = datetime.datetime(2024, 1, 1, tzinfo=zone)
        f = run.compile(lambda x, m: x * m.utcoffset().total_seconds())
        run.steps(f, lambda: setattr(zone, "hours", zone.hours + 1), moment)

    def local_time_in_a_format(run):
        moment = datetime.datetime(2024, 1, 1)
        f = run.compile(lambda x: x * (float(moment.strftime("%s")) - 1.7e9))

        def change():
            set_zone("EST5" if os.environ.get("TZ") != "EST5" else "UTC")

        with time_zone():
            run.steps(f, change)

    def local_time_in_an_f_string(run):
        moment = datetime.datetime(2024, 1, 1)
        f = run.compile(lambda x: x * (float(f"{moment:%s}") - 1.7e9))

        def change():
            set_zone("EST5" if os.environ.get("TZ") != "EST5" else "UTC")

        with time_zone():
            run.steps(f, change)

    def decimal_subclass_made_by_the_call(run):
        class Money(decimal.Decimal):
            pass

        f = run.compile(lambda x: x * float(Money(1) / 3))
        with decimal.localcontext():
            run.steps(f, lambda: setattr(decimal.getcontext(), "prec", decimal.getcontext().prec // 5 + 1))

    def print_options_of_numpy(run):
        values = np.array([1 / 3, 2 / 3])
        f = run.compile(lambda x: x * len(str(values)))
        before = np.get_printoptions()
        try:
            run.steps(f, lambda: np.set_printoptions(precision=np.get_printoptions()["precision"] - 2))
        finally:
            np.set_printoptions(**before)

    def print_options_context_of_numpy(run):
        values = np.array([1 / 3, 2 / 3])
        f = run.compile(lambda x: x * len(str(values)))
        run.repeat(f, x0)
        with np.printoptions(precision=2):
            run.call(f, x0())
        run.call(f, x0())

    def flags_of_an_array(run):
        values = np.array([1.0, 2.0])
        f = run.compile(lambda x: x * (2 if values.flags.writeable else 3))
        run.steps(f, lambda: values.setflags(write=not values.flags.writeable))

    def strides_of_an_array(run):
        values = np.zeros((2, 2))
        f = run.compile(lambda x: x * values.strides[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.steps(f, lambda: setattr(values, "strides", values.strides[::-1]))

    def dtype_of_an_array_changed(run):
        values = np.array([1.0, 2.0], np.float32)
        f = run.compile(lambda x: x * float(values[0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.steps(f, lambda: setattr(values, "dtype", np.int32 if values.dtype == np.float32 else np.float32))

    def names_of_a_structured_dtype(run):
        kind = np.dtype([("a", np.float32), ("bb", np.float32)])
        f = run.compile(lambda x: x * len(kind.names[0]))
        run.steps(f, lambda: setattr(kind, "names", tuple(reversed(kind.names))))

    def names_of_a_structured_array(run):
        values = np.zeros(2, [("a", np.float32), ("bb", np.float32)])
        values["bb"] = 3.0
        f = run.compile(lambda x: x * len(values.dtype.names[0]))
        run.steps(f, lambda: setattr(values.dtype, "names", tuple(reversed(values.dtype.names))))

    def view_of_an_array(run):
        values = np.arange(4.0)
        part = values[1:3]
        f = run.compile(lambda x: x * float(part.sum()) + float(part.base[0]))

        def change():
            values[:] += 1

        run.steps(f, change)

    def memory_view_object(run):
        values = bytearray(b"\x01\x02\x03\x04")
        part = memoryview(values)[:2]
        run.steps(run.compile(lambda x: x * part.obj[3]), lambda: values.__setitem__(3, values[3] + 1))

    def memory_view_of_an_array(run):
        values = np.arange(4.0)
        view = memoryview(values)
        run.steps(run.compile(lambda x: x * view[1]), lambda: values.__setitem__(1, values[1] + 1))

    def masked_array(run):
        values = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 0, 1])
        run.steps(run.compile(lambda x: x * float(values.sum())), lambda: setattr(values, "mask", ~values.mask))

    def matrix_and_flat(run):
        values = np.arange(4.0)
        flat = values.flat
        run.steps(run.compile(lambda x: x * flat[1]), lambda: values.__setitem__(1, values[1] + 1))

    def numpy_generator(run):
        generator = np.random.default_rng(1)
        run.steps(run.compile(lambda x: x * generator.random()), lambda: None)

    def numpy_legacy_generator(run):
        run.steps(run.compile(lambda x: x * np.random.rand()), lambda: np.random.seed(3))

    def python_generator(run):
        run.steps(run.compile(lambda x: x * random.random()), lambda: random.seed(3))

    def own_python_generator(run):
        generator = random.Random(3)
        f = run.compile(lambda x: x * generator.uniform(1, 2) + generator.choice([1, 2]))
        run.steps(f, lambda: generator.seed(3))

    def warning_becomes_an_error(run):
        zero = np.float64(0.0)
        f = run.compile(lambda x: x * float(np.log(zero) < 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.repeat(f, x0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run.call(f, x0())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.call(f, x0())

    def warnings_recorded(run):
        zero = np.float64(0.0)
        f = run.compile(lambda x: x * float(1 / zero > 0))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            run.repeat(f, x0, n=4)
            run.see(len(seen))

    def warning_of_the_call(run):
        def f(x):
            warnings.warn("careful", stacklevel=1)
            return x * 2

        f = run.compile(f)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            run.repeat(f, x0, n=4)
            run.see(len(seen))

    def floating_point_errors_raise(run):
        zero = np.float64(0.0)
        f = run.compile(lambda x: x * float(np.divide(1.0, zero) > 0))
        with np.errstate(divide="ignore"):
            run.repeat(f, x0)
        with np.errstate(divide="raise"):
            run.call(f, x0())
        with np.errstate(divide="ignore"):
            run.call(f, x0())

    def floating_point_errors_call(run):
        seen = []
        zero = np.float64(0.0)
        f = run.compile(lambda x: x * float(np.divide(1.0, zero) > 0))
        with np.errstate(divide="call", call=lambda kind, flag: seen.append(kind)):
            run.repeat(f, x0, n=4)
        run.see(len(seen))

    def made_scalar_and_error_mode(run):
        f = run.compile(lambda x: x * float(np.float32(1.0) / np.float32(0.0) > 0))
        with np.errstate(all="ignore"):
            run.repeat(f, x0)
        with np.errstate(all="raise"):
            run.call(f, x0())
        with np.errstate(all="ignore"):
            run.call(f, x0())

    def tensor_to_numpy_and_error_mode(run):
        f = run.compile(lambda x, v: x * float(v / np.float32(0) > 0))
        with np.errstate(all="ignore"):
            run.repeat(f, x0, vary(lambda _: np.float32(1)))
        with np.errstate(all="raise"):
            run.call(f, x0(), np.float32(1))
