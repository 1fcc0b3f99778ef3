"""The page that trains with tables that are large for a tab: a million rows."""

import random

from lamina_cli import main
from web_page import WebPageTest


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
            await trained();
            return bannerText() || headline();
            """)
        self.assertGreater(float(said.split()[0]), 90)


if __name__ == "__main__":
    main()
