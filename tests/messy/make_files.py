"""Write a folder of messy files: ``python tests/messy/make_files.py FOLDER``.

Every file holds one of two known sets, a table of customers or short reviews, in a
way that people have them; or something that cannot be a set at all.
"""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import json
import lzma
import random
import sys
import uuid
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

ROWS = 300
HEADER = ("age", "income", "rate", "city", "joined", "bought")
CITIES = ("Oslo", "Roma", "Köln", "São Paulo", "Łódź", "Nice")
MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


def customers(n: int = ROWS, seed: int = 1) -> list[tuple[str, ...]]:
    """Rows of a table; every column tells something of the label, which is last."""
    rng, rows = random.Random(seed), []
    for _ in range(n):
        yes = rng.random() < 0.45
        age = int(rng.gauss(48 if yes else 36, 9))
        income = rng.lognormvariate(9.6 if yes else 8.2, 0.7)
        rate = rng.gauss(6.5 if yes else 5.0, 1.5)
        city = rng.choice(CITIES[:4] if yes else CITIES[2:])
        year = 2024 if rng.random() < (0.75 if yes else 0.2) else 2023
        joined = f"{year}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        label = "yes" if yes else "no"
        rows.append((str(age), f"{income:.2f}", f"{rate:.1f}", city, joined, label))
    return rows


WORDS = {
    "en": (
        ["good", "great", "lovely", "fine", "superb"],
        ["bad", "awful", "poor", "dull", "boring"],
        ["film", "plot", "actor", "scene", "music", "the", "a", "was", "and", "ending"],
    ),
    "ru": (
        ["хороший", "отличный", "прекрасный", "чудесный"],
        ["плохой", "ужасный", "скучный", "слабый"],
        ["фильм", "сюжет", "актёр", "сцена", "музыка", "был", "очень"],
    ),
    "fr": (
        ["réussi", "génial", "parfait", "été"],
        ["raté", "médiocre", "décevant", "ennuyeux"],
        ["film", "scène", "à", "été", "musique", "très", "où"],
    ),
    "ko": (
        ["좋은", "훌륭한", "멋진", "재미있는"],
        ["나쁜", "지루한", "끔찍한", "별로인"],
        ["영화", "이야기", "배우", "장면", "음악", "정말"],
    ),
    "zh": (
        ["精彩", "好看", "感人", "优秀"],
        ["无聊", "难看", "糟糕", "失望"],
        ["电影", "故事", "演员", "音乐", "非常", "我们"],
    ),
    "tw": (
        ["精彩", "好看", "感人", "優秀"],
        ["無聊", "難看", "糟糕", "失望"],
        ["電影", "故事", "演員", "音樂", "非常", "我們"],
    ),
    "ja": (
        ["面白い", "素晴らしい", "最高", "感動"],
        ["つまらない", "ひどい", "最低", "退屈"],
        ["映画", "とても", "物語", "音楽", "でした", "俳優"],
    ),
    "th": (
        ["สนุก", "ยอดเยี่ยม", "ประทับใจ"],
        ["น่าเบื่อ", "แย่", "ผิดหวัง"],
        ["หนัง", "เรื่องนี้", "นักแสดง", "เพลง", "มาก"],
    ),
}


def reviews(language: str = "en", n: int = ROWS) -> list[tuple[str, str]]:
    """Rows of (text, label), of which one word in four tells the label."""
    rng, rows = random.Random(language), []
    good, bad, other = WORDS[language]
    space = "" if language in ("zh", "tw", "ja", "th") else " "
    for _ in range(n):
        positive = rng.random() < 0.55
        words = rng.choices(good if positive else bad, k=2)
        words += rng.choices(other, k=rng.randint(5, 8))
        rng.shuffle(words)
        rows.append((space.join(words), "pos" if positive else "neg"))
    return rows


# --------------------------------------------------------------------- ways to write


