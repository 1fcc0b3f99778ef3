"""H1, H2, H3, H4, H9c, M5: ordinary files, as spreadsheets and people write them."""

import random
import unittest

from lamina_cli import CliTest, main

QUICK = ("--epochs", "3", "--hidden", "4")


def shop(count=200, seed=1):
    rng = random.Random(seed)
    rows = [["size", "city", "price"]]
    for i in range(count):
        size, city = rng.uniform(20, 90), rng.choice(("Rome", "Oslo", "Lima"))
        rows.append([f"{size:.2f}", city, f"{3 * size + len(city) * 10 + rng.gauss(0, 4):.2f}"])
    return rows


class TablesTest(CliTest):
    def run_on(self, rows, *arguments, name="t.csv"):
        self.write(name, rows)
        result = self.succeed("train", name, "--model", "m", "--overwrite", "--json", "r.json", *QUICK, *arguments)
        return result.out, self.read_json("r.json")

    def inputs(self):
        self.succeed("model", "show", "m", "--json", "i.json")
        return {row["name"]: row for row in self.read_json("i.json")["inputs"]}

    def decisions(self, result):
        return {row["column"]: (row["what"], row["otherwise"]) for row in result["decisions"]}

    def test_missing_and_unseen_values(self):
        """H1, H2: one city stands in the last rows only, some cells are empty."""
        rows = shop()
        rows[3][0], rows[9][1], rows[40][0] = "", "", "NULL"
        self.write("test.csv", [rows[0], [40, "Reykjavik", 200]])
        out, result = self.run_on(rows, "--test", "test.csv")
        self.assertEqual((result["filled_values"], result["unseen_values"]), (3, 1))
        self.assertIn("1 value of categories that training did not see", out)
        self.assertIn("3 missing values filled in", out)
        self.assertIn("filled in with the mean", self.decisions(result)["size"][0])
        self.write("new.csv", [["size", "city"], ["", "Paris"], [40, "Rome"]])
        said = self.succeed("predict", "m", "new.csv", "--out", "p.csv").out
        self.assertIn("1 value of categories that training did not see became zeros (column: city)", said)
        self.assertIn("1 missing value filled in (column: size)", said)
        for flag in ("--missing", "--unseen"):
            self.refuse("predict", "m", "new.csv", "--out", "p2.csv", flag, "error", code=1, says=("new.csv:2",))
        self.write("strict.csv", rows)
        self.refuse("train", "strict.csv", "--missing", "error", says=("strict.csv:4", "missing value"))

    def test_rows_without_a_target_are_left_out_and_counted(self):
        """H9c"""
        rows = shop()
        rows[5][2] = rows[80][2] = ""
        out, result = self.run_on(rows)
        self.assertEqual(result["train_rows"] + result["validation_rows"] + result["test_rows"], 198)
        self.assertEqual(result["left_out_rows"], 2)
        self.assertIn("2 rows left out", out)
        out, result = self.run_on(shop(60) + [["", "Rome", 5]] * 3, "--missing", "drop")
        self.assertEqual(result["left_out_rows"], 3)

    def test_what_is_no_table_is_named(self):
        """The program says what such a file is, and what makes a table of it."""
        for name, text, says in (
            ("rows.csv", '[{"a": 1}]\n', ("JSON", "read_json")),
            ("report.xls", "<html><table><tr><td>1</td></tr></table></html>", ("web page", ".xlsx")),
            ("dump.sql", "INSERT INTO t (a) VALUES (1);\n", ("SQL", "CSV")),
            ("iris.arff", "@relation iris\n@data\n1,2\n", ("ARFF", "CSV")),
        ):
            self.write(name, text)
            self.refuse("train", name, says=(name, *says))

    def test_decimal_commas(self):
        """H3: as a German or French spreadsheet writes them."""
        german = [[field.replace(".", ",") if i else field for field in row] for i, row in enumerate(shop())]
        text = "".join(";".join(row) + "\n" for row in german)
        out, result = self.run_on(text)
        plain_out, plain = self.run_on(shop(), name="plain.csv")
        self.assertEqual(result["train_loss"], plain["train_loss"])
        self.assertIn("decimal comma", out)
        self.assertEqual(self.decisions(result)["size"][1], "--decimal point")
        self.succeed("train", "t.csv", "--model", "m", "--overwrite", *QUICK)
        self.write("new.csv", "size;city\n41,5;Rome\n1.041;Oslo\n")
        self.write("point.csv", "size,city\n41.5,Rome\n1041,Oslo\n")
        answers = [self.succeed("predict", "m", name, "--missing", "error", "--out", "p.csv") and self.read("p.csv")
                   for name in ("new.csv", "point.csv")]
        self.assertEqual(answers[0], answers[1])
        # What the file does not show is as the model knows it.
        self.write("one.csv", "size;city\n1.041;Oslo\n")
        self.succeed("predict", "m", "one.csv", "--out", "p.csv")
        self.assertEqual(self.read("p.csv").splitlines()[1], answers[0].splitlines()[2])
        self.succeed("predict", "m", "one.csv", "--decimal", "point", "--out", "p.csv")
        self.assertNotEqual(self.read("p.csv").splitlines()[1], answers[0].splitlines()[2])

    def test_thousands_currencies_and_per_cents(self):
        """H3"""
        rng = random.Random(3)
        text = "people;paid;share;y\n"
        for _ in range(100):
            people, paid, share = rng.randrange(1000, 99000), rng.uniform(1, 9), rng.randrange(100)
            text += f"{people:,};${paid:.2f};{share} %;{people / 1000 + paid:.3f}\n"
        _, result = self.run_on(text.replace(";", "\t"))
        self.assertEqual({row["kind"] for row in self.inputs().values()}, {"number"})
        self.assertEqual(self.inputs()["paid"]["unit"], "$")
        self.assertGreater(self.inputs()["people"]["minimum"], 999)
        self.write("mixed.csv", "paid\ty\n" + "$1\t1\n" * 20 + "\u20ac2\t3\n")
        self.refuse("train", "mixed.csv", "--strict", says=("mixed.csv:22", "in a column in $"))

    def test_dates(self):
        """H3: the usual orders, with times and zones."""
        for written in ("{d:02}/{m:02}/2023", "{m:02}/{d:02}/2023", "{d:02}.{m:02}.2023", "2023/{m:02}/{d:02}",
                        "2023-{m:02}-{d:02}T10:30:00Z", "2023-{m:02}-{d:02} 10:30:00+02:00", "{m}/{d}/2023 3:45 PM"):
            rows = [["when", "other", "y"]] + [[written.format(d=i % 28 + 1, m=i % 12 + 1), i % 5, i % 28] for i in range(90)]
            self.run_on(rows, "--task", "regression", "--split", "1,0,0")
            when = self.inputs()["when"]
            self.assertEqual(when["kind"], "date", written)
            self.assertEqual((when["minimum"] // 1, when["maximum"] // 1), (19358, 19719), written)  # 1 January, 28 December
        rows = [["when", "y"]] + [[f"{i % 12 + 1:02}/{i % 11 + 1:02}/2023", i] for i in range(40)]
        _, result = self.run_on(rows)
        self.assertEqual(self.decisions(result)["when"], ("dates, month first (both are possible)", "--date-order day-first"))
        _, result = self.run_on(rows, "--date-order", "day-first")
        self.assertIn("day first", self.decisions(result)["when"][0])

    def test_comments(self):
        """H3"""
        text = "# made by hand\n# 2024\n" + "".join(",".join(map(str, row)) + "\n" for row in shop(60)) + "# the end\n"
        _, result = self.run_on(text)
        self.assertEqual(result["train_rows"] + result["validation_rows"] + result["test_rows"], 60)
        self.assertEqual(sorted(self.inputs()), ["city", "size"])
        self.run_on("#" + text[text.index("size"):])
        self.assertEqual(sorted(self.inputs()), ["city", "size"])

    def test_useless_columns_are_left_out_and_said(self):
        """H4"""
        rng = random.Random(5)
        rows = [["id", "name", "review", "country", "weight", "year", "y"]]
        words = "good bad film it the a was never seen again music slow fast".split()
        for i in range(300):
            weight = rng.uniform(1, 9)
            rows.append([i, f"person {i}", " ".join(rng.choices(words, k=9)), "DE", f"{weight:.6f}", 1990 + i % 30, f"{weight * 2:.4f}"])
        out, result = self.run_on(rows)
        self.assertEqual(sorted(self.inputs()), ["weight", "year"])
        decided = self.decisions(result)
        self.assertEqual(decided["id"], ("left out: a different whole number in every row", "--use id"))
        self.assertIn("different text", decided["name"][0])
        self.assertEqual(decided["country"][0], "left out: always 'DE'")
        self.assertIn("--use id", out)
        self.run_on(rows, "--use", "id,country")
        self.assertEqual(sorted(self.inputs()), ["country", "id", "weight", "year"])
        # The answers need none of them.
        self.run_on(rows)
        self.write("new.csv", [["weight", "year"], [3.5, 2001]])
        self.succeed("predict", "m", "new.csv")

    def test_measurements_are_no_identifiers(self):
        """H4: numbers that all differ, whole ones that do not count the rows, numbered columns, years."""
        rng = random.Random(6)
        rows = [["volume", "p0", "p1", "p2", "year", "y"]]
        for i in range(80):
            volume = rng.randrange(10**6, 10**9)
            rows.append([volume, 0, i, rng.random(), 1940 + i, volume / 1e6 + i])
        self.run_on(rows)
        self.assertEqual(sorted(self.inputs()), ["p0", "p1", "p2", "volume", "year"])
        self.run_on([["x", "y"]] + [[i, i * i] for i in range(100)])  # the only one there is
        self.assertEqual(sorted(self.inputs()), ["x"])

    def test_whole_numbers_as_target(self):
        """M5"""
        rows = [["area", "rooms"]] + [[f"{i % 15 * 10 + i % 7:.1f}", i % 15 + 1] for i in range(500)]
        out, result = self.run_on(rows)
        self.assertEqual(self.decisions(result)["rooms"], ("15 whole numbers, taken for classes", "--task regression"))
        _, result = self.run_on(rows, "--task", "regression")
        self.assertNotIn("rooms", self.decisions(result))
        for count, classes in ((20, True), (21, False)):
            _, result = self.run_on([["area", "rooms"]] + [[i % count, i % count] for i in range(500)])
            self.assertEqual("accuracy" in result, classes)


if __name__ == "__main__":
    main()
