"""Looking at models: check, verify, inspect."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import halite


def test_check_finds_with_the_line_of_the_model() -> None:
    report = halite.check("tiny", precision="bf16")
    assert not report and report.findings == halite.check("tiny", precision="bf16").findings
    placed = [finding for finding in report.findings if finding.file == "<blocks.hal>"]
    assert placed and all(finding.severity == "warning" and finding.line for finding in placed)
    assert placed[0].report in str(report)
    assert f"{len(report.findings)} finding" in report._repr_html_()


def test_check_counts_and_proves() -> None:
    report = halite.check("tiny")
    assert report and report.causality == "output `logits`: proven; loss: proven"
    assert report.checked["weights"] == 21 and report.checked["moments"] == 42
    (stream,) = report.streams
    assert stream.start_std and all(branch.std for branch in stream.branches)


@pytest.fixture(scope="module")
def verified() -> halite.VerifyReport:
    return halite.verify("tiny", role="forward")


def test_verify_compares_on_xla(verified: halite.VerifyReport) -> None:
    assert verified and verified.passed
    assert {row.name for row in verified.rows} == {"logits"}
    assert all(row.error <= row.allowed or row.draws > 1 for row in verified.rows)
    assert verified.causality and verified.causality["leak"] is None
    assert "passed: 1 results" in str(verified) and "<table>" in verified._repr_html_()


def test_verify_writes_nothing_to_the_terminal() -> None:
    program = "import halite, os; halite.verify('tiny', role='eval'); print(os.environ.get('TF_CPP_MIN_LOG_LEVEL'))"
    environment = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("None\n", "")


def test_inspect_counts_what_the_modules_hold(tiny: halite.Bundle) -> None:
    found = halite.inspect("tiny", depth=3)
    assert found == halite.Inspection("tiny", halite.inspect(tiny, depth=3).modules, found.groups, None)
    for module in found.modules:
        for by in (module.by_op, module.by_scope):
            assert sum(own.flops for own in by.values()) == module.total.flops
            assert [own.flops for own in by.values()] == sorted((own.flops for own in by.values()), reverse=True)
    (group,) = found.groups
    assert (group.rule, group.elements) == ("adamw", tiny.manifest.statistics.parameters)


def test_inspect_places_on_a_mesh() -> None:
    placement = halite.inspect("tiny", parallel={"data": 2, "tensor": 2}).placement
    assert placement and placement.axes == {"data": 2, "tensor": 2}
    assert placement.axes["tensor"] == placement.axes["data"] == 2
    assert any(("tensor",) in row.axes for row in placement.buffers)
    assert all(len(row.axes) == len(row.shape) for row in placement.buffers)
    assert {row.axes for row in placement.traffic} >= {("data",), ("tensor",)}
    assert {row.op for row in placement.traffic} >= {"all_reduce"} and all(row.bytes > 0 for row in placement.traffic)


def test_tables_line_up_and_html_is_closed() -> None:
    found = halite.inspect("tiny")
    for table in str(found).split("\n\n"):
        head, line, *rows = table.splitlines()
        assert [match.end() for match in re.finditer("─+", line)][-1] == max(map(len, (head, *rows)))
    html = found._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 3
