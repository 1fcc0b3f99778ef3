// The door of the page: node page_door.js PAGE reads lists of rows of texts as JSON, a text for each of the page's
// columns. For each list it prints what the engine says: outputs, labels, notes, refusals. "check": what the page says
// of itself.
const fs = require("fs");
const vm = require("vm");

const html = fs.readFileSync(process.argv[2], "utf8");
const part = (pattern) => html.match(pattern)[1];
const description = JSON.parse(part(/<script type="application\/json" id="model">([^]*?)<\/script>/));
const numbers = part(/<script type="application\/octet-stream" id="numbers">([^]*?)<\/script>/).trim();
const engine = part(/<script id="engine">([^]*?)<\/script>/);
const lamina = vm.runInThisContext(`${engine};lamina`);
const model = lamina.makeModel(description, lamina.bytesOfBase64(numbers));

const spoken = (answer) => (answer.refused ? { error: answer.refused } : answer);
const plain = (value) => JSON.stringify(value, (_, each) => (Number.isNaN(each) ? "nan" : each));

if (process.argv[3] === "check") {
  console.log(plain({ difference: lamina.checkModel(model), rows: model.check.rows.length, outputs: model.check.outputs[0] ?? [],
                      scales: model.targets.outputs.map((output) => output.scale ?? 0) }));
} else if (process.argv[3]) {
  const table = lamina.readTable(model, fs.readFileSync(process.argv[3], "utf8"));
  if (!table.texts) {
    console.log(plain(table));
  } else {
    const done = lamina.answerTable(model, table);
    const lines = table.records.map((record, i) => [...record, ...lamina.answerCells(model, done.answers[i])]);
    console.log(plain({ answers: done.answers.map(spoken), odd: done.odd,
                        csv: lamina.csvText([[...table.names, ...lamina.answerNames(model)], ...lines]) }));
  }
} else {
  const asked = JSON.parse(fs.readFileSync(0, "utf8")).map((typed) => lamina.readRows(model, typed));
  console.log(plain(asked.map(({ rows, odd }) => ({ answers: rows.map((values) => spoken(lamina.answerRow(model, values))), odd }))));
}
