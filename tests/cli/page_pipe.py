"""A page in headless Chromium in real time, for pages with workers: DevTools' protocol through two pipes."""

import base64
import json
import os
import subprocess

from page_browser import CHROMIUM, HELPERS

KEYS = {"Tab": 9, "Enter": 13, " ": 32, "Escape": 27, "ArrowUp": 38}


class Pipe:
    """A browser, and what it is asked. `folder`: of its profile."""

    def __init__(self, folder, flags=()):
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()
        self.number = 0
        self.rest = b""
        self.events = []  # that came while an answer was waited for

        def place():  # the browser reads 3 and writes 4
            one, two = os.dup(to_read), os.dup(from_write)
            os.dup2(one, 3)
            os.dup2(two, 4)

        command = [CHROMIUM, "--headless", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}",
                   "--disable-background-networking", "--no-first-run", "--accept-lang=en", "--remote-debugging-pipe",
                   "--disable-features=IsolateSandboxedIframes", *flags]  # frames in the process of their page: one session sees all
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=place, close_fds=False)
        os.close(to_read)
        os.close(from_write)

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.back, 1 << 16)
            if not piece:
                raise AssertionError("the browser ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, session, method, parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, session, method, parameters):
        number = self.send(session, method, parameters)
        while True:
            said = self.receive()
            if said.get("id") == number:
                if "error" in said:
                    raise AssertionError(f"{method}: {said['error']}")
                return said["result"]
            self.events.append(said)

    def event(self, method):
        """What the next event of this name says."""
        while True:
            for i, said in enumerate(self.events):
                if said.get("method") == method:
                    del self.events[i]
                    return said["params"]
            self.events.append(self.receive())

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
            os.close(self.to)
            os.close(self.back)


class Tab:
    """One tab. `size`: of the window in points, `scale`: pixels of a point."""

    def __init__(self, pipe, size=(1200, 900), dark=False, scale=1):
        self.pipe = pipe
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.view(size, dark, scale)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)  # as the tab that a person looks at
        self.call("Page.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument",
                  source="window.errors = []; addEventListener('error', (e) => errors.push(e.message));"
                         "addEventListener('unhandledrejection', (e) => errors.push(String(e.reason)));")

    def view(self, size, dark=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=scale, mobile=size[0] < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **parameters):
        return self.pipe.call(self.session, method, parameters)

    def open(self, address):
        """An address, or the path of a file as by a double click."""
        self.call("Page.navigate", url=address if ":" in address else f"file://{address}")
        self.run("await wait(() => document.readyState === 'complete');")

    def run(self, script):
        """What `script` returns in the page; it may await, and has the helpers of page_browser."""
        return self.evaluate(f"(async () => {{ {HELPERS}\n{script} }})()")

    def run_in_frame(self, script):
        """The same in the first frame of the page."""
        frame = self.call("Page.getFrameTree")["frameTree"]["childFrames"][0]["frame"]["id"]
        world = self.call("Page.createIsolatedWorld", frameId=frame)["executionContextId"]
        return self.evaluate(f"(async () => {{ {HELPERS}\n{script} }})()", contextId=world)

    def evaluate(self, expression, **where):
        said = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True, **where)
        if "exceptionDetails" in said:
            raise AssertionError(json.dumps(said["exceptionDetails"])[:2000])
        return said["result"].get("value")

    def choose_files(self, selector, *paths):
        """As a dialog for files does."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=list(paths))

    def save_to(self, folder):
        """Downloads go there."""
        self.pipe.call(None, "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})

    def press(self, key, shift=False):
        """One key, as from the keyboard."""
        text = {"Enter": "\r", " ": " "}.get(key)
        code = {" ": "Space"}.get(key, key)
        common = {"key": key, "code": code, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, path, whole=False):
        """`whole`: with what lies below the window."""
        extra = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            extra = {"captureBeyondViewport": True, "clip": {**size, "scale": 1}}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", **extra)["data"]))


class Browser(Tab):
    """A browser with one tab; tab() opens another."""

    def __init__(self, folder, flags=(), **view):
        super().__init__(Pipe(folder, flags), **view)

    def tab(self, **view):
        return Tab(self.pipe, **view)

    def close(self):
        self.pipe.close()
