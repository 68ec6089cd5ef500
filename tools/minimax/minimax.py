"""Writes src/loop/math_coefficients.h: python minimax.py (needs mpmath and numpy)."""

import pathlib
import struct

from mpmath import mp, mpf
from remez import Problem, round_to

TINY = mpf(2) ** -40
SQRT = mp.sqrt

# Ranges after argument reduction, widened by the possible rounding error.
EXP = mp.log(2) / 2 * mpf("1.001")
EXP2 = mpf("0.5005")
LOG_LO, LOG_HI = SQRT(mpf(1) / 2) - 1 - mpf(2) ** -18, SQRT(2) - 1 + mpf(2) ** -18
LOG_S = mpf("0.17158")
TRIG = mp.pi / 4 * mpf("1.001")
ATAN = mpf("0.41422")
TANH = mpf("0.625")
ERFC_CENTER = 4


def erfc_point(t):
    return ERFC_CENTER * (1 + t) / (1 - t)


def erfc_scaled(t):
    x = erfc_point(t)
    return mp.erfc(x) * mp.exp(x * x) * (1 + 2 * x)


def erfc_range(lo, hi):
    return tuple((mpf(x) - ERFC_CENTER) / (mpf(x) + ERFC_CENTER) for x in (lo, hi))


def odd(f):
    """(f(x) / x - 1) / x^2 as a function of z = x^2, for f(x) = x + x^3 P(x^2)."""
    return lambda z: (f(SQRT(z)) / SQRT(z) - 1) / z, lambda z: z * SQRT(z) / f(SQRT(z))


def expm1_tail(r):
    return (mp.expm1(r) - r) / r**2


def log_quotient(z):
    """R(z) in log((1 + s) / (1 - s)) = 2 s + s z R(z), z = s^2."""
    s = SQRT(z)
    return (mp.log1p(s) - mp.log1p(-s) - 2 * s) / (s * z)


# name, meaning, format, degree, target, weight, range
def approximations():
    asin, asin_weight = odd(mp.asin)
    atan, atan_weight = odd(mp.atan)
    sin, sin_weight = odd(mp.sin)
    tanh, tanh_weight = odd(mp.tanh)
    sinh, sinh_weight = odd(mp.sinh)

    def exp_weight(r):
        return r**2 / abs(mp.expm1(r))

    for fmt, name, degree in (("f32", "ExpF32", 4), ("f64", "Exp", 10), ("f64", "ExpShort", 5)):
        yield f"k{name}", "exp(r) = 1 + r + r^2 P(r)", fmt, degree, expm1_tail, exp_weight, (-EXP, EXP)
    for fmt, name, degree in (("f32", "Exp2F32", 5), ("f64", "Exp2", 11), ("f64", "Exp2Short", 6)):
        yield (
            f"k{name}",
            "2^r = 1 + r P(r)",
            fmt,
            degree,
            lambda r: (mpf(2) ** r - 1) / r,
            lambda r: abs(r) / mpf(2) ** r,
            (-EXP2, EXP2),
        )
    yield (
        "kLogF32",
        "log(1 + f) = f - f^2 / 2 + f^3 P(f)",
        "f32",
        7,
        lambda f: (mp.log1p(f) - f + f * f / 2) / f**3,
        lambda f: f**3 / mp.log1p(f),
        (LOG_LO, LOG_HI),
    )
    yield (
        "kLogShort",
        "log(1 + f) = f P(f)",
        "f64",
        13,
        lambda f: mp.log1p(f) / f,
        lambda f: f / mp.log1p(f),
        (LOG_LO, LOG_HI),
    )
    yield (
        "kLog",
        "log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2",
        "f64",
        6,
        log_quotient,
        lambda z: z * SQRT(z) / mp.log1p(SQRT(z)),
        (TINY, LOG_S**2),
    )
    yield (
        "kLogTable",
        "log(1 + r) = r - r^2 / 2 + r^3 P(r)",
        "f64",
        6,
        lambda f: (mp.log1p(f) - f + f * f / 2) / f**3,
        lambda f: f**3 / mp.log1p(f),
        (-(mpf(2) ** -7), mpf(2) ** -7),
    )
    for name, degree in (("Sin", 5), ("SinShort", 3)):
        yield f"k{name}", "sin(r) = r + r z P(z), z = r^2", "f64", degree, sin, sin_weight, (TINY, TRIG**2)
    for name, degree in (("Cos", 5), ("CosShort", 2)):
        yield (
            f"k{name}",
            "cos(r) = 1 - z / 2 + z^2 P(z), z = r^2",
            "f64",
            degree,
            lambda z: (mp.cos(SQRT(z)) - 1 + z / 2) / z**2,
            lambda z: z**2 / mp.cos(SQRT(z)),
            (TINY, TRIG**2),
        )
    for name, degree in (("Asin", 12), ("AsinShort", 5)):
        yield f"k{name}", "asin(x) = x + x z P(z), z = x^2", "f64", degree, asin, asin_weight, (TINY, mpf("0.2501"))
    for name, degree in (("Atan", 10), ("AtanShort", 5)):
        yield f"k{name}", "atan(u) = u + u z P(z), z = u^2", "f64", degree, atan, atan_weight, (TINY, ATAN**2)
    for fmt, name, degree in (("f32", "TanhF32", 4), ("f64", "Tanh", 11)):
        yield f"k{name}", "tanh(x) = x + x z P(z), z = x^2", fmt, degree, tanh, tanh_weight, (TINY, TANH**2)
    for fmt, name, degree in (("f32", "TanhshrinkF32", 7), ("f64", "Tanhshrink", 15)):
        yield (
            f"k{name}",
            "x - tanh(x) = x z P(z), z = x^2",
            fmt,
            degree,
            lambda z: (1 - mp.tanh(SQRT(z)) / SQRT(z)) / z,
            lambda z: z / (1 - mp.tanh(SQRT(z)) / SQRT(z)),
            (TINY, mpf(1)),
        )
    for name, degree in (("Sinh", 4), ("SinhShort", 2)):
        yield f"k{name}", "sinh(r) = r + r z P(z), z = r^2", "f64", degree, sinh, sinh_weight, (TINY, EXP**2)
    for name, degree in (("Cosh", 5), ("CoshShort", 2)):
        yield (
            f"k{name}",
            "cosh(r) = 1 + z P(z), z = r^2",
            "f64",
            degree,
            lambda z: (mp.cosh(SQRT(z)) - 1) / z,
            lambda z: z / mp.cosh(SQRT(z)),
            (TINY, EXP**2),
        )
    yield (
        "kErf",
        "erf(x) = x + x P(z), z = x^2",
        "f64",
        12,
        lambda z: mp.erf(SQRT(z)) / SQRT(z) - 1,
        lambda z: SQRT(z) / mp.erf(SQRT(z)),
        (TINY, mpf(1)),
    )
    for name, degree, lo, hi in (("Erfc", 22, "0.46", "28"), ("ErfcShort", 12, "0", "10.3")):
        yield (
            f"k{name}",
            "erfc(x) = exp(-x^2) P(t) / (1 + 2 x), t = (x - 4) / (x + 4)",
            "f64",
            degree,
            erfc_scaled,
            lambda t: 1 / erfc_scaled(t),
            erfc_range(lo, hi),
        )


