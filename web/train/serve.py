#!/usr/bin/env python3
"""Usage: serve.py PORT FOLDER: serves FOLDER to this machine's browsers, with the two headers by which they give pages
memory that threads share."""

import functools
import http.server
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


def server(port, folder):
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=folder))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    with server(int(sys.argv[1]), sys.argv[2]) as running:
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            pass
