"""Every table of tables.py opens, is read as it is meant, trains to its floor and answers its own rows."""

import json
import unittest

from lamina_cli import CliTest, main
from tables import all_tables


class SixtyTablesTest(CliTest):
    def check(self, table):
        """Reads, trains and answers one table; fails at the first thing that is not as it should be."""
        self.write(table.file, table.content)
        shown = json.loads(self.succeed("data", "show", table.file, *table.flags, "--json", "-").out)
        self.check_columns(table, shown)
        result = json.loads(self.succeed("train", table.file, *table.flags, "--recipe", "plain", "--model", "m", "--json", "-").out)
        used = result["train_rows"] + result["validation_rows"] + result["test_rows"]
        self.assertEqual(used, table.rows, "rows in use")
        model = json.loads(self.succeed("model", "show", "m", "--json", "-").out)
        self.assertEqual(model["targets"], [table.target])
        self.assertEqual("classification" if model["classes"] else "regression", table.task)
        self.check_roles(table, model, result)
        sheet = table.flags if "--sheet" in table.flags else ()  # which a model does not keep
        answers = self.succeed("predict", "m", table.file, *sheet, "--out", "answers.csv") and self.read("answers.csv").splitlines()
        self.assertIn(len(answers) - 1, (table.rows, table.rows + table.extra_rows), "answers")

    def check_columns(self, table, shown):
        extra = shown["rows"] - table.rows
        self.assertIn(extra, (0, table.extra_rows), "rows")
        found = {column["name"]: column for column in shown["columns"]}
        for column in table.columns:
            if column.name == "":
                continue  # what such a column is called is the reader's choice
            self.assertIn(column.name, found)
            self.assertEqual(found[column.name]["kind"], column.kind, column.name)
            if column.kind != "text" or not extra:
                self.assertEqual(found[column.name]["missing"], column.missing + extra, f"missing of {column.name}")

    def check_roles(self, table, model, result):
        inputs = {column["name"] for column in model["inputs"]}
        known = {column.name: column.role for column in table.columns}
        score = result["accuracy"] if table.task == "classification" else result["test"]["targets"][0]["r2"]
        for name, role in known.items():
            if role == "input":
                self.assertIn(name, inputs)
            elif role == "left out":
                self.assertNotIn(name, inputs)
            elif role == "free text" and name not in inputs:
                otherwise = {row["column"]: row["otherwise"] for row in result["decisions"]}
                self.assertIn("--text hash", otherwise.get(name, ""))
                return  # its score is that of the answers without it
        self.assertGreater(score, table.floor, "score")


def _test_of(table):
    return lambda self: self.check(table)


for made in all_tables():
    setattr(SixtyTablesTest, "test_" + made.file.replace("-", "_").replace(".", "_"), _test_of(made))


if __name__ == "__main__":
    main()