def number(value):
    """A C++ hexadecimal literal."""
    text = float(value).hex()
    mantissa, exponent = text.split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}"


def split(value, *bits):
    """Splits a value into parts of the given widths in bits (at most 53), whose sum is nearly the value."""
    parts = []
    for width in bits:
        exponent = mp.floor(mp.log(abs(value), 2)) + 1 - width
        part = mp.nint(value / mpf(2) ** exponent) * mpf(2) ** exponent
        parts.append(part)
        value -= part
    return parts


def constants():
    ln2_hi, ln2_lo = split(mp.log(2), 42, 53)
    yield "kLn2Hi", "log(2) in two parts, the first short enough that its product with an exponent is exact", ln2_hi
    yield "kLn2Lo", None, ln2_lo
    ln2_hi, ln2_lo = split(mp.log(2), 15, 24)
    yield "kLn2HiF32", "the same for f32", ln2_hi
    yield "kLn2LoF32", None, ln2_lo
    for name, meaning, value in (
        ("Log2E", "1 / log(2)", 1 / mp.log(2)),
        ("Log10E", "1 / log(10)", 1 / mp.log(10)),
        ("Log10Of2", "log10(2)", mp.log(2, 10)),
        ("HalfPi", "pi / 2", mp.pi / 2),
        ("SqrtHalf", "sqrt(1 / 2)", SQRT(mpf(1) / 2)),
        ("GeluLinear", "2 sqrt(2 / pi)", 2 * SQRT(2 / mp.pi)),
        ("GeluCubic", "2 sqrt(2 / pi) 0.044715", 2 * SQRT(2 / mp.pi) * mpf("0.044715")),
    ):
        parts = split(value, 53, 53, 53)
        yield f"k{name}", meaning + ", and its rounding error", parts[0]
        yield f"k{name}Lo", None, parts[1]
        if name == "HalfPi":
            yield "kHalfPiLowest", None, parts[2]
    hi, lo = split(mp.log(2, 10), 42, 53)
    yield "kLog10Of2Hi", "log10(2) in two parts, the first short", hi
    yield "kLog10Of2Rest", None, lo


