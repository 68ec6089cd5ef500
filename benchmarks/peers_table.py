"""The tables that are made of the figures of peers.py."""

from workloads import COMPILING, MEMORY, MEMORY_AT_MOST, MILLION, WORKLOADS, limit_of, shown

PEERS = {
    "torch-eager": "torch",
    "torch-compiled": "torch.compile",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
}
OURS = {"lucid-eager": "eager", "lucid-compiled": "compiled"}
LIBRARIES = PEERS | OURS


def number(value, digits=3):
    """With at least so many digits, and none of them in an exponent."""
    if value is None:
        return ""
    places = max(0, digits - len(str(int(abs(value)))))
    return f"{value:,.{places}f}"


def share(value):
    return "" if value is None else f"{value:.2f}"


def compared(name, times):
    """The peer that a workload is held against, the best unless another is named, and our share of its time."""
    theirs = {peer: times[peer] for peer in PEERS if peer in times}
    if not theirs or "lucid-compiled" not in times:
        return None, None
    peer = WORKLOADS[name].beside or min(theirs, key=theirs.get)
    return peer, times["lucid-compiled"] / theirs[peer] if peer in theirs else None


def of_limit(name, all_times):
    """The share of what the machine allows that compiled calls reach, by the best copy or product of the run."""
    work, limit = WORKLOADS[name], limit_of(WORKLOADS[name])
    ours, best = all_times[name].get("lucid-compiled"), min(all_times.get(limit, {}).values(), default=None)
    if ours is None or best is None:
        return None
    return best * (work.flops / WORKLOADS[limit].flops if work.flops else 1) / ours


def missed(name, ratio, reached):
    """Whether each of the two aims is missed, as it is by what has no figure."""
    work = WORKLOADS[name]
    return (
        work.at_most is not None and (ratio is None or ratio > work.at_most),
        work.at_least is not None and (reached is None or reached < work.at_least),
    )


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def rows(all_times):
    for name in shown():
        if name not in all_times:
            continue
        times, work = all_times[name], WORKLOADS[name]
        peer, ratio = compared(name, times)
        reached = of_limit(name, all_times)
        slow, low = ("missed" if it else "" for it in missed(name, ratio, reached))
        own = times["lucid-compiled"] / times["lucid-eager"] if len(OURS.keys() & times.keys()) == 2 else None
        yield [
            *(name, *(number(times.get(library)) for library in LIBRARIES)),
            *(PEERS.get(peer, ""), share(ratio), "" if work.at_most is None else f"{work.at_most:g}", slow),
            *(share(own), share(reached), "" if work.at_least is None else f"{work.at_least:g}", low),
        ]


def limits(all_times):
    """What the machine did at most, for the line below a table."""
    parts = []
    for name, work in WORKLOADS.items():
        found = all_times.get(name, {}) if work.kind == "limit" else {}
        if found:
            best = min(found.values())
            if work.flops:
                rate = f"{work.flops / best / 1e3:,.0f} GFLOP/s in a product of 512³"
            else:
                rate = f"{work.moved / best / 1e3:,.0f} GB/s in a copy that moves {work.moved // MILLION} MB"
            parts.append(f"{rate} ({LIBRARIES[min(found, key=found.get)].replace('eager', 'ours')})")
    return "The limits of this run: " + ", ".join(parts) + "." if parts else ""


def times_table(threads, all_times):
    head = ["work", *PEERS.values(), *OURS.values(), "beside", "compiled / peer", "at most", ""]
    head += ["compiled / eager", "share of limit", "at least", ""]
    found = list(rows(all_times))
    aims = sum(bool(row[-6]) + bool(row[-2]) for row in found)
    met = aims - sum(row[-5] == "missed" for row in found) - sum(row[-1] == "missed" for row in found)
    title = f"### {threads} thread{'s' if int(threads) > 1 else ''}: {met} of {aims} aims met"
    return "\n\n".join([title, table(head, found), limits(all_times)])


def compiling_table(figures):
    libraries = ("torch-compiled", "jax", "lucid-compiled")
    titles = [LIBRARIES[library].replace("compiled", "ours") for library in libraries]
    head = ["work", *(f"{title}, CPU s" for title in titles), "at most", ""]
    head += [f"{title}, s" for title in titles]
    found = []
    for name, at_most in COMPILING.items():
        if name not in figures:
            continue
        seconds = [figures[name].get(library, {}) for library in libraries]
        verdict = "missed" if seconds[-1].get("cpu", 0.0) > at_most else ""
        cells = [number(each.get("cpu")) for each in seconds]
        found.append([name, *cells, f"{at_most:g}", verdict, *(number(each.get("seconds")) for each in seconds)])
    return "### To the first compiled result, from nothing\n\n" + table(head, found)


def memory_table(figures):
    head = ["work", "torch", "eager", "compiled", "compiled / torch", "at most", ""]
    found = []
    for name in MEMORY:
        if name not in figures:
            continue
        counts = [figures[name].get(library) for library in ("torch-eager", "lucid-eager", "lucid-compiled")]
        ratio = counts[2] / counts[0] if counts[0] and counts[2] is not None else None
        verdict = "missed" if ratio is not None and ratio > MEMORY_AT_MOST else ""
        cells = [number(None if count is None else count / MILLION) for count in counts]
        found.append([name, *cells, share(ratio), f"{MEMORY_AT_MOST:g}", verdict])
    return "### Memory of a step of training, MB\n\n" + table(head, found)


def page(figures):
    """Everything between the marks of docs/benchmarks.md."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(figures["versions"].items()) if version)
    parts = [f"{figures['date']}, {figures['machine']}; {versions}."]
    parts += [times_table(threads, found) for threads, found in sorted(figures["times"].items(), reverse=True)]
    parts += [compiling_table(figures["compiling"]), memory_table(figures["memory"])]
    if figures["errors"]:
        failures = "\n".join(f"- {at}: {why}" for at, why in sorted(figures["errors"].items()))
        parts.append(f"What failed in this run:\n{failures}")
    return "\n\n".join(part for part in parts if part)
