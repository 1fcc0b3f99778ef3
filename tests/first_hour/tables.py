#!/usr/bin/python3
"""Usage: tables.py FOLDER: writes every ordinary table and tables.json, which says what each should become.

tables.json is a list of {file, maker, rows, extra_rows, flags, target, task, floor, columns}. columns is a list of
{name, kind, missing, role}. Names are "" where the header has none. `role` "any": both an input and left out is right.
The same bytes at every run. Standard library only.
"""

import json
import os
import sys

from made import people, programs, reports, spreadsheets, workbooks


def all_tables():
    return [table for part in (spreadsheets, programs, people, workbooks, reports) for table in part.make()]


def expectation(table):
    columns = [{"name": c.name, "kind": c.kind, "missing": c.missing, "role": c.role} for c in table.columns]
    return {"file": table.file, "maker": table.maker, "rows": table.rows, "extra_rows": table.extra_rows, "flags": table.flags,
            "target": table.target, "task": table.task, "floor": table.floor, "columns": columns}


def write_all(folder):
    os.makedirs(folder, exist_ok=True)
    tables = all_tables()
    for table in tables:
        with open(os.path.join(folder, table.file), "wb") as file:
            file.write(table.content)
    with open(os.path.join(folder, "tables.json"), "w", encoding="utf-8") as file:
        json.dump([expectation(table) for table in tables], file, indent=1, ensure_ascii=False)
    return tables


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"{len(write_all(sys.argv[1]))} tables")
