"""lamina serve: new models, limits, hostile requests, a proxy before it, and the end."""

import base64
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request

from lamina_cli import SOURCE, main
from serve_door import ServeCase


class ServeLimitsTest(ServeCase):
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

    def test_rows_beyond_those_that_may_wait_get_429(self):
        self.classes("m")
        service = self.serve("m", "--max-rows", "3", "--threads", "1")
        busy = json.dumps([[1, 2]] * 200000).encode()  # alone it waits for nobody: taken, however long
        long = service.connect()
        long.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(busy), busy))
        short = [service.connect() for _ in range(20)]
        body = b"[[1,2],[3,4]]"
        for plain in short:  # two fit beside nobody, and one rows' room is left
            plain.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        got = [plain.recv(65536) for plain in short]
        self.assertTrue(long.recv(1000).startswith(b"HTTP/1.1 200"))
        refused = [answer for answer in got if answer.startswith(b"HTTP/1.1 429 ")]
        self.assertTrue(all(b"Retry-After: 1" in answer and b"too many rows wait" in answer for answer in refused), refused)
        self.assertEqual(len(refused) + sum(answer.startswith(b"HTTP/1.1 200") for answer in got), 20, got)
        self.assertGreater(len(refused), 0)
        self.assertEqual(service.post("/predict", [[1, 2]])[0], 200)
        for plain in [long, *short]:
            plain.close()
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

    @unittest.skipUnless(shutil.which("nginx") and shutil.which("openssl"), "nginx and openssl are not installed")
    def test_nginx_brings_tls_and_users(self):
        self.classes("m")
        service = self.serve("m", "--socket", "socket", "--token", "TOKEN")
        run = lambda *words: subprocess.run(words, cwd=self.folder, check=True, capture_output=True, text=True).stdout
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "models.key", "-out", "models.pem", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost")
        self.write("models.users", "ada:" + run("openssl", "passwd", "-apr1", "secret"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(SOURCE, "docs/tasks/serve.md"), encoding="utf-8") as page:
            example = re.search(r"```nginx\n(.*?)```", page.read(), re.S)[1]
        for said, here in (("/run/lamina/socket", f"{self.folder}/socket"), ("listen 443", f"listen 127.0.0.1:{port}"), ("/etc/ssl/", f"{self.folder}/"),
                           ("/etc/nginx/", f"{self.folder}/"), ("models.example.org", "localhost")):
            self.assertIn(said, example)
            example = example.replace(said, here)
        self.write("nginx.conf", f"daemon off; user root; pid {self.folder}/nginx.pid; error_log {self.folder}/errors; events {{}} http {{ access_log off;\n{example} }}")
        proxy = subprocess.Popen(["nginx", "-c", f"{self.folder}/nginx.conf", "-e", f"{self.folder}/errors"], stderr=subprocess.PIPE, text=True)
        try:
            context = ssl.create_default_context(cafile=f"{self.folder}/models.pem")
            def ask(path, body=None, **headers):
                request = urllib.request.Request(f"https://localhost:{port}{path}", body, headers)
                try:
                    with urllib.request.urlopen(request, context=context, timeout=60) as answer:
                        return answer.status, answer.read()
                except urllib.error.HTTPError as error:
                    return error.code, error.read()
            end = time.monotonic() + 30
            while True:
                try:
                    self.assertEqual(ask("/predict", b"[[0.1,0.5]]")[0], 401)
                    break
                except urllib.error.URLError:
                    self.assertTrue(time.monotonic() < end and proxy.poll() is None, proxy.poll() and proxy.stderr.read())
                    time.sleep(0.05)
            ada = {"Authorization": "Basic " + base64.b64encode(b"ada:secret").decode()}
            status, answer = ask("/predict", b"[[0.1,0.5],[4,-3]]", **ada)
            self.assertEqual((status, [list(row.values())[0] for row in json.loads(answer)["answers"]]), (200, ["no", "yes"]))
            self.assertEqual(ask("/predict", b"[[0.1,0.5]]", Authorization="Basic " + base64.b64encode(b"ada:wrong").decode())[0], 401)
            self.assertIn(b"<title>lamina</title>", ask("/", **ada)[1])
        finally:
            proxy.send_signal(signal.SIGQUIT)
            proxy.communicate()
        self.ended(service)


if __name__ == "__main__":
    main()
