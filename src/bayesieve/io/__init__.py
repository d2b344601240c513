"""One reader: files, globs, queries, frames and batches, as named, typed columns.

`inspect` says what is in a table and how it would be read; it is the public name.

What goes in: paths and globs (`_files.find_files`), or any source of labelled texts
(`_sources.text_pieces`: files, a query, a DuckDB relation, a frame, batches).
What comes out: `DataFile.batches(names, bad_rows)`, Arrow batches with these columns in
this order, bounded in rows and bytes; strings become numbers, dates and categories in
`_column_kinds`, labels become class codes in `_labels`, and `_roles` tells what columns
are for.
Where to add a kind of file: one subclass of `_format.Format` (its endings, its columns,
its batches; as `_parquet.py`), listed in `_files.FORMATS`. Nothing else knows formats.
Rows that cannot be read go to `BadRows`, rows too long are refused by `_row_bounds`,
and what is read again is compared by `_same_rows`. SQL is written in `_duckdb` words.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

del annotations, attach_stub
