#!/usr/bin/env python3
"""Usage: assemble.py BUILD OUT: makes OUT/lamina.html, the page that trains, and says its size.

It holds the files of web/train and web/page, the example data, and of the folder BUILD lamina.js, lamina.wasm and
relaxed/lamina.wasm."""

import base64
import gzip
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STYLES = ("page/page.css", "train/train.css")
ENGINE = ("page/engine/text.js", "page/engine/csv.js")
SCRIPTS = ("page/labels.js", "train/labels.js", "page/dom.js", "page/curves.js", "train/chart.js", "train/relaxed.js", "train/client.js", "train/runs.js",
           "train/setting_fields.js", "train/data_step.js", "train/training_step.js", "train/results_step.js",
           "train/model_step.js", "train/train.js")
EXAMPLES = ("digits.csv.gz", "stocks.csv.gz")
MOST_BYTES = 5_000_000


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def texts(names):
    return "\n".join(read(ROOT, "web", name).decode() for name in names)


def script(identifier, content):
    if "</script" in content:
        raise SystemExit(f"error: {identifier} would end its own script")
    return f'<script type="text/plain" id="{identifier}">{content}</script>'


def main(build, out):
    binaries = {"wasm": read(build, "lamina.wasm"), "wasm-relaxed": read(build, "relaxed", "lamina.wasm")}
    loader = read(build, "lamina.js")
    if read(build, "relaxed", "lamina.js") != loader:
        raise SystemExit("error: the two binaries want different loaders")
    packed = {name: gzip.compress(wasm, 9, mtime=0) for name, wasm in binaries.items()}
    parts = [script("loader", loader.decode()), script("library", texts(["train/library.js"])),
             script("worker", texts(["train/worker.js"]))]
    parts += [script(name, base64.b64encode(content).decode()) for name, content in packed.items()]
    parts += [script(f"example-{name}", base64.b64encode(read(ROOT, "data", name)).decode()) for name in EXAMPLES]
    page = texts(["train/train.html"])
    for marker, content in {"style": texts(STYLES), "engine": texts(ENGINE), "script": texts(SCRIPTS), "parts": "\n".join(parts)}.items():
        page = page.replace("{{" + marker + "}}", content)
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "lamina.html"), "w", encoding="utf-8") as file:
        file.write(page)
    size = len(page.encode())
    print(f"wrote {out}/lamina.html: {size:,} bytes; the library in it, twice, " +
          " and ".join(f"{len(binaries[name]):,}, packed {len(packed[name]):,}" for name in binaries))
    if size > MOST_BYTES:
        raise SystemExit(f"error: the page has more than {MOST_BYTES:,} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
