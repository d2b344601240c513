"""One reader: files, globs, queries, frames and batches, as named, typed columns.

`inspect` says what is in a table and how it would be read; it is the public name.

A file is opened in steps: `_files` finds it and looks at what it holds, `_containers`
unpacks it, `_encodings` makes it UTF-8, and its `Format` reads it (`_csv` with the
layout that `_layout` and `_headers` find). What was guessed on the way is in its notes.

What goes in: paths and globs (`_files.find_files`), or any source of labelled texts
(`_sources.text_pieces`: files, a query, a DuckDB relation, a frame, batches).
What comes out: `DataFile.batches(names, bad_rows)`, Arrow batches with these columns in
this order, bounded in rows and bytes; strings become numbers, dates and categories in
`_column_kinds` (with `_string_column`, `_number_styles`, `_date_styles`), labels class
codes in `_labels`, `_roles` tells what columns are for and `_suspicions` what is odd.
Where to add a kind of file: one subclass of `_format.Format` (its endings, its columns,
its batches; as `_parquet.py`), listed in `_files.FORMATS`. Nothing else knows formats.
Rows that cannot be read go to `BadRows`, rows too long are refused by `_row_bounds`,
and what is read again is compared by `_same_rows`. SQL is written in `_duckdb` words.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

del annotations, attach_stub
