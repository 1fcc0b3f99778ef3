"""The usual service around an ONNX file: uvicorn runs it, onnxruntime answers. ONNX_FILE names the model."""

import json
import os

import numpy
import onnxruntime

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(os.environ["ONNX_FILE"], options, providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name


async def app(scope, receive, send):
    body, more = b"", True
    while scope["type"] == "http" and more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if scope["type"] != "http":
        return
    rows = numpy.asarray(json.loads(body)["inputs"], dtype=numpy.float32)
    labels = session.run(["label"], {name: rows})[0]
    answer = json.dumps({"predictions": labels.tolist()}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]})
    await send({"type": "http.response.body", "body": answer})
