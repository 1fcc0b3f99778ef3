"""Checks and runs ONNX files: answers lines of JSON (talker.py).

Needs onnx, onnxruntime, numpy.

A line has "model", a path, and "inputs": name -> rows of numbers or texts. The answer has "outputs" (name -> values)
and "operators", or "error" where it could not be run.
"""

import json
import sys

import numpy
import onnx
import onnxruntime

TYPES = {"tensor(float)": numpy.float32, "tensor(double)": numpy.float64, "tensor(string)": object}


def run(path, inputs):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {}
    for entry in session.get_inputs():
        rows = [[float("nan") if field is None else field for field in row] for row in inputs[entry.name]]
        feeds[entry.name] = numpy.array(rows, dtype=TYPES[entry.type])
    result = {"operators": sorted({node.op_type for node in model.graph.node}),
              "types": {entry.name: entry.type for entry in session.get_inputs() + session.get_outputs()},
              "metadata": {entry.key: entry.value for entry in model.metadata_props}}
    try:
        outputs = session.run(None, feeds)
        result["outputs"] = {entry.name: value.tolist() for entry, value in zip(session.get_outputs(), outputs)}
    except Exception as error:  # pylint: disable=broad-except
        result["error"] = str(error)
    return result


onnxruntime.set_default_logger_severity(4)
for line in sys.stdin:
    given = json.loads(line)
    print(json.dumps(run(given["model"], given["inputs"])), flush=True)
