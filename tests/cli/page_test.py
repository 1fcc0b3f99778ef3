"""lamina export --html: what is in the page, and the page in a browser. Its answers: c_source_test.py, tests/doors."""

import csv
import json
import os
import random
import re
import subprocess
import unittest

import page_door
from lamina_cli import SOURCE, CliTest, blob_rows, digits_rows, main
from page_browser import CHROMIUM, NO_CHROMIUM, browse

MOST_BYTES = 250_000  # without the numbers of the model
LEARNT = ("--epochs", "20", "--batch", "8", "--learning-rate", "0.02", "--split", "1,0,0", "--seed", "3")
EVIL = '</script><img src=x onerror="window.hit=1">'


def house_rows(count=160):
    rng = random.Random(4)
    rows = [["size", "district", "built", "garden", "price"]]
    for i in range(count):
        size = rng.uniform(30, 200)
        district = ("Hafen", "Süd", EVIL)[i % 3]
        gap = "" if i % 17 == 0 else f"{size:.1f}"
        rows.append([gap, '"' + district.replace('"', '""') + '"', f"{1950 + i % 70}-{1 + i % 12:02}-{1 + i % 28:02}",
                     ("yes", "no")[i % 2], f"{1500 * size + 40000 * (i % 3) + rng.gauss(0, 5000):.0f}"])
    return rows


class Houses(CliTest):
    def houses(self, *arguments):
        self.write("x.csv", house_rows())
        self.train("x.csv", "--target", "price", "--hidden", "8", "--missing", "mean", "--unseen", "zero", "--target-scale",
                   "standardize", "--intervals", "0.9", "--epochs", "30", "--batch", "8", "--seed", "3", "--model", "m", *arguments)

    def export(self, *arguments, model="m"):
        self.succeed("export", "--html", model, "-o", "p.html", *arguments)
        return self.read("p.html")

    def description(self, page):
        return json.loads(re.search(r'id="model">([^\n]*)</script>', page)[1])


