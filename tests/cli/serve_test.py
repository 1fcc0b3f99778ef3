"""lamina serve: the protocols, the words of the program, new models, limits, hostile requests and the end."""

import json
import os
import re
import shutil
import struct
import threading
import time
import unittest

import serve_door
from lamina_cli import CliTest, blob_rows, linear_rows, main
from serve_door import Service

# The types of the Open Inference Protocol's description (predict_v2, REST).
# A "$" before a name marks an object's optional member.
TENSOR_TYPES = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES"}
PROTOCOL = {
    "server": {"name": str, "version": str, "extensions": [str]},
    "model": {"name": str, "$versions": [str], "platform": str, "inputs": ["metadata_tensor"], "outputs": ["metadata_tensor"]},
    "metadata_tensor": {"name": str, "datatype": TENSOR_TYPES, "shape": [int]},
    "inference": {"model_name": str, "$model_version": str, "$id": str, "$parameters": dict, "outputs": ["response_output"]},
    "response_output": {"name": str, "shape": [int], "datatype": TENSOR_TYPES, "$parameters": dict, "data": list},
    "error": {"error": str},
}


def nonconforming(value, kind, where="answer"):
    """What of `value` is not as the protocol says, a line each."""
    if isinstance(kind, str):
        kind = PROTOCOL[kind]
    if isinstance(kind, set):
        return [] if value in kind else [f"{where}: {value!r} is none of {sorted(kind)}"]
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [line for i, item in enumerate(value) for line in nonconforming(item, kind[0], f"{where}[{i}]")]
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return [f"{where}: no object"]
        known = {name.lstrip("$"): part for name, part in kind.items()}
        lines = [f"{where}: {name} is missing" for name in kind if not name.startswith("$") and name not in value]
        lines += [f"{where}: {name} is not known" for name in value if name not in known]
        return lines + [line for name in value if name in known for line in nonconforming(value[name], known[name], f"{where}.{name}")]
    return [] if isinstance(value, kind) and not (kind is int and isinstance(value, bool)) else [f"{where}: {value!r} is no {kind.__name__}"]


