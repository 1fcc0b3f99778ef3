"""The page that trains with tables that are large for a tab: a million rows, 100 MB, more than it can hold."""

import gzip
import os
import random
import time

from lamina_cli import blob_rows, main
from web_page import WebPageTest

LIMIT_MB = 429  # a fifth of 2 GiB


class LargeTest(WebPageTest):
    def write_rows(self, name, count, columns=3):
        """`count` rows of a thousand different ones."""
        chance = random.Random(3)
        rows = [[i % 2, *(f"{chance.gauss(2 * (i % 2), 1):.6f}" for _ in range(columns - 1))] for i in range(1000)]
        block = "".join(",".join(map(str, [*row[1:], row[0]])) + "\n" for row in rows)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(",".join([f"x{i}" for i in range(columns - 1)] + ["y"]) + "\n")
            for _ in range(count // 1000):
                file.write(block)
        return os.path.getsize(self.path(name))

    def test_a_million_rows(self):
        self.write_rows("million.csv", 1_000_000)
        tab = self.browser()
        self.assertRegex(self.open_data(tab, "million.csv"), "^Ready: 2 classes of y; .* 2 inputs")
        self.assertIn("million.csv: 1,000,000 rows", self.act(tab, "return find('section p.below').textContent;"))
        said = self.act(tab, """
            press("Training");
            choose("#setting-effort", "quick");
            find("#limit").value = "2";
            find(".line").textContent = "";
            await wait(() => lineText() !== "" && !button("Start training").disabled);
            button("Start training").click();
            await wait(() => isTraining());
            await wait(() => !isTraining());
            return bannerText() || headline();
            """)
        self.assertGreater(float(said.split()[0]), 90)

    def test_100_megabytes(self):
        size = self.write_rows("large.csv", 1_180_000, columns=10)
        self.assertGreater(size, 100e6)
        tab = self.browser()
        start = time.perf_counter()
        self.assertRegex(self.open_data(tab, "large.csv"), "^Ready: ")
        print(f"{size / 1e6:.0f} MB: {self.act(tab, 'return find(`section p.below`).textContent;')}; planned after "
              f"{time.perf_counter() - start:.1f} s")

    def test_what_is_too_large_is_refused_with_the_reason(self):
        self.write("good.csv", blob_rows(60))
        with open(self.path("huge.csv"), "wb") as file:  # without taking the disk's room
            file.write(b"a,y\n1,2\n")
            file.truncate(500_000_000)
        tab = self.browser()
        self.assertRegex(self.open_data(tab, "good.csv"), "^Ready")
        said = self.open_data(tab, "huge.csv")
        self.assertIn("500 MB", said)
        self.assertIn(f"at most {LIMIT_MB} MB", said)
        self.act(tab, "await wait(() => lineText() === '' || lineText().startsWith('Ready'));")

    def test_what_grows_beyond_the_memory_of_a_tab(self):
        """A packed file says little of its table."""
        row = b"1.25,2.5,3.75,0.125,1e-7,23456.75,1.5,0.5\n" * 20_000
        with gzip.open(self.path("bomb.csv.gz"), "wb", compresslevel=1) as file:
            file.write(b"a,b,c,d,e,f,g,y\n")
            for _ in range(3500):
                file.write(row)
        self.write("good.csv", blob_rows(200))
        tab = self.browser()
        self.assertRegex(self.open_data(tab, "bomb.csv.gz"), "(?i)memory")
        self.assertRegex(self.open_data(tab, "good.csv"), "^Ready")
        self.assertIn("%", self.train(tab, recipe="plain", epochs="3"))


if __name__ == "__main__":
    main()
