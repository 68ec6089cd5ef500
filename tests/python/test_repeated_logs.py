"""Plans repeat what a call logs and what it warns of."""

import logging
import warnings

import lucid
import pytest
from repeated import logs, make_logger, numbers


def test_records_carry_the_values_and_the_line():
    logger, stream = make_logger()

    def f(x):
        total = x.sum()
        logger.info("total %.3f of %s", total.item(), x.shape)
        logger.warning(f"total {total.item():.1f}")
        logger.error("the tensor %s", x)
        logger.debug("not shown %s", x)
        logger.log(logging.CRITICAL, "done")
        return total

    compiled = lucid.compile(f)
    text = logs(compiled, stream)
    assert text == logs(f, stream)
    assert text.count("\n") == 24
    assert " f: total" in text
    assert compiled.cache_info().hits >= 3, compiled.explain()


def test_a_handler_of_the_user_makes_calls_run_eagerly():
    logger, stream = make_logger()
    records = []

    class Keeps(logging.Handler):
        def emit(self, record):
            records.append(record.getMessage())

    def f(x):
        logger.info("hello")
        return x * 2

    compiled = lucid.compile(f)
    logs(compiled, stream)
    hits = compiled.cache_info().hits
    assert hits > 0
    logger.addHandler(Keeps())
    logs(compiled, stream)
    assert records == ["hello"] * 6
    assert compiled.cache_info().hits == hits


@pytest.mark.parametrize("options", [{"extra": {"a": 1}}, {"exc_info": ValueError("a")}, {"stacklevel": 2}])
def test_records_with_more_are_logged_eagerly(options):
    logger, stream = make_logger()

    def f(x):
        logger.info("hello", **options)
        return x * 2

    compiled = lucid.compile(f)
    assert logs(compiled, stream).count("hello") == 6
    assert compiled.cache_info().hits == 0


# Warnings


def test_warnings_are_shown_as_the_filters_say():
    def f(x):
        warnings.warn("careful", RuntimeWarning, stacklevel=1)
        return x * 2

    def shown(function, action):
        globals().pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            for args in numbers():
                function(*args)
        return [(str(each.message), each.category, each.filename, each.lineno) for each in caught]

    compiled = lucid.compile(f)
    for action, count in (("always", 6), ("default", 1), ("ignore", 0)):
        assert shown(compiled, action) == shown(f, action)
        assert len(shown(f, action)) == count
    assert compiled.cache_info().hits >= 10, compiled.explain()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="careful"):
            compiled(lucid.ones(3))