@unittest.skipUnless(serve_door.is_there(), "the program was built without its service (Boost.Beast)")
class ServeTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("blobs.csv", blob_rows())
        self.write("line.csv", linear_rows())

    def classes(self, name="m", *more):
        self.train("blobs.csv", "--target", "answer", "--epochs", "20", "--hidden", "4", "--seed", "1", "--model", name, *more)
        return name

    def numbers(self, name="n", *more):
        self.train("line.csv", "--target", "y", "--epochs", "20", "--hidden", "4", "--seed", "1", "--intervals", "0.8", "--model", name, *more)
        return name

    def serve(self, *arguments, **options):
        service = Service(self.folder, *arguments, **options)
        self.addCleanup(service.__exit__, None)
        return service

    def ended(self, service, says=""):
        code, err = service.stop()
        self.assertEqual((code, err if not says else says in err), (0, "" if not says else True), err)

    def conforms(self, value, kind):
        self.assertEqual(nonconforming(value, kind), [])

    # Protocols

    def test_predict_answers_as_the_program_does(self):
        self.classes("m")
        self.numbers("n")
        self.write("new.csv", "b,a\n0.5,0.1\n-3,4\n,1\n")
        self.write("rows.csv", "x1,x2\n1,2\n-2,9\n1e6,3\nabc,1\n")
        service = self.serve("m", "n")
        for model, file, flag in (("m", "new.csv", "probabilities"), ("n", "rows.csv", "intervals")):
            said = self.run_program("predict", model, file, f"--{flag}")
            status, text = service.csv(f"/predict?model={model}&{flag}=1", self.read(file))
            self.assertEqual((status, text.count("\n"), text.splitlines()[0]), (200, said.out.count("\n"), said.out.splitlines()[0]))
            for one, two in zip(re.split("[,\n]", text), re.split("[,\n]", said.out)):
                self.assertTrue(one == two or abs(float(one) - float(two)) <= 1e-6 * (1 + abs(float(two))), (text, said.out))
            rows = [line.split(",") for line in self.read(file).splitlines()]
            objects = [{name: cell for name, cell in zip(rows[0], row)} for row in rows[1:]]
            status, answer = service.post(f"/predict?model={model}", {"rows": objects, flag: True})
            self.assertEqual(status, 200, answer)
            names = said.out.splitlines()[0].split(",")
            for expected, got in zip(said.out.splitlines()[1:], answer["answers"]):
                self.assertEqual(list(got), names)
                for one, two in zip(expected.split(","), got.values()):
                    self.assertTrue(one == str(two) or abs(float(one) - float(two)) <= 1e-6 * (1 + abs(float(two))), (expected, got))
            notes = [re.sub("note: ", "", line) for line in said.err.splitlines() if line.startswith("note: ")]
            self.assertEqual(answer["notes"], notes)
        status, answer = service.post("/predict?model=n", [[1, 2], [-2.0, "9"]])
        self.assertEqual(status, 200)
        self.assertEqual(len(answer["answers"]), 2)
        self.ended(service)

    def test_refusals_are_in_the_words_of_the_program(self):
        self.classes("m", "--missing", "error")
        service = self.serve("m")
        self.write("bad.csv", "a,b\n1,2\n,3\n")
        said = self.run_program("predict", "m", "bad.csv").err
        status, answer = service.post("/predict", {"rows": [{"a": 1, "b": 2}, {"a": None, "b": 3}]})
        self.assertEqual(status, 400)
        for words in ("column 'a'", "missing value", "Fill such cells in with --missing mean"):
            self.assertIn(words, said)
            self.assertIn(words, answer["error"])
        self.write("other.csv", "a,c\n1,2\n")
        said = self.run_program("predict", "m", "other.csv").err
        status, answer = service.csv("/predict", self.read("other.csv"))
        self.assertEqual(status, 400)
        self.assertEqual(json.loads(answer)["error"].removeprefix("request"), said.strip().removeprefix("lamina: error: other.csv"))
        for body, words in (({"rowz": []}, 'Did you mean \'rows\'?'), ({"rows": []}, "no rows"), ([[1]], "1"), ("{", "no JSON"),
                            ('[[1, 2]] x', "behind the end"), ([[1, 2], [3]], "row 1 (counted from 0) has 1 values, not 2"),
                            ('{"rows": [{"a": 1, "a": 2}]}', "twice"), ("[[1, 1e400]]", "too large"), ("[[1, -]]", "digit"),
                            ({"rows": [[1, 2]], "intervals": True}, "no intervals")):
            status, answer = service.post("/predict", body)
            self.assertEqual(status, 400, body)
            self.assertIn(words, answer["error"], body)
        self.assertIn("too many lists", service.post("/invocations", '{"params":' + "[" * 100)[1]["message"])
        self.assertEqual(service.ask("POST", "/predict", b"x", Content_Type="image/png")[0], 415)
        self.assertEqual(service.ask("POST", "/predict", b"[[1,2]]", Content_Type="application/x-www-form-urlencoded")[0], 200)  # curl -d
        self.ended(service)

    def test_open_inference_protocol(self):
        self.classes("m")
        self.numbers("n")
        service = self.serve("m", "n")
        for path, kind in (("/v2", "server"), ("/v2/models/m", "model"), ("/v2/models/n/versions/1", "model")):
            status, text = service.get(path)
            self.assertEqual(status, 200)
            self.conforms(json.loads(text), kind)
        for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/m/ready", "/v2/models/n/versions/1/ready", "/ping"):
            self.assertEqual(service.get(path)[0], 200, path)
        rows = [[0.1, 0.5], [4, -3]]
        flat = {"name": "input", "datatype": "FP64", "shape": [2, 2], "data": [0.1, 0.5, 4, -3]}
        nested = {**flat, "datatype": "FP32", "data": rows}
        columns = [{"name": "b", "datatype": "FP64", "shape": [2, 1], "data": [0.5, -3]}, {"name": "a", "datatype": "FP64", "shape": [2], "data": [0.1, 4]}]
        first = None
        for inputs in ([flat], [nested], columns):
            status, answer = service.post("/v2/models/m/infer", {"id": "7", "inputs": inputs})
            self.assertEqual(status, 200, answer)
            self.conforms(answer, "inference")
            self.assertEqual((answer["id"], answer["model_name"]), ("7", "m"))
            first = first or answer
            self.assertEqual(answer, first)
        labels, outputs = first["outputs"]
        self.assertEqual((labels["name"], labels["shape"], labels["data"]), ("label", [2], ["no", "yes"]))
        self.assertEqual((outputs["shape"], len(outputs["data"])), ([2, 2], 4))
        _, answer = service.post("/v2/models/m/infer", {"inputs": [flat], "outputs": [{"name": "label"}]})
        self.assertEqual(answer["outputs"], [labels])
        _, answer = service.post("/v2/models/n/versions/1/infer", {"inputs": [flat]})
        self.conforms(answer, "inference")
        self.assertEqual([tensor["name"] for tensor in answer["outputs"]], ["prediction", "lower", "upper"])
        bad = [({}, "no inputs"), ({"inputs": [{**flat, "shape": [3, 2]}]}, "4 elements"), ({"inputs": [{**flat, "datatype": "FP8"}]}, "FP8"),
               ({"inputs": [{**flat, "data": ["x", 1, 2, 3]}]}, "'x' is no FP64"), ({"inputs": [flat], "outputs": [{"name": "z"}]}, "no output 'z'"),
               ({"inputs": [{**flat, "shape": [2, 2], "data": [1]}]}, "1 elements"), ({"inputs": [{**flat, "shape": [-1, 2]}]}, "whole number"),
               ({"inputs": [{**flat, "shape": [1 << 40, 1 << 40]}]}, "elements")]
        for body, words in bad:
            status, answer = service.post("/v2/models/m/infer", body)
            self.assertEqual(status, 400, body)
            self.conforms(answer, "error")
            self.assertIn(words, answer["error"])
        self.assertEqual(service.post("/v2/models/q/infer", {})[0], 404)
        self.assertEqual(service.post("/v2/models/m/versions/2/infer", {})[0], 404)
        self.assertEqual(service.get("/v2/models/m/infer")[0], 405)
        self.ended(service)

    def test_binary_tensors(self):
        self.classes("m")
        service = self.serve("m")
        def ask(values, form, datatype, **extra):
            data = struct.pack(f"<{len(values)}{form}", *values)
            tensor = {"name": "input", "datatype": datatype, "shape": [2, 2], "parameters": {"binary_data_size": len(data)}}
            head = json.dumps({"inputs": [tensor], **extra}).encode()
            return service.ask("POST", "/v2/models/m/infer", head + data, Inference_Header_Content_Length=str(len(head)))
        for form, datatype in (("d", "FP64"), ("f", "FP32"), ("e", "FP16"), ("i", "INT32"), ("b", "INT8"), ("q", "INT64")):
            status, _, body = ask([1, 2, 4, -3], form, datatype)
            self.assertEqual(status, 200, body)
            plain = service.post("/v2/models/m/infer", {"inputs": [{"name": "i", "datatype": "FP64", "shape": [2, 2], "data": [1, 2, 4, -3]}]})[1]
            self.assertEqual(json.loads(body), plain)
        status, headers, body = ask([1, 2, 4, -3], "d", "FP64", parameters={"binary_data_output": True})
        length = int(headers["Inference-Header-Content-Length"])
        head = json.loads(body[:length])
        sizes = [tensor["parameters"]["binary_data_size"] for tensor in head["outputs"]]
        self.assertEqual(length + sum(sizes), len(body))
        (first,) = struct.unpack_from("<I", body, length)
        self.assertEqual(body[length + 4:length + 4 + first].decode(), plain["outputs"][0]["data"][0])
        outputs = struct.unpack_from("<4d", body, length + sizes[0])
        for one, two in zip(outputs, plain["outputs"][1]["data"]):
            self.assertAlmostEqual(one, two, 8)
        self.assertEqual(ask([1, 2, 4], "d", "FP64")[0], 400)
        self.assertEqual(service.ask("POST", "/v2/models/m/infer", b"{}", Inference_Header_Content_Length="99")[0], 400)
        self.ended(service)

    def test_mlflow(self):
        self.classes("m")
        service = self.serve("m")
        split = {"dataframe_split": {"index": [0, 1], "columns": ["b", "a"], "data": [[0.5, 0.1], [-3, 4]]}}
        records = {"dataframe_records": [{"a": 0.1, "b": 0.5}, {"a": 4, "b": -3}]}
        unnamed = {"dataframe_split": {"columns": [0, 1], "data": [[0.1, 0.5], [4, -3]]}}  # pandas, where nobody gave names
        for body in (split, unnamed, records, {"instances": [[0.1, 0.5], [4, -3]]}, {"inputs": {"a": [0.1, 4], "b": [0.5, -3]}},
                     {"inputs": {"a": [[0.1], [4]], "b": [[0.5], [-3]]}, "params": {"x": 1}}):
            self.assertEqual(service.post("/invocations", body), (200, {"predictions": ["no", "yes"]}), body)
        self.assertEqual(service.csv("/invocations", "a,b\n0.1,0.5\n4,-3\n"), (200, '{"predictions":["no","yes"]}'))
        status, answer = service.post("/invocations", {"data": []})
        self.assertEqual((status, answer["error_code"]), (400, "BAD_REQUEST"))
        self.ended(service)

    def test_page_description_and_counts(self):
        self.train("blobs.csv", "--target", "answer", "--epochs", "20", "--hidden", "4", "--model", "m")
        service = self.serve("m")
        self.succeed("export", "--html", "m", "-o", "page.html")
        self.assertEqual(service.get("/"), (200, self.read("page.html")))
        status, headers, body = service.ask("HEAD", "/")
        self.assertEqual((status, body, int(headers["Content-Length"])), (200, b"", len(self.read("page.html").encode())))
        api = json.loads(service.get("/openapi.json")[1])
        for path, operations in api["paths"].items():  # every address is there, and takes what it says
            for method in operations:
                status = service.ask(method.upper(), path.replace("{model}", "m").replace("{version}", "1"), "{}" if method == "post" else None)[0]
                self.assertIn(status, (200, 400), path)
        example = api["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["examples"]["m"]["value"]
        self.assertEqual(service.post("/predict", example)[0], 200)
        before = service.metric("rows_total", model="m")
        service.post("/predict", {"rows": [{"a": 1, "b": None}, {"a": 1000, "b": 1}]})
        self.assertEqual(service.metric("rows_total", model="m"), before + 2)
        self.assertEqual(service.metric("missing_values_total", model="m"), 1)
        self.assertEqual(service.metric("far_values_total", model="m"), 1)
        self.assertGreater(service.metric("drift_psi", model="m", column="a"), 0.25)
        counted = [service.metric("request_seconds_count", endpoint="predict"), service.metric("request_seconds_bucket", endpoint="predict", le="+Inf")]
        self.assertEqual(counted, [service.metric("requests_total", endpoint="predict", status="2xx") + service.metric("requests_total", endpoint="predict", status="4xx")] * 2)
        self.assertEqual(service.get("/nothing")[0], 404)
        self.ended(service)

    def test_drift_is_that_of_the_program(self):
        self.classes("m")
        text = "".join(f"{0.1 * i},{i % 7 - 9}\n" for i in range(50))
        self.write("moved.csv", "a,b\n" + text)
        drifts = json.loads(self.succeed("drift", "m", "moved.csv", "--json", "-").out)["columns"]
        service = self.serve("m", "--threads", "2")
        rows = [[float(cell) for cell in line.split(",")] for line in text.splitlines()]
        service.csv("/predict", "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows[:20]))
        service.post("/predict", rows[20:])
        for drift in drifts:
            self.assertAlmostEqual(service.metric("drift_psi", model="m", column=drift["column"]), drift["psi"], 9)
        self.ended(service)

    # Doors and secrets

    def test_token(self):
        self.classes("m")
        self.write("token", "open sesame\nnot this\n")
        service = self.serve("m", "--token", "@token")
        self.assertEqual(service.get("/v2/health/live")[0], 200)
        for path in ("/", "/metrics", "/v2", "/openapi.json"):
            status, headers, _ = service.ask("GET", path)
            self.assertEqual(status, 401)
            self.assertIn("Basic", headers["WWW-Authenticate"])
        self.assertEqual(service.get("/metrics", Authorization="Bearer open sesam")[0], 401)
        self.assertEqual(service.get("/metrics", Authorization="Bearer open sesame")[0], 200)
        self.assertEqual(service.get("/metrics", Authorization="Basic eDpvcGVuIHNlc2FtZQ==")[0], 200)  # x:open sesame
        self.assertEqual(service.post("/predict", [[1, 2]])[0], 401)
        self.ended(service)

    def test_unix_socket(self):
        self.classes("m")
        service = self.serve("m", "--socket", "s")
        self.assertEqual(service.get("/v2/health/ready")[0], 200)
        self.assertIn("another process listens there", self.run_program("serve", "m", "--socket", "s").err)
        self.ended(service)
        self.assertFalse(os.path.exists(self.path("s")))
        self.write("file", "mine")
        self.refuse("serve", "m", "--socket", "file", says="is no socket")

    def test_a_log_is_appended_to(self):
        self.classes("m")
        self.write("log", "a person's\n")
        service = self.serve("m", "--access-log", "log")
        service.get("/ping?<&\"", Host="x")
        self.ended(service)
        lines = self.read("log").splitlines()
        self.assertEqual((lines[0], len(lines)), ("a person's", 4))
        self.assertEqual({name: json.loads(lines[2])[name] for name in ("method", "target", "status", "rows")},
                         {"method": "GET", "target": "/ping?<&\"", "status": 200, "rows": 0})

    def test_usage(self):
        self.classes("m")
        self.refuse("serve", "mm", says="mm")
        self.write("empty", "")
        self.refuse("serve", "empty", says="empty")
        self.refuse("serve", "m", "m", says="two models are called 'm'")
        self.refuse("serve", "m", "--tokn", "x", says="--token")
        self.refuse("serve", "m", "--max-body", "many", says="many")
        self.refuse("serve", "m", "--host", "999.1.1.1", says="999.1.1.1")
        self.refuse("serve", "m", "--token", "@nothing", says="nothing")
        self.refuse("serve", "m", "--access-log", "no/folder/log", says="no/folder/log")
        self.assertEqual(self.succeed("serve", "--check", "m", "b=m").out, "m: 2-4-2, 2 columns of a row, 2 classes\nb: 2-4-2, 2 columns of a row, 2 classes\n")
        first = self.serve("m")
        self.refuse("serve", "m", "--port", str(first.port), says="choose another --port")
        self.ended(first)

    # New models

    def test_a_new_file_is_taken_without_a_lost_request(self):
        self.classes("m")
        self.numbers("other")
        shutil.copy(self.path("m"), self.path("old"))
        self.train("blobs.csv", "--target", "answer", "--epochs", "20", "--hidden", "9", "--model", "new")
        service = self.serve("m", "--reload", "0.1", "--access-log", "log")
        failed, asked, done = [], [0], threading.Event()

        def client():
            with service.connect() as plain:
                body = b'[[1,2]]'
                request = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
                while not done.is_set():
                    plain.sendall(request)
                    if not plain.recv(65536).startswith(b"HTTP/1.1 200"):
                        failed.append(1)
                    asked[0] += 1
        clients = [threading.Thread(target=client) for _ in range(4)]
        for each in clients:
            each.start()
        def until(name, value):
            end = time.monotonic() + 60
            while service.metric(name, model="m") != value:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
        for version, source in enumerate(("new", "old", "new"), 2):
            shutil.copy(self.path(source), self.path("m.part"))
            os.rename(self.path("m.part"), self.path("m"))
            until("model_version", version)
        self.write("m.part", os.urandom(3000))
        os.rename(self.path("m.part"), self.path("m"))
        until("model_reload_failures_total", 1)
        self.assertEqual(service.metric("model_version", model="m"), 4)
        done.set()
        for each in clients:
            each.join()
        self.assertEqual(failed, [])
        self.assertGreater(asked[0], 100)
        self.ended(service, says="the new file was refused, version 4 answers on")
        events = [json.loads(line) for line in self.read("log").splitlines() if '"event"' in line]
        self.assertEqual([event["event"] for event in events], ["start", "reload", "reload", "reload", "reload", "stop"])
        self.assertEqual(sum('"target":"/predict"' in line for line in self.read("log").splitlines()), asked[0])

    # Hostile requests

    def test_pipelined_requests_are_answered_in_order(self):
        self.classes("m")
        service = self.serve("m")
        body = b'{"rows":[{"a":1,"b":2}]}'
        one = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        two = b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n"
        last = b"GET /ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        with service.connect() as plain:
            plain.sendall((one + two) * 500 + last)
            got = b""
            while part := plain.recv(65536):
                got += part
        kinds = re.findall(rb'\{"(model|live|ready)"', got)
        self.assertEqual(kinds, [b"model", b"live"] * 500 + [b"ready"])
        self.ended(service)

    def test_slow_requests_end_and_do_not_keep_others(self):
        self.classes("m")
        service = self.serve("m", "--timeout", "0.5", "--idle", "1")
        start = time.monotonic()
        slow = [service.connect() for _ in range(300)]
        for i, plain in enumerate(slow):
            plain.sendall((b"POST /predict HTTP/1.1\r\nHost: x\r\n", b"POST /predict HTTP/1.1\r\nContent-Length: 9000\r\n\r\n[", b"")[i % 3])
        ends = {}
        while len(ends) < len(slow):  # a byte now and then changes nothing
            self.assertEqual(service.post("/predict", [[1, 2]])[0], 200)
            for i, plain in enumerate(slow):
                try:
                    if i in ends:
                        continue
                    if i % 3 < 2:
                        plain.send(b"X" if i % 3 == 0 else b" ")
                    plain.setblocking(False)
                    got = plain.recv(4096)
                    ends[i] = got[:12]
                except BlockingIOError:
                    plain.setblocking(True)
                except OSError:
                    ends[i] = b"gone"
            self.assertLess(time.monotonic() - start, 30)
            time.sleep(0.05)
        self.assertGreater(service.metric("timeouts_total"), 100)  # headers and bodies that never end
        self.assertIn(b"HTTP/1.1 408", ends.values())
        for plain in slow:
            plain.close()
        self.ended(service)

    def test_broken_requests_are_refused(self):
        self.classes("m")
        service = self.serve("m", "--max-body", "1000")
        head = b"POST /predict HTTP/1.1\r\nHost: x\r\n"
        for data, status in ((b"GARBAGE\r\n\r\n", 400), (b"GET / HTTP/9.9\r\n\r\n", 505), (head + b"Content-Length: x\r\n\r\n", 400),
                             (head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n[[1]]", 400), (head + b"Content-Length: -1\r\n\r\n", 400),
                             (head + b"Content-Length: 99999999999999999999\r\n\r\n", 400), (head + b"Content-Length: 1001\r\n\r\n", 413),
                             (head + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
                             (head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400), (head + b"Transfer-Encoding: chunked\r\n\r\n" + b"3e8\r\n" + b" " * 1000 + b"\r\n5\r\n12345\r\n", 413),
                             (b"GET / HTTP/1.1\r\nX: " + b"y" * 20000 + b"\r\n\r\n", 431), (b"GET x HTTP/1.1\r\nHost: x\r\n\r\n", 400),
                             (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400), (b"GET /\x01 HTTP/1.1\r\n\r\n", 400)):
            got = service.raw(data)
            self.assertTrue(got.startswith(b"HTTP/1.1 %d " % status), (data[:80], got[:200]))
        with service.connect() as plain:  # a wrong length: the rest is missing, and the peer goes
            plain.sendall(head + b"Content-Length: 100\r\n\r\n[[1,2]]")
        chunked = service.raw(head + b"Transfer-Encoding: chunked\r\n\r\n3\r\n[[1\r\n4\r\n,2]]\r\n0\r\n\r\n")
        self.assertTrue(chunked.startswith(b"HTTP/1.1 200"), chunked)
        with service.connect() as plain:
            plain.sendall(head + b"Expect: 100-continue\r\nContent-Length: 7\r\n\r\n")
            self.assertTrue(plain.recv(100).startswith(b"HTTP/1.1 100"))
            plain.sendall(b"[[1,2]]")
            self.assertTrue(plain.recv(1000).startswith(b"HTTP/1.1 200"))
        old = service.raw(b"GET /ping HTTP/1.0\r\n\r\n")
        self.assertIn(b"Connection: close", old)
        self.assertEqual(service.post("/predict", [[1, 2]])[0], 200)
        self.ended(service)

    def test_limits_of_connections_and_rows(self):
        self.classes("m")
        service = self.serve("m", "--max-connections", "5", "--threads", "1")
        kept = [service.connect() for _ in range(5)]
        for plain in kept:
            plain.sendall(b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertTrue(plain.recv(1000).startswith(b"HTTP/1.1 200"))
        with service.connect() as plain:
            got = plain.recv(1000)
            self.assertTrue(got.startswith(b"HTTP/1.1 503"), got)
            self.assertIn(b"Retry-After: 1", got)
        for plain in kept:
            plain.close()
        end = time.monotonic() + 30
        while service.raw(b"GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 503"):
            self.assertLess(time.monotonic(), end)
        self.ended(service)

    def test_a_full_disk_for_the_log_loses_lines_and_no_request(self):
        self.classes("m")
        service = self.serve("m", "--access-log", "/dev/full")
        for _ in range(20):
            self.assertEqual(service.post("/predict", [[1, 2]])[0], 200)
        end = time.monotonic() + 30
        while service.metric("log_lines_lost_total") < 20:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        self.ended(service)

    def test_sigterm_under_load_loses_nothing(self):
        self.classes("m")
        for _ in range(3):
            service = self.serve("m", "--threads", "2")
            outcomes, ready = [], threading.Barrier(21)

            def client():
                body = b"[[1,2],[3,4]]"
                request = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
                plain = service.connect()
                ready.wait()
                while True:
                    try:
                        plain.sendall(request)
                        got = plain.recv(65536)
                    except OSError:
                        got = b""
                    outcomes.append(got[:12])
                    if b"Connection: close" in got or not got:
                        plain.close()
                        return
            clients = [threading.Thread(target=client) for _ in range(20)]
            for each in clients:
                each.start()
            ready.wait()
            time.sleep(0.2)
            self.ended(service)
            for each in clients:
                each.join()
            self.assertGreater(len(outcomes), 40)
            self.assertEqual(set(outcomes), {b"HTTP/1.1 200"})

    def test_hundreds_of_connections_and_memory(self):
        self.classes("m")
        service = self.serve("m", "--max-connections", "2000")
        body = b"[[1,2]]"
        request = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        def round_of(count):
            plains = [service.connect() for _ in range(count)]
            for plain in plains:
                plain.sendall(request)
            for plain in plains:
                self.assertTrue(plain.recv(10000).startswith(b"HTTP/1.1 200"))
            for plain in plains:
                plain.close()
        for _ in range(3):
            round_of(400)
        before = service.memory_kb()
        for _ in range(10):
            round_of(400)
        self.assertLess(service.memory_kb(), before + 2000)
        self.ended(service)


if __name__ == "__main__":
    main()
