"""What must be read from each messy file, and what must be told."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["CASES", "TEXTS", "Case"]


@dataclass(frozen=True)
class Case:
    """A file, and what comes out.

    `same` names the clean file that gives the same model, to the last digit. `told` are
    patterns, one for each line that `select` tells, in any order: no more, no less.
    `error` is that of `select`, after which there is no model. `inspected` are patterns
    of notes of `inspect`; where it is None those of `told` that are no guesses of the
    label are looked for. `roles` are of columns that differ from the clean file.
    """

    file: str
    same: str | None = "clean.csv"
    told: tuple[str, ...] = ()
    error: str | None = None
    inspected: tuple[str, ...] | None = None
    roles: dict[str, str] = field(default_factory=dict)
    rows: int = 300
    options: tuple[str, ...] = ("--label", "bought")
    names: dict[str, str] = field(default_factory=dict)  # of the clean file, renamed
    least: float = 0.0  # accuracy
    needs: str | None = None


def _as_clean(*files: str, **more: object) -> list[Case]:
    """Files that are read as the clean one is, without a word."""
    return [Case(file, **more) for file in files]  # type: ignore[arg-type]


def _told(told: str, *files: str, **more: object) -> list[Case]:
    """Files that are read as the clean one is, and one sentence is told."""
    return [Case(file, told=(told,), **more) for file in files]  # type: ignore[arg-type]


def _refused(error: str, *files: str, **more: object) -> list[Case]:
    return [Case(file, error=error, **more) for file in files]  # type: ignore[arg-type]


GUESSED = "guessed how values are written: '{}' \\({}\\); --types, --decimal and"
TEXTS = ("--text", "text", "--label", "label")
TEXT_ROLES = {"text": "text", "label": "label"}
FIVE = ("age", "income", "rate", "city", "joined")


def _written(column: str, how: str, *files: str, **more: object) -> list[Case]:
    """Files in which values of a column are written in a way that is guessed."""
    return _told(GUESSED.format(column, how), *files, **more)


def _renamed(file: str, *names: str, label: str = "bought", **more: object) -> Case:
    renamed = dict(zip(FIVE, names, strict=True)) | {"bought": label}
    options = ("--label", label)
    return Case(file, names=renamed, options=options, **more)  # type: ignore[arg-type]


SEPARATORS = [
    *_as_clean("clean.csv", "tabs.tsv", "all quoted.csv", "quotes after spaces.csv"),
    *_as_clean("newlines in quotes.csv", "backslash quotes.csv", "nul bytes.csv"),
    *_as_clean("single quotes.csv"),
    *_as_clean("trailing commas.csv", "trailing in rows.csv", "sep line.csv"),
    *_as_clean("windows.csv", "old mac.csv", "mixed ends.csv", "no last newline.csv"),
    *_as_clean("blank lines.csv", "blank first.csv", "spaces around.csv"),
    *_told("fields .* separated by ';'; --sep changes it", "semicolons.csv"),
    *_told("separated by tabs; --sep", "tabs.csv", "tabs.txt"),
    *_told("separated by ','; --sep", "commas.tsv"),
    *_told("separated by '\\|'; --sep", "pipes.csv"),
    *_told("separated by spaces; --sep", "spaces.csv"),
    *_told("separated by '~'; --sep", "tildes.csv"),
    *_told("above the header of .*: 2 lines; --no-header", "comment lines.csv"),
    Case(
        "excel germany.csv",
        told=(
            "'income' \\(10.539,85 as 10539.85\\), 'rate' \\(10,4 as 10.4\\), 'joined' "
            "\\(26.07.2024 as 2024-07-26\\); --types",
        ),
        inspected=("10.539,85 as 10539.85", "10,4 as 10.4", "26.07.2024 as 2024-07-26"),
    ),
    *_refused(
        "line 8 .* it has 3 fields, and the table has 6. Hint: --skip-bad-rows",
        "ragged short.csv",
        inspected=("2 rows cannot be read. The first: Line 8",),
        rows=298,
    ),
    *_refused(
        "line 8 .* it has 8 fields, and the table has 6. Hint: --skip-bad-rows",
        "ragged long.csv",
        inspected=("2 rows cannot be read. The first: Line 8",),
        rows=298,
    ),
    *_refused(
        "line 151 .* a quote is never closed .* --skip-bad-rows",
        "unclosed quote.csv",
        inspected=("1 row cannot be read. The first: Line 151",),
        rows=149,
    ),
    *_refused(
        "row 301 .* has no label in column 'bought'. Hint: --skip-bad-rows",
        "total.csv",
        inspected=("1 value that is no number \\('Total'\\) as missing",),
        rows=301,
    ),
    *_refused(
        "line 303 .* it has 1 field, and the table has 6. Hint: --skip-bad-rows",
        "footer.csv",
        inspected=("1 row cannot be read",),
    ),
    Case(
        "markdown.txt",
        same=None,
        told=(
            "separated by '\\|'; --sep",
            "classes of one row only, .* '---'",
            "left out: 'column 1' \\(one value only\\)",
        ),
        inspected=("classes of one row only",),
        roles={"column 1": "constant"},
        rows=301,
    ),
    Case("json in field.csv", same=None, roles={"extra": "category"}, least=0.95),
]

HEADERS = [
    Case(
        "no header.csv",
        same=None,
        told=(
            "first row .* looks like data; --no-header reads it as a row",
            "guessed --label 'yes'",
        ),
        inspected=("looks like data; --no-header",),
        options=(),
        rows=299,
        roles={
            **{"56": "number", "8242.52": "number", "4.4": "number", "yes": "label"},
            **{"São Paulo": "category", "2024-07-26": "date"},
        },
        least=0.95,
    ),
    Case(
        "no header.csv",
        options=("--no-header", "--label", "column 6"),
        names={name: f"column {i}" for i, name in enumerate((*FIVE, "bought"), 1)},
    ),
    *_told("above the header of .*: 2 lines; --no-header", "title lines.csv"),
    *_told("above the header of .*: 1 line; --no-header", "title and blank.csv"),
    _renamed(
        *("duplicate names.csv", "age", "value", "value_2", "city", "joined"),
        told=("have the same name: 'value' \\(column 3\\) is 'value_2'; --no-header",),
    ),
    _renamed("empty names.csv", "age", "column 2", "rate", "column 4", "joined"),
    _renamed("names differ in case.csv", "age", "Value", "value", "city", "joined"),
    _renamed(
        *("spaced names.csv", "Age (years)", "income", 'rate "p.a."', "city, town"),
        "joined",
        label="Bought?",
    ),
    _renamed(
        *("unicode names.csv", "возраст", "収入", "rate €", "città", "día"),
        label="купил",
    ),
    _renamed(
        *("controls in names.csv", "age\x1b[31m", "in\x07come", "rate", "city"),
        "joined",
    ),
    _renamed("numeric names.csv", "2019", "2020", "2021", "2022", "2023"),
    _renamed("sql names.csv", "select", "from", "group", "order by", "'; --"),
    _renamed("long name.csv", "a" * 5000, *FIVE[1:]),
    *_refused(
        "row 1 .* has no label in column 'bought'. Hint: --skip-bad-rows",
        "units row.csv",
        inspected=("'years'", "'EUR'"),
        rows=301,
    ),
    Case(
        "header twice.csv",
        same=None,
        told=(
            "label 'bought' has 'bought' among its classes: the header seems to be",
            "'age' \\(1 value that is no number \\('age'\\) as missing\\)",
        ),
        inspected=("the header seems to be repeated",),
        rows=301,
        least=0.9,
    ),
    Case(
        "row names.csv",
        told=(
            "header .* has one name less than its rows have fields.*--no-header",
            "left out: 'column 1' \\(identifiers\\)",
        ),
        inspected=("one name less",),
        roles={"column 1": "id"},
    ),
    *_told(
        "left out: 'column 1' \\(identifiers\\)",
        *("pandas index.csv", "running number unnamed.csv"),
        inspected=(),
        roles={"column 1": "id"},
    ),
    *_refused("has no rows", "header only.csv", rows=0),
    *_refused(
        "has one row only",
        "one row.csv",
        rows=1,
        options=(),
        roles=dict.fromkeys(FIVE, "constant") | {"bought": "constant"},
    ),
    *_refused(
        "has no column besides the label 'bought'",
        "one column.csv",
        inspected=("298 rows repeat",),
        roles={"bought": "label"},
    ),
    *_refused("is empty", "empty.csv", "only newlines.csv", "only spaces.csv", rows=0),
]

ENCODINGS = [
    *_as_clean("western.csv", "utf-8-sig.csv", "utf-8-sig quoted.csv", "mojibake.csv"),
    *_told("is read as UTF-16; --encoding", "utf-16.csv", "utf-16-be.csv"),
    *_told("is read as UTF-16-LE; --encoding", "utf-16 no mark.csv"),
    Case(
        "utf-16 tabs.txt",
        told=("read as UTF-16; --encoding .*separated by tabs; --sep",),
    ),
    *_told(
        "read as Windows-1252 \\(Western European\\), which may be wrong: it may be "
        "Windows-1250 \\(Central European\\), where 'São' is 'Săo'; --encoding",
        *("cp1252.csv", "latin-1.csv"),
    ),
    *_told("read as ISO-8859-2 \\(Central European\\); --encoding", "latin-2.csv"),
    *_refused(
        "line 2 .* is not UTF-8, while 80 other lines are .* Hint: --skip-bad-rows",
        "mixed encodings.csv",
        inspected=("lines of several encodings", "79 rows cannot be read"),
        rows=221,
    ),
    *_refused(
        "line 2 .* is not UTF-8, while 200 other lines are .* Hint: --skip-bad-rows",
        "broken utf-8.csv",
        inspected=("lines of several encodings", "1 row cannot be read"),
        rows=299,
    ),
    Case(
        "late letters.csv",
        same=None,
        told=("read as Windows-1252 \\(Western European\\); --encoding",),
        rows=301,
        least=0.95,
    ),
]
_CUT = "the texts of 'text' are {}: cut into . to . characters \\(--analyzer word or"
_SCRIPTS = {"zh": "Chinese", "tw": "Chinese", "ja": "Japanese", "th": "Thai"}
for _language, _encoding, _name in (
    ("ru", "cp1251", "Windows-1251 \\(Cyrillic\\)"),
    ("ru", "koi8-r", "KOI8-R \\(Cyrillic\\)"),
    ("fr", "cp1252", "Windows-1252 \\(Western European\\)"),
    ("zh", "gb18030", "GB18030 \\(Chinese\\)"),
    ("tw", "big5", "Big5 \\(Chinese\\)"),
    ("ja", "shift_jis", "Shift-JIS \\(Japanese\\)"),
    ("ja", "euc-jp", "EUC-JP \\(Japanese\\)"),
    ("ko", "euc-kr", "EUC-KR \\(Korean\\)"),
    ("th", "cp874", "Windows-874 \\(Thai\\)"),
    *((own, "utf-8", "") for own in ("en", "ru", "fr", "ko", "zh", "tw", "ja", "th")),
):
    _cut = (_CUT.format(_SCRIPTS[_language]),) if _language in _SCRIPTS else ()
    _read = (f"is read as {_name}; --encoding",) if _name else ()
    ENCODINGS.append(
        Case(
            f"reviews {_language} {_encoding}.csv",
            same=f"reviews {_language} utf-8.csv",
            told=(*_read, *_cut),
            inspected=_read,
            roles=TEXT_ROLES,
            options=TEXTS,
            least=0.8 if _language == "th" else 0.99,
        )
    )

NUMBERS = [
    *_written("income", "10,539.85 as 10539.85", "commas in thousands.csv"),
    *_written("income", "10,539.85 as 10539.85", "indian.csv"),
    *_written("income", "10539,85 as 10539.85", "decimal commas quoted.csv"),
    *_written("income", "10'539.85 as 10539.85", "swiss.csv"),
    *_written("income", "10\u2019539.85 as 10539.85", "swiss curly.csv"),
    *_written("income", "\\$10,539.85 as 10539.85", "dollars.csv"),
    *_written("income", "10539.85 kg as 10539.85", "one unit.csv"),
    *_written("income", "10.53985k as 10.53985", "kilo and mega.csv"),
    *_written("income", '="10539.85" as 10539.85', "excel text.csv"),
    *_written("income", "'10539.85 as 10539.85", "apostrophe first.csv"),
    *_written("rate", "10.4 % as 10.4", "percents.csv"),
    *_written("rate", "10.4% as 10.4", "some percents.csv"),
    *_written("rate", "\u22120.6 as -0.6", "minus signs.csv"),
    *_written("rate", "0.6- as -0.6", "trailing minus.csv"),
    *_written("rate", "\\(4.4\\) as -4.4", "accounting.csv", same=None, least=0.95),
    *_written("age", "٥٦ as 56", "arabic digits.csv"),
    *_written("age", "\uff15\uff16 as 56", "full width digits.csv"),
    *_as_clean("plus signs.csv", "exponents.csv", "three decimals.csv"),
    *(
        Case(file, told=("separated by ';'", GUESSED.format("income", how)))
        for file, how in (
            ("decimal commas.csv", "10539,85 as 10539.85"),
            ("german.csv", "10.539,85 as 10539.85"),
            ("french.csv", "10.539,85 as 10539.85"),
            ("plain spaces.csv", "10 539,85 as 10539.85"),
            ("euros.csv", "10.539,85 € as 10539.85"),
            ("exponents comma.csv", "8,242520E\\+03 as 8242.52"),
        )
    ),
    Case(
        "thousands ambiguous.csv",
        told=(
            GUESSED.format("income", "10,540 as 10540"),
            "warning: column 'income' may be written in two ways: '10,540' is read as "
            "10540 and could be 10.54. --decimal , or --thousands , says which",
        ),
    ),
    Case(
        "thousands ambiguous.csv",
        options=("--label", "bought", "--thousands", ","),
        told=(GUESSED.format("income", "10,540 as 10540"),),
    ),
    Case(
        "points in thousands.csv",
        same=None,
        told=(
            "separated by ';'",
            "'income' may have points between .* --thousands \\.",
        ),
        least=0.95,
    ),
    Case(
        "points in thousands.csv",
        options=("--label", "bought", "--thousands", "."),
        told=("separated by ';'", GUESSED.format("income", "10.540 as 10540")),
    ),
    *_told(
        "warning: column 'age' may have points between thousands: '1.400' is read as "
        "1.4. --thousands . reads it as 1400",
        "points beside hundreds.csv",
        same=None,
        least=0.9,
    ),
    *(
        Case(
            file,
            same=None,
            told=("left out: 'income' \\(identifiers\\)", f"column 'income' {why}"),
            inspected=(why,),
            roles={"income": "id"},
            least=0.9,
        )
        for file, why in (
            ("mixed decimals.csv", "is not read as numbers, though 50 % .* --types"),
            ("two currencies.csv", "is not read as .* units \\('.', '.'\\).* --drop"),
            (
                "mixed units.csv",
                "is not read as .* units \\('kg', 'g', 't'\\).* --drop",
            ),
        )
    ),
    Case("missing spellings.csv", same=None, least=0.95),
    Case("empty as zero.csv", same=None, least=0.95),
    *_written(
        "income",
        "3 values that are no numbers \\('see note', 'approx 4000', '> 9000'\\) as "
        "missing",
        "strays.csv",
        same=None,
        least=0.95,
    ),
    *_written(
        "income",
        "75 values that are no numbers \\('not said'\\) as missing",
        "many strays.csv",
        same=None,
        least=0.95,
    ),
    *_told(
        "column 'income' has the value -999 in 10 % of its rows",
        "sentinels.csv",
        same=None,
        least=0.95,
    ),
    *_refused(
        "numbers must be finite or missing. Got inf at row 3 of column 'income'",
        "infinities.csv",
        inspected=(),
    ),
    Case("ranges.csv", same=None, roles={"age": "category"}, least=0.95),
    *_written(
        "zip",
        "codes with zeros in front as categories",
        "zip codes.csv",
        same=None,
        roles={"zip": "category"},
        least=0.95,
    ),
    *_written("income", "~10539.85 as 10539.85", "about.csv"),
    *_written("income", "8,242.52 as 8242.52", "one comma.csv"),
    *_told(
        "column 'age' has times, such as '08:56', which are read as categories",
        "times.csv",
        same=None,
        roles={"age": "category"},
        least=0.9,
    ),
    Case(
        "footnotes.csv",
        same=None,
        told=("left out: 'income' \\(identifiers\\)", "though 89 % .* --types"),
        inspected=("though 89 % .* such as '8242.52\\*', are not. --types",),
        roles={"income": "id"},
        least=0.9,
    ),
    *_refused(
        "rows .* have 7 fields, and its header has 6 names: a comma within values",
        "cut by commas.csv",
        rows=0,
    ),
    Case("coded.csv", same=None, roles={"city_code": "number"}, least=0.95),
]

DATES = [
    *_written("joined", "26/07/2024 as 2024-07-26", "dates day first.csv"),
    *_written("joined", "07/26/2024 as 2024-07-26", "dates month first.csv"),
    *_written("joined", "26.07.2024 as 2024-07-26", "dates german.csv"),
    *_written("joined", "26/07/24 as 2024-07-26", "dates two digits.csv"),
    *_written("joined", "26/7/2024 as 2024-07-26", "dates short.csv"),
    *_written("joined", "26 Jul 2024 as 2024-07-26", "dates month names.csv"),
    *_written("joined", "Jul 26, 2024 as 2024-07-26", "dates american names.csv"),
    *_written(
        *("joined", "26/07/2024 00:00 as 2024-07-26", "dates with times day first.csv")
    ),
    *_written("joined", "dates written as .* or .*", "dates mixed.csv"),
    *_written("joined", "Fri 26 Jul 2024 as 2024-07-26", "dates weekdays.csv"),
    *_written("joined", "Fri, 26 Jul 2024 .* as 2024-07-26", "dates mail.csv"),
    *_written("joined", "24/07/26 as 2024-07-26", "dates year first.csv"),
    *_told(
        "'joined' is not read as dates, though .* '26. Januar 2024'.* --types",
        "dates german months.csv",
        same=None,
        roles={"joined": "category"},
        least=0.9,
    ),
    *_as_clean("dates slashes iso.csv", "dates with times.csv", "dates with zone.csv"),
    *_as_clean("dates compact.csv", "dates unix.csv", roles={"joined": "number"}),
    Case(
        "dates ambiguous.csv",
        same=None,
        told=(
            GUESSED.format("joined", "03/07/2024 as 2024-07-03"),
            "'joined' has dates that can be read in two ways: .* --types "
            "'joined=date:%m/%d/%Y'",
        ),
        least=0.95,
    ),
    Case("dates with missing.csv", same=None, least=0.95),
    Case("dates far.csv", same=None, least=0.95),
    Case("dates quarters.csv", same=None, roles={"joined": "category"}, least=0.95),
    Case("dates years.csv", same=None, roles={"joined": "number"}, least=0.95),
]

_LEAK = "the label can be told by one column alone: '{}' in .* --drop COL"
ROLES = [
    *(
        Case(
            file,
            told=(f"left out: '{name}' \\({why}\\); --types COL=KIND",),
            inspected=(),
            roles={name: role},
        )
        for file, name, why, role in (
            ("running number.csv", "id", "identifiers", "id"),
            ("uuid.csv", "key", "identifiers", "id"),
            ("emails.csv", "mail", "identifiers", "id"),
            ("phones.csv", "phone", "identifiers", "id"),
            ("constant.csv", "country", "one value only", "constant"),
            ("empty column.csv", "notes", "one value only", "constant"),
        )
    ),
    *(
        Case(
            file,
            same=None,
            told=(_LEAK.format(name),),
            inspected=("tells the label in",),
            roles={name: role},
            least=0.99,
        )
        for file, name, role in (
            ("sorted running number.csv", "record", "number"),
            ("label copy.csv", "purchase", "number"),
            ("label nearly.csv", "invoice", "category"),
            ("label as number.csv", "paid", "number"),
            ("label by missing.csv", "paid_on", "date"),
        )
    ),
    Case("mostly empty.csv", same=None, roles={"notes": "category"}, least=0.95),
    Case("column twice.csv", same=None, roles={"income_copy": "number"}, least=0.95),
    *_told(
        "60 of 360 rows repeat an earlier one in every column",
        "duplicate rows.csv",
        same=None,
        rows=360,
        inspected=("60 rows repeat",),
    ),
    *_refused("column 'bought' has one value only, 'yes'", "one class.csv"),
    *_refused(
        "which column .* is the label is not clear: say --label",
        "one class.csv",
        options=(),
        roles={"bought": "constant"},
    ),
    *_refused("row 1 .* no label .* Hint: --skip-bad-rows", "label missing.csv"),
    *_told(
        "label 'bought' has 30 rows of the class 'NA': .* --skip-bad-rows",
        "label missing spelled.csv",
        same=None,
    ),
    *_told(
        "label 'bought' has classes that differ in how .* alone \\(' no', 'NO', 'no'; ",
        "label spaces and case.csv",
        inspected=("differ in how they are written alone",),
        same=None,
    ),
    *_told(
        "how they are written alone \\('1', '1.0'\\)",
        "label one and one.csv",
        same=None,
    ),
    *_as_clean("label none.csv"),
    *_told(
        "'bought' has classes of one row only, .*'maybe'", "label rare.csv", same=None
    ),
    *(
        Case(
            file,
            options=(),
            names={"bought": name},
            told=(f"guessed --label '{name}'",),
        )
        for file, name in (
            ("clean.csv", "bought"),
            ("trailing commas.csv", "bought"),
            ("label numbers.csv", "y"),
            ("label floats.csv", "y"),
            ("label booleans.csv", "churned"),
            ("label first.csv", "target"),
            ("label in the middle.csv", "is_buyer"),
        )
    ),
    *_refused(
        "which column .* is the label is not clear: say --label",
        *("label many.csv", "label all different.csv", "label continuous.csv"),
        options=(),
        roles={"class": "category", "bought": "id", "target": "number"},
    ),
    *_refused(
        "column 'target' has 29. different values in 300 rows, too many for a label",
        "label continuous.csv",
        options=("--label", "target"),
        roles={"target": "label"},
        inspected=("classes of one row only",),
    ),
    Case(
        "label of noise.csv",
        same=None,
        options=(),
        told=(
            "guessed --label 'group'",
            "'group' was guessed to be the label, and other columns do not tell it .*"
            "--label city, --label bought",
        ),
        inspected=("guessed to be the label; it could be 'city' or 'bought'",),
        roles={"group": "label", "bought": "category"},
    ),
]

_REVIEWS = "reviews en utf-8.csv"
MORE_TEXTS = [
    Case(
        "text and columns.csv",
        same=None,
        told=(
            "guessed --text 'review' and --label 'label'",
            "left out, beside the texts: 'price', 'city', which say nothing of 'label'",
        ),
        options=(),
        inspected=(),
        roles={
            **{"review": "text", "price": "number", "city": "category"},
            "label": "label",
        },
        least=0.99,
    ),
    Case(
        "two texts.csv",
        same=None,
        told=("guessed --text 'body', 'title' and --label 'label'",),
        options=(),
        inspected=(),
        roles={"title": "text", "body": "text", "label": "label"},
        least=0.99,
    ),
    *(
        Case(file, same=_REVIEWS, told=told, options=options, roles=TEXT_ROLES)
        for file, told, options in (
            ("quoted newlines.csv", (), TEXTS),
            ("emoji.csv", (), TEXTS),
        )
    ),
    Case(
        "stars.csv",
        same=_REVIEWS,
        told=("guessed --text 'review' and --label 'stars'",),
        inspected=(),
        options=(),
        roles={"review": "text", "stars": "label"},
    ),
    Case("html.csv", same=None, options=TEXTS, roles=TEXT_ROLES, least=0.99),
    Case(
        "missing texts.csv",
        same=None,
        options=TEXTS,
        inspected=("13 rows repeat",),
        roles=TEXT_ROLES,
        least=0.99,
    ),
    *_told(
        "100 of the first 400 texts repeat an earlier one",
        "same texts.csv",
        same=None,
        rows=400,
        options=TEXTS,
        roles=TEXT_ROLES,
        inspected=("100 rows repeat",),
    ),
    *(
        Case(
            file,
            same=None,
            rows=299,
            options=(),
            told=(
                f"{more}looks like data; --no-header",
                "guessed --text .* --label 'pos'",
            ),
            inspected=("looks like data; --no-header",),
            least=0.99,
        )
        for file, more in (
            ("text without header.csv", ""),
            ("label tab text.txt", "separated by tabs.*"),
        )
    ),
    *_refused(
        "has one column only, 'text', and a label must be in another. Hint: --sep",
        *("lines.txt", "fasttext.txt"),
        options=(),
        roles={"text": "text"},
    ),
]

JSON_FILES = [
    *_as_clean("lines.jsonl", "lines.json", "list.json", "indented.json", "mark.jsonl"),
    *_as_clean("strings.jsonl", "blank lines.jsonl"),
    *_told("is read as JSON, which it holds", "list.jsonl"),
    *_told("is read as JSON lines, which it holds", "jsonl called.csv"),
    *_told(
        "left out: 'tags' \\(lists or objects\\)",
        *("nested.jsonl", "lists.parquet"),
        inspected=("holds lists or objects",),
        roles={"tags": "ignored"},
    ),
    *_written("income", '"10539.85" as 10539.85', "mixed types.jsonl"),
    Case("missing strings.jsonl", same="empty as zero.csv"),
    Case("late keys.jsonl", same=None, least=0.95),
    Case("nan.jsonl", same=None, least=0.95),
    *_refused(
        "has one row only, .* Hint: JSON must hold a list of objects, or one object",
        *("records.json", "by column.json"),
        options=(),
        rows=1,
        inspected=("holds lists or objects",),
        roles=dict.fromkeys(("data", *FIVE, "bought"), "ignored"),
    ),
    *_refused("it is no valid JSON", "trailing comma.json", rows=0),
    *_refused(
        "line 300 .* it is no JSON.* --skip-bad-rows",
        "truncated.jsonl",
        rows=299,
        inspected=("1 row cannot be read",),
    ),
]

CONTAINERS = [
    *_as_clean("clean.csv.gz", "clean.csv.bz2", "clean.csv.xz", "clean.csv.zst"),
    *_as_clean("one member.zip", "with junk.zip", "typed.parquet", "strings.parquet"),
    *_as_clean("typed.feather", "typed.arrow"),
    *_as_clean("typed.xlsx", "strings.xlsx", needs="python_calamine"),
    *_told("is packed by gzip, unlike its name", "gz called.csv"),
    *_told("read as Excel, which it holds", "xlsx called.csv", needs="python_calamine"),
    *_told("read as CSV, which it seems", "csv called.xlsx", "csv called.parquet"),
    *_told("read as Parquet, which it holds", "parquet called.csv"),
    *_written("income", "10.539,85 as 10539.85", "german.parquet"),
    *_told(
        "Sheet 'Data' .* is read, of the sheets .*; --sheet names another",
        *("two sheets.xlsx", "second sheet.xlsx"),
        needs="python_calamine",
    ),
    *_told(
        "above the header of .*: 2 rows; --no-header",
        "title rows.xlsx",
        needs="python_calamine",
    ),
    Case("missing.xlsx", same="empty as zero.csv", needs="python_calamine"),
    *_refused("is empty", "empty.xlsx", rows=0, needs="python_calamine"),
    *_refused("has no rows", "empty.parquet", rows=0),
    *_refused("must hold one file of data. Got 2", "two members.zip", rows=0),
    *_refused("must hold one file of data. Got 0", "empty.zip", rows=0),
    *_refused("is cut off or damaged", "truncated.csv.gz", rows=0),
    *_refused("is a web page", "html called.xls", "html called.csv", rows=0),
    *_refused("is a picture, not a table", "picture.csv", rows=0),
    *_refused("line 2 .* cannot be read", "random.csv", rows=0, options=()),
    *_refused("format of a file is told by its ending", "random.bin", rows=0),
]

SIZES = [
    Case("wide.csv", same=None, least=0.94),
    Case("long field.csv", same=None, roles={"notes": "category"}, least=0.95),
    Case("long.csv", same=None, rows=200_000, least=0.95),
]

CASES = [
    *(*SEPARATORS, *HEADERS, *ENCODINGS, *NUMBERS, *DATES),
    *(*ROLES, *MORE_TEXTS, *JSON_FILES, *CONTAINERS, *SIZES),
]
