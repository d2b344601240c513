"""Real files of every kind, written byte by byte where no package here writes them."""

from __future__ import annotations

import zipfile
from xml.sax.saxutils import escape

from tests.messy.make_files import workbook


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


def write_xlsx(path, **sheets):
    """Write a workbook: names of sheets and their rows."""
    path.write_bytes(workbook(sheets))
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
