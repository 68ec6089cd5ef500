"""benchmarks/: tables, plot and aims from given figures, and the child process that measures a library."""

import importlib
import json
import pathlib
import subprocess
import sys
from xml.etree import ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def _benchmarks_on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def module(name):
    return importlib.import_module(name)


def figures():
    times = {
        "add1_8": {"torch-eager": 4.0, "jax": 2.0, "lucid-eager": 0.25, "lucid-compiled": 0.5},
        "softmax_1m": {"torch-eager": 400.0, "torch-compiled": 300.0, "lucid-eager": 200.0, "lucid-compiled": 150.0},
        "layernorm_1m": {"torch-eager": 100.0, "lucid-compiled": 90.0},
        "mlp_b64": {"openvino": 200.0, "onnxruntime": 160.0, "lucid-eager": 120.0, "lucid-compiled": 80.0},
        "gptmini_b8": {"torch-eager": 16384.0, "lucid-eager": 9000.0},
        "copy_8mb": {"torch-eager": 135.0, "lucid-eager": 180.0},
        "matmul_512": {"torch-eager": 1000.0, "lucid-eager": 900.0},
    }
    return {
        "date": "2026-11-15",
        "machine": "a CPU, 2 cores",
        "versions": {"torch": "2.13.0", "jax": "0.10.2"},
        "times": {"1": {"add1_8": times["add1_8"]}, "2": times},
        "compiling": {
            "lenet5_train_b64": {
                "jax": {"cpu": 1.25, "seconds": 1.5},
                "lucid-compiled": {"cpu": 0.75, "seconds": 0.5},
            }
        },
        "memory": {"lenet5_train_b64": {"torch-eager": 4 << 20, "lucid-eager": 5 << 20, "lucid-compiled": 2 << 20}},
        "errors": {"gptmini_b8, lucid-compiled": "RuntimeError: not compiled"},
    }


