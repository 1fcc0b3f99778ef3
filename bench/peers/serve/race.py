#!/usr/bin/env python3
"""Usage: race.py PROGRAM MODEL ROWS.csv --python VENV/bin/python [--rounds N] [--seconds S] [--out FILE]

Races lamina serve against MLflow's scoring server, BentoML, and uvicorn with onnxruntime. They run one after the
other in each round, on loopback with wrk beside them.

VENV has mlflow, bentoml, onnx, onnxruntime, uvicorn, uvloop and httptools. Each line of the result is a measurement in
JSON: requests, rows and latencies by wrk, the server's memory and processor time for a request. The machine's load
before it is there, too. Bodies: one row as JSON; 64 rows as JSON; for lamina 64 rows as a binary tensor of FP32, too.
All answers are compared with lamina predict first.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).parent


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def children(pid):
    found = [pid]
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += children(int(path.parent.name))
    return found


def used(pids):
    seconds, kb = 0.0, 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        kb += int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
    return seconds, kb


def ask(url, body, headers):
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
        return answer.read()


def start(command, url, environment):
    begin = time.monotonic()
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).read()
        except urllib.error.HTTPError:
            pass
        except OSError:
            if time.monotonic() - begin > 120 or process.poll() is not None:
                sys.exit(f"{command} did not start")
            time.sleep(0.002)
            continue
        return process, time.monotonic() - begin


def wrk(url, body, headers, connections, seconds, folder):
    (folder / "body").write_bytes(body)
    lines = "".join(f'wrk.headers["{name}"] = "{value}"\n' for name, value in headers.items())
    (folder / "ask.lua").write_text(f'local file = io.open("{folder}/body", "rb")\nwrk.body = file:read("*a")\nwrk.method = "POST"\n{lines}'
                                    "done = function(summary, latency, requests)\n"
                                    'print(string.format("RESULT %d %d %d %f %f %f", summary.requests, summary.duration, '
                                    "summary.errors.status + summary.errors.read + summary.errors.write + summary.errors.timeout + summary.errors.connect, "
                                    "latency:percentile(50), latency:percentile(99), latency.mean))\nend\n")
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", folder / "ask.lua", url], capture_output=True, text=True, check=True).stdout
    requests, duration, errors, p50, p99, mean = map(float, re.search(r"RESULT (.*)", out)[1].split())
    return {"requests_per_s": round(requests / duration * 1e6), "errors": int(errors), "p50_us": p50, "p99_us": p99, "mean_us": round(mean, 1), "requests": int(requests)}


def labels_of(body):
    """The labels of a server's answer: of its predictions, of MLflow's output "label", or of a tensor "label"."""
    answer = json.loads(body)
    found = answer["predictions"] if "predictions" in answer else next(tensor["data"] for tensor in answer["outputs"] if tensor["name"] == "label")
    return [str(label) for label in (found["label"] if isinstance(found, dict) else found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("rows")
    parser.add_argument("--python")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default="-")
    options = parser.parse_args()
    out = sys.stdout if options.out == "-" else open(options.out, "a", encoding="utf-8")
    rows = [[float(cell) for cell in line.split(",")] for line in pathlib.Path(options.rows).read_text().splitlines()][:64]
    with tempfile.TemporaryDirectory() as temporary:
        given = pathlib.Path(temporary) / "rows.csv"
        given.write_text("".join(",".join(map(repr, row)) + "\n" for row in rows))
        said = subprocess.run([options.program, "predict", options.model, given], check=True, capture_output=True, text=True).stdout
    expected = [line.split(",")[0] for line in said.splitlines()[1:]]
    as_json = lambda count: json.dumps({"inputs": [[int(x) if x == int(x) else x for x in row] for row in rows[:count]]}, separators=(",", ":")).encode()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tensor = {"name": "input", "datatype": "FP32", "shape": [len(rows), len(rows[0])]}
        data = struct.pack(f"<{len(rows) * len(rows[0])}f", *(x for row in rows for x in row))
        head = json.dumps({"inputs": [{**tensor, "parameters": {"binary_data_size": len(data)}}], "outputs": [{"name": "label"}]}).encode()
        kind = {"Content-Type": "application/json"}
        binary = ("64 rows, binary", head + data, {"Inference-Header-Content-Length": str(len(head))}, 64)
        bodies = [("1 row", as_json(1), kind, 1), ("64 rows", as_json(64), kind, 64)]
        servers = {"lamina": [options.program, "serve", f"m={options.model}", "--threads", str(options.threads), "--port"]}
        environment = {}
        if options.python:
            onnx = folder / "m.onnx"
            subprocess.run([options.program, "export", "--onnx", options.model, "-o", onnx], check=True, stdout=subprocess.DEVNULL)
            environment = {"ONNX_FILE": str(onnx), "PYTHONPATH": str(HERE), "MLFLOW_TRACKING_URI": f"file:{folder}/runs"}
            # Without a signature MLflow hands numbers over as FP64, which the network refuses.
            save = ("import mlflow.onnx, mlflow.models, numpy, onnx; "
                    f"signature = mlflow.models.infer_signature(numpy.zeros((2, {len(rows[0])}), numpy.float32)); "
                    f"mlflow.onnx.save_model(onnx.load('{onnx}'), '{folder}/mlflow', signature=signature)")
            subprocess.run([options.python, "-c", save], check=True, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            venv = str(pathlib.Path(options.python).parent)
            environment["PATH"] = f"{venv}:{os.environ['PATH']}"
            servers["uvicorn+onnxruntime"] = [options.python, "-m", "uvicorn", "onnx_app:app", "--log-level", "warning", "--no-access-log", "--port"]
            servers["bentoml"] = [f"{venv}/bentoml", "serve", "bento_app:Answers", "--working-dir", str(HERE), "--host", "127.0.0.1", "--port"]
            servers["mlflow"] = [f"{venv}/mlflow", "models", "serve", "-m", f"{folder}/mlflow", "--env-manager", "local", "--workers", "1", "--port"]
        for round_ in range(options.rounds):
            for name, command in servers.items():
                port = free_port()
                process, ready = start([*map(str, command), str(port)], f"http://127.0.0.1:{port}/ping", environment)
                try:
                    for what, body, headers, count in bodies + ([binary] if name == "lamina" else []):
                        path = "/v2/models/m/infer" if what.endswith("binary") else "/invocations"
                        url = f"http://127.0.0.1:{port}{path}"
                        if labels_of(ask(url, body, headers)) != expected[:count]:
                            sys.exit(f"{name} answers {what} otherwise than lamina predict")
                        for connections in (1, 64):
                            load = os.getloadavg()[0]
                            pids = children(process.pid)
                            before, _ = used(pids)
                            result = wrk(url, body, headers, connections, options.seconds, folder)
                            after, kb = used(pids)
                            result.update(server=name, round=round_, body=what, connections=connections, rows_per_s=result["requests_per_s"] * count,
                                          server_us_per_request=round((after - before) / max(1, result["requests"]) * 1e6, 1), memory_kb=kb,
                                          ready_ms=round(ready * 1000, 1), load_before=round(load, 1), threads=options.threads)
                            print(json.dumps(result), file=out, flush=True)
                finally:
                    for pid in children(process.pid):  # workers of BentoML have groups of their own
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    process.wait()


if __name__ == "__main__":
    main()