def inverse_two_pi(limb, count):
    """The bits of 1 / (2 pi) in `count` limbs, preceded by one limb of zeros."""
    with mp.workprec(limb * count + 100):
        rest, words = 1 / (2 * mp.pi), [0]
        for _ in range(count):
            rest *= 2**limb
            words.append(int(mp.floor(rest)))
            rest -= words[-1]
    return words


LOG_ENTRIES = 128


def log_table():
    """For 128 intervals of [0.6953125, 1.390625): 1/c with few enough bits that m / c - 1 is exact, and -log(1/c)."""
    start = struct.unpack("<q", struct.pack("<d", 0.6953125))[0]
    rows = []
    for k in range(LOG_ENTRIES):
        lo, hi = (mpf(struct.unpack("<d", struct.pack("<q", start + ((k + d) << 45)))[0]) for d in (0, 1))
        inverse = 2 / (lo + hi)
        scale = 128 if inverse > 1 else 256
        inverse = mp.nint(inverse * scale) / scale
        if lo <= 1 <= hi:
            inverse = mpf(1)
        assert max(abs(lo * inverse - 1), abs(hi * inverse - 1)) <= mpf(2) ** -7, (k, float(lo))
        log = -mp.log(inverse)
        log_hi = mp.nint(log * mpf(2) ** 42) / mpf(2) ** 42
        rows.append((inverse, log_hi, round_to(log - log_hi, "f64")))
    return rows


ERF_ENTRIES = 16
ERF_SCALE = mpf("3.8125")
ERF_DEGREE = 5


def erf_table():
    """For 16 intervals, the k-th centered at k / ERF_SCALE: erf(x) / x as a polynomial in x * ERF_SCALE - k."""
    rows, largest = [], 0
    for k in range(ERF_ENTRIES):

        def quotient(t, k=k):
            x = (k + t) / ERF_SCALE
            return mp.erf(x) / x if x else 2 / SQRT(mp.pi)

        half = mpf("0.5005")
        problem = Problem(quotient, lambda t, f=quotient: 1 / f(t), -half if k else mpf(0), half, ERF_DEGREE)
        coefficients, _, worst = problem.fit("f32")
        rows.append(coefficients)
        largest = max(largest, 2**worst)
    return rows, mp.log(largest, 2)


NORMAL_ENTRIES = 16
NORMAL_SCALE = mpf("0.40625")
NORMAL_NEAR_DEGREE = 6
NORMAL_FAR_DEGREE = 5


def normal_tail(x):
    """The probability that a normal variable exceeds x."""
    return mp.erfc(x / SQRT(2)) / 2


def near_bound(k):
    """The x at which NORMAL_SCALE * x * (x + 2) is k."""
    return SQRT(1 + k / NORMAL_SCALE) - 1


def exact_center(f, lo, hi):
    """A number with few bits near the middle at which f is almost an f32, so that the constant term barely rounds."""
    step = mpf(2) ** -12
    middle = mp.nint((lo + hi) / 2 / step)

    def rounding(x):
        return abs(round_to(f(x), "f32") / f(x) - 1)

    return min(((middle + k) * step for k in range(-24, 25)), key=rounding)


def normal_near_table():
    """For 16 intervals, the k-th where NORMAL_SCALE * x * (x + 2) is near k: a center, and the tail in x - center."""
    for k in range(NORMAL_ENTRIES):
        lo, hi = near_bound(max(mpf(k) - mpf("0.501"), 0)), near_bound(mpf(k) + mpf("0.501"))
        center = exact_center(normal_tail, lo, hi)

        def target(t, center=center):
            return normal_tail(center + t)

        problem = Problem(target, lambda t, f=target: 1 / f(t), lo - center, hi - center, NORMAL_NEAR_DEGREE)
        coefficients, _, worst = problem.fit("f32")
        yield [center, *coefficients], 2**worst