def rows(text):
    """The cells of each row of the tables, keyed by the first cell."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


def cells(text):
    return text.split("|")


def test_a_row_has_the_time_and_speedup_of_every_library():
    found = rows(module("peers_table").times_table("2", figures()["times"]["2"]))
    # Lucid compiled, Lucid eager, PyTorch, torch.compile, JAX, ONNX Runtime, OpenVINO.
    assert found["x + 1, 8 floats"] == cells("0.50|0.25 (0.50x)|4.00 (8.0x)||2.00 (4.0x)||")
    assert found["softmax, 1M floats"] == cells("150|200 (1.33x)|400 (2.7x)|300 (2.0x)|||")
    assert found["layer_norm, 1M floats"] == cells("90.0||100 (1.11x)||||")
    assert found["MLP, batch 64"] == cells("80.0|120 (1.50x)||||160 (2.0x)|200 (2.5x)")
    # A workload that was not compiled has no speedup.
    assert found["GPT mini, 8 x 128 tokens"] == cells("|9,000|16,384||||")


def test_the_last_line_has_the_limits_of_the_machine():
    text = module("peers_table").times_table("2", figures()["times"]["2"])
    assert text.startswith("### 2 threads\n")
    assert text.endswith(
        "The machine in this run: 62 GB/s in a copy that moves 8 MB (PyTorch), "
        "298 GFLOP/s in a product of 512³ (Lucid, eager)."
    )


def test_the_page_has_the_tables_in_order_and_lists_failures():
    table = module("peers_table")
    text = table.page(figures())
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        *("### 2 threads", "### 1 thread"),
        *("### Time to the first compiled result, from an empty cache", "### Peak memory of a training step"),
    ]
    assert text.startswith("2026-11-15, a CPU, 2 cores; jax 0.10.2, torch 2.13.0.\n")
    assert text.endswith("What failed in this run:\n- gptmini_b8, lucid-compiled: RuntimeError: not compiled")
    compiling = rows(table.compiling_table(figures()["compiling"]))["train LeNet-5, batch 64"]
    assert compiling == cells("0.75||1.25 (1.67x)|0.50||1.50 (3.0x)")
    assert rows(table.memory_table(figures()["memory"]))["train LeNet-5, batch 64"] == ["2.00", "5.00", "4.00"]


def test_figures_are_compared_with_the_aims(monkeypatch, capsys):
    aims, table = module("aims"), module("peers_table")
    bounds = {
        "time": {"add1_8": 0.1, "softmax_1m": 0.6, "layernorm_1m": 0.75, "gptmini_b8": 0.8, "sum_16m": 0.5},
        "peer": {"add1_8": "torch-eager"},
        "share_of_limit": {"softmax_1m": 0.85, "layernorm_1m": 0.85, "add_1m": 0.85},
        "compiling": {"lenet5_train_b64": 0.6},
        "memory": {"lenet5_train_b64": 0.5},
    }
    monkeypatch.setitem(aims.AIMS, "compiled", bounds)
    found = {result.what: (result.measured, result.met) for result in table.results(figures())}
    assert found == {
        "time over the peer's, threads: 2, add1_8": (0.125, False),
        "time over the peer's, threads: 2, softmax_1m": (0.5, True),
        "time over the peer's, threads: 2, layernorm_1m": (0.9, False),
        # A workload that was not compiled meets no aim; one that was not run is not compared.
        "time over the peer's, threads: 2, gptmini_b8": (None, False),
        "share of the limit, threads: 2, softmax_1m": (0.9, True),
        "share of the limit, threads: 2, layernorm_1m": (1.5, True),
        "time over the peer's, threads: 1, add1_8": (0.125, False),
        "CPU seconds of compiling, lenet5_train_b64": (0.75, False),
        "memory over PyTorch's, lenet5_train_b64": (0.5, True),
    }
    # A twelfth of the product's operations, at 900 us for all of them.
    assert table.share_of_limit("mlp_b64", figures()["times"]["2"]) == pytest.approx(1.26, abs=0.005)
    assert aims.verdict(table.results(figures())) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "MISSED  time over the peer's, threads: 2, add1_8: 0.125, at most 0.1"
    assert "met     share of the limit, threads: 2, softmax_1m: 0.9, at least 0.85" in lines
    assert "MISSED  time over the peer's, threads: 2, gptmini_b8: not measured, at most 0.8" in lines
    assert lines[-1] == "4 of 9 aims met"
    assert aims.verdict([aims.Result("x", 1.0, 1.0), aims.Result("y", 1.0, 1.0, at_least=True)]) == 0


def test_the_first_pattern_that_matches_gives_the_bound():
    aims = module("aims")
    patterns = {"lenet*_training": 0.5, "lenet*": 0.6, "*": 1.0}
    measured = {"lenet1": 0.55, "lenet1_training": 0.55, "pool": 1.0}
    found = aims.compare_patterns("time", measured, patterns)
    assert [(result.bound, result.met) for result in found] == [(0.6, True), (0.5, False), (1.0, True)]


def test_every_aim_names_a_workload():
    compiled = module("aims").AIMS["compiled"]
    workloads = module("workloads")
    for section in ("time", "peer", "share_of_limit"):
        assert set(compiled[section]) <= set(workloads.shown())
    assert set(compiled["peer"].values()) <= set(module("peers_table").PEERS)
    assert set(compiled["compiling"]) == set(workloads.COMPILING)
    assert set(compiled["memory"]) == set(workloads.MEMORY)


def test_the_check_of_saved_figures_exits_with_its_verdict(tmp_path):
    kept = tmp_path / "figures.json"
    times = {"lucid": {"mlp_train_b64": 1.0}, "torch": {"mlp_train_b64": 2.0}}
    kept.write_text(json.dumps({"training": times}))
    command = [sys.executable, str(ROOT / "benchmarks" / "networks.py"), "training", "--table", "--check"]
    done = subprocess.run([*command, "--figures", str(kept)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert rows(done.stdout)["mlp_train_b64"] == ["1.00", "2.00", "2.0x"]
    times["torch"]["mlp_train_b64"] = 1.5
    kept.write_text(json.dumps({"training": times}))
    done = subprocess.run([*command, "--figures", str(kept)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")


def test_the_plot_has_a_dot_for_each_peer_and_a_bar_to_the_fastest():
    plot = module("plot")
    root = ElementTree.fromstring(plot.picture(figures()))
    words = [text.text for text in root.iter(f"{SVG}text")]
    labels = ["x + 1, 8 floats", "softmax, 1M floats", "layer_norm, 1M floats", "MLP, batch 64"]
    assert [word for word in words if word in {work.label for work in plot.WORKLOADS.values()}] == labels
    bars = list(root.iter(f"{SVG}rect"))
    ends = [float(bar.get("x")) + float(bar.get("width")) for bar in bars]
    assert ends == pytest.approx([plot.place(ratio) for ratio in (4, 2, 100 / 90, 2)], abs=0.11)
    assert {bar.get("fill") for bar in bars} == {plot.FASTER}
    dots = [float(dot.get("cx")) for dot in root.iter(f"{SVG}circle")][len(plot.PEERS) :]
    assert dots == pytest.approx([plot.place(ratio) for ratio in (8, 4, 400 / 150, 2, 100 / 90, 2.5, 2)], abs=0.06)
    assert plot.place(2) - plot.place(1) == pytest.approx(plot.place(20) - plot.place(10))


def test_the_plot_shows_where_a_peer_is_faster():
    plot = module("plot")
    slower = figures()
    slower["times"]["2"] = {"mlp_b64": {"openvino": 80.0, "jax": 200.0, "lucid-compiled": 100.0}}
    root = ElementTree.fromstring(plot.picture(slower))
    (bar,) = root.iter(f"{SVG}rect")
    assert bar.get("fill") == plot.SLOWER
    assert float(bar.get("x")) == pytest.approx(plot.place(0.8), abs=0.06)
    assert "0.80x" in [text.text for text in root.iter(f"{SVG}text")]


def test_the_committed_page_and_plot_match_the_committed_figures():
    report, plot = module("report"), module("plot")
    kept = report.load(report.FIGURES)
    made = {
        "peers": module("peers_table").page(kept),
        "eager": module("eager").section(kept["eager"]),
        "convolution": report.pair_table(kept["convolution"]),
        "training": report.pair_table(kept["training"]),
    }
    page = report.PAGE.read_text()
    for section, text in made.items():
        assert page.split(f"<!-- {section}: begin -->\n")[1].split(f"\n<!-- {section}: end -->")[0] == text
    assert plot.FILE.read_text() == plot.picture(kept)


def test_flops_match_the_papers():
    networks = module("workloads").NETWORKS
    assert networks["mlp"].flops == 2 * (784 * 256 + 256 * 128 + 128 * 10)
    assert networks["lenet5"].flops == 833_040
    assert networks["resnet18"].flops == pytest.approx(2 * 1.814e9, rel=1e-3)
    assert networks["gpt2"].flops == pytest.approx(2 * 124e6 * 64, rel=0.02)


def test_a_child_process_survives_failing_requests(tmp_path):
    peers = module("peers")
    child = peers.Child(sys.executable, "lucid-compiled", 1, tmp_path)
    try:
        assert child.ask("version") == importlib.import_module("lucid").__version__
        assert child.ask("time", work="add1_8", seconds=0.001) > 0
        assert child.ask("time", work="mlp_train_b64", seconds=0.001) > 0
        assert child.ask("time", work="copy_8mb", seconds=0.001) is None
        with pytest.raises(RuntimeError, match="KeyError: 'no such work'"):
            child.ask("time", work="no such work", seconds=0.001)
        first = child.ask("first", work="mlp_b1")
        assert 0 <= first["cpu"] < 60
        assert first["seconds"] > 0
        # At least the scores and the activations of the hidden layers are in memory when backward begins.
        assert child.ask("peak", work="mlp_train_b64") > 64 * (256 + 128 + 10) * 4
    finally:
        child.close()


def test_a_child_process_that_ends_reports_its_error(tmp_path):
    child = module("peers").Child(sys.executable, "no_such_library", 1, tmp_path)
    with pytest.raises(RuntimeError, match="the process ended with 1: ModuleNotFoundError"):
        child.ask("version")
    child.close()


def test_unknown_workloads_are_rejected_by_name():
    command = [sys.executable, str(ROOT / "benchmarks" / "peers.py"), "--only", "mlp_b1,mlp_b2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown workloads mlp_b2" in done.stderr
