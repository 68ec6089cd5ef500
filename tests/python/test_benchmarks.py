"""benchmarks/peers.py: the tables and the plot from given figures, and the process that answers for a library."""

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
    """The cells of each line of the tables, by the first."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


def cells(text):
    return text.split("|")


def test_a_row_has_every_peer_and_what_follows_from_the_figures():
    found = rows(module("peers_table").times_table("2", figures()["times"]["2"]))
    # torch, torch.compile, JAX, ONNX Runtime, OpenVINO, eager, compiled; beside, ratio, at most, verdict; over eager;
    # share of the limit, at least, verdict.
    assert found["add1_8"] == cells("4.00||2.00|||0.25|0.50|torch|0.12|0.1|missed|2.00|||")
    assert found["softmax_1m"] == cells("400|300||||200|150|torch.compile|0.50|0.6||0.75|0.90|0.85|")
    assert found["layernorm_1m"] == cells("100||||||90.0|torch|0.90|0.75|missed||1.50|0.85|")
    # A twelfth of the product's operations, at 900 us for all of them.
    assert found["mlp_b64"] == cells("|||160|200|120|80.0|ONNX Runtime|0.50|||0.67|1.26||")
    # What was not compiled has no figure, and meets no aim.
    assert found["gptmini_b8"] == cells("16,384|||||9,000||||0.8|missed||||")


def test_a_title_counts_the_aims_and_a_line_names_the_limits():
    text = module("peers_table").times_table("2", figures()["times"]["2"])
    assert text.startswith("### 2 threads: 3 of 6 aims met\n")
    assert text.endswith(
        "The limits of this run: 62 GB/s in a copy that moves 8 MB (torch), 298 GFLOP/s in a product of 512³ (ours)."
    )


def test_the_page_has_the_tables_in_order_and_says_what_failed():
    text = module("peers_table").page(figures())
    titles = [line.split(":")[0] for line in text.splitlines() if line.startswith("#")]
    assert titles == [
        *("### 2 threads", "### 1 thread"),
        *("### To the first compiled result, from nothing", "### Memory of a step of training, MB"),
    ]
    assert text.startswith("2026-11-15, a CPU, 2 cores; jax 0.10.2, torch 2.13.0.\n")
    assert text.endswith("What failed in this run:\n- gptmini_b8, lucid-compiled: RuntimeError: not compiled")
    found = rows(text[text.index("### To the first") :])
    assert rows(module("peers_table").compiling_table(figures()["compiling"]))["lenet5_train_b64"] == [
        *("", "1.25", "0.75", "0.6", "missed"),
        *("", "1.50", "0.50"),
    ]
    assert found["lenet5_train_b64"] == ["4.00", "5.00", "2.00", "0.50", "0.7", ""]


def test_the_plot_has_a_bar_for_each_ratio_in_the_colour_of_its_aim():
    plot = module("plot")
    root = ElementTree.fromstring(plot.picture(figures()))
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert [word for word in words if word in plot.WORKLOADS] == ["add1_8", "softmax_1m", "layernorm_1m", "mlp_b64"]
    bars = [bar for bar in root.iter(f"{SVG}rect") if float(bar.get("height")) == plot.ROW - 8]
    assert [bar.get("fill") for bar in bars] == [plot.MISSED, plot.MET, plot.MISSED, plot.NO_AIM]
    ends = [plot.LEFT + float(bar.get("width")) for bar in bars]
    assert ends == pytest.approx([plot.place(ratio) for ratio in (0.125, 0.5, 0.9, 0.5)], abs=0.06)
    assert plot.place(1.0) - plot.place(0.5) == pytest.approx(plot.place(0.2) - plot.place(0.1))


def test_the_committed_page_and_plot_are_made_of_the_committed_figures():
    report, plot = module("report"), module("plot")
    kept = json.loads(plot.FIGURES.read_text())
    begin, end = "<!-- peers: begin -->\n", "\n<!-- peers: end -->"
    section = report.PAGE.read_text().split(begin)[1].split(end)[0]
    assert section == module("peers_table").page(kept)
    assert plot.FILE.read_text() == plot.picture(kept)


def test_operations_are_counted_as_the_papers_do():
    networks = module("workloads").NETWORKS
    assert networks["mlp"].flops == 2 * (784 * 256 + 256 * 128 + 128 * 10)
    assert networks["lenet5"].flops == 833_040
    assert networks["resnet18"].flops == pytest.approx(2 * 1.814e9, rel=1e-3)
    assert networks["gpt2"].flops == pytest.approx(2 * 124e6 * 64, rel=0.02)


def test_a_process_answers_for_a_library_and_survives_what_fails(tmp_path):
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
        # At least the scores and the activations of the hidden layers lie there when the backward pass begins.
        assert child.ask("peak", work="mlp_train_b64") > 64 * (256 + 128 + 10) * 4
    finally:
        child.close()


def test_a_process_that_ends_leaves_its_last_words(tmp_path):
    child = module("peers").Child(sys.executable, "no_such_library", 1, tmp_path)
    with pytest.raises(RuntimeError, match="the process ended with 1: ModuleNotFoundError"):
        child.ask("version")
    child.close()


def test_unknown_workloads_are_refused_by_name():
    command = [sys.executable, str(ROOT / "benchmarks" / "peers.py"), "--only", "mlp_b1,mlp_b2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no workload is called mlp_b2" in done.stderr