def written(
    rows: Iterable[Sequence[object]],
    header: Sequence[str] | None = HEADER,
    sep: str = ",",
    end: str = "\n",
    **options: object,
) -> str:
    """Rows as a file of separated values."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=sep, lineterminator=end, **options)  # type: ignore[arg-type]
    if header is not None:
        writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()


def changed(
    **of: Callable[[str], object],
) -> list[tuple[object, ...]]:
    """The table with values of some columns written in another way."""
    return [
        tuple(
            of[name](value) if name in of else value
            for name, value in zip(HEADER, row, strict=True)
        )
        for row in customers()
    ]


def beside(
    name: str, values: Callable[[int, tuple[str, ...]], object], last: bool = False
) -> str:
    """The table with one more column, first or before the label."""
    at = len(HEADER) - 1 if last else 0
    rows = []
    for i, row in enumerate(customers()):
        rows.append((*row[:at], values(i, row), *row[at:]))
    return written(rows, (*HEADER[:at], name, *HEADER[at:]))


def grouped(value: str, comma: str = ",", point: str = ".", every: int = 3) -> str:
    """12345.67 as 12,345.67, or with other marks; `every` 2 groups as in India."""
    whole, _, rest = value.partition(".")
    groups = [whole[-3:]]
    whole = whole[:-3]
    while whole:
        groups.insert(0, whole[-every:])
        whole = whole[:-every]
    return comma.join(groups) + (point + rest if rest else "")


def _day(value: str) -> tuple[str, str, str]:
    year, month, day = value.split("-")
    return year, month, day


def packed(files: dict[str, bytes]) -> bytes:
    """Files as a zip archive, the same at any time."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(sheets: dict[str, Sequence[Sequence[object]]]) -> bytes:
    """A workbook of Excel: numbers typed, dates as numbers with a format of dates."""
    first = datetime.date(1899, 12, 30)
    files = {}
    for n, rows in enumerate(sheets.values(), 1):
        lines = []
        for r, row in enumerate(rows, 1):
            cells = []
            for c, value in enumerate(row):
                place = f"{chr(65 + c)}{r}"
                if value is None:
                    continue
                if isinstance(value, datetime.date):
                    days = (value - first).days
                    cells.append(f'<c r="{place}" s="1"><v>{days}</v></c>')
                elif isinstance(value, bool):
                    cells.append(f'<c r="{place}" t="b"><v>{int(value)}</v></c>')
                elif isinstance(value, int | float):
                    cells.append(f'<c r="{place}"><v>{value!r}</v></c>')
                else:
                    text = f"<is><t>{escape(str(value))}</t></is>"
                    cells.append(f'<c r="{place}" t="inlineStr">{text}</c>')
            lines.append(f'<row r="{r}">{"".join(cells)}</row>')
        sheet = f'<worksheet xmlns="{_SHEETS}"><sheetData>{"".join(lines)}'
        files[f"xl/worksheets/sheet{n}.xml"] = f"{sheet}</sheetData></worksheet>"
    names = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>'
        for n, name in enumerate(sheets, 1)
    )
    files["xl/workbook.xml"] = (
        f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}"><sheets>{names}</sheets>'
        "</workbook>"
    )
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{_RELATIONS}/worksheet" '
        f'Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    related += (
        f'<Relationship Id="rId99" Type="{_RELATIONS}/styles" Target="styles.xml"/>'
    )
    relationships = f'<Relationships xmlns="{_PACKAGE}/relationships">'
    files["xl/_rels/workbook.xml.rels"] = f"{relationships}{related}</Relationships>"
    files["xl/styles.xml"] = (
        f'<styleSheet xmlns="{_SHEETS}"><fonts count="1"><font/></fonts><fills '
        'count="1"><fill/></fills><borders count="1"><border/></borders>'
        '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf '
        'numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
    )
    files["_rels/.rels"] = (
        f'{relationships}<Relationship Id="rId1" Type="{_RELATIONS}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    )
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" '
        f'ContentType="{_OFFICE}.worksheet+xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    files["[Content_Types].xml"] = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_OFFICE}.sheet.main+xml"'
        f'/><Override PartName="/xl/styles.xml" ContentType="{_OFFICE}.styles+xml"/>'
        f"{parts}</Types>"
    )
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    return packed({name: (head + own).encode() for name, own in files.items()})


def typed() -> list[tuple[object, ...]]:
    """The table with numbers and dates instead of strings."""
    return [
        (int(a), float(i), float(r), c, datetime.date.fromisoformat(j), b)
        for a, i, r, c, j, b in customers()
    ]


def _arrow(**columns: Sequence[object]) -> object:
    import pyarrow

    return pyarrow.table(columns)


def stored(columns: dict[str, Sequence[object]]) -> bytes:
    """A table as a Parquet file."""
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(_arrow(**columns), file)
    return file.getvalue()


def feather(columns: dict[str, Sequence[object]], **options: object) -> bytes:
    """A table as a Feather file, which is an Arrow file."""
    from pyarrow import feather

    file = io.BytesIO()
    feather.write_feather(_arrow(**columns), file, **options)
    return file.getvalue()


def zstd(content: bytes) -> bytes:
    """Content packed by Zstandard."""
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def columns_of(rows: Sequence[Sequence[object]]) -> dict[str, list[object]]:
    """The table by columns."""
    found = zip(*rows, strict=True)
    return {name: list(own) for name, own in zip(HEADER, found, strict=True)}


