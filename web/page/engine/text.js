// Cells of text as numbers: what lamina/data/files/number_text.cc and missing_marks.cc do.
const trimmed = (text) => text.replace(/^[ \t\r]+|[ \t\r]+$/g, "");
const asciiLower = (text) => text.replace(/[A-Z]/g, (c) => c.toLowerCase());

const isMark = (marks, cell) => marks.has(asciiLower(cell)) || /^[-+]nan$/i.test(cell);

// A number with a decimal point and nothing beside it; NaN for all else.
function plainNumber(text) {
  return /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text) ? Number(text) : NaN;
}

// Whole numbers of more digits than a double keeps are identifiers.
function losesDigits(text, value) {
  if (!(Math.abs(value) >= 2 ** 53) || !Number.isFinite(value)) return false;
  const digits = text.replace(/^[-+]/, "");
  return /^\d+$/.test(digits) && BigInt(Math.abs(value)).toString() !== digits.replace(/^0+(?=\d)/, "");
}

const unitPattern = /^(?:%|\$|€|£|¥|₹|EUR|USD|GBP|CHF|JPY)/;
const blankPattern = /^[ \u00a0\u202f]+/;

// Digits in groups of three; [plain digits, what follows, whether there were groups], null for wrong groups.
function takeInteger(text, decimal) {
  const first = /^\d*/.exec(text)[0];
  let plain = first;
  let rest = text.slice(first.length);
  const mark = (decimal === "." ? /^[, \u00a0\u202f'’]/ : /^[. \u00a0\u202f'’]/).exec(rest);
  let grouped = false;
  while (mark && rest.startsWith(mark[0])) {
    const group = /^\d*/.exec(rest.slice(1))[0];
    if (group.length === 0) break;  // a blank before a unit
    if (!/^[1-9]\d{0,2}$/.test(first) || group.length !== 3) return null;
    grouped = true;
    plain += group;
    rest = rest.slice(4);
  }
  return [plain, rest, grouped];
}

// {value, unit, hasDecimals} of "$1,234.50", "7 %", "(12)", "1.234,5"; null for what is no number.
function numberText(cell, decimal) {
  let text = cell;
  const accounting = text.length > 2 && text.startsWith("(") && text.endsWith(")");
  if (accounting) text = text.slice(1, -1);
  const takeSign = () => {
    const found = /^[-+]/.exec(text);
    if (found) text = text.slice(1);
    return found ? found[0] : "";
  };
  let sign = takeSign();
  if (accounting && sign) return null;
  if (accounting) sign = "-";
  let unit = unitPattern.exec(text)?.[0] ?? "";
  if (unit) {
    text = text.slice(unit.length).replace(blankPattern, "");
    sign = sign || takeSign();
  }
  const integer = takeInteger(text, decimal);
  if (!integer) return null;
  let [plain, rest] = integer;
  const hasDecimals = rest.startsWith(decimal);
  if (hasDecimals) {
    const digits = /^\d*/.exec(rest.slice(1))[0];
    plain += "." + digits;
    rest = rest.slice(1 + digits.length);
  }
  if (!/\d/.test(plain)) return null;
  const exponent = integer[2] ? null : /^[eE][-+]?\d+/.exec(rest);
  if (exponent) {
    plain += exponent[0];
    rest = rest.slice(exponent[0].length);
  }
  if (!unit) {
    rest = rest.replace(blankPattern, "");
    unit = unitPattern.exec(rest)?.[0] ?? "";
    rest = rest.slice(unit.length);
  }
  if (rest) return null;
  return { value: sign === "-" ? -Number(plain) : Number(plain), unit, hasDecimals };
}

// true, false or null, in small and capital letters.
function truthOf(text) {
  const lower = asciiLower(text);
  return lower === "true" ? true : lower === "false" ? false : null;
}
