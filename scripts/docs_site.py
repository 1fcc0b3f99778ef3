"""The pages of scripts/docs: Markdown and --help to HTML with one list of all pages, and a search that needs no server.

Called with the program and a folder: FOLDER/VERSION, where several versions stand side by side (--versions). The style
and the script of the pages are in scripts/site.
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDEX = "docs/README.md"  # its headings and lists are the navigation


class Site:
    def __init__(self, program, out, versions):
        self.program, self.out, self.versions = program, out, " data-versions" if versions else ""
        self.version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        self.sources = {}  # page in the site -> (title, HTML of its body, folder of its source or None)
        self.groups = []
        self.problems = []
        self.titles = self.collect()

    def collect(self):
        self.groups = [("Start", [(self.markdown_page("README.md"), "lamina"), (self.markdown_page(INDEX), "All pages")])]
        for part in re.split(r"(?m)^## ", (ROOT / INDEX).read_text(encoding="utf-8"))[1:]:
            links = re.findall(r"(?m)^- \[([^\]]+)\]\(([^)]+\.md)\)", part)
            paths = [(str(pathlib.PurePosixPath(*self.normal(("docs", *pathlib.PurePosixPath(link).parts)))), text) for text, link in links]
            self.groups.append((part.partition("\n")[0], [(self.markdown_page(path), text) for path, text in paths]))
        self.groups.append(("Commands", [(self.command_page(path), " ".join(path)) for path in self.commands(["lamina"])]))
        if (self.out / "api/index.html").exists():
            self.groups.append(("C++", [("api/namespacelamina.html", "C++ API")]))
        self.groups.append(("Pages of folders", self.rest("docs/tasks", "docs/recipes")))
        self.groups.append(("Results", self.rest("bench/results")))
        self.groups.append(("Decisions", self.rest("docs/decisions")))
        return {page: text for _, entries in self.groups for page, text in entries}

    def rest(self, *folders):
        """The pages of the folders that the index does not name."""
        found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.md")) if "template" not in path.name]
        names = [str(path.relative_to(ROOT)) for path in found]
        return [(self.markdown_page(name), self.heading(ROOT / name)) for name in names if self.page_of(name) not in self.sources]

    @staticmethod
    def heading(path):
        first = path.read_text(encoding="utf-8").lstrip().splitlines()[0]
        first = first.lstrip("# ").replace("`", "") if first.startswith("#") else path.stem.replace("_", " ")
        return first if len(first) < 44 else first[:42] + " …"

    @staticmethod
    def page_of(name):
        return "index.html" if name == "README.md" else name[:-len(".md")] + ".html"

    def markdown_page(self, name):
        text = (ROOT / name).read_text(encoding="utf-8")
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"],
                                 extension_configs={"toc": {"slugify": self.anchor}})
        self.sources[self.page_of(name)] = (self.heading(ROOT / name), body, pathlib.PurePosixPath(name).parent)
        return self.page_of(name)

    @staticmethod
    def anchor(text, separator):  # as the forges do it, so that links work in both places
        return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", separator)

    def help_of(self, path):
        return subprocess.run([self.program, *path[1:], "--help"], capture_output=True, text=True, check=True).stdout

    def commands(self, path):
        yield path
        below = self.help_of(path).partition("\nSubcommands:\n")[2].partition("\n\n")[0]
        for name in re.findall(r"(?m)^  ([a-z][a-z0-9-]+)  ", below):
            yield from self.commands([*path, name])

    def command_page(self, path):
        page = "commands/" + "-".join(path) + ".html"
        body = f"<h1>{html.escape(' '.join(path))}</h1>\n<pre>{html.escape(self.help_of(path))}</pre>"
        self.sources[page] = (" ".join(path), body, None)
        return page

    def link(self, page, folder, target):
        """The target of a link of a source as one of the page; None where the site has no such page or file."""
        if re.match(r"[a-z]+:", target) or folder is None:
            return target
        path, _, anchor = target.partition("#")
        to_root = "../" * page.count("/")
        if path:
            absolute = pathlib.PurePosixPath(*self.normal((folder / path).parts))
        else:
            absolute = None
        goal = page if absolute is None else self.page_of(str(absolute)) if absolute.suffix == ".md" else str(absolute)
        if goal in self.sources:
            if anchor and f'id="{anchor}"' not in self.sources[goal][1]:
                self.problems.append(f"{page}: no place #{anchor} in {goal}")
            return (to_root + goal if absolute else "") + ("#" + anchor if anchor else "")
        source = ROOT / goal
        if source.is_file() and source.suffix in (".png", ".svg", ".csv", ".json", ".txt"):
            copy = self.out / goal
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            return to_root + goal
        if not source.exists():
            self.problems.append(f"{page}: the link {target} leads nowhere")
        return None

    @staticmethod
    def normal(parts):
        out = []
        for part in parts:
            if part == "..":
                out.pop()
            elif part != ".":
                out.append(part)
        return out

    def relink(self, page, folder, body):
        def anchor(match):
            target = self.link(page, folder, html.unescape(match[1]))
            return match[2] if target is None else f'<a href="{html.escape(target)}">{match[2]}</a>'

        def image(match):
            return f'src="{html.escape(self.link(page, folder, html.unescape(match[1])) or "")}"'

        body = re.sub(r'<a href="([^"]*)">(.*?)</a>', anchor, body, flags=re.S)
        return re.sub(r'(?<=<img )(?P<rest>[^>]*?)src="([^"]*)"',
                      lambda match: match["rest"] + image(re.match(r'src="([^"]*)"', f'src="{match[2]}"')), body)

    def search_index(self):
        """[page, anchor, title, heading, text] of each part of each page. Reports of benchmarks give headings alone."""
        found = []
        for page, (title, body, _) in self.sources.items():
            if "<h1" not in body:
                body = f"<h1>{title}</h1>\n{body}"
            parts = re.split(r'<h[1-3](?: id="([^"]*)")?>(.*?)</h[1-3]>', body, flags=re.S)
            for anchor, heading, text in zip(parts[1::3], parts[2::3], parts[3::3]):
                heading, text = (re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", part))).strip() for part in (heading, text))
                found.append([page, anchor or "", title, heading, "" if page.startswith("bench/results/2") else text])
        return found

    def navigation(self, page):
        to_root = "../" * page.count("/")
        out = ['<form role="search"><input type="search" placeholder="Search (/)" aria-label="Search all pages"></form>',
               f'<button type="button" id="colors">Dark or light</button> <small>lamina {html.escape(self.version)}</small>']
        for title, entries in self.groups:
            if entries:
                out.append(f"<h2>{title}</h2>")
            for goal, text in entries:
                here = ' class="here" aria-current="page"' if goal == page else ""
                out.append(f'<a href="{to_root}{goal}"{here}>{html.escape(text)}</a>')
        return "\n".join(out)

    def write(self):
        for page, (title, body, folder) in self.sources.items():
            path = self.out / page
            path.parent.mkdir(parents=True, exist_ok=True)
            to_root = "../" * page.count("/")
            path.write_text(
                f'<!doctype html>\n<html lang="en" data-root="{to_root}"{self.versions}>\n<head><meta charset="utf-8"><title>{html.escape(title if title == "lamina" else title + " · lamina")}</title>\n'
                f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                f'<link rel="stylesheet" href="{to_root}style.css"><script src="{to_root}site.js"></script></head>\n'
                f'<body><nav aria-label="Pages">\n{self.navigation(page)}\n</nav>\n<section id="found" aria-live="polite" hidden></section>\n<main>\n'
                f'{self.relink(page, folder, body)}\n</main>\n</body></html>\n', encoding="utf-8")
        for name in ("style.css", "site.js"):
            shutil.copyfile(ROOT / "scripts/site" / name, self.out / name)
        index = json.dumps(self.search_index(), ensure_ascii=False, separators=(",", ":"))
        (self.out / "search.js").write_text(f"laminaIndex({index});\n", encoding="utf-8")

    def unreached(self):
        """Pages that the index and the folders of tasks, recipes, results and decisions lack."""
        names = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").glob("*.md"))]
        return [f"{INDEX}: no line names {name}" for name in names if self.page_of(name) not in self.sources]


def write_versions(folder):
    """The list of versions beside the one that was written, newest first; every page offers them."""
    numbers = sorted((path.parent.name for path in folder.glob("*/search.js")), key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    (folder / "versions.js").write_text(f"laminaVersions({json.dumps(numbers)});\n", encoding="utf-8")


def main():
    versions = "--versions" in sys.argv
    site = Site(sys.argv[1], pathlib.Path(sys.argv[2]), versions)
    site.write()
    if versions:
        write_versions(site.out.parent)
    problems = [*site.problems, *site.unreached()]
    for problem in problems:
        print("error:", problem, file=sys.stderr)
    print(f"{len(site.sources)} pages: {site.out / 'index.html'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
