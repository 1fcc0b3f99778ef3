"""A table that is made: columns with their true values and as written, and an answer that follows from them."""

import datetime
import random
import statistics

NUMBER, TEXT, DATE = "number", "text", "date"
INPUT, LEFT_OUT, FREE_TEXT, TARGET = "input", "left out", "free text", "target"


class Column:
    """What stands in a file as `texts` and means `values` (float, str, bool, date, datetime; None: it is missing)."""

    def __init__(self, name, kind, values, texts, role=INPUT):
        self.name, self.kind, self.values, self.texts, self.role = name, kind, values, texts, role

    @property
    def missing(self):
        return sum(value is None for value in self.values)


def _strength(values):
    """Numbers of mean 0 and deviation 1, in which `values` differ; of texts by their places in the alphabet."""
    if isinstance(values[0], str):
        places = {value: place for place, value in enumerate(sorted(set(values)))}
        numbers = [float(places[value]) for value in values]
    elif isinstance(values[0], datetime.date):  # also a datetime
        numbers = [value.toordinal() + getattr(value, "hour", 0) / 24 for value in values]
    else:
        numbers = [float(value) for value in values]
    mean, deviation = statistics.fmean(numbers), statistics.pstdev(numbers)
    return [(number - mean) / deviation for number in numbers]


class Made:
    """A table under way: columns are added, then the answer, then it is written into `content`.

    `maker` says who writes such files, and `flags` what a person has to say to train on it. `floor` is what the
    held-out rows reach where everything is read as it is meant: accuracy of classes, R² of numbers.
    """

    def __init__(self, file, maker, rows=240, flags=(), floor=0.85):
        self.file, self.maker, self.rows, self.flags, self.floor = file, maker, rows, list(flags), floor
        self.rng = random.Random(file)
        self.columns, self.task, self.content = [], "", b""
        self.extra_rows = 0  # lines without a value that means something: units, sums of nothing
        self._signal = [0.0] * rows

    @property
    def target(self):
        return next(column.name for column in self.columns if column.role == TARGET)

    def add(self, name, values, write, kind=None, role=INPUT, weight=1.0, gaps=0, markers=("",)):
        """A column. The answer follows `values` by `weight`; then `gaps` rows lose theirs for a marker."""
        if kind is None:
            is_text = isinstance(values[0], (str, bool))
            kind = TEXT if is_text else DATE if isinstance(values[0], datetime.date) else NUMBER
        if role == INPUT and weight:
            self._signal = [sum_ + weight * part for sum_, part in zip(self._signal, _strength(values))]
        values, texts = list(values), [write(value) for value in values]
        for place, row in enumerate(self.rng.sample(range(self.rows), gaps)):
            values[row], texts[row] = None, markers[place % len(markers)]
        self.columns.append(Column(name, kind, values, texts, role))
        return self

    # What columns hold.

    def amounts(self, low=20, high=90, digits=2):
        return [round(self.rng.uniform(low, high), digits) for _ in range(self.rows)]

    def counts(self, low, high):
        return [self.rng.randrange(low, high) for _ in range(self.rows)]

    def one_of(self, *choices):
        """The rarest stands in some rows of every part."""
        found = [choices[row % len(choices)] for row in range(self.rows)]
        self.rng.shuffle(found)
        return found

    def rising(self, first, step=1):
        return [first + step * row for row in range(self.rows)]

    def days(self, first="2024-01-01", span=300):
        start = datetime.date.fromisoformat(first)
        return [start + datetime.timedelta(days=self.rng.randrange(span)) for _ in range(self.rows)]

    def moments(self, first="2024-03-01 00:00:00", step_minutes=97):
        start = datetime.datetime.fromisoformat(first)
        return [start + datetime.timedelta(minutes=step_minutes * row) for row in range(self.rows)]

    # What is to be predicted.

    def number(self, name, write, middle=500.0, spread=100.0, digits=2, noise=0.1):
        """A number of the columns so far, and a little chance."""
        raw = _strength([part + self.rng.gauss(0, noise) for part in self._signal])
        values = [round(middle + spread * part, digits) for part in raw]
        self.columns.append(Column(name, NUMBER, values, [write(value) for value in values], TARGET))
        self.task = "regression"
        return self

    def classes(self, name, names, noise=0.1, write=str):
        """One of `names`, in equal shares, by the columns so far. No rows lie near a border: they would be chance."""
        raw = _strength([part + self.rng.gauss(0, noise) for part in self._signal])
        order = sorted(range(self.rows), key=lambda row: raw[row])
        values = [None] * self.rows
        for place, row in enumerate(order):
            values[row] = names[place * len(names) // self.rows]
        kind = TEXT if isinstance(values[0], (str, bool)) else NUMBER
        self.columns.append(Column(name, kind, values, [write(value) for value in values], TARGET))
        self.task = "classification"
        return self

    def answer_by(self, signal):
        """The answer follows these numbers and none of the columns so far."""
        self._signal = list(signal)
        return self

    def move(self, name, place):
        """The column of that name to another place of the file."""
        column = next(column for column in self.columns if column.name == name)
        self.columns.remove(column)
        self.columns.insert(place, column)
        return self

    def repeat_rows(self, count):
        """The last `count` rows again hold what the first ones do."""
        for column in self.columns:
            column.values[-count:] = column.values[:count]
            column.texts[-count:] = column.texts[:count]
        return self

    # How it is written.

    def lines(self):
        return [[column.texts[row] for column in self.columns] for row in range(self.rows)]

    def csv(self, separator=",", quote="needed", end="\r\n", encoding="utf-8", mark=b"", header=True, before="", after="",
            second=None, behind=""):
        """Text fields, quoted: "needed", "all", "text" (what is no number), or "never".

        `before` and `after` are lines of their own, `second` is one below the header, `behind` ends each line.
        """
        numbers = {place for place, column in enumerate(self.columns) if column.kind == NUMBER}

        def field(text, place, names=False):
            special = any(sign in text for sign in (separator, '"', "\n", "\r"))
            text_column = names or place not in numbers
            quoted = quote != "never" and (special or quote == "all" or (quote == "text" and text_column and text not in ("", "NA")))
            return '"' + text.replace('"', '""') + '"' if quoted else text

        records = ([[column.name for column in self.columns]] if header else []) + ([second] if second else [])
        named = len(records)
        written = [separator.join(field(text, place, at < named) for place, text in enumerate(record)) + behind + end
                   for at, record in enumerate(records + self.lines())]
        self.content = mark + (before + "".join(written) + after).encode(encoding)
        return self


# How values are written: functions from a value to its text.


def point(digits):
    return lambda value: f"{value:.{digits}f}"


def comma(digits):
    return lambda value: f"{value:.{digits}f}".replace(".", ",")


def grouped(digits, group=",", decimal="."):
    return lambda value: f"{value:,.{digits}f}".replace(",", "\0").replace(".", decimal).replace("\0", group)


def around(write, before="", behind=""):
    return lambda value: before + write(value) + behind


def dated(form):
    return lambda value: value.strftime(form)


def words(yes, no):
    return lambda value: yes if value else no
