"""The pages: what docs/tasks tells to type works, commands have pages, links lead somewhere, sentences are short."""

import glob
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import unittest

import serve_door
from lamina_cli import PROGRAM, SOURCE, CliTest, main

TASKS = os.path.join(SOURCE, "docs", "tasks")


def has_markdown(python):
    return subprocess.run([python, "-c", "import markdown"], capture_output=True, check=False).returncode == 0


class TasksTest(CliTest):
    recipe = None

    def run_page(self, name):
        os.symlink(os.path.join(SOURCE, "data"), self.path("data"))
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (600, 16), }".ljust(117) + "\n"
        values = [(i * 7919 % 1000) / 1000 for i in range(600 * 16)]
        self.write("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
                   struct.pack(f"<{len(values)}f", *values))
        with open(os.path.join(TASKS, name), encoding="utf-8") as file:
            commands = re.findall(r"(?m)^    lamina (.*)$", file.read())
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        environment.pop("LAMINA_TUNE", None)
        for command in commands:
            if "--backend cuda" not in command:
                self.succeed(*shlex.split(command), env=environment)
        return len(commands)

    def test_classify(self):
        self.assertGreater(self.run_page("classify.md"), 5)
        self.assertGreater(os.path.getsize(self.path("pictures/loss.csv")), 100)

    def test_quality(self):
        self.assertGreater(self.run_page("quality.md"), 8)
        self.assertGreater(os.path.getsize(self.path("pictures/importance.csv")), 100)

    def test_regress(self):
        self.assertGreater(self.run_page("regress.md"), 4)

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_c_source(self):
        self.assertGreater(self.run_page("c-source.md"), 2)
        with open(os.path.join(TASKS, "c-source.md"), encoding="utf-8") as file:
            text = file.read()
        self.write("main.c", re.search(r"(?s)```c\n(.*?)```", text)[1])
        for command in re.findall(r"(?m)^    \$ (cc .*)$", text):
            done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        self.assertEqual(done.stdout, re.search(r"(?m)^    (digits: .*\n)", text)[1])

    def test_microcontrollers(self):
        self.assertGreater(self.run_page("microcontrollers.md"), 1)
        with open(os.path.join(TASKS, "microcontrollers.md"), encoding="utf-8") as file:
            command = re.search(r"(?m)^    \$ (arm.*)$", file.read())[1]
        if shutil.which(command.split()[0]):
            done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)

    def test_html_page(self):
        self.assertGreater(self.run_page("html-page.md"), 4)
        self.assertLess(os.path.getsize(self.path("small.html")), os.path.getsize(self.path("digits.html")))

    @unittest.skipUnless(serve_door.is_there(), "the program was built without its service (Boost.Beast)")
    def test_serve(self):
        self.assertGreater(self.run_page("serve.md"), 2)

    def test_distill(self):
        self.assertGreater(self.run_page("distill.md"), 2)

    def test_rbf(self):
        self.assertGreater(self.run_page("rbf.md"), 2)

    def test_out_of_core(self):
        self.assertGreater(self.run_page("out-of-core.md"), 1)
        self.assertGreater(os.path.getsize(self.path("h2.npy")), 600 * 512 * 4)

    @unittest.skipIf("LAMINA_TEST_SLOWNESS" in os.environ, "measures for seconds, which tells nothing with sanitizers")
    def test_tune(self):
        self.assertGreater(self.run_page("tune.md"), 5)

    def test_gpu(self):
        self.assertGreater(self.run_page("gpu.md"), 1)


@unittest.skipUnless(has_markdown("python3") or has_markdown("/usr/bin/python3"), "needs python3-markdown")
class SiteTest(CliTest):
    def test_every_link_leads_somewhere(self):
        version = self.succeed("--version").out.split()[1]
        os.makedirs(self.path("site/0.0.1"))
        self.write("site/0.0.1/search.js", "an older version")
        site = self.path(f"site/{version}")
        done = subprocess.run([os.path.join(SOURCE, "scripts", "docs"), "--no-api", "--versions", self.path("site")], capture_output=True,
                              text=True, env={**os.environ, "LAMINA_SKIP_SETUP": "1", "LAMINA_PROGRAM": PROGRAM})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("site/versions.js"), f'laminaVersions(["{version}", "0.0.1"]);\n')
        pages = [os.path.join(folder, name) for folder, _, names in os.walk(site) for name in names
                 if name.endswith(".html")]
        self.assertGreater(len(pages), 35)
        links = 0
        for page in pages:
            with open(page, encoding="utf-8") as file:
                text = file.read()
            self.assertNotIn("http-equiv", text)
            for link in re.findall(r'(?:href|src)="([^"#]+)(?:#[^"]*)?"', text):
                if not link.startswith(("https:", "http:")):
                    links += 1
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(page), link)), f"{page}: {link}")
            for outside in re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="(https?:[^"]*)"', text):
                self.fail(f"{page} needs a network: {outside}")
        self.assertGreater(links, 1000)
        for command in re.findall(r"(?m)^  ([a-z]+)  +[A-Z]", self.succeed("--help").out):
            self.assertTrue(os.path.exists(os.path.join(site, "commands", f"lamina-{command}.html")), command)
        with open(os.path.join(site, "search.js"), encoding="utf-8") as file:
            index = json.loads(file.read().removeprefix("laminaIndex(").rstrip().removesuffix(");"))
        self.assertEqual({part[0] for part in index}, {os.path.relpath(page, site) for page in pages})
        if shutil.which("node"):
            program = "const {laminaFind} = require(process.argv[1]); const fs = require('fs'); const laminaIndex = (index) => " \
                "console.log(laminaFind(index, 'TUNING profile')[0][0]); eval(fs.readFileSync(process.argv[2], 'utf8'))"
            done = subprocess.run(["node", "-e", program, os.path.join(site, "site.js"), os.path.join(site, "search.js")], capture_output=True, text=True)
            self.assertEqual((done.stdout, done.stderr), ("docs/file-formats.html\n", ""))


