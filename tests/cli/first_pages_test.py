"""What a newcomer reads first.

The commands in README.md and docs/tutorial.md print what is shown there. The search of the site finds pages, and the
picture of a model as a page can be made. LAMINA_PICTURES=FOLDER python3 tests/cli/first_pages_test.py makes
page-digit.png (needs Chromium) and rbf-neurons.svg (needs gnuplot) there.
"""

import importlib.util
import math
import os
import re
import shlex
import shutil
import struct
import subprocess
import unittest

from lamina_cli import PROGRAM, SOURCE, CliTest, main
from page_browser import CHROMIUM, HELPERS, NO_CHROMIUM, browse

PICTURES = os.environ.get("LAMINA_PICTURES", "")
MOST_PERCENT_OFF = 2.5  # by which an accuracy may differ on another processor
DRAW_A_THREE = """
  const ink = find("canvas.ink"), box = ink.getBoundingClientRect();
  ink.setPointerCapture = () => {};
  const at = (kind, x, y) => ink.dispatchEvent(new PointerEvent(kind, { clientX: box.x + x * box.width, clientY: box.y + y * box.height,
      pointerId: 1, button: 0, buttons: kind === "pointerup" ? 0 : 1, bubbles: true, cancelable: true }));
  const line = [[.3, .22], [.42, .12], [.58, .14], [.68, .28], [.6, .42], [.44, .47], [.6, .52], [.71, .66], [.62, .8], [.45, .84], [.28, .74]];
  at("pointerdown", ...line[0]);
  line.slice(1).forEach((point) => at("pointermove", ...point));
  at("pointerup", ...line[line.length - 1]);
"""

# The answers of neurons of radius 1 by distance, as docs/tasks/rbf.md draws them.
NEURONS = {"l1-triangle": lambda d: max(0.0, 1 - d / 2.5066), "l2-gaussian": lambda d: math.exp(-d * d / 2),
           "l2-laplace": lambda d: math.exp(-d)}


def commands(page):
    """Every command of a page that begins with `$ lamina`, with the lines that the page shows below it."""
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"(?m)^    \$ (lamina .*)\n((?:    (?!\$ ).*\n|\n(?=    (?!\$ )))*)", text)
    return [(command, [line[4:] for line in shown.splitlines() if line.strip()]) for command, shown in found]


def masked(line):
    """The line without numbers and processor, since seconds, losses, speeds and vectors differ between machines."""
    line = re.sub(r"\b(\d+:)+\d\d\b", "0 s", line)  # a minute and more
    line = re.sub(r"\bcpu: .*", "cpu", line)
    return re.sub(r"[\d.,:]*\d", "#", line).replace("# ms", "# s").replace("us", "s").split()


def percents(line):
    return [float(number) for number in re.findall(r"([\d.]+) %", line)]


class FirstPagesTest(CliTest):
    recipe = None

    def run_page(self, page):
        os.symlink(os.path.join(SOURCE, "data"), self.path("data"))
        for command, shown in commands(page):
            with self.subTest(command=command):
                done = self.run_program(*shlex.split(command)[1:])
                printed = (done.out + done.err).splitlines()
                self.assertEqual(done.code, 1 if any("error:" in line for line in shown) else 0, done)
                self.check_shown(shown, printed)

    def check_shown(self, shown, printed):
        """Each line of the page is printed, in this order; `...` stands for any lines."""
        rest = iter(printed)
        for line in (line for line in shown if line.strip() != "..."):
            found = next((other for other in rest if masked(other) == masked(line)), None)
            self.assertIsNotNone(found, f"not printed: {line}\n" + "\n".join(printed))
            for one, other in zip(percents(line), percents(found)):
                self.assertAlmostEqual(one, other, delta=MOST_PERCENT_OFF, msg=line)

    def test_readme(self):
        self.assertGreater(len(commands("README.md")), 3)
        self.run_page("README.md")

    def test_tutorial(self):
        self.assertGreater(len(commands("docs/tutorial.md")), 7)
        self.run_page("docs/tutorial.md")

    @unittest.skipUnless(PICTURES and CHROMIUM, "LAMINA_PICTURES is not set, or there is no chromium")
    def test_picture_of_the_page(self):
        self.run_page("README.md")
        page = self.read("digits.html")
        end = page.rindex("</body>")
        self.write("drawn.html", f"{page[:end]}<script>{HELPERS}{DRAW_A_THREE}</script>{page[end:]}")
        subprocess.run([CHROMIUM, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-sandbox", "--window-size=1100,700",
                        f"--user-data-dir={self.path('profile')}", "--virtual-time-budget=20000", "--accept-lang=en",
                        f"--screenshot={os.path.join(PICTURES, 'page-digit.png')}", f"file://{self.path('drawn.html')}"], check=True)
    def test_no_page_is_lost(self):
        """Links lead from docs/README.md to every page of docs."""
        docs = os.path.join(SOURCE, "docs")
        found, rest = set(), [os.path.join(docs, "README.md")]
        while rest:
            page = os.path.normpath(rest.pop())
            if page in found or not os.path.isfile(page):
                continue
            found.add(page)
            with open(page, encoding="utf-8") as file:
                rest += [os.path.join(os.path.dirname(page), link) for link in re.findall(r"\]\(([^):#]+\.md)[)#]", file.read())]
        pages = {os.path.join(folder, name) for folder, _, names in os.walk(docs) for name in names if name.endswith(".md")}
        lost = {page for page in pages - found if "decisions" not in page}
        self.assertEqual(lost, set(), "docs/README.md should name them")


