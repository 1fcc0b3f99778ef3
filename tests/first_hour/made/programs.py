"""Tables of R, pandas and tools of data bases."""

import gzip
import uuid

from .table import LEFT_OUT, Made, comma, dated, point, words

MOMENT = dated("%Y-%m-%d %H:%M:%S")


def _with_names(file, maker, **more):
    """With the numbers of the rows in front, under a header without a name."""
    first = more.pop("first", 0)
    t = Made(file, maker, **more)
    t.add("", t.rising(first), str, role=LEFT_OUT, weight=0)
    t.add("size", t.amounts(), point(2), weight=2)
    t.add("city", t.one_of("Rome", "Oslo", "Lima"), str)
    return t


def _plain(file, maker, **more):
    t = Made(file, maker, **more)
    t.add("size", t.amounts(), point(3), weight=2)
    t.add("kind", t.one_of("a", "b", "c"), str)
    return t


def r_language():
    t = _with_names("r-write-csv.csv", "R, write.csv", first=1)
    t.add("weight", t.amounts(), point(2), gaps=8, markers=("NA",))
    t.number("price", point(2))
    t.columns[0].texts = [f'"{text}"' for text in t.columns[0].texts]
    t.csv(quote="text", end="\n")
    t.content = t.content.replace(b'"""', b'"')
    yield t
    t = Made("r-write-csv2.csv", "R, write.csv2")
    t.add("laenge", t.amounts(), comma(2), weight=2, gaps=6, markers=("NA",)).add("art", t.one_of("x", "y"), str)
    yield t.number("gewicht", comma(2)).csv(";", quote="text", end="\n")
    t = _plain("r-write-table.txt", "R, write.table")
    t.add("treated", t.one_of(True, False), words("TRUE", "FALSE"), weight=2)
    yield t.number("yield", point(3)).csv("\t", quote="never", end="\n")
    t = _plain("r-readr.csv", "R, readr")
    t.add("at", t.moments(), dated("%Y-%m-%dT%H:%M:%SZ"), gaps=5, markers=("NA",))
    yield t.classes("species", ["setosa", "virginica"]).csv(end="\n")
    t = _plain("r-fwrite.csv", "R, data.table")
    t.add("p", [value * 1e-6 for value in t.amounts()], lambda v: f"{v:.6e}", weight=2)
    yield t.number("score", point(3)).csv(end="\n")
    t = Made("r-headers.csv", "R, names of R")
    t.add("Sepal.Length", t.amounts(4, 8, 1), point(1)).add("Sepal.Width", t.amounts(2, 5, 1), point(1))
    yield t.classes("Species", ["setosa", "versicolor", "virginica"]).csv(quote="text", end="\n")


def pandas():
    t = _with_names("pandas-index.csv", "pandas, to_csv")
    yield t.number("price", point(2)).csv(end="\n")
    t = _plain("pandas-zones.csv", "pandas, times with a zone")
    t.add("at", t.moments(), lambda at: MOMENT(at) + "+01:00")
    yield t.number("load", point(2)).csv(end="\n")
    t = _plain("pandas-nan.csv", "pandas, na_rep")
    t.add("done", t.one_of(True, False), str, weight=2)
    t.add("depth", t.amounts(), point(2), gaps=9, markers=("NaN", "nan"))
    yield t.number("price", point(2)).csv(end="\n")
    t = _with_names("pandas-unnamed.csv", "pandas, written twice")
    t.columns[0].name = "Unnamed: 0"
    yield t.classes("label", ["cat", "dog"]).csv(end="\n")
    t = _plain("pandas-float-classes.csv", "pandas, whole numbers with gaps")
    t.add("rooms", t.counts(1, 9), point(1), gaps=5)
    yield t.classes("bought", [0, 1], write=point(1)).csv(end="\n")
    t = _plain("pandas-gzip.csv.gz", "pandas, compressed")
    t.number("price", point(3)).csv(end="\n")
    t.content = gzip.compress(t.content, mtime=0)
    yield t
    t = _plain("polars.csv", "polars")
    t.add("at", t.moments(), dated("%Y-%m-%dT%H:%M:%S.%f"))
    yield t.number("price", point(3)).csv(end="\n")
    t = _plain("pandas-bools.csv", "pandas, the answer a boolean")
    yield t.classes("late", [False, True], write=str).csv(end="\n")


def data_bases():
    t = _plain("mysql-batch.tsv", "mysql --batch")
    t.add("seen", t.moments(), MOMENT, gaps=7, markers=("NULL",))
    t.add("amount", t.amounts(), point(2), gaps=9, markers=("NULL",))
    yield t.number("total", point(2)).csv("\t", quote="never", end="\n")
    t = _plain("mysql-outfile.tsv", "mysql, outfile")
    t.add("amount", t.amounts(), point(2), gaps=8, markers=("\\N",))
    yield t.number("total", point(2)).csv("\t", quote="never", end="\n")
    t = _plain("postgres.csv", "psql, copy")
    t.add("active", t.one_of(True, False), words("t", "f"), weight=2)
    t.add("at", t.moments(), lambda at: MOMENT(at) + ".123456+00")
    yield t.number("total", point(2)).csv(end="\n")
    t = _plain("sql-server.csv", "SQL Server Management Studio")
    t.add("at", t.moments(), lambda at: MOMENT(at) + ".000", gaps=4, markers=("NULL",))
    t.add("note", t.one_of("paid", "open"), str, gaps=9, markers=("NULL",))
    yield t.number("total", point(2)).csv(mark=b"\xef\xbb\xbf")
    t = Made("oracle.csv", "Oracle SQL Developer")
    t.add("ITEM_SIZE", t.amounts(), point(2), weight=2)
    t.add("SHIPPED", t.days(), lambda day: day.strftime("%d-%b-%Y").upper(), weight=2)
    yield t.number("TOTAL", point(2)).csv(quote="text", end="\n")
    t = _plain("sqlite.txt", "sqlite3, its own mode")
    yield t.number("total", point(2)).csv("|", quote="never", end="\n")
    t = _plain("bigquery.csv", "BigQuery")
    t.add("member", t.one_of(True, False), words("true", "false"), weight=2)
    t.add("at", t.moments(), lambda at: MOMENT(at) + " UTC")
    yield t.number("fare", point(2)).csv(end="\n")
    t = _plain("sql-keys.csv", "SQL, keys")
    t.add("uuid", [str(uuid.UUID(int=t.rng.getrandbits(128))) for _ in range(t.rows)], str, role=LEFT_OUT, weight=0)
    t.add("snowflake", [str(1 << 60 | t.rng.getrandbits(50)) for _ in range(t.rows)], str, role=LEFT_OUT, weight=0)
    yield t.number("total", point(2)).csv(end="\n")
    t = _plain("java-utf16.csv", "a tool in Java, UTF-16")
    t.add("Straße", t.one_of("Süd", "Nörd"), str)
    yield t.number("total", point(2)).csv(encoding="utf-16-be", mark=b"\xfe\xff")


def make():
    yield from r_language()
    yield from pandas()
    yield from data_bases()