class CommandsTest(CliTest):
    """What the pages beside docs/tasks tell to type has flags that the program knows."""

    def test_flags_are_known(self):
        helps, flags = {}, 0
        for page in sorted(glob.glob(os.path.join(SOURCE, "docs", "*.md"))):
            with open(page, encoding="utf-8") as file:
                commands = re.findall(r"(?m)^    (?:\$ )?(?:[a-z]+ .* )?(?:build/release/)?lamina ([a-z].*(?:\\\n.*)*)", file.read())
            for command in commands:
                words = command.split("#")[0].split()
                path = " ".join(words[:2] if words[0] in ("data", "bench", "model") else words[:1])
                helps[path] = helps.get(path) or self.succeed(*path.split(), "--help").out
                for flag in re.findall(r"(?<!\S)--?[a-z][a-z0-9-]*", " ".join(words)):
                    flags += 1
                    self.assertRegex(helps[path], rf"(?<![\w-]){flag}(?![\w-])", f"{page}: lamina {command}")
        self.assertGreater(flags, 80)


def keys_of(node):
    """All keys inside a result but those of settings and the words of the data."""
    for key, value in node.items() if isinstance(node, dict) else ():
        yield key
        if key not in ("settings", "decisions", "confusion", "values"):
            yield from keys_of(value)
    for value in node[:2] if isinstance(node, list) else ():
        yield from keys_of(value)


class ResultKeysTest(CliTest):
    """Every key of --json stands in the table of docs/command-line.md: in its command's row, or in one named there."""

    def test_keys_are_told(self):
        with open(os.path.join(SOURCE, "docs", "command-line.md"), encoding="utf-8") as file:
            table = file.read().partition("## The result for programs")[2]
        rows = dict(re.findall(r"(?m)^\| `([^`|]+)`[^|]* \| (.*) \|$", table))
        digits, stocks = (os.path.join(SOURCE, "data", name) for name in ("digits.csv.gz", "stocks.csv.gz"))
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (50, 4), }".ljust(117) + "\n"
        self.write("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<200f", *map(float, range(200))))
        told = 0
        for command, flags in (("train", [digits, "--epochs", "1", "--model", "m.safetensors"]), ("train", [stocks, "--epochs", "1"]),
                               ("evaluate", ["m.safetensors", digits]), ("predict", ["m.safetensors", digits, "--out", "p.csv"]),
                               ("compare", ["m.safetensors", "m.safetensors", digits]), ("explain", ["m.safetensors", digits, "--samples", "20"]),
                               ("drift", ["m.safetensors", digits]), ("export", ["m.safetensors", "--onnx", "--out", "m.onnx"]), ("devices", []),
                               ("search", [digits, "--recipe", "plain", "--epochs", "1", "--vary", "learning-rate=0.01,0.02"]),
                               ("layer", ["--x", "x.npy", "--w", "x.npy", "--radius", "9", "--out", "h.npy"]),
                               ("neighbours", ["--x", "x.npy", "--y", "x.npy", "--k", "2", "--out", "n.npy"]),
                               ("centres", ["--x", "x.npy", "--count", "3", "--out", "c.npy"]), ("data show", [stocks]),
                               ("data encode", [stocks, "--output", "encoded"])):
            recipe = ["--recipe", "plain"] if command == "train" else []
            self.succeed(*command.split(), *flags, *recipe, "--json", "result.json")
            text = rows[command] + "".join(rows.get(name, "") for name in re.findall(r"as (?:of )?`(\w+)`", rows[command]))
            missing = set(keys_of(json.loads(self.read("result.json")))) - set(re.findall(r"`(\w+)`", text)) - {"command", "lamina_version"}
            self.assertEqual(missing, set(), f"docs/command-line.md does not tell these keys of {command}")
            told += 1
        self.assertEqual(told, 15)


