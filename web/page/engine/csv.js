// CSV text to rows of texts, and back.

// Fields of `text`, records of different length as they are. "" within quotes is a quote.
function splitCsv(text, separator) {
  const records = [];
  let record = [];
  let at = 0;
  while (at < text.length) {
    let field = "";
    const quoted = /^[ \t]*"/.exec(text.slice(at, at + 64));
    if (quoted) {
      at += quoted[0].length;
      for (;;) {
        const quote = text.indexOf('"', at);
        field += text.slice(at, quote < 0 ? text.length : quote);
        at = quote < 0 ? text.length : quote + 1;
        if (text[at] !== '"') break;
        field += '"';
        ++at;
      }
    }
    let end = at;
    while (end < text.length && text[end] !== separator && text[end] !== "\n") ++end;
    field += quoted ? "" : trimmed(text.slice(at, end));
    record.push(field);
    at = end + 1;
    if (text[end] !== separator) {
      if (record.length > 1 || record[0] !== "") records.push(record);
      record = [];
    } else if (at >= text.length) {
      record.push("");
    }
  }
  if (record.length > 0) records.push(record);
  return records;
}

const separators = [";", "\t", "|", ","];

// The separator by which a line has the most of the names `wanted`. Where none has any, the one by which the first
// lines have the most fields alike.
function separatorOf(text, wanted) {
  const told = /^sep=(.)\r?\n/i.exec(text);
  if (told) return told[1];
  const sample = text.length > 65536 ? text.slice(0, 65536).replace(/\n[^\n]*$/, "\n") : text;
  const rank = (separator) => {
    const records = splitCsv(sample, separator).slice(0, 64);
    const fields = records.at(-1)?.length ?? 0;
    const alike = fields > 1 ? records.filter((record) => record.length === fields).length / records.length : 0;
    return Math.max(0, ...records.slice(0, 20).map((record) => namesIn(record, wanted))) + alike / 2;
  };
  const ranks = separators.map(rank);
  return separators[ranks.indexOf(Math.max(...ranks))];
}

const namesIn = (record, wanted) => {
  const there = new Set(record);
  return wanted.filter((name) => there.has(name)).length;
};

// A file for a model: {names, records, texts (of the model's columns), separator}; or {lacking: names}, {empty},
// {ragged: {row, fields, wanted}}.
function readTable(model, content) {
  const text = content.replace(/^\ufeff/, "");
  const wanted = model.columns.map((column) => column.name);
  const separator = separatorOf(text, wanted);
  const all = splitCsv(text.replace(/^sep=.\r?\n/i, ""), separator);
  const records = all.filter((record) => !(record[0].startsWith("#") && record.length < wanted.length));
  const at = records.slice(0, 20).findIndex((record) => namesIn(record, wanted) === wanted.length);
  let names = records[at];
  let rows = records.slice(at + 1);
  if (at < 0) {
    if (records.length === 0) return { empty: true };
    const first = records[0];
    if (first.length !== wanted.length || namesIn(first, wanted) > 0) {
      return { lacking: wanted.filter((name) => !first.includes(name)) };
    }
    names = wanted;  // in the columns' order
    rows = records;
  }
  if (rows.length === 0) return { empty: true };
  const odd = rows.findIndex((row) => row.length < names.length || row.slice(names.length).some((cell) => cell !== ""));
  if (odd >= 0) return { ragged: { row: odd + 1, fields: rows[odd].length, wanted: names.length } };
  const places = wanted.map((name) => names.indexOf(name));
  return { names, records: rows, texts: rows.map((row) => places.map((place) => row[place])), separator };
}

const csvField = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csvText = (rows) => rows.map((row) => row.map((cell) => csvField(String(cell))).join(",") + "\n").join("");

// Nine digits, as the program writes them.
const digitsText = (value) => String(Number(value.toPrecision(9)));

// What is added to the columns of a file, by the names that the program gives them.
function answerNames(model) {
  const { targets, intervals } = model;
  if (targets.classes) return [targets.names[0], ...targets.classes.map((name) => "p_" + name)];
  const names = targets.outputs.map((output) => output.name);
  return [...names, ...(intervals ? names.flatMap((name) => [name + "_lower", name + "_upper"]) : [])];
}

function answerCells(model, answer) {
  if (answer.refused) return answerNames(model).map(() => "");
  if (model.targets.classes) return [answer.name, ...answer.scores.map(digitsText)];
  const bounds = answer.lower ? answer.outputs.flatMap((_, j) => [answer.lower[j], answer.upper[j]]) : [];
  return [...answer.outputs, ...bounds].map(digitsText);
}

// All rows of a table answered: {answers, odd}.
function answerTable(model, table) {
  const others = commaColumns(model, model.columns, (c) => table.texts.map((row) => row[c]));
  const { rows, odd } = readRows(model, table.texts, { others, separator: table.separator });
  return { rows, odd, answers: rows.map((values) => answerRow(model, values)) };
}
