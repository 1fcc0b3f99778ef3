"""The commands of docs/recipes: all are accepted, and with the real data the quick ones give what the page says."""

import glob
import json
import os
import re
import shlex
import unittest

from lamina_cli import DATA, SOURCE, CliTest, main


def commands(page="*"):
    """Arguments of every training and search that the pages show."""
    found = []
    for path in sorted(glob.glob(os.path.join(SOURCE, "docs", "recipes", page + ".md"))):
        with open(path, encoding="utf-8") as file:
            found += [shlex.split(line)[1:] for line in re.findall(r"^    (lamina (?:train|search) --.*)$", file.read(), re.M)]
    return found


class RecipesTest(CliTest):
    recipe = None

    def test_all_are_accepted(self):
        self.assertGreaterEqual(len(commands()), 8)
        for command in commands():
            with self.subTest(command=command):
                config = self.succeed(*command, "--print-config").out
                self.assertIn(f'data = "{command[command.index("--data") + 1]}"', config)

    def run_recipe(self, command):
        for name in ("mnist", "kddcup99", "stocks"):
            os.symlink(os.path.join(DATA, name), self.path(name))
        return json.loads(self.succeed(*command, "--json", "-").out)

    @unittest.skipUnless(DATA, "MNIST: LAMINA_DATA is not set")
    def test_mnist(self):
        self.assertGreaterEqual(self.run_recipe(commands("mnist")[0])["accuracy"], 0.98)

    @unittest.skipUnless(DATA, "stock prices: LAMINA_DATA is not set")
    def test_stock_prices(self):
        close = self.run_recipe(commands("stock-prices")[0])["test"]
        self.assertEqual(close["baseline"], "yesterday")
        self.assertGreater(close["r2"], 0.999)
        self.assertGreater(close["skill"], 0.4)

    @unittest.skipUnless(DATA, "KDD Cup 1999: LAMINA_DATA is not set")
    def test_kddcup99(self):
        test = self.run_recipe(commands("kddcup99")[0])["test"]
        self.assertEqual([row["support"] for row in test["classes"]], [60593, 4166, 229853, 228, 16189])
        self.assertLess(test["mean_cost"], 0.2523)  # a nearest neighbour's (Elkan 2000)


if __name__ == "__main__":
    main()