class PageTest(Houses):
    def test_the_page_is_whole_and_small(self):
        self.write("x.csv", digits_rows(300))
        self.train("x.csv", "--hidden", "64", "--model", "m", "--epochs", "1")
        page = self.export()
        numbers = re.search(r'id="numbers">([^<]*)</script>', page)[1]
        self.assertLess(len(page.encode()) - len(numbers), MOST_BYTES)
        self.assertNotRegex(page.replace("http://www.w3.org/2000/svg", ""), r"https?://|src=|@import|\bimport\(|fetch\(")
        self.assertIn("default-src 'none'", page)
        self.assertLess(len(self.export("--weights", "i8")), len(page) - len(numbers) * 0.7)

    def test_weights_in_fewer_bits_answer_as_the_program(self):
        if not page_door.NODE:
            self.skipTest(page_door.NO_NODE)
        self.write("x.csv", blob_rows(60))
        self.train("x.csv", "--hidden", "6", "--model", "m", *LEARNT)
        for weights in ("exact", "bf16", "f16", "i8"):
            self.export("--weights", weights)
            self.assertLess(page_door.ask_page(self.path("p.html"), "check")["difference"], 1e-6, weights)
            self.succeed("predict", "m", "x.csv", "--weights", weights, "--out", "p.csv", "--probabilities")
            said = page_door.ask_page(self.path("p.html"), self.path("x.csv"))
            for line, answer in zip(list(csv.reader(self.read("p.csv").splitlines()))[1:], said["answers"]):
                self.assertEqual(line[0], answer["name"])
                for one, two in zip(line[1:], answer["scores"]):
                    self.assertAlmostEqual(float(one), two, delta=2e-6)

    @unittest.skipUnless(page_door.NODE, page_door.NO_NODE)
    def test_files_as_people_have_them(self):
        self.houses()
        self.export()
        header = "size,district,built,garden"
        ask = lambda text: page_door.ask_page(self.path("p.html"), self.path(self.write("rows.csv", text)))  # noqa: E731
        plain = ask(f"{header}\n85.5,Süd,1990-05-06,no\n60,Hafen,1990-05-16,yes\n")["answers"]
        for text in (f"\ufeff{header}\r\n85.5,Süd,1990-05-06,no\r\n60,Hafen,1990-05-16,yes",
                     "garden;id;built;size;district\nno;a;6.5.1990;85,5;Süd\nyes;b;16.5.1990;60,0;Hafen\n",
                     "sep=|\nsize|district|built|garden\n85.5| Süd |1990-05-06|no\n60|Hafen|1990-05-16|yes\n",
                     f'Houses of May\n# a comment\n{header}\n"85.5","Süd","1990-05-06",no\n"60","Hafen",1990-05-16,"yes"\n\n',
                     "85.5\tSüd\t1990-05-06\tno\n60\tHafen\t1990-05-16\tyes\n"):
            self.assertEqual(ask(text)["answers"], plain, text)
        self.assertEqual(ask("size,built\n1,2\n"), {"lacking": ["district", "garden"]})
        for empty in ("", "\n\n", header + "\n"):
            self.assertEqual(ask(empty), {"empty": True})
        self.assertEqual(ask(f"{header}\n1,Süd,1990-05-06,no\n1,Süd\n"), {"ragged": {"row": 2, "fields": 2, "wanted": 4}})

    @unittest.skipUnless(page_door.NODE, page_door.NO_NODE)
    def test_languages_say_the_same(self):
        script = """
            const text = require("fs").readFileSync(process.argv[1], "utf8").replace("const labels", "labels");
            const all = require("vm").runInNewContext(`navigator = {};${text};labels`);
            const fillers = (said) => [...said.matchAll(/\\{(\\w+)\\}/g)].map((found) => found[1]).sort();
            const told = Object.values(all).map((table) => Object.fromEntries(
              Object.keys(table).sort().map((key) => [key, fillers(table[key])])));
            console.log(JSON.stringify(told));"""
        labels = os.path.join(SOURCE, "web", "page", "labels.js")
        done = subprocess.run([page_door.NODE, "-e", script, labels], capture_output=True, text=True, check=True)
        first, *others = json.loads(done.stdout)
        self.assertGreater(len(first), 50)
        self.assertTrue(others)
        for other in others:
            self.assertEqual(other, first)

    def test_names_end_no_script(self):
        self.houses()
        page = self.export("--title", EVIL)
        self.assertEqual(page.count("</script>"), page.count("<script"))
        self.assertEqual(page.count("<script"), 4)
        self.assertNotIn("<img", page)
        description = self.description(page)
        self.assertEqual(description["title"], EVIL)
        self.assertIn(EVIL, description["columns"][1]["encode"]["categories"])

    def test_ten_thousand_categories(self):
        rows = [["place", "kind"]] + [[f"Ort {i} ü", "ab"[i % 2]] for i in range(10_000)] * 2
        self.write("x.csv", rows)
        self.train("x.csv", "--hidden", "2", "--max-categories", "10000", "--split", "1,0,0", "--epochs", "1", "--model", "m")
        page = self.export()
        self.assertEqual(len(self.description(page)["columns"][0]["encode"]["categories"]), 10_000)
        if page_door.NODE:
            self.write("asked.csv", [["place"], ["Ort 9999 ü"], [" Ort 7 ü"]])
            self.succeed("predict", "m", "asked.csv", "--probabilities", "--out", "p.csv")
            said = page_door.ask_page(self.path("p.html"), self.path("asked.csv"))
            for line, answer in zip(list(csv.reader(self.read("p.csv").splitlines()))[1:], said["answers"]):
                self.assertAlmostEqual(float(line[1]), answer["scores"][0], delta=1e-6)

    def test_rows_of_ones_own(self):
        self.houses()
        self.write("rows.csv", [["size", "district", "built", "garden"], ["77.25", "Süd", "2001-02-03", "no"]])
        check = self.description(self.export("--data", "rows.csv"))["check"]
        self.assertEqual(check["rows"][0][:2], [77.25, "Süd"])
        self.succeed("predict", "m", "rows.csv", "--out", "p.csv")
        self.assertAlmostEqual(check["outputs"][0][0] / float(self.read("p.csv").split()[1]), 1, delta=1e-6)

    def test_refusals(self):
        self.write("x.csv", blob_rows(30))
        self.train("x.csv", "--hidden", "2", "--model", "m", *LEARNT)
        self.refuse("export", "--html", "--onnx", "m", "-o", "p.html", says="say what to write")
        self.refuse("export", "--npy", "--int8", "m", "-o", "p", says="--int8 is for C source and for a page")
        self.refuse("export", "--onnx", "--title", "A", "m", "-o", "p.onnx", says="--title is for a page")
        self.refuse("export", "--html", "m", "-o", "no/such/p.html", says="no/such")
        self.refuse("export", "--html", "m", "-o", "m", says="m")
        self.refuse("export", "--html", "x.csv", "-o", "p.html", says="x.csv")
        self.refuse("export", "--html", "gone", "-o", "p.html", says="gone")
        self.refuse("export", "--html", "--weights", "i9", "m", "-o", "p.html", says="i9")
        self.write("rows.csv", [["a"], ["1"]])
        self.refuse("export", "--html", "--data", "rows.csv", "m", "-o", "p.html", says="rows.csv")
        if os.path.exists("/dev/full"):
            self.refuse("export", "--html", "m", "-o", "/dev/full", says="/dev/full")


