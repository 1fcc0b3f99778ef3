"""Tables as .xlsx and .ods files, written by hand: shared strings as in Excel, strings in the cells as in others."""

import datetime
import io
import zipfile
from xml.sax.saxutils import escape

from .table import LEFT_OUT, Made, point

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_STYLES = (f'<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy"/></numFmts>'
           '<fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders>'
           '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0"/>'
           '<xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>')


def _letters(place):
    return chr(ord("A") + place)


def _cell(value, where, shared, style, first_day):
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{where}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime.date):
        return f'<c r="{where}" s="{style}"><v>{(value - first_day).days}</v></c>'
    if isinstance(value, (int, float)):
        return f'<c r="{where}"><v>{value!r}</v></c>'
    if shared is None:
        return f'<c r="{where}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{where}" t="s"><v>{shared.setdefault(value, len(shared))}</v></c>'


def _sheet(records, shared, style, first_day):
    rows = ""
    for r, record in enumerate(records, 1):
        cells = (_cell(value, f"{_letters(c)}{r}", shared, style, first_day) for c, value in enumerate(record))
        rows += f'<row r="{r}">{"".join(cells)}</row>'
    return f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def workbook(t, shares=True, style=1, others=(), mac=False, above=(), below=(), names=None):
    """Writes the columns of `t` as sheet "Data", behind the sheets `others` (name, records).

    `above` and `below`: records around the table. `names`: what stands in the line of names, where that is not the
    columns' own.
    """
    shared = {} if shares else None
    first_day = datetime.date(1904, 1, 1) if mac else datetime.date(1899, 12, 30)
    header = names or [column.name or None for column in t.columns]
    records = [*above, header] + [list(row) for row in zip(*(column.values for column in t.columns))] + [*below]
    sheets = [*others, ("Data", records)]
    files = {f"xl/worksheets/sheet{i}.xml": _sheet(rows, shared, style, first_day) for i, (_, rows) in enumerate(sheets, 1)}
    names = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"/>' for i, (name, _) in enumerate(sheets, 1))
    files["xl/workbook.xml"] = (f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">' + ('<workbookPr date1904="1"/>' if mac else "") +
                                f"<sheets>{names}</sheets></workbook>")
    parts = [("worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(sheets) + 1)] + [("styles", "styles.xml")]
    if shares:
        parts.append(("sharedStrings", "sharedStrings.xml"))
        texts = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
        files["xl/sharedStrings.xml"] = f'{_HEAD}<sst xmlns="{_MAIN}">{texts}</sst>'
    files["xl/styles.xml"] = _HEAD + _STYLES
    relations = "".join(f'<Relationship Id="rId{i}" Type="{_OFFICE}/{kind}" Target="{path}"/>' for i, (kind, path) in enumerate(parts, 1))
    files["xl/_rels/workbook.xml.rels"] = f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>'
    files["_rels/.rels"] = (f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
                            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>')
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    overrides = "".join(f'<Override PartName="/{path}" ContentType="{kind}.{what}+xml"/>' for path, what in
                        [("xl/workbook.xml", "sheet.main"), ("xl/styles.xml", "styles")] +
                        [(path, "worksheet") for path in files if "worksheets/" in path] +
                        ([("xl/sharedStrings.xml", "sharedStrings")] if shares else []))
    files["[Content_Types].xml"] = (f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
                                    f'"application/vnd.openxmlformats-package.relationships+xml"/>{overrides}</Types>')
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):  # [Content_Types].xml is first
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), files[path], zipfile.ZIP_DEFLATED)
    t.content = content.getvalue()
    return t


_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"


def _ods_cell(value, dates):
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        kind, shown = f'boolean" office:boolean-value="{str(value).lower()}', "WAHR" if value else "FALSCH"
    elif isinstance(value, datetime.date):
        kind, shown = f'date" office:date-value="{value.isoformat()}', value.strftime(dates)
    elif isinstance(value, (int, float)):
        kind, shown = f'float" office:value="{value!r}" calcext:value-type="float', f"{value:.2f}".replace(".", ",")
    else:
        kind, shown = 'string" calcext:value-type="string', escape(value)
    return f'<table:table-cell office:value-type="{kind}"><text:p>{shown}</text:p></table:table-cell>'


def open_document(t):
    """Writes the columns of `t` as LibreOffice does for a German.

    The sheet is "Tabelle1", with empty rows and columns to its end.
    """
    names = [f"<table:table-cell office:value-type=\"string\"><text:p>{escape(column.name)}</text:p></table:table-cell>" for column in t.columns]
    records = [names] + [[_ods_cell(value, "%d.%m.%y") for value in row] for row in zip(*(column.values for column in t.columns))]
    rest = f'<table:table-cell table:number-columns-repeated="{16384 - len(names)}"/>'
    rows = "".join(f'<table:table-row table:style-name="ro1">{"".join(record)}{rest}</table:table-row>' for record in records)
    rows += (f'<table:table-row table:number-rows-repeated="{1048576 - len(records)}"><table:table-cell table:number-columns-repeated="16384"/>'
             "</table:table-row>")
    spaces = "".join(f' xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "style", "text", "table"))
    content = (f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document-content{spaces} xmlns:calcext='
               f'"urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" office:version="1.3"><office:automatic-styles>'
               f'<style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style>'
               f'</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="Tabelle1" table:style-name="ta1">'
               f'<table:table-column table:number-columns-repeated="16384"/>{rows}</table:table></office:spreadsheet></office:body>'
               f'</office:document-content>')
    manifest = (f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0"><manifest:file-entry '
                f'manifest:full-path="/" manifest:media-type="{_ODS_TYPE}"/></manifest:manifest>')
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w") as archive:
        for path, text, method in (("mimetype", _ODS_TYPE, zipfile.ZIP_STORED), ("content.xml", content, zipfile.ZIP_DEFLATED),
                                   ("META-INF/manifest.xml", manifest, zipfile.ZIP_DEFLATED)):
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), text, method)
    t.content = archived.getvalue()
    return t


def _sales(file, maker, **more):
    t = Made(file, maker, **more)
    t.add("Größe", t.amounts(), point(2), weight=2, gaps=6).add("Stadt", t.one_of("Köln", "Bonn", "Ulm"), str)
    return t.add("Datum", t.days(), str)


def make():
    yield workbook(_sales("excel.xlsx", "Excel").number("Preis", point(2)))
    yield workbook(_sales("libreoffice.xlsx", "LibreOffice").classes("Kauf", ["ja", "nein"]), style=2)
    yield workbook(_sales("r-writexl.xlsx", "R, writexl").number("Preis", point(2)), shares=False)
    t = Made("pandas.xlsx", "pandas, to_excel")
    t.add("", t.rising(0), str, role=LEFT_OUT, weight=0).add("size", t.amounts(), point(2), weight=2)
    yield workbook(t.add("city", t.one_of("Rome", "Oslo"), str).number("price", point(2)), shares=False)
    yield workbook(_sales("excel-sheets.xlsx", "Excel, several sheets", flags=("--sheet", "Data")).number("Preis", point(2)),
                   others=[("Notes", [["Author", "Year"], ["Ann", 2024.0]])])
    yield workbook(_sales("excel-mac.xlsx", "Excel for Mac, days since 1904").number("Preis", point(2)), mac=True)
    yield open_document(_sales("libreoffice.ods", "LibreOffice, German").number("Preis", point(2)))
