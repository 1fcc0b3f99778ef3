// Fields made from the rows of the library's settings: label, help and choices are its own.
const settingLabels = new Map();

// What the library says of its settings, with their labels in the place of flags, as in the window.
const withLabels = (text) => text.replace(/--([a-z][a-z0-9-]*[a-z0-9])/g, (flag, name, at) => {
  const label = settingLabels.get(name);
  return label === undefined ? flag : at === 0 ? label : `“${label}”`;
});

function makeSettingFields(about, changed) {
  for (const row of about.settings) settingLabels.set(row.name, row.label);
  const shownFirst = ["effort"];
  const besideFields = ["data", "target", "drop", "model", "time-limit", "folds", "threads", "backend", "test", "validation"];
  const fields = new Map();
  const make = (row) => {
    const id = `setting-${row.name}`;
    const choices = row.name === "effort" ? row.choices.filter((name) => name !== "best") : row.choices;
    const isSelect = choices.length > 0 && !row.more_choices;
    const options = choices.map((name) => element("option", { value: name, text: name, selected: name === row.default }));
    if (isSelect && !choices.includes(row.default)) options.unshift(element("option", { value: row.default, text: row.default || "–" }));
    const list = element("datalist", { id: `${id}-list` }, ...(isSelect ? [] : options));
    const control = isSelect ? element("select", { id }, ...options)
      : element("input", { id, value: row.default, autocomplete: "off", spellcheck: "false", list: list.id });
    control.setAttribute("aria-describedby", `${id}-help ${id}-problem`);
    control.addEventListener(isSelect ? "change" : "input", changed);
    const problem = element("p", { class: "hint problem", id: `${id}-problem` });
    const root = element("div", { class: "field" }, element("label", { for: id, text: row.label }),
                         element("div", { class: "control" }, control, ...(isSelect ? [] : [list])),
                         element("p", { class: "hint", id: `${id}-help`,
                                               text: row.name === "effort" ? say("effortHelp") : withLabels(row.help) }), problem);
    fields.set(row.name, { row, control, problem, root });
    return root;
  };
  const byName = (name) => about.settings.find((row) => row.name === name);
  const first = shownFirst.map((name) => make(byName(name)));
  const others = about.settings.filter((row) => row.basic && !shownFirst.includes(row.name) && !besideFields.includes(row.name))
    .map(make);
  return {
    first,
    others,
    // Those that differ from their defaults, as texts.
    values: () => Object.fromEntries([...fields].filter(([, { control, row }]) => control.value !== row.default)
      .map(([name, { control }]) => [name, control.value])),
    tell: (problems) => {
      for (const [name, { control, problem }] of fields) {
        const found = problems.find((each) => each.setting === name);
        problem.textContent = withLabels(found?.error ?? "");
        control.setAttribute("aria-invalid", found ? "true" : "false");
      }
      return problems.filter((each) => !fields.has(each.setting));
    },
  };
}
