"""A page in headless Chromium in real time, for pages with workers: DevTools' protocol through two pipes."""

import base64
import json
import os
import subprocess

from page_browser import CHROMIUM, HELPERS


class Browser:
    """One tab. `folder`: of the browser's profile; `size`: of the window in points."""

    def __init__(self, folder, size=(1200, 900), dark=False, scale=1):
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()
        self.number = 0
        self.rest = b""

        def place():  # the browser reads 3 and writes 4
            one, two = os.dup(to_read), os.dup(from_write)
            os.dup2(one, 3)
            os.dup2(two, 4)

        command = [CHROMIUM, "--headless", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}",
                   "--disable-background-networking", "--no-first-run", "--accept-lang=en", "--remote-debugging-pipe"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=place, close_fds=False)
        os.close(to_read)
        os.close(from_write)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=scale, mobile=size[0] < 600)
        if dark:
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.back, 1 << 16)
            if not piece:
                raise AssertionError("the browser ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            said = self.receive()
            if said.get("id") == self.number:
                if "error" in said:
                    raise AssertionError(f"{method}: {said['error']}")
                return said["result"]

    def open(self, path):
        """The file `path`, as by a double click."""
        self.call("Page.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument",
                  source="window.errors = []; addEventListener('error', (e) => errors.push(e.message));")
        self.call("Page.navigate", url=f"file://{path}")
        self.run("await wait(() => document.readyState === 'complete');")

    def run(self, script):
        """What `script` returns in the page; it may await, and has the helpers of page_browser."""
        said = self.call("Runtime.evaluate", expression=f"(async () => {{ {HELPERS}\n{script} }})()", awaitPromise=True,
                         returnByValue=True)
        if "exceptionDetails" in said:
            raise AssertionError(json.dumps(said["exceptionDetails"])[:2000])
        return said["result"].get("value")

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
