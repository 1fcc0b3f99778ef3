"""The same model as onnx_app.py has it, behind BentoML: its worker, its checks of what comes, its JSON."""

import os

import bentoml
import numpy
import onnxruntime


@bentoml.service(workers=1)
class Answers:
    def __init__(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(os.environ["ONNX_FILE"], options, providers=["CPUExecutionProvider"])
        self.input = self.session.get_inputs()[0].name

    @bentoml.api(route="/invocations")
    def predict(self, inputs: list[list[float]]) -> dict[str, list[str]]:
        rows = numpy.asarray(inputs, dtype=numpy.float32)
        return {"predictions": [str(label) for label in self.session.run(["label"], {self.input: rows})[0]]}
