"""The tables of docs/benchmarks.md from the figures of peers.py, and the comparison of the figures with aims.toml."""

import aims
from report import number, speed_up, table
from workloads import COMPILING, MEMORY, MILLION, WORKLOADS, limit_of, shown

OURS = {"lucid-compiled": "Lucid, compiled", "lucid-eager": "Lucid, eager"}
PEERS = {
    "torch-eager": "PyTorch",
    "torch-compiled": "torch.compile",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
}
LIBRARIES = OURS | PEERS


def fastest_peer(times):
    """The peer with the least time; None if no peer was measured."""
    return min((peer for peer in PEERS if peer in times), key=times.get, default=None)


def share_of_peer(times, peer):
    """Time of a compiled call divided by the peer's; None if one of them was not measured."""
    return times["lucid-compiled"] / times[peer] if "lucid-compiled" in times and peer in times else None


def share_of_limit(name, all_times):
    """Rate of compiled calls as a fraction of the machine's limit: the best copy or product of the run."""
    work, limit = WORKLOADS[name], limit_of(WORKLOADS[name])
    ours, best = all_times[name].get("lucid-compiled"), min(all_times.get(limit, {}).values(), default=None)
    if ours is None or best is None:
        return None
    return best * (work.flops / WORKLOADS[limit].flops if work.flops else 1) / ours


def with_speed_up(theirs, ours):
    """Their time and, if ours is known, our speed-up over it."""
    if theirs is None or ours is None:
        return number(theirs)
    return f"{number(theirs)} ({speed_up(theirs, ours)})"


def rows(all_times):
    for name in shown():
        if name in all_times:
            times = all_times[name]
            ours = times.get("lucid-compiled")
            others = [with_speed_up(times.get(library), ours) for library in list(LIBRARIES)[1:]]
            yield [WORKLOADS[name].label, number(ours), *others]


def limits(all_times):
    """The machine's limits, for the line below a table."""
    parts = []
    for name, work in WORKLOADS.items():
        found = all_times.get(name, {}) if work.kind == "limit" else {}
        if found:
            best = min(found.values())
            if work.flops:
                rate = f"{work.flops / best / 1e3:,.0f} GFLOP/s in a product of 512³"
            else:
                rate = f"{work.moved / best / 1e3:,.0f} GB/s in a copy that moves {work.moved // MILLION} MB"
            parts.append(f"{rate} ({LIBRARIES[min(found, key=found.get)]})")
    return "The machine in this run: " + ", ".join(parts) + "." if parts else ""


def times_table(threads, all_times):
    title = f"### {threads} thread{'s' if int(threads) > 1 else ''}"
    return "\n\n".join([title, table(["us per call", *LIBRARIES.values()], rows(all_times)), limits(all_times)])


def compiling_table(figures):
    libraries = ("lucid-compiled", "torch-compiled", "jax")
    head = ["seconds", *(f"{title}, {what}" for what in ("CPU", "clock") for title in map(LIBRARIES.get, libraries))]
    found = []
    for name in COMPILING:
        if name in figures:
            row = [WORKLOADS[name].label]
            for what in ("cpu", "seconds"):
                ours, *theirs = (figures[name].get(library, {}).get(what) for library in libraries)
                row += [number(ours), *(with_speed_up(each, ours) for each in theirs)]
            found.append(row)
    return "### Time to the first compiled result, from an empty cache\n\n" + table(head, found)


def memory_table(figures):
    libraries = ("lucid-compiled", "lucid-eager", "torch-eager")
    found = []
    for name in MEMORY:
        if name in figures:
            counts = [figures[name].get(library) for library in libraries]
            cells = [number(None if count is None else count / MILLION) for count in counts]
            found.append([WORKLOADS[name].label, *cells])
    return "### Peak memory of a training step\n\n" + table(["MB", *map(LIBRARIES.get, libraries)], found)


def page(figures):
    """The text between the marks in docs/benchmarks.md."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(figures["versions"].items()) if version)
    parts = [f"{figures['date']}, {figures['machine']}; {versions}."]
    parts += [times_table(threads, found) for threads, found in sorted(figures["times"].items(), reverse=True)]
    parts += [compiling_table(figures["compiling"]), memory_table(figures["memory"])]
    if figures["errors"]:
        failures = "\n".join(f"- {at}: {why}" for at, why in sorted(figures["errors"].items()))
        parts.append(f"What failed in this run:\n{failures}")
    return "\n\n".join(part for part in parts if part)


def results(figures):
    """The figures compared with the aims."""
    bounds, found = aims.AIMS["compiled"], []
    for threads, times in sorted(figures["times"].items(), reverse=True):
        peers = {name: bounds["peer"].get(name, fastest_peer(times[name])) for name in shown() if name in times}
        measured = {name: share_of_peer(times[name], peer) for name, peer in peers.items()}
        found += aims.compare(f"time over the peer's, threads: {threads}", measured, bounds["time"])
        measured = {name: share_of_limit(name, times) for name in measured}
        found += aims.compare(f"share of the limit, threads: {threads}", measured, bounds["share_of_limit"], True)
    seconds = {name: each.get("lucid-compiled", {}).get("cpu") for name, each in figures["compiling"].items()}
    found += aims.compare("CPU seconds of compiling", seconds, bounds["compiling"])
    memory = {}
    for name, counts in figures["memory"].items():
        ours, theirs = counts.get("lucid-compiled"), counts.get("torch-eager")
        memory[name] = ours / theirs if ours and theirs else None
    return found + aims.compare("memory over PyTorch's", memory, bounds["memory"])