class NeuronPictureTest(CliTest):
    def npy(self, name, values):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)}, 1), }}".ljust(117) + "\n"
        self.write(name, b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}d", *values))

    def test_answers_by_distance(self):
        distances = [i / 20 for i in range(-80, 81)]
        self.npy("x.npy", distances)
        self.npy("w.npy", [0.0])
        columns = []
        for neuron, formula in NEURONS.items():
            self.succeed("layer", "--x", "x.npy", "--w", "w.npy", "--neuron", neuron, "--radius", "1", "--out", "h.npy")
            answers = struct.unpack(f"<{len(distances)}d", self.read("h.npy", "rb")[-8 * len(distances):])
            os.remove(self.path("h.npy"))
            for distance, answer in zip(distances, answers):
                self.assertAlmostEqual(answer, formula(abs(distance)), places=6)
            columns.append(answers)
        if PICTURES and shutil.which("gnuplot"):
            self.write("curves.txt", "".join(" ".join(f"{x:.4f}" for x in row) + "\n" for row in zip(distances, *columns)))
            plots = ", ".join(f"'curves.txt' using 1:{i + 2} with lines linewidth 2 title '{name}'" for i, name in enumerate(NEURONS))
            script = (f"set terminal svg size 640,300 font 'sans,13' background 'white'; set output '{PICTURES}/rbf-neurons.svg'; set grid; "
                      f"set xlabel 'value of the row, center at 0, radius 1'; set ylabel 'answer'; set yrange [0:1.05]; plot {plots}")
            subprocess.run(["gnuplot", "-e", script], cwd=self.folder, check=True)


@unittest.skipUnless(importlib.util.find_spec("markdown"), "needs python3-markdown")
@unittest.skipUnless(CHROMIUM, NO_CHROMIUM)
class SearchTest(CliTest):
    def test_a_page_is_found_by_its_words(self):
        subprocess.run([os.path.join(SOURCE, "scripts", "docs"), "--no-api", "--out", self.folder], check=True, capture_output=True,
                       env={**os.environ, "LAMINA_SKIP_SETUP": "1", "LAMINA_PROGRAM": PROGRAM})
        said = browse(self, "index.html", """
            await wait(() => document.readyState === "complete");
            const ask = async (text) => {
              const box = find("nav input");
              box.value = text;
              box.dispatchEvent(new Event("input", { bubbles: true }));
              await wait(() => find("#found h1"));
              return all("#found a").map((each) => each.getAttribute("href"));
            };
            return { digits: await ask("ten minutes"), rare: await ask("McNemar chance"), none: await ask("zzyzx"),
                     told: find("#found h1").textContent };""")
        self.assertEqual(said["digits"][0].partition("#")[0], "docs/tutorial.html")
        self.assertIn("docs/tasks/quality.html", [page.partition("#")[0] for page in said["rare"]])
        self.assertEqual((said["none"], said["told"]), ([], "No page has these words: zzyzx"))
        for page in said["digits"] + said["rare"]:
            self.assertTrue(os.path.exists(self.path(page.partition("#")[0])), page)


if __name__ == "__main__":
    main()