def objects(rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """The table as JSON has it."""
    return [dict(zip(HEADER, row, strict=True)) for row in rows]


def _typed_objects() -> list[dict[str, object]]:
    return [own | {"joined": str(own["joined"])} for own in objects(typed())]


# ------------------------------------------------------------------------- the files


def separators() -> dict[str, str | bytes]:
    """What stands between fields and rows."""
    clean, semicolons = written(customers()), written(customers(), sep=";")
    fixed = written(customers(), sep=" ", quoting=csv.QUOTE_MINIMAL)
    lines = clean.splitlines()
    noted = [
        (*row[:3], f'{row[3]}, the "old" town\nby the sea', *row[4:])
        for row in customers()
    ]
    mixed = "".join(line + ("\r\n" if i % 3 else "\n") for i, line in enumerate(lines))
    return {
        "clean.csv": clean,
        "semicolons.csv": semicolons,
        "tabs.csv": written(customers(), sep="\t"),
        "tabs.tsv": written(customers(), sep="\t"),
        "commas.tsv": clean,
        "tabs.txt": written(customers(), sep="\t"),
        "pipes.csv": written(customers(), sep="|"),
        "spaces.csv": fixed,
        "tildes.csv": written(customers(), sep="~"),
        "all quoted.csv": written(customers(), quoting=csv.QUOTE_ALL),
        "single quotes.csv": written(customers(), quoting=csv.QUOTE_ALL, quotechar="'"),
        "quotes after spaces.csv": clean.replace(",", ", ").replace(
            "São Paulo", '"São Paulo"'
        ),
        "newlines in quotes.csv": written(noted),
        "backslash quotes.csv": lines[0]
        + "\n"
        + "".join(
            ",".join((*row[:3], rf'"{row[3]} \"old\", 1"', *row[4:])) + "\n"
            for row in customers()
        ),
        "trailing commas.csv": "".join(f"{line},\n" for line in lines),
        "trailing in rows.csv": f"{lines[0]}\n"
        + "".join(f"{line},\n" for line in lines[1:]),
        "sep line.csv": f"sep=;\r\n{semicolons}",
        "excel germany.csv": "sep=;\r\n"
        + written(
            changed(
                income=lambda v: grouped(v, ".", ","),
                rate=lambda v: v.replace(".", ","),
                joined=lambda v: ".".join(reversed(_day(v))),
            ),
            sep=";",
            end="\r\n",
        ),
        "windows.csv": written(customers(), end="\r\n"),
        "old mac.csv": written(customers(), end="\r"),
        "mixed ends.csv": mixed,
        "no last newline.csv": clean.rstrip("\n"),
        "blank lines.csv": clean.replace("\n", "\n\n"),
        "blank first.csv": f"\n\n{clean}",
        "spaces around.csv": clean.replace(",", " , "),
        "ragged short.csv": _rows_changed(clean, {7: 3, 90: 3}),
        "ragged long.csv": _rows_changed(clean, {7: 8, 90: 8}),
        "unclosed quote.csv": clean.replace(lines[150], f'"{lines[150]}'),
        "nul bytes.csv": clean.replace("Oslo", "Os\0lo"),
        "total.csv": clean
        + f"Total,{sum(float(row[1]) for row in customers()):.2f},,,,\n",
        "footer.csv": f"{clean}\nSource: our shop\n",
        "markdown.txt": f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}\n"
        + "".join(f"| {' | '.join(row)} |\n" for row in customers()),
        "comment lines.csv": "# exported by tool v2.1\n# 2024-05-01\n" + clean,
        "json in field.csv": beside(
            "extra", lambda i, row: json.dumps({"a": i % 3, "b": [1, 2]})
        ),
    }


def _rows_changed(clean: str, fields: dict[int, int]) -> str:
    """Give some rows another number of fields."""
    lines = clean.splitlines()
    for row, number in fields.items():
        own = lines[row].split(",")
        lines[row] = ",".join((own + ["x"] * number)[:number])
    return "\n".join(lines) + "\n"


def headers() -> dict[str, str | bytes]:
    """Names of columns, and lines above them."""
    clean, rows = written(customers()), customers()
    body = written(rows, None)

    def named(*names: str, sep: str = ",") -> str:
        return written(rows, names, sep=sep)

    return {
        "no header.csv": body,
        "title lines.csv": f"Customers of 2024\nsource: shop,,\n\n{clean}",
        "title and blank.csv": f"Quarterly export\n\n{clean}",
        "duplicate names.csv": named("age", "value", "value", *HEADER[3:]),
        "empty names.csv": named("age", "", "rate", "", *HEADER[4:]),
        "names differ in case.csv": named("age", "Value", "value", *HEADER[3:]),
        "spaced names.csv": named(
            "Age (years)", " income ", 'rate "p.a."', "city, town", "joined", "Bought?"
        ),
        "unicode names.csv": named(
            "возраст", "収入", "rate €", "città", "día", "купил"
        ),
        "controls in names.csv": named("age\x1b[31m", "in\x07come", *HEADER[2:]),
        "numeric names.csv": named("2019", "2020", "2021", "2022", "2023", "bought"),
        "sql names.csv": named(
            "select", "from", "group", "order by", "'; --", "bought"
        ),
        "units row.csv": clean.replace("\n", "\nyears,EUR,%,,,\n", 1),
        "header twice.csv": written([*rows[:150], HEADER, *rows[150:]]),
        "row names.csv": "".join(
            line + "\n"
            for i, line in enumerate(clean.splitlines())
            for line in [line if not i else f'"{i}",{line}']
        ),
        "pandas index.csv": written(
            [(i, *row) for i, row in enumerate(rows)], ("", *HEADER)
        ),
        "long name.csv": named("a" * 5000, *HEADER[1:]),
        "header only.csv": clean.splitlines()[0] + "\n",
        "one row.csv": "\n".join(clean.splitlines()[:2]) + "\n",
        "one column.csv": "\n".join(["bought", *(row[-1] for row in rows)]) + "\n",
        "empty.csv": "",
        "only newlines.csv": "\n\n\n",
        "only spaces.csv": "   \n  \n",
    }


