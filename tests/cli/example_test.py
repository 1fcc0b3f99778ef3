"""The C example answers as the program does."""

import os
import subprocess
import unittest

from lamina_cli import CliTest, main

EXAMPLE = os.environ.get("LAMINA_EXAMPLE", "")


@unittest.skipUnless(EXAMPLE, "the examples were not built (LAMINA_EXAMPLE)")
class ExampleTest(CliTest):
    def example(self, *arguments):
        return subprocess.run([EXAMPLE, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=60)

    def make_model(self):
        rows = [[(i * 37 % 100) / 10, (i * 53 % 90) / 9 - 5, "yes" if (i * 37 % 100) > 50 else "no"] for i in range(200)]
        self.write("rows.csv", [["width", "height", "big"]] + rows)
        self.train("--data", "rows.csv", "--hidden", "6", "--epochs", "4", "--missing", "error", "--model", "m")
        return rows

    def test_equals_lamina_predict(self):
        rows = self.make_model()[:5]
        self.write("five.csv", [["width", "height"]] + [row[:2] for row in rows])
        lines = self.succeed("predict", "--model", "m", "--data", "five.csv", "--probabilities").out.splitlines()[1:]
        result = self.example("m", *[number for row in rows for number in row[:2]])
        self.assertEqual(result.returncode, 0, result.stderr)
        answers = [line.split(",") for line in result.stdout.splitlines()]
        self.assertEqual(len(answers), 5)
        for answer, line in zip(answers, lines):
            expected = line.split(",")
            self.assertEqual(answer[0], expected[0])
            for got, want in zip(answer[1:], expected[1:]):
                self.assertAlmostEqual(float(got), float(want), delta=1e-5)

    def test_the_smallest_numbers_are_numbers(self):
        self.make_model()
        for small, plain in (("4.9e-324", "0"), ("-1e-310", "0"), ("1e-400", "0")):
            result = self.example("m", small, 1)
            self.assertEqual((result.returncode, result.stderr), (0, ""), small)
            self.assertEqual(result.stdout, self.example("m", plain, 1).stdout, small)

    def test_mistakes_are_told(self):
        self.make_model()
        for arguments, part in [((), "usage"), (("absent", 1), "absent"), (("rows.csv", 1), "rows.csv"),
                                (("m", 1), "2 numbers"), (("m", 1, 2, 3), "2 numbers"), (("m",), "2 numbers"),
                                (("m", 1, "two"), "two"), (("m", 1, "nan"), "height"), (("m", 1, "1e999"), "1e999")]:
            result = self.example(*arguments)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertIn(part, result.stderr)
            self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    main()
