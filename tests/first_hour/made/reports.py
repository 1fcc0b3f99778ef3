"""Tables with something around them: titles above the names, units below, sums and notes at the end."""

from .table import LEFT_OUT, Made, comma, dated, point
from .workbooks import workbook

GERMAN_DAY = dated("%d.%m.%Y")


def _sales(file, maker, **more):
    t = Made(file, maker, **more)
    t.add("Kunde", t.rising(4711), str, role=LEFT_OUT, weight=0)
    t.add("Region", t.one_of("Nord", "Süd", "West"), str)
    t.add("Tag", t.days(), GERMAN_DAY)
    return t.add("Menge", t.amounts(), comma(2), weight=2).number("Umsatz", comma(2))


def _sums(t, word="Summe"):
    """The last line of a report: a word, and the sums of amounts."""
    return [word if place == 1 else round(sum(column.values), 2) if place > 2 else None for place, column in enumerate(t.columns)]


def text_files():
    title = "Umsatzbericht 2024;;;;\r\n;;;;\r\n"
    yield _sales("report-title.csv", "Excel, German, a title line").csv(";", encoding="cp1252", before=title)
    t = _sales("report-sums.csv", "Excel, German, a title and sums")
    texts = ["" if value is None else value if isinstance(value, str) else comma(2)(value) for value in _sums(t)]
    yield t.csv(";", encoding="cp1252", before=title, after=";".join(texts) + "\r\n")
    t = _sales("report-sums-note.csv", "Excel, German, sums and a note with all its separators")
    texts = ["" if value is None else value if isinstance(value, str) else comma(2)(value) for value in _sums(t)]
    after = ";".join(texts) + "\r\n;;;;\r\nStand: 31.12.2024, ohne Gewähr;;;;\r\n"
    yield t.csv(";", encoding="cp1252", before=title, after=after)
    before = "Tabelle: 12411-0001\nBevölkerung, Stichtag: 31.12.2024\n\n"
    after = "__________\n© Statistisches Amt, 2024\nStand: 12.03.2025 / 08:15:00\n"
    yield _sales("office-of-statistics.csv", "an office of statistics").csv(";", encoding="cp1252", end="\n", before=before, after=after)
    before = '"Girokonto";"DE02 1203 0000 0000 2020 51"\n""\n"Kontostand vom 31.12.2024:";"4.711,08 €"\n""\n'
    yield _sales("bank-statement.csv", "a bank").csv(";", quote="all", end="\n", before=before)
    t = Made("logger-title-units.csv", "a logger, title and units")
    t.add("Time", t.moments(), dated("%Y-%m-%d %H:%M:%S"))
    t.add("Temp", t.amounts(), point(1), weight=2).add("Pressure", t.amounts(900, 1100), point(1)).number("Flow", point(2))
    yield t.csv(second=["", "°C", "hPa", "l/min"], end="\n", before="Data logger DL-200\nSerial,12345\n\n")
    t = Made("sql-affected.csv", "a tool of a data base, with the number of rows")
    t.add("size", t.amounts(), point(2), weight=2).add("kind", t.one_of("a", "b"), str)
    yield t.number("total", point(2)).csv("\t", after="\r\n(240 rows affected)\r\n")
    t = Made("psql.txt", "psql, its own mode")
    t.add(" size ", t.amounts(), point(2), weight=2).add(" kind ", t.one_of(" a ", " b "), str).number(" total", point(2))
    for column in t.columns:
        column.name = column.name.strip()
    t.csv("|", quote="never", end="\n", after="(240 rows)\n\n")
    names, rest = t.content.split(b"\n", 1)
    t.content = names + b"\n-------+------+--------\n" + rest
    yield t
    t = Made("mysql.txt", "mysql -t")
    t.add("size", t.amounts(), point(2), weight=2).add("kind", t.one_of("a", "b"), str, gaps=5, markers=("NULL",))
    t.number("total", point(2))
    border = "+-------+------+--------+\n"
    rows = ["| " + " | ".join(fields) + " |\n" for fields in ([column.name for column in t.columns], *t.lines())]
    t.content = (border + rows[0] + border + "".join(rows[1:]) + border + "240 rows in set (0.00 sec)\n\n").encode()
    yield t
    t = Made("r-row-names.txt", "R, write.table with names of rows")
    t.add("size", t.amounts(), point(2), weight=2).add("kind", t.one_of("a", "b"), str).number("yield", point(2))
    lines = [" ".join(f'"{column.name}"' for column in t.columns)]
    lines += [f'"{row + 1}" {fields[0]} "{fields[1]}" {fields[2]}' for row, fields in enumerate(t.lines())]
    t.content = "\n".join([*lines, ""]).encode()
    yield t


def books():
    title = [["Umsatzbericht 2024"], [], ["Stand:", "31.12.2024"]]
    yield workbook(_sales("report-title.xlsx", "Excel, a title"), above=title)
    t = _sales("report-sums.xlsx", "Excel, a title and sums")
    yield workbook(t, above=title, below=[_sums(t, "Gesamt")])
    t = Made("merged-names.xlsx", "Excel, names of merged cells")
    t.add("Ort", t.one_of("Ulm", "Bonn", "Köln"), str)
    for quarter in ("Q1", "Q2"):
        t.add(f"{quarter} Plan", t.amounts(), point(2), weight=2).add(f"{quarter} Ist", t.amounts(), point(2))
    t.number("Jahr", point(2))
    above = [["Plan und Ist"], [None, "Q1", None, "Q2"]]
    yield workbook(t, above=above, names=["Ort", "Plan", "Ist", "Plan", "Ist", "Jahr"])


def make():
    yield from text_files()
    yield from books()