def encodings() -> dict[str, str | bytes]:
    """Bytes of letters."""
    clean = written(customers())
    western = clean.replace("Łódź", "Lodz")
    texts = {
        name: written(reviews(name), ("text", "label"))
        for name in ("en", "ru", "fr", "ko", "zh", "tw", "ja", "th")
    }
    utf16 = clean.encode("utf-16-le")
    half = western.encode("cp1252")
    lines = western.splitlines(keepends=True)
    mixed = b"".join(
        own.encode("cp1252" if i % 2 else "utf-8") for i, own in enumerate(lines)
    )
    found: dict[str, str | bytes] = {
        "western.csv": western,
        "utf-8-sig.csv": b"\xef\xbb\xbf" + clean.encode(),
        "utf-8-sig quoted.csv": b"\xef\xbb\xbf"
        + written(customers(), quoting=csv.QUOTE_ALL).encode(),
        "utf-16.csv": b"\xff\xfe" + utf16,
        "utf-16-be.csv": b"\xfe\xff" + clean.encode("utf-16-be"),
        "utf-16 no mark.csv": utf16,
        "utf-16 tabs.txt": ("\ufeff" + written(customers(), sep="\t")).encode(
            "utf-16-le"
        ),
        "cp1252.csv": half,
        "latin-1.csv": western.encode("latin-1"),
        "latin-2.csv": clean.replace("São", "Sao").encode("latin2"),
        "mixed encodings.csv": mixed,
        "broken utf-8.csv": clean.encode().replace("São".encode(), b"S\xff\xc3o", 1),
        "mojibake.csv": western.encode().decode("latin-1"),
        "late letters.csv": (
            western.replace("Köln", "Koeln").replace("São", "Sao") * 1
        ).encode("cp1252")
        + b"44,5000.00,6.0,K\xf6ln,2023-01-01,no\n",
    }
    for name, encoding in (
        *(("ru", "cp1251"), ("ru", "koi8-r"), ("ru", "utf-8"), ("fr", "cp1252")),
        *(("zh", "gb18030"), ("zh", "utf-8"), ("tw", "big5"), ("ja", "shift_jis")),
        *(("ja", "euc-jp"), ("ja", "utf-8"), ("ko", "euc-kr"), ("th", "utf-8")),
        *(("th", "cp874"), ("en", "utf-8"), ("ko", "utf-8"), ("tw", "utf-8")),
        ("fr", "utf-8"),
    ):
        found[f"reviews {name} {encoding}.csv"] = texts[name].encode(encoding)
    return found


