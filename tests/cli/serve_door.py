"""A service for tests: started on a free port, asked over one connection, ended as asked."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import unittest

from lamina_cli import PROGRAM, TIME_LIMIT_SECONDS, WINDOWS, CliTest, blob_rows, linear_rows


def is_there():
    """Whether there is a program, and it has its service."""
    if not PROGRAM:
        return False
    done = subprocess.run([PROGRAM, "serve", "nothing-of-this-name"], capture_output=True, text=True, check=False)
    return "was built without its service" not in done.stderr


class Service:
    """with Service(folder, "m.safetensors") as service: service.post("/predict", [...])"""

    def __init__(self, folder, *arguments, stdout=subprocess.PIPE, **options):
        port = [] if "--socket" in arguments else ["--port", "0"]
        arguments = [str(argument) for argument in arguments]
        if "--port" in arguments:  # any that is free, whatever an example says
            del arguments[arguments.index("--port") : arguments.index("--port") + 2]
        self.process = subprocess.Popen([PROGRAM, "serve", *arguments, *port], cwd=folder, text=True, stdout=stdout,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)
        self.lines = []
        self.port = None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.match(r"listening at (?:http://.*:(\d+)|unix:(.*))$", line)
            if found:
                self.port, self.socket = int(found[1] or 0), found[2] and os.path.join(folder, found[2])
                break
        else:
            raise AssertionError(f"no service: {''.join(self.lines)}{self.process.stderr.read()}")
        self.kept = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.kept is not None:
            self.kept.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def connect(self):
        """A plain socket."""
        plain = socket.socket(socket.AF_UNIX if self.socket else socket.AF_INET, socket.SOCK_STREAM)
        plain.settimeout(TIME_LIMIT_SECONDS)
        plain.connect(self.socket or ("127.0.0.1", self.port))
        return plain

    def ask(self, method, path, body=None, **headers):
        """Status, headers and body; a connection for all that are asked one after the other."""
        if self.kept is None:
            self.kept = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIME_LIMIT_SECONDS)
            if self.socket:
                self.kept.sock = self.connect()
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content_Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        self.kept.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = self.kept.getresponse()
        return response.status, response.headers, response.read()

    def get(self, path, **headers):
        status, _, body = self.ask("GET", path, **headers)
        return status, body.decode()

    def post(self, path, body, **headers):
        """Status and what JSON there is in the answer."""
        status, _, answer = self.ask("POST", path, body, **headers)
        return status, json.loads(answer)

    def csv(self, path, text):
        status, _, answer = self.ask("POST", path, text, Content_Type="text/csv")
        return status, answer.decode()

    def raw(self, data, count=1):
        """The bytes of the answer to `data`, until the peer ends; or of `count` responses."""
        with self.connect() as plain:
            plain.sendall(data)
            got = b""
            while got.count(b"HTTP/1.1 ") < count or b"\r\n\r\n" not in got:
                part = plain.recv(65536)
                if not part:
                    break
                got += part
            return got

    def metric(self, name, **labels):
        """The value of a line of /metrics."""
        text = self.get("/metrics")[1]
        for line in text.splitlines():
            if re.match(rf"lamina_{name}[ {{]", line) and all(f'{key}="{value}"' in line for key, value in labels.items()):
                return float(line.rsplit(" ", 1)[1])
        raise AssertionError(f"no {name} {labels} in {text}")

    def stop(self):
        """SIGTERM, or Ctrl-C; exit code and what was said on standard error."""
        self.process.send_signal(signal.SIGINT if WINDOWS else signal.SIGTERM)
        _, err = self.process.communicate(timeout=TIME_LIMIT_SECONDS)
        return self.process.returncode, err

    def memory_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("VmRSS:")).split()[1])


@unittest.skipUnless(is_there(), "the program was built without its service (Boost.Beast)")
class ServeCase(CliTest):
    """Two models to serve, and services that end with the test."""

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
