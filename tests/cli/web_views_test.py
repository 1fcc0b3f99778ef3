"""How the page that trains looks and reads: phones, zoom, dark, and what a screen reader is told.

axe-core judges it, too, where LAMINA_AXE names its axe.min.js or the Python package axe-playwright-python has it."""

import importlib.util
import os

from lamina_cli import blob_rows, linear_rows, main
from page_pipe import Browser
from web_page import WebPageTest

STEPS = ("Data", "Training", "Results", "Model")
VIEWS = {"wide": {"size": (1200, 900)}, "phone": {"size": (360, 740), "scale": 2}, "dark": {"size": (1200, 900), "dark": True},
         "zoom": {"size": (640, 450), "scale": 2}, "phone-dark": {"size": (360, 740), "scale": 2, "dark": True}}
# Elements that stand out of the window to the side, or whose text is cut; what scrolls by itself may.
CUT = """
const scrolls = (each) => each.closest(".scroll, .unseen, iframe, select");
const wide = all("body *").filter((each) => each.offsetParent !== null && !scrolls(each) &&
  (each.getBoundingClientRect().right > innerWidth + 1 || each.getBoundingClientRect().left < -1));
const cut = all("button, .button, h1, h2, h3, p, label").filter((each) => each.offsetParent !== null && !scrolls(each) &&
  each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline");
return { page: document.documentElement.scrollWidth - innerWidth, found: [...wide, ...cut].map((each) => each.outerHTML.slice(0, 120)) };
"""
STRUCTURE = """
const ids = all("[id]").map((each) => each.id);
const headings = all("h1, h2, h3").filter((each) => each.offsetParent !== null).map((each) => Number(each.tagName[1]));
return { twice: ids.filter((id, i) => ids.indexOf(id) !== i), lang: document.documentElement.lang,
         current: all("nav [aria-current=step]").map((each) => each.textContent),
         jumps: headings.filter((level, i) => level > (headings[i - 1] ?? 0) + 1) };
"""
SMALL = """
return all("button, .button, select, input:not([type=checkbox]):not(.unseen), summary").filter((each) => each.offsetParent !== null)
  .filter((each) => each.getBoundingClientRect().height < 24).map((each) => each.outerHTML.slice(0, 100));
"""
AXE = """
const said = await axe.run(document, { iframes: false });
return said.violations.map((each) => [each.id, each.impact, ...each.nodes.slice(0, 3).map((node) =>
  `${node.html.slice(0, 100)} ${node.failureSummary}`)]);
"""


def find_axe():
    if "LAMINA_AXE" in os.environ:
        return os.environ["LAMINA_AXE"]
    found = importlib.util.find_spec("axe_playwright_python")
    return os.path.join(os.path.dirname(found.origin), "axe.min.js") if found else None


def faults_of_names(nodes):
    """Controls of the accessibility tree that have no name."""
    roles = {"button", "textbox", "combobox", "checkbox", "link", "image", "img", "region", "navigation"}
    nodes = [node for node in nodes if not node["ignored"]]
    seen = {node["role"]["value"] for node in nodes}
    nameless = [node["role"]["value"] for node in nodes if node["role"]["value"] in roles and not node.get("name", {}).get("value")]
    return nameless + [f"no {role}" for role in ("banner", "navigation", "main", "heading", "status") if role not in seen]


class ViewsTest(WebPageTest):
    def each_step(self, tab, what):
        """The steps one after the other, as people see them."""
        for step in STEPS:
            self.act(tab, f"press({step!r}); scrollTo(0, 0); await new Promise((done) => setTimeout(done, 60));")
            with self.subTest(f"{what} {step}"):
                yield step

    def with_results(self, tab, **settings):
        self.train(tab, **settings)
        self.act(tab, """
            press("Results");
            await wait(() => cellsOf("Runs").length > 0);
            for (const tick of all("[aria-label='Runs'] input[type=checkbox]")) if (!tick.checked) tick.click();
            press("Training");
            find("details").open = true;
            """)

    def judge(self, tab, view, step):
        self.assertEqual(self.act(tab, CUT), {"page": 0, "found": []})
        self.assertEqual(faults_of_names(tab.call("Accessibility.getFullAXTree")["nodes"]), [])
        self.assertEqual(self.act(tab, STRUCTURE), {"twice": [], "lang": "en", "current": [step], "jumps": []})
        if "phone" in view:
            self.assertEqual(self.act(tab, SMALL), [])

    def test_every_step_in_every_view(self):
        axe = find_axe()
        tab = self.browser()
        self.act(tab, "await example('Digits example');")
        self.with_results(tab, effort="quick")
        self.with_results(tab, effort="normal", recipe="plain", epochs="12")
        if axe is None:
            print("axe-core judges nothing: pip install axe-playwright-python, or LAMINA_AXE=axe.min.js")
        else:
            with open(axe, encoding="utf-8") as file:
                tab.evaluate(file.read() + ";null")
        for view, options in VIEWS.items():
            tab.view(**options)
            for step in self.each_step(tab, view):
                self.picture(tab, f"{view}-{step}", whole=True)
                self.judge(tab, view, step)
                if axe is not None and view in ("wide", "phone-dark"):
                    self.assertEqual(self.act(tab, AXE), [])
        self.write("line.csv", [[row[0], "town" if i == 0 else "Rome" if i % 3 else "Oslo", *row[1:]] for i, row in enumerate(linear_rows(200))])
        self.open_data(tab, "line.csv")
        self.with_results(tab, recipe="auto", epochs="auto")
        for view in ("wide", "phone"):
            tab.view(**VIEWS[view])
            for step in self.each_step(tab, f"number {view}"):
                self.picture(tab, f"{view}-{step}-number", whole=True)
                self.judge(tab, view, step)

    def test_without_room_for_runs(self):
        """A browser that keeps nothing, as private windows."""
        browser = Browser(self.profile)
        self.addCleanup(browser.close)
        browser.call("Page.addScriptToEvaluateOnNewDocument", source="Object.defineProperty(self, 'indexedDB', { get() { throw new Error('no'); } });")
        tab = self.opened(browser)
        self.write("blobs.csv", blob_rows(60))
        self.open_data(tab, "blobs.csv")
        self.train(tab, effort="quick")
        said = self.act(tab, "return { runs: cellsOf('Runs').length, text: find('section:not([hidden])').innerText };")
        self.assertEqual(said["runs"], 1)
        self.assertIn("has no room for the runs", said["text"])


if __name__ == "__main__":
    main()
