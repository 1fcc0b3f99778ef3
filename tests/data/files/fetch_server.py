#!/usr/bin/env python3
"""A small file server on the loopback for fetch_test.cc. Usage: fetch_server.py FOLDER LOG MODE...

Modes: range (serves byte ranges), norange, cut (the first answer with content breaks off half-way), big (appends
junk without end). Writes its port as the first line of its output, every request as a line to LOG. Ends by itself
after a minute or when its standard input closes.
"""
import http.server
import os
import signal
import sys
import threading

FOLDER, LOG = sys.argv[1:3]
MODES = set(sys.argv[3:])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cut_done = False

    def do_GET(self):
        byte_range = self.headers.get("Range", "")
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(f"{self.path} {byte_range}\n")
        path = os.path.join(FOLDER, os.path.basename(self.path))
        if not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            content = file.read()
        start = 0
        if byte_range and "norange" not in MODES:
            start = int(byte_range.removeprefix("bytes=").split("-")[0])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        body = content[start:]
        self.send_header("Connection", "close")
        if "big" not in MODES:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.close_connection = True
        if "cut" in MODES and not Handler.cut_done:
            Handler.cut_done = True
            body = body[: len(body) // 2]
        self.wfile.write(body)
        while "big" in MODES:
            self.wfile.write(bytes(65536))

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            pass


def main():
    signal.alarm(60)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


main()
