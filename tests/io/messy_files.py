"""Real files of every kind, written byte by byte where no package here writes them."""

from __future__ import annotations

import zipfile
from xml.sax.saxutils import escape


def read(path, options=None, skip=False):
    """Columns, rows and notes of a file."""
    from bayesieve.io._bad_rows import BadRows
    from bayesieve.io._files import open_files
    from bayesieve.io._read_options import ReadOptions

    [file] = open_files([str(path)], options=options or ReadOptions())
    names = file.columns
    bad_rows = BadRows(skip)
    batches = list(file.batches(names, bad_rows)) if names else []
    rows = [
        row
        for batch in batches
        for row in zip(*(own.to_pylist() for own in batch.columns), strict=True)
    ]
    return names, rows, file.notes


_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def _cell(value, place):
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    if isinstance(value, tuple):  # ("date", serial number)
        return f'<c r="{place}" s="1"><v>{value[1]}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def _sheet(rows):
    lines = []
    for i, row in enumerate(rows, start=1):
        cells = "".join(_cell(v, f"{chr(65 + j)}{i}") for j, v in enumerate(row))
        lines.append(f'<row r="{i}">{cells}</row>')
    data = f"<sheetData>{''.join(lines)}</sheetData>"
    return f'<worksheet xmlns="{_MAIN}">{data}</worksheet>'


def write_xlsx(path, **sheets):
    """Write a workbook: names of sheets and their rows."""
    numbers = range(1, len(sheets) + 1)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
        f'ContentType="{kind}.worksheet+xml"/>'
        for i in numbers
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" '
        f'ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/>'
        f"{parts}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_RELATIONS}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>'
        + "".join(
            f'<sheet name="{escape(name)}" sheetId="{i}" r:id="rId{i}"/>'
            for i, name in zip(numbers, sheets, strict=True)
        )
        + "</sheets></workbook>",
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2">'
        '<xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        "xl/_rels/workbook.xml.rels": "<Relationships "
        f'xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="rId{i}" Type="{_RELATIONS}/worksheet" '
            f'Target="worksheets/sheet{i}.xml"/>'
            for i in numbers
        )
        + f'<Relationship Id="rId{len(sheets) + 1}" Type="{_RELATIONS}/styles" '
        'Target="styles.xml"/></Relationships>',
    }
    for i, rows in zip(numbers, sheets.values(), strict=True):
        files[f"xl/worksheets/sheet{i}.xml"] = _sheet(rows)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def write_ods(path, rows):
    """Write a sheet of texts and numbers as OpenDocument."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    table = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"

    def cell(value):
        if isinstance(value, int | float):
            kind = f'office:value-type="float" office:value="{value}"'
        else:
            kind = 'office:value-type="string"'
        return (
            f"<table:table-cell {kind}><text:p>{escape(str(value))}</text:p>"
            "</table:table-cell>"
        )

    body = "".join(
        f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows
    )
    content = (
        f'<office:document-content xmlns:office="{office}" xmlns:table="{table}" '
        f'xmlns:text="{text}"><office:body><office:spreadsheet>'
        f'<table:table table:name="one">{body}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:'
        f'manifest:1.0"><manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="{kind}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    return path
