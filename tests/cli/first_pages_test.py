"""What a newcomer reads first: README.md and docs/tutorial.md print what they show, and the picture of their page can be made.

LAMINA_PICTURES=FOLDER python3 tests/cli/first_pages_test.py makes page-digit.png there (needs Chromium).
"""

import os
import re
import shlex
import subprocess
import unittest

from lamina_cli import SOURCE, CliTest, main
from page_browser import CHROMIUM, HELPERS

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


def commands(page):
    """Every command of a page that begins with `$ lamina`, with the lines that the page shows below it."""
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"(?m)^    \$ (lamina .*)\n((?:    (?!\$ ).*\n|\n(?=    (?!\$ )))*)", text)
    return [(command, [line[4:] for line in shown.splitlines() if line.strip()]) for command, shown in found]


def masked(line):
    """The line without its numbers: seconds, losses and speeds differ from machine to machine."""
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


if __name__ == "__main__":
    main()
