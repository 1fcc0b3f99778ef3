"""lamina serve: the protocols, the words of the program, doors and secrets."""

import json
import os
import random
import re
import struct

from lamina_cli import main
from serve_door import ServeCase

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


class ServeTest(ServeCase):
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

    def test_numbers_are_the_same_in_json_and_in_csv(self):
        self.numbers("n")
        service = self.serve("n")
        drawn = random.Random(7)
        digits = lambda count: "".join(drawn.choice("0123456789") for _ in range(count)).lstrip("0") or "0"
        spellings = ["0", "-0", "0.0", "-0.5", "1e0", "1E+2", "2.5e-3", "123456789012345", "1234567890123456", "0.1234567890123456", "-99999.99999"]
        spellings += [drawn.choice(("", "-")) + digits(drawn.randint(1, 5)) + "." + "".join(drawn.choice("0123456789") for _ in range(drawn.randint(1, 14)))
                      for _ in range(400)]
        for between in (",", ", ", " ,\n"):
            body = "[" + between.join(f"[{one}{between}{two}]" for one, two in zip(spellings, reversed(spellings))) + "]"
            status, answer = service.post("/predict", body)
            self.assertEqual(status, 200, answer)
            text = service.csv("/predict", "x1,x2\n" + "".join(f"{one},{two}\n" for one, two in zip(spellings, reversed(spellings))))[1]
            for line, got in zip(text.splitlines()[1:], answer["answers"], strict=True):
                self.assertEqual(float(line.split(",")[0]), float(got["y"]))
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


if __name__ == "__main__":
    main()
