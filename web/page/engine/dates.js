// Dates as days since 1970-01-01: what lamina/data/files/date_text.cc does.
const monthNames = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

function daysOf(year, month, day) {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const good = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return good ? date.getTime() / 86400000 : NaN;
}

// Two digits are a year of 1970 to 2069.
const fullYear = (text) => (text.length === 4 ? Number(text) : Number(text) + (Number(text) < 70 ? 2000 : 1900));

// [days, what follows]; `order`: "day", "month" or "".
function takeDay(text, order) {
  let found = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/.exec(text);
  if (found) return [daysOf(+found[1], +found[3], +found[4]), text.slice(found[0].length)];
  found = /^(\d{1,2})([- ])([A-Za-z]{3})\2(\d{4}|\d{2})(?!\d)/.exec(text);
  const month = found ? monthNames.indexOf(found[3].toUpperCase()) : -1;
  if (month >= 0) return [daysOf(fullYear(found[4]), month + 1, +found[1]), text.slice(found[0].length)];
  found = order ? /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/.exec(text) : null;
  if (!found) return [NaN, text];
  const short = found[2] === "/" || (found[1].length === 2 && found[3].length === 2);
  if (found[4].length === 2 && !short) return [NaN, text];
  const [day, second] = order === "day" ? [+found[1], +found[3]] : [+found[3], +found[1]];
  return [daysOf(fullYear(found[4]), second, day), text.slice(found[0].length)];
}

// Seconds that a zone is ahead of UTC; NaN for what is none.
function zoneSeconds(text) {
  if (text === "" || /^z$/i.test(text)) return 0;
  let found = /^ ?(?:utc|gmt)(?:([-+])(\d{1,2})(?::(\d{2}))?)?$/i.exec(text);
  if (found) {
    if (!found[1]) return 0;
    const good = +found[2] <= 14 && +(found[3] ?? 0) < 60;
    return good ? (found[1] === "-" ? -1 : 1) * (+found[2] * 3600 + +(found[3] ?? 0) * 60) : NaN;
  }
  found = /^ ?([-+])(\d{2})(?::?(\d{2}))?$/.exec(text);
  if (!found || +(found[3] ?? 0) >= 60) return NaN;
  return (found[1] === "-" ? -1 : 1) * (+found[2] * 3600 + +(found[3] ?? 0) * 60);
}

// Seconds of "9:05", "09:05:30.25 PM+02:00"; NaN for what is no time.
function timeSeconds(text) {
  const found = /^(\d{1,2}):(\d{2})(?!\d)(?::(\d{2})(?!\d)(?:\.(\d*))?)?(?: ?(AM|PM))?/i.exec(text);
  if (!found || +found[1] >= 24 || +found[2] >= 60 || +(found[3] ?? 0) >= 60) return NaN;
  let seconds = +found[1] * 3600 + +found[2] * 60 + +(found[3] ?? 0) + (found[4] ? Number("0." + found[4]) : 0);
  if (found[5]) {
    if (+found[1] < 1 || +found[1] > 12) return NaN;
    seconds += (/pm/i.test(found[5]) ? 12 * 3600 : 0) - (+found[1] === 12 ? 12 * 3600 : 0);
  }
  return seconds - zoneSeconds(text.slice(found[0].length));
}

// NaN for what is no date.
function dateDays(text, order) {
  const [days, rest] = takeDay(text, order);
  if (rest === "" || Number.isNaN(days)) return days;
  return /^[T ]/.test(rest) ? days + timeSeconds(rest.slice(1)) / 86400 : NaN;
}

// "2024-03-05", or "2024-03-05T10:00" (with seconds where there are some).
function dateText(days) {
  const date = new Date(Math.round(days * 86400) * 1000);
  if (!(Math.abs(days) < 1e7)) return String(days);
  const [day, time] = date.toISOString().replace(/^[-+]00/, "").split("T");
  if (Math.round(days * 86400) % 86400 === 0) return day;
  return day + "T" + time.slice(0, date.getUTCSeconds() ? 8 : 5);
}

// Year, month (1 to 12) or weekday (0 Monday) of a day; NaN far away, as the program says.
function calendarPart(days, part) {
  if (!(Math.abs(days) < 1e8)) return NaN;
  const whole = Math.floor(days);
  if (part === "weekday") return whole + 3 - 7 * Math.floor((whole + 3) / 7);
  const shifted = whole + 719468;
  const era = Math.floor(shifted / 146097);
  const ofEra = shifted - era * 146097;
  const cut = Math.floor;
  const yearOfEra = cut((ofEra - cut(ofEra / 1460) + cut(ofEra / 36524) - cut(ofEra / 146096)) / 365);
  const dayOfYear = ofEra - (365 * yearOfEra + cut(yearOfEra / 4) - cut(yearOfEra / 100));
  const fromMarch = cut((5 * dayOfYear + 2) / 153);
  const month = fromMarch + (fromMarch < 10 ? 3 : -9);
  return part === "month" ? month : yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
}
