// Columns of cells to values: how numbers and dates are written is read off all cells of a column, else as in training
// (lamina/data/files/csv_formats.cc). Values are numbers (NaN: missing), or of text columns texts (null: missing).

// How many cells are numbers by one decimal mark only, and so on.
function decimalEvidence(cells, marks) {
  const found = { points: 0, commas: 0, grouped: false };
  for (const cell of cells) {
    if (isMark(marks, cell)) continue;
    const plain = plainNumber(cell);
    const hasPoint = (!Number.isNaN(plain) || numberText(cell, ".") !== null) && cell.includes(".");
    const withPoint = !Number.isNaN(plain) || numberText(cell, ".") !== null;
    const comma = numberText(cell, ",");
    const withComma = (!hasPoint && !Number.isNaN(plain)) || comma !== null;
    const hasComma = withComma && comma !== null && comma.hasDecimals;
    if (hasPoint && !withComma) found.points++;
    if (hasComma && !withPoint) found.commas++;
    if (hasComma && withPoint) found.grouped = true;
  }
  return found;
}

// `others`: of how many more columns of the file commas are decimal than points; `separator`: of its fields.
function decimalOf(column, evidence, others, separator) {
  if (evidence.points !== evidence.commas) return evidence.commas > evidence.points ? "," : ".";
  if (others !== 0 && separator !== ",") return others > 0 ? "," : ".";
  if (column.decimal || column.unit || column.order) return column.decimal ?? ".";
  return evidence.grouped && separator === ";" ? "," : ".";
}

function orderOf(column, cells) {
  let days = 0;
  let months = 0;
  let mark = "";
  for (const cell of cells) {
    if (!Number.isNaN(dateDays(cell, ""))) continue;
    const byDay = !Number.isNaN(dateDays(cell, "day"));
    const byMonth = !Number.isNaN(dateDays(cell, "month"));
    if (byDay && !byMonth) days++;
    if (byMonth && !byDay) months++;
    if (byDay || byMonth) mark = /[-/.]/.exec(cell)[0];
  }
  if (days !== months) return days > months ? "day" : "month";
  return column.order ?? (mark === "/" ? "month" : "day");
}

// A reader of one column's cells: cell => number, or undefined for one that is none.
function numberReader(column, decimal) {
  let unit = column.unit ?? "";
  return (cell) => {
    const plain = decimal === "." || !cell.includes(".") ? plainNumber(cell) : NaN;
    if (!Number.isNaN(plain)) return losesDigits(cell, plain) || !Number.isFinite(plain) ? undefined : plain;
    if (column.flag && truthOf(cell) !== null) return truthOf(cell) ? 1 : 0;
    const number = numberText(cell, decimal);
    if (!number || !Number.isFinite(number.value) || (number.unit && unit && number.unit !== unit)) return undefined;
    unit = unit || number.unit;
    return number.value;
  };
}

// {values, odd}: odd are the places of cells that are none of the column's kind, which count as missing.
function readColumn(model, column, texts, file = { others: 0, separator: "," }) {
  const cells = texts.map(trimmed);
  const odd = [];
  if (column.kind === "text") {
    return { values: cells.map((cell) => (isMark(model.marks, cell) ? null : cell)), odd };
  }
  let read;
  if (column.kind === "date") {
    const order = orderOf(column, cells);
    read = (cell) => {
      const days = dateDays(cell, order);
      return Number.isNaN(days) ? undefined : days;
    };
  } else {
    read = numberReader(column, decimalOf(column, decimalEvidence(cells, model.marks), file.others, file.separator));
  }
  const values = cells.map((cell, i) => {
    if (isMark(model.marks, cell)) return NaN;
    const value = read(cell);
    if (value === undefined) odd.push(i);
    return value === undefined || model.missingNumbers.has(value) ? NaN : value;
  });
  return { values, odd };
}

// By how many more columns of numbers commas are decimal than points.
function commaColumns(model, columns, textsOf) {
  let more = 0;
  columns.forEach((column, i) => {
    if (column.kind !== "number") return;
    const evidence = decimalEvidence(textsOf(i).slice(0, 64).map(trimmed), model.marks);
    more += Math.sign(evidence.commas - evidence.points);
  });
  return more;
}
