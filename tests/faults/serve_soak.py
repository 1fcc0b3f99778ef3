#!/usr/bin/env python3
"""Usage: serve_soak.py PROGRAM [--seconds N] [--rate N] [--out FILE]: an hour of lamina serve under mixed requests.

Two models are trained and served for N seconds (3,600), by N rounds a second (20). A round asks by every route, with
right and with broken bodies, over kept and new connections. Some clients stop in the middle of a request. Now and then
a model is replaced by rename, by garbage and back, and the access log is opened anew.

Each minute adds a line of JSON: requests, resident memory in kB, open files, threads. At the end SIGTERM comes while
requests run. It fails if an answer has another status than is due, or if the service does not end by itself with exit
status 0. It also fails if the resident memory or the number of open files grows after the first sixth of the time.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ALLOWED_GROWTH_KB = 1024  # of an allocator that keeps what it has

NUMBERS = "a,b,answer\n" + "".join(f"{i % 7},{i % 5},{'yes' if (i % 7) > (i % 5) else 'no'}\n" for i in range(300))
MIXED = "size,street,built,price\n" + "".join(
    f"{50 + i % 90},{('Elm', 'Oak', 'Ash')[i % 3]},{1990 + i % 30}-03-0{1 + i % 9},{100 + i % 90 * 3}\n" for i in range(300))

JSON = {"Content-Type": "application/json"}
CSV = {"Content-Type": "text/csv"}
# (path, headers, body, status)
REQUESTS = [
    ("/predict?model=numbers", JSON, b"[[1,2],[3,4]]", 200),
    ("/predict?model=numbers&probabilities=1", JSON, b'{"rows":[{"b":1,"a":2},{"a":5,"b":0}]}', 200),
    ("/predict?model=numbers", JSON, b'[[1,"2"],[null,4]]', None),
    ("/predict?model=numbers", JSON, b"[[1,2],[3", 400),
    ("/predict?model=numbers", JSON, b"[[1,2],[3]]", 400),
    ("/predict?model=mixed", CSV, b"size,street,built\n70,Elm,2001-03-01\n90,Nowhere,2004-03-02\n", 200),
    ("/predict?model=mixed", JSON, b'[{"size":70,"street":"Oak","built":"2001-03-01"}]', 200),
    ("/predict?model=mixed", CSV, b"size,street\n70,Elm\n", 400),
    ("/predict?model=nobody", JSON, b"[[1,2]]", 404),
    ("/invocations", JSON, b'{"inputs":[[1,2],[3,4]]}', 200),
    ("/v2/models/numbers/infer", JSON,
     b'{"inputs":[{"name":"input","datatype":"FP32","shape":[2,2],"data":[1,2,3,4]}]}', 200),
    ("/v2/models/numbers/infer", JSON, b'{"inputs":[{"name":"input","datatype":"FP32","shape":[2,2],"data":[1]}]}', 400),
    ("/predict?model=numbers", JSON, b"[" + b",".join([b"[1,2]"] * 5000) + b"]", 200),
]
PAGES = ["/metrics", "/openapi.json", "/", "/v2/models/mixed", "/ping"]


class Soak:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.findings, self.asked = [], 0
        self.rng = random.Random(1)
        for name, text, target in (("numbers", NUMBERS, "answer"), ("mixed", MIXED, "price")):
            (folder / f"{name}.csv").write_text(text)
            for epochs in (5, 6):
                subprocess.run([program, "train", folder / f"{name}.csv", "--target", target, "--recipe", "plain", "--hidden", "8", "--epochs",
                                str(epochs), "--model", folder / f"{name}-{epochs}"], check=True, stdout=subprocess.DEVNULL)
            shutil.copy(folder / f"{name}-5", folder / name)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([program, "serve", folder / "numbers", folder / "mixed", "--port", str(self.port), "--threads", "2",
                                         "--reload", "0.2", "--timeout", "2", "--access-log", folder / "log"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError):
                self.ask(self.connect(), "/ping", {}, None, 200)
                break
            if time.monotonic() > end:
                sys.exit("the service did not start")
            time.sleep(0.02)
        self.kept = self.connect()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, connection, path, headers, body, status):
        connection.request("GET" if body is None else "POST", path, body, headers)
        answer = connection.getresponse()
        answer.read()
        self.asked += 1
        if status is not None and answer.status != status:
            self.findings.append(f"{path} {body[:60] if body else ''}: {answer.status}, not {status}")

    def stop_in_the_middle(self):
        with socket.create_connection(("127.0.0.1", self.port)) as plain:
            plain.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n[[1,2],"[:self.rng.randrange(1, 70)])

    def replace(self, name, turn):
        source = self.folder / f"{name}-{5 + turn % 2}"
        part = self.folder / "next.part"
        part.write_bytes(os.urandom(3000) if turn % 5 == 4 else source.read_bytes())
        os.rename(part, self.folder / name)

    def round(self, turn):
        path, headers, body, status = REQUESTS[turn % len(REQUESTS)]
        self.ask(self.kept, path, headers, body, status)
        other = self.connect()
        self.ask(other, PAGES[turn % len(PAGES)], {}, None, 200)
        other.close()
        if turn % 10 == 0:
            self.stop_in_the_middle()
        if turn % 40 == 0:
            self.replace(self.rng.choice(("numbers", "mixed")), turn // 40)
        if turn % 400 == 0:
            os.rename(self.folder / "log", self.folder / "log.old")
            self.process.send_signal(signal.SIGHUP)

    def measured(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        value = lambda key: int(next(line for line in status.splitlines() if line.startswith(key)).split()[1])
        return {"requests": self.asked, "resident_kb": value("VmRSS:"), "files": len(os.listdir(f"/proc/{self.process.pid}/fd")),
                "threads": value("Threads:")}

    def end_under_load(self):
        def client():
            connection = self.connect()
            with contextlib.suppress(OSError, http.client.HTTPException):
                while True:
                    self.ask(connection, "/predict?model=numbers", JSON, b"[[1,2]]", None)
        clients = [threading.Thread(target=client) for _ in range(4)]
        for each in clients:
            each.start()
        time.sleep(0.5)
        self.process.terminate()
        for each in clients:
            each.join()
        if self.process.wait(30) != 0:
            self.findings.append(f"exit status {self.process.returncode} after SIGTERM")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--out", default="-")
    options = parser.parse_args()
    out = sys.stdout if options.out == "-" else open(options.out, "w", encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(options.program.resolve(), pathlib.Path(folder))
        begin = time.monotonic()
        lines, turn = [], 0
        while (now := time.monotonic() - begin) < options.seconds:
            soak.round(turn)
            turn += 1
            if now >= len(lines) * min(60, options.seconds / 60):
                lines.append({"second": round(now), **soak.measured()})
                print(json.dumps(lines[-1]), file=out, flush=True)
            time.sleep(max(0, turn / options.rate - (time.monotonic() - begin)))
        warm = lines[len(lines) // 6:]
        for key, allowed in (("resident_kb", ALLOWED_GROWTH_KB), ("files", 2)):  # a client may come or go
            first = max(line[key] for line in warm[:len(warm) // 2])
            last = max(line[key] for line in warm[len(warm) // 2:])
            if last > first + allowed:
                soak.findings.append(f"{key} grew from {first} to {last}")
        soak.end_under_load()
        for finding in soak.findings[:20]:
            print(finding, file=sys.stderr)
        print(f"{soak.asked} requests in {options.seconds:g} s, {len(soak.findings)} findings", file=out, flush=True)
        return 1 if soak.findings else 0


if __name__ == "__main__":
    sys.exit(main())