def numbers() -> dict[str, str | bytes]:
    """Numbers as people write them."""
    units = [" kg", " g", " t"]
    incomes = {row[1]: i for i, row in enumerate(customers())}
    few = {0: "n/a", 40: "unknown", 90: "-", 120: "", 200: "#N/A", 250: "NULL"}
    strays = {5: "see note", 77: "approx 4000", 210: "> 9000"}

    def replaced(by: dict[int, str]) -> str:
        return written(changed(income=lambda v: by.get(incomes[v], v)))

    def income(how: Callable[[str], object], sep: str = ",") -> str:
        return written(changed(income=how), sep=sep)

    def kilo(value: str) -> str:
        return f"{float(value) / 1000:.5f}k"

    return {
        "commas in thousands.csv": income(grouped),
        "decimal commas.csv": income(lambda v: v.replace(".", ","), ";"),
        "decimal commas quoted.csv": income(lambda v: v.replace(".", ",")),
        "german.csv": income(lambda v: grouped(v, ".", ","), ";"),
        "french.csv": income(lambda v: grouped(v, "\u202f", ","), ";"),
        "plain spaces.csv": income(lambda v: grouped(v, " ", ","), ";"),
        "swiss.csv": income(lambda v: grouped(v, "'")),
        "swiss curly.csv": income(lambda v: grouped(v, "\u2019")),
        "indian.csv": income(lambda v: grouped(v, every=2)),
        "dollars.csv": income(lambda v: "$" + grouped(v)),
        "euros.csv": income(lambda v: grouped(v, ".", ",") + " €", ";"),
        "percents.csv": written(changed(rate=lambda v: f"{v} %")),
        "some percents.csv": written(
            changed(rate=lambda v: f"{v}%" if float(v) > 5 else v)
        ),
        "accounting.csv": written(
            changed(rate=lambda v: v if float(v) > 5 else f"({float(v):.1f})")
        ),
        "minus signs.csv": written(
            changed(rate=lambda v: f"{float(v) - 5:.1f}".replace("-", "\u2212"))
        ),
        "trailing minus.csv": written(
            changed(
                rate=lambda v: (
                    f"{float(v) - 5:.1f}" if float(v) >= 5 else f"{5 - float(v):.1f}-"
                )
            )
        ),
        "plus signs.csv": written(changed(rate=lambda v: f"{float(v) - 5:+.1f}")),
        "exponents.csv": income(lambda v: f"{float(v):.6e}"),
        "exponents comma.csv": income(
            lambda v: f"{float(v):.6E}".replace(".", ","), ";"
        ),
        "thousands ambiguous.csv": income(lambda v: grouped(f"{float(v):.0f}", ",")),
        "points in thousands.csv": income(
            lambda v: grouped(f"{float(v):.0f}", "."), ";"
        ),
        "points beside hundreds.csv": written(
            changed(age=lambda v: grouped(str(int(v) * 25), "."))
        ),
        "three decimals.csv": written(changed(rate=lambda v: f"{float(v):.3f}")),
        "mixed decimals.csv": income(
            lambda v: v if incomes[v] % 2 else v.replace(".", ",")
        ),
        "two currencies.csv": income(lambda v: ("$" if incomes[v] % 2 else "€") + v),
        "mixed units.csv": income(lambda v: v + units[incomes[v] % 3]),
        "one unit.csv": income(lambda v: f"{v} kg"),
        "kilo and mega.csv": income(kilo),
        "missing spellings.csv": replaced(few),
        "strays.csv": replaced(strays),
        "many strays.csv": income(lambda v: v if incomes[v] % 4 else "not said"),
        "sentinels.csv": income(lambda v: v if incomes[v] % 10 else "-999"),
        "empty as zero.csv": income(lambda v: v if incomes[v] % 10 else ""),
        "infinities.csv": replaced({3: "inf", 8: "-inf", 9: "1e400"}),
        "excel text.csv": income(lambda v: f'="{v}"'),
        "apostrophe first.csv": income(lambda v: f"'{v}"),
        "ranges.csv": written(
            changed(age=lambda v: f"{int(v) // 10 * 10}-{int(v) // 10 * 10 + 9}")
        ),
        "arabic digits.csv": written(
            changed(
                age=lambda v: v.translate(
                    dict(zip(range(48, 58), "٠١٢٣٤٥٦٧٨٩", strict=True))
                )
            )
        ),
        "full width digits.csv": written(
            changed(age=lambda v: "".join(chr(ord(d) + 0xFEE0) for d in v))
        ),
        "zip codes.csv": beside(
            "zip", lambda i, row: f"{(CITIES.index(row[3]) * 1733) % 9000:05}"
        ),
        "about.csv": income(lambda v: f"~{v}"),
        "one comma.csv": income(lambda v: v if incomes[v] % 50 else grouped(v)),
        "times.csv": written(
            changed(age=lambda v: f"{int(v) % 24:02}:{int(v) % 60:02}")
        ),
        "footnotes.csv": income(lambda v: v if incomes[v] % 9 else f"{v}*"),
        "cut by commas.csv": "".join(
            ",".join((row[0], row[1].replace(".", ","), *row[2:])) + "\n"
            for row in (HEADER, *customers())
        ),
        "coded.csv": written(
            changed(city=lambda v: CITIES.index(v) + 1),
            (*HEADER[:3], "city_code", *HEADER[4:]),
        ),
    }