def normal_far_table():
    """For 16 intervals of [4, 16), eight per octave, indexed by bits 20 to 23 of x as an f32: a center, and 2^-64 times
    exp(x^2 / 2) times the tail as a polynomial in x - center. The factor 2^-64 keeps products in the normal range."""

    def quotient(x):
        return mp.exp(x * x / 2) * normal_tail(x) * mpf(2) ** -64

    rows = [None] * NORMAL_ENTRIES
    for k in range(NORMAL_ENTRIES):
        width = mpf(2) ** (k // 8 - 1)
        lo = 8 * width + (k % 8) * width
        center = exact_center(quotient, lo, lo + width)

        def target(t, center=center):
            return quotient(center + t)

        problem = Problem(target, lambda t, f=target: 1 / f(t), lo - center, lo + width - center, NORMAL_FAR_DEGREE)
        coefficients, _, worst = problem.fit("f32")
        rows[((0x40800000 >> 20) + k) % NORMAL_ENTRIES] = [center, *coefficients], 2**worst
    return rows


def wrapped(items, indent="    ", width=118):
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 2 > width:
            lines.append(line.rstrip())
            line = indent
        line += item + ", "
    lines.append(line.rstrip())
    return "\n".join(lines)


def tables(name, rows):
    """Declarations of a table of centers and a table of f32 coefficients, from rows of both with their errors."""
    worst = float(mp.log(max(error for _, error in rows), 2))
    print(f"k{name:14}f32 degree {len(rows[0][0]) - 2:2}: rounded 2^{worst:.1f}", flush=True)
    columns = [wrapped([number(row[j]) for row, _ in rows], " " * 8) for j in range(len(rows[0][0]))]
    body = ",\n".join(f"    {{\n{column}\n    }}" for column in columns[1:])
    yield f"// 2^{worst:.1f}"
    yield f"inline constexpr double k{name}Centers[] = {{\n{columns[0]}\n}};"
    yield f"inline constexpr double k{name}[][{len(rows)}] = {{\n{body},\n}};"


def main():
    out = [
        "// Written by tools/minimax/minimax.py; change that instead.",
        "// Polynomials are listed from the constant term on, "
        "with the base-2 logarithm of their largest relative error.",
        "// clang-format off",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace lucid::loop::math {",
        "",
    ]
    for name, comment, value in constants():
        if comment:
            out.append(f"// {comment}")
        out.append(f"inline constexpr double {name} = {number(value)};")
    out.append("")
    for name, meaning, fmt, degree, target, weight, (lo, hi) in approximations():
        coefficients, ideal, worst = Problem(target, weight, lo, hi, degree).fit(fmt)
        print(f"{name:14} {fmt} degree {degree:2}: 2^{ideal:.1f}, rounded 2^{worst:.1f}", flush=True)
        out.append(f"// {meaning}: 2^{worst:.1f}")
        out.append(f"inline constexpr double {name}[] = {{\n{wrapped([number(c) for c in coefficients])}\n}};")
    out.append("")
    out.append("// 1 / (2 pi) in limbs of 27 bits, the first of them before the binary point")
    limbs = wrapped([str(w) for w in inverse_two_pi(27, 50)])
    out.append(f"inline constexpr int64_t kInverseTwoPi[] = {{\n{limbs}\n}};")
    out.append("")
    out.append("// For 128 intervals from 0.6953125 up to its double: 1/c, exact, and log(c) in two parts")
    for column, name in enumerate(("kLogTableInverse", "kLogTableHi", "kLogTableLo")):
        items = wrapped([number(row[column]) for row in log_table()])
        out.append(f"inline constexpr double {name}[] = {{\n{items}\n}};")
    out.append("")
    rows, worst = erf_table()
    print(f"kErfTableF32   f32 degree {ERF_DEGREE:2}: rounded 2^{float(worst):.1f}", flush=True)
    out.append(
        "// For 16 intervals, the k-th around k / kErfScale: erf(x) = x P(t), t = kErfScale x - k: "
        f"2^{float(worst):.1f}"
    )
    out.append(f"inline constexpr double kErfScale = {number(ERF_SCALE)};")
    columns = ",\n".join(
        f"    {{\n{wrapped([number(row[j]) for row in rows], ' ' * 8)}\n    }}" for j in range(ERF_DEGREE + 1)
    )
    out.append(f"inline constexpr double kErfTableF32[][{ERF_ENTRIES}] = {{\n{columns},\n}};")
    out.append("")
    out.append(
        "// For 16 intervals, the k-th where kNormalScale x (x + 2) is near k: a center c and P(t), t = x - c, for the"
    )
    out.append("// probability that a normal variable exceeds x")
    out.append(f"inline constexpr double kNormalScale = {number(NORMAL_SCALE)};")
    out += tables("NormalNear", list(normal_near_table()))
    out.append("// The same for 16 intervals of [4, 16), by bits 20 to 23 of x as an f32, times 2^-64 exp(x^2 / 2)")
    out += tables("NormalFar", normal_far_table())
    out += ["", "}  // namespace lucid::loop::math", ""]
    path = pathlib.Path(__file__).resolve().parents[2] / "src/loop/math_coefficients.h"
    path.write_text("\n".join(out))


if __name__ == "__main__":
    main()
