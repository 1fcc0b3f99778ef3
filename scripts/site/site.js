// What the pages of scripts/docs do by themselves: colors, search, other versions. Works without a server and a network.
"use strict";

/** The parts of the index that have all words, the best first: [page, anchor, title, heading, text]. */
function laminaFind(index, query, most = 30) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found = [];
  for (const part of index) {
    const [title, heading, text] = [part[2], part[3], part[4]].map((each) => each.toLowerCase());
    let score = 0;
    for (const word of words) {
      const here = (heading.includes(word) ? 8 : 0) + (title.includes(word) ? 4 : 0) + Math.min(3, text.split(word).length - 1);
      if (here === 0) {
        score = 0;
        break;
      }
      score += here;
    }
    const aside = /^(docs\/decisions|bench|CHANGELOG)/.test(part[0]); // pages for those who want the reasons
    if (score > 0) found.push([aside ? score / 4 : score, part]);
  }
  return found.sort((a, b) => b[0] - a[0]).slice(0, most).map((each) => each[1]);
}

/** The text around the first of the words. */
function laminaExcerpt(text, query, width = 200) {
  const word = query.toLowerCase().split(/\s+/).filter(Boolean)[0] || "";
  const at = Math.max(0, text.toLowerCase().indexOf(word) - width / 3);
  return (at > 0 ? "… " : "") + text.slice(at, at + width) + (at + width < text.length ? " …" : "");
}

if (typeof module !== "undefined") module.exports = { laminaFind, laminaExcerpt };

if (typeof document !== "undefined") {
  const root = document.documentElement;
  const toRoot = root.dataset.root;
  const kept = (name, value) => {
    try { // a browser may keep nothing of files
      return value === undefined ? localStorage.getItem(name) : localStorage.setItem(name, value);
    } catch (error) {
      return null;
    }
  };
  const load = (path) => document.head.append(Object.assign(document.createElement("script"), { src: path }));
  if (kept("lamina-colors")) root.dataset.colors = kept("lamina-colors");

  let index = null;
  const show = (query) => {
    const main = document.querySelector("main");
    const box = document.getElementById("found");
    main.hidden = query.trim() !== "";
    box.hidden = !main.hidden;
    box.replaceChildren();
    if (!main.hidden || index === null) return;
    const found = laminaFind(index, query);
    box.append(Object.assign(document.createElement("h1"), { textContent: found.length ? `Pages with these words: ${query}` : `No page has these words: ${query}` }));
    for (const [page, anchor, title, heading, text] of found) {
      const link = Object.assign(document.createElement("a"), { href: toRoot + page + (anchor ? "#" + anchor : "") });
      link.textContent = heading === title ? title : `${title}: ${heading}`;
      link.addEventListener("click", () => { main.hidden = false; box.hidden = true; });
      box.append(link, Object.assign(document.createElement("p"), { textContent: laminaExcerpt(text, query) }));
    }
  };
  window.laminaIndex = (parts) => {
    index = parts;
    show(document.querySelector("nav input").value);
  };
  window.laminaVersions = (numbers) => {
    if (numbers.length < 2) return;
    const list = document.createElement("select");
    list.setAttribute("aria-label", "Version");
    const own = document.querySelector("nav small").textContent.replace("lamina ", "");
    for (const number of numbers) list.append(new Option("Version " + number, number, false, number === own));
    list.addEventListener("change", () => { location.href = `${toRoot}../${list.value}/index.html`; });
    document.querySelector("nav small").replaceWith(list);
  };

  document.addEventListener("DOMContentLoaded", () => {
    const input = document.querySelector("nav input");
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && document.activeElement !== input) {
        event.preventDefault();
        input.focus();
      }
    });
    input.addEventListener("input", () => {
      if (index === null && !document.querySelector("script[src$='search.js']")) load(toRoot + "search.js");
      show(input.value);
    });
    document.querySelector("nav form").addEventListener("submit", (event) => event.preventDefault());
    document.getElementById("colors").addEventListener("click", () => {
      const dark = root.dataset.colors ? root.dataset.colors === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.colors = dark ? "light" : "dark";
      kept("lamina-colors", root.dataset.colors);
    });
    document.querySelector("nav .here")?.scrollIntoView({ block: "nearest" });
    if ("versions" in root.dataset) load(toRoot + "../versions.js");
  });
}