def dates() -> dict[str, str | bytes]:
    """Days as people write them."""

    def joined(how: Callable[[str], str]) -> str:
        return written(changed(joined=how))

    def mixed(value: str) -> str:
        year, month, day = _day(value)
        return f"{day}.{month}.{year}" if int(day) % 2 else value

    def early(value: str) -> str:
        return f"{int(_day(value)[2]) % 12 + 1:02}/{_day(value)[1]}/{_day(value)[0]}"

    def seconds(value: str) -> str:
        day = datetime.datetime.fromisoformat(f"{value}T00:00:00+00:00")
        return str(int(day.timestamp()))

    return {
        "dates day first.csv": joined(lambda v: "/".join(reversed(_day(v)))),
        "dates month first.csv": joined(
            lambda v: f"{_day(v)[1]}/{_day(v)[2]}/{_day(v)[0]}"
        ),
        "dates ambiguous.csv": joined(early),
        "dates german.csv": joined(lambda v: ".".join(reversed(_day(v)))),
        "dates two digits.csv": joined(
            lambda v: f"{_day(v)[2]}/{_day(v)[1]}/{_day(v)[0][2:]}"
        ),
        "dates short.csv": joined(
            lambda v: f"{int(_day(v)[2])}/{int(_day(v)[1])}/{_day(v)[0]}"
        ),
        "dates month names.csv": joined(
            lambda v: f"{_day(v)[2]} {MONTHS[int(_day(v)[1]) - 1]} {_day(v)[0]}"
        ),
        "dates american names.csv": joined(
            lambda v: f"{MONTHS[int(_day(v)[1]) - 1]} {int(_day(v)[2])}, {_day(v)[0]}"
        ),
        "dates compact.csv": joined(lambda v: v.replace("-", "")),
        "dates slashes iso.csv": joined(lambda v: v.replace("-", "/")),
        "dates with times.csv": joined(lambda v: f"{v} 00:00:00"),
        "dates with zone.csv": joined(lambda v: f"{v}T00:00:00Z"),
        "dates with times day first.csv": joined(
            lambda v: f"{'/'.join(reversed(_day(v)))} 00:00"
        ),
        "dates mixed.csv": joined(mixed),
        "dates with missing.csv": joined(
            lambda v: "0000-00-00" if v.endswith("7") else v
        ),
        "dates unix.csv": joined(seconds),
        "dates quarters.csv": joined(
            lambda v: f"{_day(v)[0]}-Q{(int(_day(v)[1]) + 2) // 3}"
        ),
        "dates years.csv": joined(lambda v: _day(v)[0]),
        "dates weekdays.csv": joined(
            lambda v: datetime.date.fromisoformat(v).strftime("%a %d %b %Y")
        ),
        "dates mail.csv": joined(
            lambda v: datetime.date.fromisoformat(v).strftime(
                "%a, %d %b %Y 00:00:00 +0000"
            )
        ),
        "dates year first.csv": joined(lambda v: v[2:].replace("-", "/")),
        "dates german months.csv": joined(
            lambda v: f"{_day(v)[2]}. Januar {_day(v)[0]}"
        ),
        "dates far.csv": joined(lambda v: "9999-12-31" if v.endswith("3") else v),
    }


def roles() -> dict[str, str | bytes]:
    """Identifiers, constants, columns that give the label away, labels of all sorts."""
    rng = random.Random(7)
    rows = customers()
    twins = [*rows, *rows[:60]]

    def labelled(how: Callable[[int, str], object], name: str = "bought") -> str:
        return written(
            [(*row[:-1], how(i, row[-1])) for i, row in enumerate(rows)],
            (*HEADER[:-1], name),
        )

    first = written([(row[-1], *row[:-1]) for row in rows], ("target", *HEADER[:-1]))
    middle = written(
        [(*row[:2], row[-1], *row[2:-1]) for row in rows],
        ("age", "income", "is_buyer", "rate", "city", "joined"),
    )
    return {
        "running number.csv": beside("id", lambda i, row: i + 1),
        "running number unnamed.csv": beside("", lambda i, row: i),
        "sorted running number.csv": written(
            [(i, *row) for i, row in enumerate(sorted(rows, key=lambda r: r[-1]))],
            ("record", *HEADER),
        ),
        "uuid.csv": beside(
            "key", lambda i, row: uuid.UUID(int=rng.getrandbits(128), version=4)
        ),
        "emails.csv": beside("mail", lambda i, row: f"user{i * 37 % 997}@example.org"),
        "phones.csv": beside(
            "phone", lambda i, row: f"+47 {i:02} {i * 37 % 997:03} 11"
        ),
        "constant.csv": beside("country", lambda i, row: "NO"),
        "empty column.csv": beside("notes", lambda i, row: ""),
        "mostly empty.csv": beside("notes", lambda i, row: "x" if i == 11 else ""),
        "label copy.csv": beside("purchase", lambda i, row: int(row[-1] == "yes")),
        "label nearly.csv": beside(
            "invoice",
            lambda i, row: "A" if (row[-1] == "yes") != (i % 150 == 3) else "B",
        ),
        "label as number.csv": beside(
            "paid",
            lambda i, row: f"{rng.uniform(10, 90):.2f}" if row[-1] == "yes" else "0",
        ),
        "label by missing.csv": beside(
            "paid_on", lambda i, row: row[4] if row[-1] == "yes" else ""
        ),
        "column twice.csv": beside("income_copy", lambda i, row: row[1]),
        "duplicate rows.csv": written(twins),
        "one class.csv": labelled(lambda i, v: "yes"),
        "label missing.csv": labelled(lambda i, v: "" if i % 10 == 0 else v),
        "label missing spelled.csv": labelled(lambda i, v: "NA" if i % 10 == 0 else v),
        "label spaces and case.csv": labelled(
            lambda i, v: f" {v}" if i % 5 == 0 else v.upper() if i % 7 == 0 else v
        ),
        "label numbers.csv": labelled(lambda i, v: int(v == "yes"), "y"),
        "label booleans.csv": labelled(lambda i, v: v == "yes", "churned"),
        "label rare.csv": labelled(lambda i, v: "maybe" if i == 17 else v),
        "label many.csv": labelled(lambda i, v: f"{v}{i % 40}", "class"),
        "label all different.csv": labelled(lambda i, v: f"{v}{i}"),
        "label continuous.csv": labelled(
            lambda i, v: f"{rng.gauss(10 if v == 'yes' else 5, 1):.3f}", "target"
        ),
        "label first.csv": first,
        "label in the middle.csv": middle,
        "label of noise.csv": written(
            [(*row[:-1], row[-1], rng.choice("AB")) for row in rows],
            (*HEADER, "group"),
        ),
        "label one and one.csv": labelled(
            lambda i, v: ("1" if i % 2 else "1.0") if v == "yes" else "0"
        ),
        "label none.csv": labelled(lambda i, v: "None" if v == "no" else "some"),
        "label floats.csv": labelled(lambda i, v: "1.0" if v == "yes" else "0.0", "y"),
    }


