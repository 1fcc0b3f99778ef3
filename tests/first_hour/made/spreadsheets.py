"""Tables of Excel (German, English) and LibreOffice as text."""

from .table import LEFT_OUT, Made, around, comma, dated, grouped, point, words

GERMAN_DAY, UTF8_MARK = dated("%d.%m.%Y"), b"\xef\xbb\xbf"
CITIES = ("Köln", "Düsseldorf", "Weißenfels", "Bonn")


def _german(file, maker="Excel, German", **more):
    t = Made(file, maker, **more)
    t.add("Größe", t.amounts(), comma(2), weight=2)
    t.add("Stadt", t.one_of(*CITIES), str)
    return t


def _english(file, maker="Excel, English", **more):
    t = Made(file, maker, **more)
    t.add("Region", t.one_of("North", "South", "East"), str)
    t.add("Size", t.amounts(), point(2), weight=2)
    return t


def german():
    t = _german("excel-german-1252.csv")
    t.add("Datum", t.days(), GERMAN_DAY)
    yield t.number("Umsatz €", comma(2)).csv(";", encoding="cp1252")
    t = _german("excel-german-customers.csv")
    t.add("Kundennr", t.rising(10000), str, role=LEFT_OUT).move("Kundennr", 0)
    t.add("Lager", t.amounts(1000, 90000), grouped(2, ".", ","))
    yield t.number("Preis", comma(2)).csv(";", mark=UTF8_MARK)
    t = _german("excel-german-per-cent.csv")
    t.add("Rabatt", t.amounts(0, 60, 1), around(comma(1), behind=" %"), weight=2)
    yield t.classes("Kauf", ["nein", "ja"]).csv(";", encoding="cp1252")
    t = _german("excel-german-euro.csv")
    t.add("Betrag", t.amounts(900, 9000), around(grouped(2, ".", ","), behind=" €"), weight=2)
    yield t.number("Gebühr", around(comma(2), behind=" €")).csv(";", encoding="cp1252")
    t = _german("excel-german-booleans.csv")
    t.add("Geprüft", t.one_of(True, False), words("WAHR", "FALSCH"), weight=2)
    yield t.number("Ergebnis", comma(1), digits=1).csv(";", encoding="cp1252")
    t = _german("excel-german-gaps.csv")
    t.add("Messwert", t.amounts(), comma(2), gaps=9, markers=("#NV", "#DIV/0!", "-", ""))
    t.add("Klasse", t.one_of("A", "B", "C"), str, gaps=6, markers=("n/a", "", "N/A"))
    yield t.number("Wert", comma(2)).csv(";", encoding="cp1252")
    t = _german("excel-german-sep-line.csv")
    yield t.number("Wert", comma(2)).csv(";", before="sep=;\r\n", encoding="cp1252")
    t = _german("excel-german-empty-rows.csv")
    t.number("Wert", comma(2)).csv(";", encoding="cp1252", after=";;\r\n" * 3)
    t.extra_rows = 3
    yield t
    t = _german("excel-german-short-dates.csv")
    t.add("Datum", t.days(), dated("%d.%m.%y"), weight=2)
    yield t.number("Wert", comma(2)).csv(";", encoding="cp1252")
    t = _german("excel-german-line-breaks.csv")
    t.add("Anschrift", t.one_of("Am Markt 1;\n50667 Köln", 'Hof "Süd"\nBonn', "Ring 5"), str, weight=2)
    yield t.number("Wert", comma(2)).csv(";", encoding="cp1252")
    t = _german("excel-german-unicode-text.txt")
    yield t.number("Wert", comma(2)).csv("\t", encoding="utf-16-le", mark=b"\xff\xfe")
    t = Made("excel-german-mac.csv", "Excel for Mac, German")
    t.add("Flaeche", t.amounts(), comma(2)).add("Zimmer", t.counts(1, 9), str)
    yield t.number("Miete", comma(2)).csv(";", end="\r")
    t = _german("excel-german-trailing.csv")
    yield t.number("Wert", comma(2)).csv(";", encoding="cp1252", behind=";")


def english():
    t = _english("excel-english-currency.csv")
    t.add("Ordered", t.days(), lambda day: f"{day.month}/{day.day}/{day.year}")
    t.add("Paid", t.amounts(900, 9000), around(grouped(2), "$"), weight=2)
    yield t.number("Fee", around(point(2), "$")).csv()
    t = _english("excel-english-accounting.csv")
    t.add("Balance", t.amounts(-9000, 9000), lambda v: f"({-v:,.2f})" if v < 0 else f"{v:,.2f}", weight=3)
    yield t.number("Rating", point(2)).csv()
    t = Made("excel-english-years.csv", "Excel, English")
    t.add("2018", t.amounts(), point(1)).add("2019", t.amounts(), point(1)).add("2020", t.amounts(), point(1))
    yield t.number("2021", point(1), digits=1).csv()
    t = _english("excel-english-errors.csv")
    t.add("Margin", t.amounts(), point(2), gaps=8, markers=("#N/A", "#DIV/0!", "#VALUE!", "#REF!"))
    yield t.number("Profit", point(2)).csv()
    t = _english("excel-english-per-cent.csv")
    t.add("Share", t.amounts(0, 100, 1), around(point(1), behind="%"), weight=2)
    yield t.classes("Churned", ["No", "Yes"]).csv(mark=UTF8_MARK)
    t = _english("excel-english-month-names.csv")
    t.add("Sold", t.days(), dated("%d-%b-%y"), weight=2)
    yield t.number("Price", point(2)).csv()
    t = _english("excel-english-copies.csv")
    t.add("Currency", ["USD"] * t.rows, str, role=LEFT_OUT, weight=0)
    yield t.number("Price", point(2)).repeat_rows(20).csv()
    t = _english("excel-english-order-numbers.csv")
    t.add("Order", [str(9007199254740993 + 2 * row) for row in range(t.rows)], str, role=LEFT_OUT, weight=0)
    yield t.number("Price", point(2)).csv()
    t = _english("excel-english-stored.csv")
    t.add("Stock", t.counts(1000, 90000), grouped(0), weight=2)
    yield t.classes("Demand", ["low", "middle", "high"]).csv()


def libreoffice():
    t = _english("libreoffice-quoted.csv", "LibreOffice")
    t.add("Day", t.days(), dated("%Y-%m-%d"))
    yield t.number("Price", point(2)).csv(quote="text", end="\n")
    t = Made("libreoffice-french.csv", "LibreOffice, French")
    t.add("Surface", t.amounts(900, 9000), grouped(2, "\u202f", ","), weight=2)
    t.add("Quartier", t.one_of("Été", "Hiver", "Forêt"), str).add("Date", t.days(), dated("%d/%m/%Y"))
    yield t.number("Loyer", comma(2)).csv(";", end="\n")
    t = Made("libreoffice-swiss.csv", "LibreOffice, Swiss")
    t.add("Fläche", t.amounts(900, 9000), grouped(2, "'"), weight=2).add("Ort", t.one_of("Zürich", "Genève", "Basel"), str)
    yield t.number("Miete", around(point(2), "CHF ")).csv(";", end="\n")
    t = _german("libreoffice-latin.csv", "LibreOffice, German")
    t.add("Bestellt", t.days(), dated("%d.%m.%Y %H:%M"))
    yield t.number("Wert", comma(2)).csv(";", encoding="cp1252", end="\n", quote="text")


def make():
    yield from german()
    yield from english()
    yield from libreoffice()
