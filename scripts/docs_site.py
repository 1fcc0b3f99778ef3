"""The pages of scripts/docs: Markdown and --help to HTML with one list of all pages. Called with the program and a folder."""
import html
import pathlib
import re
import shutil
import subprocess
import sys

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDEX = "docs/README.md"  # its headings and lists are the navigation
STYLE = """
:root { --text: #1c2430; --soft: #5a6573; --line: #d9dfe6; --back: #fff; --side: #f5f7fa; --accent: #1a5fa8; --code: #f1f4f8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dfe5ec; --soft: #97a3b0; --line: #313a45; --back: #14191f; --side: #1a2028; --accent: #7db8f0; --code: #1f2731; }
  img { background: #fff; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--back); font: 16px/1.6 system-ui, "DejaVu Sans", sans-serif; display: flex; }
nav { width: 250px; flex: none; height: 100vh; position: sticky; top: 0; overflow-y: auto; padding: 20px 18px; background: var(--side);
  border-right: 1px solid var(--line); font-size: 14px; }
nav h2 { border: 0; padding: 0; font-size: 12px; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 18px 0 4px; }
nav a { display: block; padding: 2px 8px; border-radius: 5px; color: var(--text); text-decoration: none; }
nav a:hover { background: var(--line); }
nav a.here { background: var(--accent); color: var(--back); }
main { flex: 1; min-width: 0; padding: 28px 44px 80px; max-width: 1120px; }
a { color: var(--accent); }
h1 { font-size: 30px; line-height: 1.2; margin-top: 0; }
h2 { margin-top: 1.8em; border-bottom: 1px solid var(--line); padding-bottom: 4px; }
pre, code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px; background: var(--code); border-radius: 5px; }
code { padding: 1px 4px; }
pre { padding: 12px 14px; overflow-x: auto; line-height: 1.45; }
pre code { padding: 0; }
table { border-collapse: collapse; margin: 1em 0; font-size: 14.5px; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: 5px 10px; text-align: left; vertical-align: top; }
th { background: var(--side); }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 6px; }
@media (max-width: 800px) { body { display: block; } nav { width: auto; height: auto; position: static; } main { padding: 20px; } }
@media print { nav { display: none; } }
"""


class Site:
    def __init__(self, program, out):
        self.program, self.out = program, out
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

    def navigation(self, page):
        to_root = "../" * page.count("/")
        out = []
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
            path.write_text(
                f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(title if title == "lamina" else title + " · lamina")}</title>\n'
                f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                f'<link rel="stylesheet" href="{"../" * page.count("/")}style.css"></head>\n'
                f'<body><nav aria-label="Pages">\n{self.navigation(page)}\n</nav>\n<main>\n'
                f'{self.relink(page, folder, body)}\n</main>\n'
                "<script>document.querySelector('nav .here')?.scrollIntoView({block: 'nearest'});</script>\n"
                '</body></html>\n', encoding="utf-8")
        (self.out / "style.css").write_text(STYLE, encoding="utf-8")


def main():
    site = Site(sys.argv[1], pathlib.Path(sys.argv[2]))
    site.write()
    for problem in site.problems:
        print("error:", problem, file=sys.stderr)
    print(f"{len(site.sources)} pages: {site.out / 'index.html'}")
    return 1 if site.problems else 0


if __name__ == "__main__":
    sys.exit(main())