def texts() -> dict[str, str | bytes]:
    """Texts in all sorts of files."""
    rows = reviews()
    both = [
        (text, customer[1], customer[3], label)
        for (text, label), customer in zip(rows, customers(), strict=True)
    ]
    return {
        "text and columns.csv": written(both, ("review", "price", "city", "label")),
        "two texts.csv": written(
            [(text[: len(text) // 2], text, label) for text, label in rows],
            ("title", "body", "label"),
        ),
        "label tab text.txt": "".join(f"{label}\t{text}\n" for text, label in rows),
        "lines.txt": "".join(f"{text}\n" for text, _ in rows),
        "fasttext.txt": "".join(f"__label__{label} {text}\n" for text, label in rows),
        "html.csv": written(
            [(f"<p>{text}</p><br/>", label) for text, label in rows], ("text", "label")
        ),
        "stars.csv": written(
            [(text, 5 if label == "pos" else 1) for text, label in rows],
            ("review", "stars"),
        ),
        "missing texts.csv": written(
            [("" if i % 20 == 0 else t, label) for i, (t, label) in enumerate(rows)],
            ("text", "label"),
        ),
        "same texts.csv": written([*rows, *rows[:100]], ("text", "label")),
        "quoted newlines.csv": written(
            [(text.replace(" ", '\n"', 1), label) for text, label in rows],
            ("text", "label"),
        ),
        "text without header.csv": written(rows, None),
        "emoji.csv": written(
            [
                (f"{text} {'😀' if label == 'pos' else '😡'}", label)
                for text, label in rows
            ],
            ("text", "label"),
        ),
        "counts.svm": "".join(
            f"{1 if label == 'pos' else -1} "
            + " ".join(
                f"{j}:{text.split().count(w)}"
                for j, w in enumerate([*WORDS["en"][0], *WORDS["en"][1]], 1)
                if w in text.split()
            )
            + f" # row {i}\n"
            for i, (text, label) in enumerate(rows)
        ),
    }


def json_files() -> dict[str, str | bytes]:
    """JSON in its ways."""
    rows, plain = _typed_objects(), objects(customers())

    def lines(found: Iterable[object]) -> str:
        return "".join(json.dumps(own, ensure_ascii=False) + "\n" for own in found)

    def without(i: int, own: dict[str, object]) -> dict[str, object]:
        return {k: v for k, v in own.items() if k != "rate" or i % 15}

    def mixed(i: int, own: dict[str, object]) -> dict[str, object]:
        return own | {"income": str(own["income"]) if i % 2 else own["income"]}

    by_column = {k: {str(i): own[k] for i, own in enumerate(rows)} for k in HEADER}
    return {
        "lines.jsonl": lines(rows),
        "lines.json": lines(rows),
        "list.json": json.dumps(rows),
        "indented.json": json.dumps(rows, indent=2, ensure_ascii=False),
        "list.jsonl": json.dumps(rows),
        "mark.jsonl": b"\xef\xbb\xbf" + lines(rows).encode(),
        "strings.jsonl": lines(plain),
        "late keys.jsonl": lines(without(i, own) for i, own in enumerate(rows)),
        "nested.jsonl": lines(own | {"tags": {"a": 1, "b": [1]}} for own in rows),
        "mixed types.jsonl": lines(mixed(i, own) for i, own in enumerate(rows)),
        "records.json": json.dumps({"data": rows, "count": len(rows)}),
        "by column.json": json.dumps(by_column),
        "trailing comma.json": json.dumps(rows)[:-1] + ",]",
        "nan.jsonl": lines(
            own | {"rate": float("nan") if i % 15 == 0 else own["rate"]}
            for i, own in enumerate(rows)
        ),
        "missing strings.jsonl": lines(
            own | {"income": "N/A" if i % 10 == 0 else own["income"]}
            for i, own in enumerate(rows)
        ),
        "truncated.jsonl": lines(rows)[:-40],
        "blank lines.jsonl": lines(rows).replace("\n", "\n\n"),
    }


def containers() -> dict[str, str | bytes]:
    """Packed files, workbooks, typed files, and names that lie."""
    clean = written(customers()).encode()
    gz = gzip.compress(clean, mtime=0)
    sheet = [HEADER, *typed()]
    strings = columns_of(customers())
    more = [("Report",), (), ("printed 2024-05-01",), (), *sheet]
    return {
        "clean.csv.gz": gz,
        "clean.csv.bz2": bz2.compress(clean),
        "clean.csv.xz": lzma.compress(clean),
        "clean.csv.zst": zstd(clean),
        "one member.zip": packed({"data/clean.csv": clean}),
        "two members.zip": packed({"a.csv": clean, "b.csv": clean}),
        "with junk.zip": packed({"a.csv": clean, "__MACOSX/._a.csv": b"\0\5\x16\7"}),
        "empty.zip": packed({}),
        "truncated.csv.gz": gz[:-400],
        "gz called.csv": gz,
        "xlsx called.csv": workbook({"Sheet1": sheet}),
        "csv called.xlsx": clean,
        "csv called.parquet": clean,
        "html called.xls": b"<html><table><tr><td>a</td></tr></table></html>",
        "html called.csv": b"<!DOCTYPE html>\n<html><head><title>Sign in</title>"
        b"</head>\n<body>Please sign in</body></html>\n",
        "parquet called.csv": stored(strings),
        "jsonl called.csv": "".join(json.dumps(own) + "\n" for own in _typed_objects()),
        "typed.xlsx": workbook({"Sheet1": sheet}),
        "two sheets.xlsx": workbook({"Notes": [("made by", "me")], "Data": sheet}),
        "second sheet.xlsx": workbook({"Data": sheet, "Old": sheet[:20]}),
        "title rows.xlsx": workbook({"Data": more}),
        "strings.xlsx": workbook({"Data": [HEADER, *customers()]}),
        "empty.xlsx": workbook({"Data": []}),
        "missing.xlsx": workbook(
            {
                "Data": [
                    HEADER,
                    *(
                        (a, i if n % 10 else None, *rest)
                        for n, (a, i, *rest) in enumerate(typed())
                    ),
                ]
            }
        ),
        "typed.parquet": stored(columns_of(typed())),
        "strings.parquet": stored(strings),
        "german.parquet": stored(
            columns_of(changed(income=lambda v: grouped(v, ".", ",")))
        ),
        "lists.parquet": stored({"tags": [[1, 2]] * ROWS, **columns_of(typed())}),
        "empty.parquet": stored({name: [] for name in HEADER}),
        "typed.feather": feather(columns_of(typed())),
        "typed.arrow": feather(columns_of(typed()), compression="uncompressed"),
        "random.csv": random.Random(3).randbytes(5000),
        "random.bin": random.Random(3).randbytes(5000),
        "picture.csv": b"\x89PNG\r\n\x1a\n" + random.Random(3).randbytes(3000),
    }


def sizes() -> dict[str, str | bytes]:
    """Wide ones, and long ones."""
    rng = random.Random(5)
    rows = customers()
    wide = [(*(rng.randint(0, 9) for _ in range(3000)), *row) for row in rows]
    return {
        "wide.csv": written(wide, (*(f"c{i}" for i in range(3000)), *HEADER)),
        "long field.csv": beside(
            "notes", lambda i, row: "blah " * 400_000 if i == 150 else "nothing to say"
        ),
        "long.csv": written(customers(200_000, seed=2)),
    }


GROUPS = (
    *(separators, headers, encodings, numbers, dates),
    *(roles, texts, json_files, containers, sizes),
)


def write_files(folder: Path) -> list[Path]:
    """Write all files into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for group in GROUPS:
        for name, content in group().items():
            own = content.encode() if isinstance(content, str) else content
            path = folder / name
            path.write_bytes(own)
            paths.append(path)
    return paths


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = write_files(Path(sys.argv[1]))
    print(f"{len(found)} files in {sys.argv[1]}")
