"""The page that trains (scripts/web) in a browser, for the tests of it: web_*_test.py."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from lamina_cli import PROGRAM, SOURCE, TIME_LIMIT_SECONDS, CliTest
from page_browser import CHROMIUM, NO_CHROMIUM
from page_pipe import Browser

BUILD = os.environ.get("LAMINA_WEB_BUILD", os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "wasm"))
NO_BUILD = f"the page is not built (scripts/web); {BUILD} has no lamina.wasm"
IS_BUILT = os.path.exists(os.path.join(BUILD, "lamina.wasm"))
PICTURES = os.environ.get("LAMINA_PICTURES", "")  # a folder: pictures of the page are kept there

# Besides those of page_browser.py.
HELPERS = """
const bannerText = () => (find(".banner").hidden ? "" : find(".banner").textContent);
const lineText = () => find(".line").textContent;
const isReady = () => document.documentElement.dataset.ready === "yes";
const button = (text) => all("button").find((each) => each.textContent === text && each.offsetParent !== null);
const isTraining = () => button("Stop")?.disabled === false;
const planned = async () => {
  await wait(() => (lineText() !== "" && !lineText().startsWith("Reading")) || bannerText() !== "");
  return lineText();
};
const example = async (text) => {
  find(".line").textContent = "";
  press(text);
  return await planned();
};
const cellsOf = (label) => all(`[aria-label='${label}'] tbody tr`).map((row) => [...row.children].map((cell) => cell.textContent));
const isIdle = () => all("button").find((each) => each.textContent === "Stop").disabled;
const isComplete = () => isIdle() && !find(".results").textContent.includes("Shuffling column by column");
const trained = () => wait(() => (find("h2:focus")?.textContent === "Results" && isComplete()) || bannerText() !== "");
async function startTraining(settings) {
  press("Training");
  for (const [name, value] of Object.entries(settings)) {
    const control = find(`#setting-${name}`);
    control.value = value;
    for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  find(".line").textContent = "";
  await wait(() => lineText() !== "" && !button("Start training").disabled);
  button("Start training").click();
}
"""


@unittest.skipUnless(IS_BUILT, NO_BUILD)
@unittest.skipUnless(CHROMIUM, NO_CHROMIUM)
class WebPageTest(CliTest):
    def setUp(self):
        super().setUp()
        self.profile = tempfile.mkdtemp(prefix="lamina-browser-")  # beside the files: some of its own cannot be read
        self.addCleanup(shutil.rmtree, self.profile, ignore_errors=True)
        subprocess.run(["python3", os.path.join(SOURCE, "web", "train", "assemble.py"), BUILD, self.folder], check=True,
                       capture_output=True)

    def browser(self, address=None, **options):
        """The page, ready, in a browser with the profile of the test."""
        browser = Browser(self.profile, **options)
        self.addCleanup(browser.close)
        return self.opened(browser, address)

    def opened(self, tab, address=None):
        tab.open(address or self.path("lamina.html"))
        self.assertEqual(self.act(tab, "await wait(() => isReady() || bannerText() !== ''); return bannerText();"), "")
        return tab

    def act(self, tab, script):
        """What `script` returns; the page has no errors of its own."""
        said = tab.run(f"{HELPERS}\nconst said = await (async () => {{ {script} }})(); return {{ said, errors }};")
        self.assertEqual(said["errors"], [])
        return said.get("said")

    def open_data(self, tab, *names):
        """What the page says of these files of the folder: what a run would be, or why it takes them not."""
        before = self.act(tab, "find('.banner').hidden = true; find('.line').textContent = ''; return true;")
        self.assertTrue(before)
        tab.choose_files("#file", *map(self.path, names))
        return self.act(tab, "const said = await planned(); return bannerText() || said;")

    def train(self, tab, **settings):
        """Trains with settings, fields of the page; returns the headline."""
        return self.act(tab, f"""
            await startTraining({settings!r});
            await trained();
            return bannerText() || headline();
            """)

    def downloaded(self, tab, press, name, folder="saved"):
        """The bytes of the file `name` that the page saves where the button `press` is pressed."""
        path = self.path(os.path.join(folder, name))
        if os.path.exists(path):
            os.remove(path)
        tab.save_to(self.path(folder))
        self.act(tab, f"button({press!r}).click();")
        waited = 0
        while not os.path.exists(path) and waited < TIME_LIMIT_SECONDS:
            self.assertEqual(self.act(tab, "await new Promise((done) => setTimeout(done, 50)); return bannerText();"), "")
            waited += 0.05
        with open(path, "rb") as file:
            return file.read()

    def assert_refused_alike(self, said, *command):
        """The program refuses with the words `said` by the page, which has labels in the place of flags."""
        text = self.refuse(*command).err.split("\nTry ")[0].strip().removeprefix("lamina: error: ")
        words = re.sub(r"\\-\\-[a-z](?:[a-z0-9]|\\-)*", "(?:“[^”]+”|[^“”]+)", re.escape(text))
        self.assertRegex(said, f"^{words}$")

    def picture(self, tab, name, whole=False):
        if PICTURES:
            tab.picture(os.path.join(PICTURES, name + ".png"), whole)
