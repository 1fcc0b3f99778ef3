// Step "Data": a file, its columns and what they are for.
function makeDataStep(app) {
  const chosen = element("input", { type: "file", class: "unseen", id: "file", multiple: true, onchange: () => {
    const files = [...chosen.files];
    chosen.value = "";  // so that the same file can be chosen again
    if (files.length > 0) app.openFiles(files);
  } });
  const label = element("label", { class: "button", for: "file", text: say("open") });
  const example = (key, name) => element("button", { type: "button", text: say(key), onclick: () => app.openExample(name) });
  const drop = element("div", { class: "drop" }, element("p", { text: say("openHelp") }),
                       element("div", { class: "row" }, chosen, label, example("digits", "digits.csv.gz"),
                               example("stocks", "stocks.csv.gz")));
  const summary = element("p", { class: "below" });
  const columns = element("div", { class: "scroll high", tabindex: "0", role: "region", "aria-label": say("columns") });
  const rows = element("div", { class: "scroll high", tabindex: "0", role: "region", "aria-label": say("firstRows") });
  const notes = element("ul", { class: "notes" });
  const sheets = element("select", { id: "sheet", onchange: () => app.openSheet(sheets.value) });
  const sheetField = element("p", { class: "row", hidden: true }, element("label", { for: "sheet", text: say("sheet") }), sheets);
  const root = element("section", { class: "card wide" }, element("h2", { text: say("stepData"), tabindex: "-1" }), drop,
                       summary, sheetField, notes, columns, rows);

  const kinds = { number: "number", date: "date", text: "words" };
  const roleSelect = (table, column, i) => {
    const select = element("select", { "aria-label": say("roleOf", { column: column.name }) },
                           ...["input", "target", "dropped"].map((role) =>
                             element("option", { value: role, text: say(role), selected: table.roles[i] === role })));
    select.addEventListener("change", () => app.setRole(i, select.value));
    return select;
  };
  // What the library decided, of a column or of the file.
  const decided = (table, name) => table.decisions.filter((each) => each.column === name).map((each) => each.what).join("; ");
  const decidedBesides = (table) => {
    const names = new Set(table.columns.map((column) => column.name));
    return table.decisions.filter((each) => !names.has(each.column)).map((each) => `${each.column}: ${each.what}`);
  };
  const columnTable = (table) => element("table", {}, element("caption", { text: say("columns") }),
    element("thead", {}, element("tr", {}, ...["column", "kind", "gaps", "range", "role", "decided"].map((key) =>
      element("th", { scope: "col", text: say(key) })))),
    element("tbody", {}, ...table.columns.map((column, i) => element("tr", {},
      element("th", { scope: "row" }, named(column.name)), element("td", { text: say(kinds[column.kind]) }),
      element("td", { text: column.missing.toLocaleString("en") }), element("td", {}, named(column.range)),
      element("td", {}, roleSelect(table, column, i)),
      element("td", {}, named(decided(table, column.name)))))));
  const rowTable = (table) => element("table", {}, element("caption", { text: say("firstRows") }),
    element("thead", {}, element("tr", {}, ...table.columns.slice(0, table.first[0]?.length ?? 0).map((column) =>
      element("th", { scope: "col" }, named(column.name))))),
    element("tbody", {}, ...table.first.map((cells) =>
      element("tr", {}, ...cells.map((cell) => element("td", {}, named(cell)))))));

  return {
    root,
    show: (table) => {
      summary.textContent = say("opened", { name: table.name, rows: table.rows.toLocaleString("en"),
                                            columns: table.columns.length.toLocaleString("en"),
                                            seconds: table.seconds.toFixed(2) });
      sheetField.hidden = (table.sheets ?? []).length < 2;
      sheets.replaceChildren(...(table.sheets ?? []).map((name) =>
        element("option", { value: name, text: name, selected: name === table.sheet })));
      notes.replaceChildren(...decidedBesides(table).map((text) => element("li", { text })));
      const focused = [...columns.querySelectorAll("select")].indexOf(document.activeElement);
      columns.replaceChildren(columnTable(table));
      if (focused >= 0) columns.querySelectorAll("select")[focused]?.focus();
      rows.replaceChildren(rowTable(table));
    },
  };
}
