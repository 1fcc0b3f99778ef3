"""Tables of surveys and of loggers."""

from .table import FREE_TEXT, LEFT_OUT, Made, comma, dated, point, words

LIKERT = ("strongly disagree", "disagree", "neither, nor", "agree", "strongly agree")


def surveys():
    t = Made("limesurvey.csv", "LimeSurvey")
    t.add("id", t.rising(1), str, role=LEFT_OUT, weight=0)
    t.add("q1. The room was clean", t.one_of(*LIKERT), str, gaps=6, markers=("N/A", ""))
    t.add("q2. Your age", t.counts(18, 80), str, weight=3)
    yield t.classes("again", ["no", "yes"]).csv(quote="all", end="\n")
    t = Made("google-forms.csv", "Google Forms")
    t.add("Timestamp", t.moments(), lambda at: f"{at.month}/{at.day}/{at.year} {at.hour}:{at.minute:02}:{at.second:02}")
    t.add("How old are you, in years?", t.counts(18, 80), str, weight=2)
    t.add("Which do you use?", t.one_of("Bus, Train", "Bus", "Car"), str)
    yield t.number("What do you spend a month?", point(0), digits=0).csv()
    t = Made("survey-two-headers.csv", "SurveyMonkey, a second header line")
    t.add("Visits", t.counts(1, 90), str, weight=2).add("Hours", t.amounts(), point(1))
    t.number("Spent", point(2)).csv(second=["Response", "Open-Ended Response", "Open-Ended Response"])
    t.extra_rows = 1
    yield t
    t = Made("survey-more.csv", "a survey with 'more'")
    t.add("children", t.one_of("0", "1", "2", "3", "more"), str, weight=2).add("income", t.amounts(900, 9000), point(0))
    yield t.number("rent", point(2)).csv(end="\n")
    t = Made("spss.csv", "SPSS")
    t.add("age", t.counts(18, 80), str, gaps=7, markers=(" ",), weight=2).add("sex", t.counts(1, 3), str)
    yield t.number("score", point(2)).csv(end="\r\n")
    t = Made("tickets.csv", "a help desk, free text", rows=800, floor=0.8)
    urgent, calm = ("down", "crash", "outage", "broken"), ("question", "wish", "colour", "thanks")
    plain = "the a of screen printer mail server login page for user network at office please again today".split()
    names = [t.rng.random() < 0.5 for _ in range(t.rows)]
    subjects = [" ".join(t.rng.sample(plain, 5) + t.rng.sample(urgent if name else calm, 2)) for name in names]
    t.add("ticket_id", t.rising(5000), str, role=LEFT_OUT, weight=0)
    t.add("subject", subjects, str, role=FREE_TEXT)
    t.add("channel", t.one_of("mail", "phone", "web"), str)
    t.answer_by([float(name) for name in names])
    yield t.classes("priority", ["low", "high"], noise=0.01).csv(end="\n")
    t = Made("survey-answers.csv", "a survey, words for no answer")
    t.add("smoker", t.one_of("yes", "no", "prefer not to say"), str, gaps=8, markers=("n/a", "N/A", "-", "null", "None"))
    t.add("weight", t.amounts(), point(1), gaps=9, markers=("n/a", "none", "--", "?"), weight=2)
    yield t.number("premium", point(2)).csv(end="\n")


def loggers():
    t = Made("logger-error.csv", "a logger that writes 'error'", rows=400)
    t.add("vibration", t.amounts(0, 9), point(3), gaps=4, markers=("error",), weight=2).add("bar", t.amounts(), point(2))
    yield t.classes("state", ["ok", "worn"]).csv(end="\n")
    t = Made("logger-epoch.csv", "a logger, seconds since 1970")
    t.add("time", t.rising(1710000000, 37), str, weight=1).add("volt", t.amounts(3, 5, 3), point(3), weight=2)
    yield t.number("load", point(2)).csv(end="\n")
    t = Made("logger-comments.csv", "a logger with comments")
    t.add("time", t.moments(), lambda at: at.strftime("%Y-%m-%dT%H:%M:%S+02:00")).add("temp", t.amounts(), point(1), weight=2)
    yield t.number("humidity", point(1), digits=1).csv(before="# device 7\n# firmware 1.2\n", end="\n")
    t = Made("logger-units.csv", "a logger, units below the header")
    t.add("temp", t.amounts(), point(1), weight=2).add("pressure", t.amounts(900, 1100), point(1))
    t.number("flow", point(2)).csv(second=["°C", "hPa", "l/min"], end="\n")
    t.extra_rows = 1
    yield t
    t = Made("logger-german.csv", "a logger, German")
    t.add("Datum", t.days(), dated("%d.%m.%Y")).add("Uhrzeit", t.moments(), dated("%H:%M:%S"), kind="text", role="any", weight=0)
    t.add("Temperatur °C", t.amounts(-20, 60, 1), comma(1), gaps=6, markers=("---",), weight=2)
    yield t.number("Durchfluss", comma(2)).csv(";", encoding="cp1252")
    t = Made("logger-sentinel.csv", "a logger, -9999 for nothing", flags=("--missing-values", "-9999"))
    t.add("temp", t.amounts(), point(1), gaps=9, markers=("-9999",), weight=2).add("wind", t.amounts(0, 30, 1), point(1))
    yield t.number("power", point(2)).csv(end="\n")
    t = Made("logger-constant.csv", "a logger, one sensor dead")
    t.add("dead", [0.0] * t.rows, point(1), role=LEFT_OUT, weight=0).add("alive", t.amounts(), point(1), weight=2)
    t.add("alarm", t.one_of(True, False), words("on", "off"))
    yield t.number("power", point(2)).csv(end="\n")


def make():
    yield from surveys()
    yield from loggers()
