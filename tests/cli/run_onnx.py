"""Usage: run_onnx.py MODEL < inputs.json > outputs.json: checks an ONNX file and runs it.

Needs onnx, onnxruntime, numpy.

inputs: name -> rows of numbers or texts. The result has "outputs" (name -> values) and "operators", or "error" where it
could not be run.
"""

import json
import sys

import numpy
import onnx
import onnxruntime

model = onnx.load(sys.argv[1])
onnx.checker.check_model(model, full_check=True)
onnxruntime.set_default_logger_severity(4)
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
types = {"tensor(float)": numpy.float32, "tensor(double)": numpy.float64, "tensor(string)": object}
given = json.load(sys.stdin)
feeds = {}
for entry in session.get_inputs():
    rows = [[float("nan") if field is None else field for field in row] for row in given[entry.name]]
    feeds[entry.name] = numpy.array(rows, dtype=types[entry.type])
result = {"operators": sorted({node.op_type for node in model.graph.node}),
          "types": {entry.name: entry.type for entry in session.get_inputs() + session.get_outputs()},
          "metadata": {entry.key: entry.value for entry in model.metadata_props}}
try:
    outputs = session.run(None, feeds)
    result["outputs"] = {entry.name: value.tolist() for entry, value in zip(session.get_outputs(), outputs)}
except Exception as error:  # pylint: disable=broad-except
    result["error"] = str(error)
json.dump(result, sys.stdout)
