"""A page in headless Chromium: a script is run in it as a user would act, and what it says comes back."""

import json
import os
import re
import shutil
import subprocess

from lamina_cli import TIME_LIMIT_SECONDS

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_CHROMIUM = "there is no chromium (Debian: apt install chromium)"

# A start has been seen to hang whose page then ran at once. A page that hangs does so again.
BROWSER_SECONDS = 60
BROWSER_ATTEMPTS = 2
TIMED_OUT = 124  # timeout(1)

# What the scripts have at hand. `say` ends one; `wait` is until curves and checks are there.
HELPERS = """
const find = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const press = (text) => all("button").find((each) => each.textContent === text).click();
const type = (label, text) => {
  const made = all("label").find((each) => each.textContent.trim().startsWith(label));
  const control = document.getElementById(made.htmlFor);
  control.value = text;
  control.dispatchEvent(new Event("input", { bubbles: true }));
};
const choose = (selector, value) => {
  find(selector).value = value;
  find(selector).dispatchEvent(new Event("change", { bubbles: true }));
};
const drop = (name, text) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true }));
};
const wait = (test, seconds = WAIT_SECONDS) => new Promise((done, failed) => {
  const end = performance.now() + 1000 * seconds;
  const look = () => {
    try {
      if (test()) return done();
    } catch (error) {
      return failed(error);
    }
    if (performance.now() < end) return setTimeout(look, 10);
    return failed(new Error(`waited ${seconds} s for ${test}; the page says: ${document.body.innerText.slice(0, 1500)}`));
  };
  look();
});
const headline = () => find(".headline").textContent;
""".replace("WAIT_SECONDS", str(TIME_LIMIT_SECONDS))


def browse(test, page, script, *flags):
    """What `script` (JavaScript, may await) returns in the page; `flags` of the browser."""
    with open(test.path(page), encoding="utf-8") as file:
        html = file.read()
    end = html.rindex("</body>")
    acting = (f"<script>{HELPERS}\nwindow.errors = [];\naddEventListener('error', (e) => errors.push(e.message));\n"
              f"(async () => {{ {script} }})().catch((e) => ({{ failed: String(e) }})).then((said) => {{\n"
              "  const made = document.createElement('pre');\n  made.id = 'said';\n"
              "  made.textContent = encodeURIComponent(JSON.stringify({ said, errors }));\n  document.body.append(made);\n});</script>")
    test.write("acted.html", html[:end] + acting + html[end:])
    command = ["timeout", str(BROWSER_SECONDS), CHROMIUM, "--headless", "--disable-gpu", "--hide-scrollbars",
               "--disable-background-networking", "--no-first-run", "--virtual-time-budget=20000", "--accept-lang=en"]
    command += ["--no-sandbox"] if os.geteuid() == 0 else []
    for attempt in range(BROWSER_ATTEMPTS):
        profile = test.path(f"profile{attempt}")
        done = subprocess.run([*command, f"--user-data-dir={profile}", *flags, "--dump-dom", f"file://{test.path('acted.html')}"],
                              capture_output=True, text=True, check=False)
        if done.returncode != TIMED_OUT:
            break
    found = re.search(r'<pre id="said">([^<]*)</pre>', done.stdout)
    test.assertIsNotNone(found, f"the page did not answer: {done.stderr[-2000:]}")
    from urllib.parse import unquote

    said = json.loads(unquote(found[1]))
    test.assertEqual(said["errors"], [])
    return said["said"]
