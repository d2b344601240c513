"""One reader: files, globs, queries, frames and batches, as named, typed columns.

What goes in: paths and globs (`_files.find_files`), or any source of labelled texts
(`_sources.text_pieces`: files, a query, a DuckDB relation, a frame, batches).
What comes out: `DataFile.batches(names, bad_rows)`, Arrow batches with these columns in
this order, bounded in rows and bytes; values of text formats are strings and typed by
`_typed_columns`, labels become class codes in `_labels`.
Where to add a kind of file: one subclass of `_format.Format` (its endings, its columns,
its batches; as `_parquet.py`), listed in `_files.FORMATS`. Nothing else knows formats.
Rows that cannot be read go to `BadRows`, rows too long are refused by `_row_bounds`,
and what is read again is compared by `_same_rows`. SQL is written in `_duckdb` words.
"""

from __future__ import annotations