@unittest.skipUnless(CHROMIUM, NO_CHROMIUM)
class BrowserTest(Houses):
    def test_a_form_answers_as_the_program(self):
        self.houses()
        self.export("--title", EVIL)
        self.write("rows.csv", [["size", "district", "built", "garden"], ["85.5", "Süd", "1990-05-06", "no"], ["", "Mond", "2001-01-01", "no"]])
        self.succeed("predict", "m", "rows.csv", "--intervals", "--keep-columns", "size,district,built,garden", "--out", "p.csv")
        expected = list(csv.reader(self.read("p.csv").splitlines()))
        said = browse(self, "p.html", """
            const before = headline();
            type("size", "85,5"); type("district", "Süd"); type("built", "1990-05-06"); type("garden", "no");
            await wait(() => all(".curve svg").length === 4);
            const typed = [headline(), find(".below").textContent];
            press("Keep this row");
            type("size", "no number");
            const odd = find(".notes").textContent;
            press("Keep this row");
            let saved;
            const made = URL.createObjectURL;
            URL.createObjectURL = (blob) => { saved = blob; return made.call(URL, blob); };
            drop("rows.csv", ROWS);
            await wait(() => all("button").some((each) => each.textContent.startsWith("Save the answers")));
            press("Save the answers as CSV");
            const file = find("#file-title").parentNode.textContent;
            const kept = all("#rows-title ~ div tr").map((row) => row.textContent);
            choose("#language", "de");
            await wait(() => find("footer .problem") || find("footer").textContent.includes("Geprüft"));
            const german = [document.documentElement.lang, find("#answer-title").textContent, find("footer").textContent];
            const matters = all("#matters-title ~ ol li").map((each) => each.textContent);
            return { before, typed, odd, saved: await saved.text(), file, kept, german, matters, hit: window.hit,
                     title: document.title };
            """.replace("ROWS", json.dumps(self.read("rows.csv"))))
        self.assertNotEqual(said["before"], said["typed"][0])
        wanted = [float(field) for field in expected[1][4:]]
        got = [float(field.replace(",", "")) for field in [said["typed"][0], *re.findall(r"([\d,.]+) to ([\d,.]+) in 90", said["typed"][1])[0]]]
        for one, two in zip(got, wanted):
            self.assertAlmostEqual(one / two, 1, delta=1e-5)  # six digits are shown
        self.assertIn("size: not readable", said["odd"])
        saved = list(csv.reader(said["saved"].splitlines()))
        self.assertEqual(saved[0], expected[0])
        for row, other in zip(saved[1:], expected[1:]):
            self.assertEqual(row[:4], other[:4])
            for one, two in zip(row[4:], other[4:]):
                self.assertAlmostEqual(float(one) / float(two), 1, delta=1e-6)
        self.assertIn("did not see, counted as none: 1.", said["file"])
        self.assertEqual(len(said["kept"]), 6, said["kept"])
        self.assertEqual(said["german"][:2], ["de", "Antwort"])
        self.assertEqual(len(said["matters"]), 4)
        self.assertTrue(said["matters"][0].startswith("size"), said["matters"])
        self.assertEqual((said.get("hit"), said["title"]), (None, EVIL + " – lamina"))

    def test_a_drawing_by_keys(self):
        self.write("x.csv", digits_rows(600))
        self.train("x.csv", "--hidden", "32", "--model", "m", "--epochs", "10", "--seed", "3")
        self.export()
        said = browse(self, "p.html", """
            const began = headline();
            const ink = find("canvas.ink");
            const key = (name) => ink.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
            key("ArrowUp"); key("ArrowUp"); key(" ");
            for (let i = 0; i < 5; ++i) key("ArrowDown");
            const pen = find("[aria-live=polite].hint").textContent;
            const seen = find("canvas.pixels");
            const { data } = seen.getContext("2d").getImageData(0, 0, seen.width, seen.height);
            const stroke = headline();
            press("Clear");
            drop("rows.csv", ROWS);
            await wait(() => all("#file-title ~ div td button").length === 2);
            all("#file-title ~ div td button")[1].click();
            return { began, stroke, pen, size: [seen.width, seen.height], white: data.filter((_, i) => i % 4 === 0 && data[i] > 100).length,
                     used: headline(), cleared: headline() };
            """.replace("ROWS", json.dumps("".join(",".join(map(str, row)) + "\n" for row in digits_rows(3)[:3]))))
        self.assertIn("down at column", said["pen"])
        self.assertEqual(said["size"], [8, 8])
        self.assertGreater(said["white"], 3)
        self.write("asked.csv", digits_rows(3)[:3])
        self.succeed("predict", "m", "asked.csv", "--out", "p.csv")
        self.assertEqual(said["used"], self.read("p.csv").split()[2].strip('"'))

    def test_light_dark_phone_and_screen_readers(self):
        self.houses()
        self.export()
        script = """
            await wait(() => all(".curve svg").length === 4);
            const style = getComputedStyle(document.documentElement);
            const light = (name) => {
              const hex = style.getPropertyValue(name).trim().slice(1);
              const full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
              const parts = [0, 2, 4].map((i) => parseInt(full.slice(i, i + 2), 16) / 255);
              const linear = parts.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
              return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
            };
            const contrast = (a, b) => {
              const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
              return (high + 0.05) / (low + 0.05);
            };
            const ids = all("[id]").map((each) => each.id);
            return {
              contrasts: ["--ink", "--soft", "--bad", "--main"].flatMap((ink) => [contrast(ink, "--card"), contrast(ink, "--back")]),
              back: light("--back"),
              wide: document.documentElement.scrollWidth - innerWidth,
              unnamed: all("input, select, textarea, button").filter((each) => !each.labels?.length && !each.ariaLabel && !each.textContent).length,
              unsaid: all("svg, canvas").filter((each) => !each.getAttribute("aria-label")).length,
              twice: ids.length - new Set(ids).size,
              live: all("[aria-live]").length,
              mini: getComputedStyle(find(".mini")).display,
            };"""
        for flags, dark, phone in ((("--window-size=1280,900",), False, False), (("--window-size=500,800",), False, True),
                                   (("--window-size=1280,900", "--blink-settings=preferredColorScheme=0"), True, False)):
            with self.subTest(flags=flags):
                said = browse(self, "p.html", script, *flags)
                self.assertGreater(min(said["contrasts"]), 4.5, said)
                self.assertEqual(said["back"] < 0.1, dark)
                self.assertLessEqual(said["wide"], 0)
                self.assertEqual((said["unnamed"], said["unsaid"], said["twice"]), (0, 0, 0))
                self.assertGreater(said["live"], 1)
                self.assertEqual(said["mini"], "flex" if phone else "none")

    def test_times_of_day_and_many_classes(self):
        rng = random.Random(5)
        rows = [["at", "x", "kind"]]
        for i in range(200):
            rows.append([f"2024-03-{1 + i % 28:02}T{i % 24:02}:{rng.randrange(60):02}:00Z", f"{rng.random():.3f}", f"kind {i % 25}"])
        self.write("x.csv", rows)
        self.train("x.csv", "--hidden", "4", "--epochs", "2", "--split", "1,0,0", "--model", "m")
        self.export()
        said = browse(self, "p.html", """
            const at = find("#field-0").value, x = find("#field-1").value;
            find("details summary").click();
            await wait(() => all("details li").length === 25);
            return { at, x, type: find("#field-0").type, first: headline(), shown: all(".answer > div > ol > li").length };""")
        self.assertEqual((said["type"], said["shown"]), ("datetime-local", 10))
        self.write("asked.csv", [["at", "x"], [said["at"], said["x"]]])
        self.succeed("predict", "m", "asked.csv", "--out", "p.csv")
        self.assertEqual(said["first"], self.read("p.csv").splitlines()[1])

    def test_a_page_that_answers_otherwise_says_so(self):
        self.houses()
        page = self.export()
        self.write("p.html", re.sub(r'"outputs":\[\[\d', '"outputs":[[9', page, count=1).replace('"check":{"outputs":[[9', '"check":{"outputs":[[99', 1))
        said = browse(self, "p.html", 'await wait(() => find("footer").textContent.includes("program")); return find("footer .problem").textContent;')
        self.assertIn("Do not trust these answers", said)


if __name__ == "__main__":
    main()
