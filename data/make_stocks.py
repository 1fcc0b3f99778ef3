#!/usr/bin/env python3
"""Writes data/stocks.csv.gz: made-up daily prices of made-up companies, with the columns of a usual stock price file.

Usage: data/make_stocks.py > stocks.csv. The same file every time: prices are seeded random walks, not those of anyone.
"""
import datetime
import math
import random

SYMBOLS = ["ALDER", "BEECH", "CEDAR", "DOGWD", "ELM", "FIR", "GINKG", "HAZEL"]
DAYS = 500


def main() -> None:
    generator = random.Random(2018)
    print("date,symbol,open,high,low,volume,close")
    for symbol in SYMBOLS:
        day = datetime.date(2016, 1, 4)
        close = generator.uniform(12, 160)
        drift, spread = generator.gauss(0.0003, 0.0004), generator.uniform(0.008, 0.022)
        volume = generator.uniform(4e5, 6e6)
        for _ in range(DAYS):
            first = close * math.exp(generator.gauss(0, spread * 0.4))
            close = first * math.exp(generator.gauss(drift, spread))
            high = max(first, close) * (1 + abs(generator.gauss(0, spread * 0.4)))
            low = min(first, close) * (1 - abs(generator.gauss(0, spread * 0.4)))
            shares = int(volume * math.exp(generator.gauss(0, 0.35)))
            print(f"{day},{symbol},{first:.2f},{high:.2f},{low:.2f},{shares},{close:.2f}")
            day += datetime.timedelta(days=3 if day.weekday() == 4 else 1)


if __name__ == "__main__":
    main()