class SettingsTest(CliTest):
    def test_the_reference_is_what_the_program_says(self):
        done = subprocess.run([os.path.join(SOURCE, "scripts", "settings_page"), PROGRAM, "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


class ProseTest(CliTest):
    def findings(self, text, name="page.md"):
        self.write(name, text)
        done = subprocess.run([os.path.join(SOURCE, "scripts", "check_prose"), self.path(name)], capture_output=True, text=True)
        lines = [line.removeprefix(self.path(name) + ":") for line in done.stdout.splitlines()]
        self.assertEqual(done.returncode, 1 if lines else 0, done.stderr)
        return lines

    def test_each_rule_finds_its_fault(self):
        words, wide = "to " * 23, "x " * 61
        cases = [(f"A {words}end.", ""), (f"- A {words}\n  end end.", "a sentence of 26 words"), (f"| A {words}end end |", "a sentence of 26 words"),
                 (f"| A {words}; end end |", ""), ("One. Of two, one.", "a sentence begins with a bare Of"), ("Of course.", ""),
                 ("x" * 121, "121 columns"), ("| " + "x" * 121 + " |", ""), ("[x](" + "x" * 121 + ")", ""),
                 (f"```\n{wide}\n```\n\n    {wide}", ""), (f"`{words}`\nA {words}.", "")]
        page, expected = "", []
        for text, found in cases:
            expected += [f"{page.count(chr(10)) + 1}: {found}"] if found else []
            page += text + "\n\n"
        found = self.findings(page)
        self.assertEqual([line[:len(start)] for line, start in zip(found, expected)], expected)
        self.assertEqual(len(found), len(expected), found)

    def in_comments(self, name, cases, rules):
        """What is found in cases (text, rule that it breaks or None) of one file, a case a paragraph."""
        text, expected = "", []
        for case, rule in cases:
            expected += [f"{text.count(chr(10)) + case.count(chr(10)) + 1}: {rules[rule]}"] if rule else []
            text += case + "\n\n"
        found = self.findings(text, name)
        self.assertEqual([line[:len(start)] for line, start in zip(found, expected)], expected)
        self.assertEqual(len(found), len(expected), found)

    def test_comments_are_read_and_strings_are_not(self):
        wide = ("t" * 20 + " ") * 6
        rules = {"of": "in a comment, a sentence begins with a bare Of", "wide": "a comment of "}
        c = [("// Of one.", "of"), ("int a;  // Of a.", "of"), ("/// One. Of two.", "of"), ("// All\n// Of them.", None), ("/* Of one. */", "of"),
             ('f("// Of one.");', None), ('R"(// Of one.)";', None), ("// Of course.", None), (f"// {wide}", "wide"), (f'f("{wide}");', None)]
        python = [("# Of one.", "of"), ("a = 1  # Of a.", "of"), ('def f():\n    """Of f."""', "of"), ("# All\n# Of them.", None),
                  ('a = "# Of one."', None), ('a = """\nOf one."""', None), (f"# {wide}", "wide"), (f'    """One.\n    {wide}"""', "wide"),
                  (f'f("{wide}")', None)]
        shell = [("# Of one.", "of"), ("  # Of one.", "of"), ('echo "# Of one."', None), (f"# {wide}", "wide"), (f"echo {wide}", None)]
        for name, cases in (("x.cc", c), ("x.py", python), ("x.sh", shell)):
            self.in_comments(name, cases, rules)
        self.assertEqual(len(self.findings("#!/usr/bin/env python3\n# Of one.\n", "script")), 1)

    def test_sentences_of_comments_are_counted(self):
        words = " ".join(["to"] * 25)
        rules = {"long": "in a comment, a sentence of 26 words"}
        c = [(f"// {words}.", None), (f"// {words} end.", "long"), (f"int a;  // {words}; end end", None), (f"int a;  // one; {words} end", "long"),
             (f"int a;  // {words}\nint b;  // end end", None), (f"// {words}. x is one.", None), (f"// {words} Run(a, b, c).", "long"),
             (f"// f(a, b, g(c, d)) = a + b * c / d in tests/x/y.cc {words[9:]}.", None), (f"// Columns  {words}  end end", None),
             (f"// {words}:\n//   end end", None), (f"// - {words}\n// - end end", None), (f"/* {words[3:]}\n * end. */", None)]
        self.in_comments("x.cc", c, rules)
        python = [(f'"""One.\n\nParameters\n----------\nx : array\n    {words}\ny : array\n    End end.\n"""', None),
                  (f'"""One.\n\n>>> f({words})\n"""', None), (f'def f():\n    """{words} end."""', "long")]
        self.in_comments("x.py", python, rules)

    @unittest.skipUnless(shutil.which("codespell"), "needs codespell")
    def test_british_spelling_and_mistakes_are_found_outside_code(self):
        self.assertEqual(self.findings("One.\nThe colour `colour`.\n\nTeh end.\n"),
                         ["2: spelling: colour is color", "4: spelling: Teh is The"])
        self.assertEqual(self.findings("// The colour `colour` of src/colour/x.cc.\nint colour;\n", "x.cc"), ["1: spelling: colour is color"])


if __name__ == "__main__":
    main()
