"""`ClassCounts`: the one table of counts that every model is fitted from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts._checkpoint import merge_files
from bayesieve.counts._checks import checked
from bayesieve.counts._chunks import count_chunks
from bayesieve.counts._copies import Copies
from bayesieve.counts._device_sums import count_on_device
from bayesieve.counts._distributed import make_plan
from bayesieve.counts._from_anndata import count_anndata
from bayesieve.counts._from_sequences import SequenceSource
from bayesieve.counts._from_text import TextSource
from bayesieve.counts._layout import (
    Kind,
    category_offsets,
    same_labels,
    same_table,
)
from bayesieve.counts._matrix import CountRule, count_coded, count_labelled
from bayesieve.counts._merge import add, subtract
from bayesieve.counts._selection import select
from bayesieve.counts._storage import load_counts, save_counts
from bayesieve.counts._strata import StratifiedCounts
from bayesieve.engines._dask import count_on_dask, holds_texts
from bayesieve.engines._spark import count_on_spark, default_groups
from bayesieve.io._read_options import LONGEST_ROW
from bayesieve.sequences._spelling import Spelling
from bayesieve.text._options import DEFAULT_PATTERN, TextOptions
from bayesieve.utils._arrays import Array
from bayesieve.utils._device_arrays import in_host_memory, is_on_device
from bayesieve.utils._packed_names import PackedNames
from bayesieve.utils._resources import limited_threads
from bayesieve.utils._sparse_structure import refuse_malformed
from bayesieve.utils._validation import check_names, label_array

__all__ = ["ClassCounts", "count_matrix", "merge_saved"]


class ClassCounts:
    """Weighted counts per class and feature: all that naive Bayes needs of the data.

    Counts of two sets of rows add up to the counts of both, so chunks, files, machines
    and cross-validation folds reduce to additions and subtractions. Sums are **exact**
    for integer data below 2**53 and formed in row order otherwise, so they do not
    depend on the input format, the chunking or the number of threads. Nothing is
    smoothed: solvers do that. Treat an instance as immutable.

    Usually made by :meth:`from_matrix`, :meth:`from_chunks` or :meth:`from_text`.

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        Class labels, distinct and sorted as `np.unique` sorts them.
    class_count : array-like of shape (n_classes,)
        Weight of the rows of each class.
    feature_count : {array-like, sparse matrix} of shape (n_classes, n_features)
        Class sums. For kind "category" one column per (feature, code), features in
        order; not given for kind "moments".
    kind : {"count", "binary", "moments", "category"}, default="count"
        What was counted: values, presences, means and squares, or codes.
    feature_names : array-like of str, default=None
        Names of the features.
    document_count : {array-like, sparse matrix} of shape (n_classes, n_features)
        Number of documents with the feature, where documents were counted.
    mean, centred_squares : array-like of shape (n_classes, n_features)
        For kind "moments".
    n_categories : array-like of shape (n_features,)
        For kind "category".

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    class_count : ndarray of shape (n_classes,), float64
    feature_count : {ndarray, csc_array} of shape (n_classes, n_features), float64
        A NumPy array for two classes or up to 1e8 cells, else a `csc_array`. For
        moments `class_count * mean`, computed on demand.
    feature_names : ndarray of shape (n_features,), object, or None
        Counts of texts have a packed sequence of the same strings, which makes no
        Python string until it is asked for; `np.asarray` turns it into an array.
    document_count : {ndarray, csc_array} of shape (n_classes, n_features), or None
    mean, centred_squares : ndarray of shape (n_classes, n_features), or None
    n_categories : ndarray of shape (n_features,), int64, or None
    category_offsets : ndarray of shape (n_features + 1,), int64, or None
    categories : list of ndarray, or None
    copies : Copies, or None
        After counting with `merge_copies=True`, the members of each column.
    least_rows : int
        Features of sequences in fewer rows were left out by `min_df`; 1 for none.
        Such counts cannot be added: what is rare in each part may not be in all.
    kind : str
    n_classes, n_features : int

    See Also
    --------
    bayesieve.counts.count_matrix : The same for data already validated.

    Notes
    -----
    Time O(nnz), one pass (two for moments and categories); memory O(K m) for a NumPy
    table, O(nnz + m) for a sparse one.

    Examples
    --------
    >>> from bayesieve.counts import ClassCounts
    >>> counts = ClassCounts.from_matrix([[1, 0], [2, 3], [0, 4]], ["a", "b", "b"])
    >>> counts.feature_count
    array([[1., 0.],
           [2., 7.]])
    >>> counts + counts == counts.scaled(2)
    True
    """

    __hash__ = None  # type: ignore[assignment]

    kind: Kind
    classes: Array
    class_count: Array
    feature_names: Array | PackedNames | None
    document_count: Any
    mean: Array | None
    centred_squares: Array | None
    n_categories: Array | None
    copies: Copies | None
    least_rows: int = 1

    def __init__(
        self,
        classes: Any,
        class_count: Any,
        feature_count: Any = None,
        *,
        kind: Kind = "count",
        feature_names: Any = None,
        document_count: Any = None,
        mean: Any = None,
        centred_squares: Any = None,
        n_categories: Any = None,
    ) -> None:
        packed = isinstance(feature_names, PackedNames)  # checked by their length alone
        counts = checked(
            self._of(
                label_array(classes).copy(),
                _copied(class_count),
                kind,
                feature_count=_copied(feature_count),
                document_count=_copied(document_count),
                mean=_copied(mean),
                centred_squares=_copied(centred_squares),
                n_categories=_copied(n_categories, np.int64),
                feature_names=feature_names if packed else None,
            )
        )
        self.__dict__.update(counts.__dict__)
        if not packed:
            self.feature_names = check_names(feature_names, counts.n_features)

    @classmethod
    def _of(
        cls,
        classes: Array,
        class_count: Array,
        kind: Kind,
        *,
        feature_count: Any = None,
        feature_names: Array | PackedNames | None = None,
        document_count: Any = None,
        mean: Array | None = None,
        centred_squares: Array | None = None,
        n_categories: Array | None = None,
        copies: Copies | None = None,
        least_rows: int = 1,
    ) -> ClassCounts:
        """Make counts of arrays made by this package, neither copied nor checked."""
        counts = cls.__new__(cls)
        counts.__dict__.update(
            classes=classes,
            class_count=class_count,
            kind=kind,
            feature_count=feature_count,  # behind the property of that name
            feature_names=feature_names,
            document_count=document_count,
            mean=mean,
            centred_squares=centred_squares,
            n_categories=n_categories,
            copies=copies,
            least_rows=least_rows,
        )
        return counts

    def _with(self, **changes: Any) -> ClassCounts:
        """Return the counts with other arrays in some places, not checked."""
        counts = type(self).__new__(type(self))
        counts.__dict__.update(self.__dict__, **changes)
        return counts

    def _tables(self) -> dict[str, Any]:
        """Return the tables that are held, by name."""
        names = ("feature_count", "document_count", "mean", "centred_squares")
        held = {name: self.__dict__[name] for name in names}
        return {name: table for name, table in held.items() if table is not None}

    # ------------------------------------------------------------------ construction

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        binary: bool = False,
        *,
        kind: str | None = None,
        binarize: float | None = 0.0,
        classes: Any = None,
        feature_names: Any = None,
        min_categories: Any = None,
        n_jobs: int | None = -1,
    ) -> ClassCounts:
        """Count a matrix with one label per row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Any numeric dtype; never written to, copied or made dense. An array or CSR
            matrix on a device is counted there (`class_sums`), for kinds "count" and
            "binary"; only the table is fetched.
        y : array-like of shape (n_samples,)
            Labels: strings, integers, booleans or floats.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.
        binary : bool, default=False
            Short for `kind="binary"`.
        kind : {"count", "binary", "moments", "category"}, default=None
            What to count: the values (default), how many exceed `binarize`, means and
            centred squares, or integer codes.
        binarize : float or None, default=0.0
            For kind "binary": values above it count 1; with None they must be 0 or 1.
        classes : array-like, default=None
            All classes there may be. A label outside them is an error, a class
            without rows is kept with count 0.
        feature_names : array-like of str, default=None
            Names of the columns; those of a DataFrame are taken by default.
        min_categories : int or array-like of shape (n_features,), default=None
            For kind "category": least number of codes per column.
        n_jobs : int, default=-1
            Threads that count, as scikit-learn counts them: -1 is one per processor,
            up to eight.

        Returns
        -------
        counts : ClassCounts

        Examples
        --------
        >>> from bayesieve.counts import ClassCounts
        >>> ClassCounts.from_matrix([[0.5, -1.0], [2.0, 0.0]], [1, 0], binary=True)
        ClassCounts(kind='binary', 2 classes, 2 features, total weight 2)
        """
        rule = CountRule.checked(kind, binary, binarize, min_categories)
        X = in_host_memory(X)
        if is_on_device(X):
            return count_on_device(
                cls, X, y, sample_weight, rule, classes, feature_names
            )
        with limited_threads(n_jobs):
            return count_labelled(
                cls, X, y, sample_weight, rule, classes, feature_names
            )

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[Any],
        *,
        binary: bool = False,
        kind: str | None = None,
        binarize: float | None = 0.0,
        classes: Any = None,
        feature_names: Any = None,
        min_categories: Any = None,
        n_jobs: int | None = -1,
    ) -> ClassCounts:
        """Count an iterable of chunks of rows.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, sample_weight)
            Chunks must agree on the number of columns, unless they carry feature
            names: then the union of the columns is counted.
        binary, kind, binarize, classes, feature_names, min_categories, n_jobs
            As in :meth:`from_matrix`. Without `classes` the union of all labels is
            taken.

        Returns
        -------
        counts : ClassCounts
            The same as for all rows in one matrix.

        Examples
        --------
        >>> from bayesieve.counts import ClassCounts
        >>> chunks = [([[1, 0]], ["a"]), ([[2, 5]], ["b"])]
        >>> ClassCounts.from_chunks(chunks).class_count
        array([1., 1.])
        """
        rule = CountRule.checked(kind, binary, binarize, min_categories)
        with limited_threads(n_jobs):
            return count_chunks(cls, chunks, rule, classes, feature_names)

    @classmethod
    def from_text(
        cls,
        source: Any = None,
        text: str = "text",
        label: str = "label",
        *,
        sql: str | None = None,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: str | None = None,
        token_pattern: str = DEFAULT_PATTERN,
        stop_words: Any = None,
        binary: bool = False,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        tfidf: bool = False,
        classes: Any = None,
        on_bad_rows: str = "error",
        max_row_bytes: int = LONGEST_ROW,
        checkpoint: Any = None,
        n_jobs: int | None = -1,
        memory_budget: int | None = None,
        spill_folder: Any = None,
        progress: bool = False,
    ) -> ClassCounts:
        r"""Count the terms of texts, from files or from memory.

        Exact, and equal term by term to CountVectorizer followed by class sums, without
        a document-term matrix: memory grows with the number of distinct terms, not of
        documents. The result does not depend on threads, order or the memory budget.

        Parameters
        ----------
        source : path-like, str, list of paths, relation, table or iterable
            - a path, a glob or a list of them: CSV, TSV, JSON lines or Parquet, told by
              the ending; .gz and .zst after it are unpacked;
            - a DuckDB relation, for tables and settings of your own;
            - a pandas, polars or Arrow table;
            - an iterable of batches, each a table or a pair (texts, labels).
        text, label : str, default="text" and "label"
            Names of the columns.
        sql : str, default=None
            In place of a source, a query over files, one SELECT (also VALUES, or FROM
            first), such as ``SELECT body AS text, stars AS label FROM 'a/*.parquet'``.
            It reads the files that it names in quotes, and nothing else.
        analyzer, ngram_range, lowercase, strip_accents, token_pattern, binary
            As for CountVectorizer.
        stop_words : {"english"}, set of str or None, default=None
            Words to leave out; "english" is scikit-learn's list.
        min_df, max_df, max_features
            Which terms are kept in the end, as for CountVectorizer.
        tfidf : bool, default=False
            Whether `feature_count` holds the class sums of TfidfVectorizer's values.
            Needs a second scan, so the source must be one that can be read twice.
        classes : array-like, default=None
            All labels there may be; another one is an error, and a class without
            documents is kept with count 0.
        on_bad_rows : {"error", "skip"}, default="error"
            What to do about rows without text or label, rows that cannot be read, and
            bytes that are not UTF-8: a ValueError that names the first one, or leave
            them out with one `BadRowsWarning` that says how many there are.
        max_row_bytes : int, default=33_554_432
            Longest row of a file, unpacked. A longer one is an error before memory is
            asked for it: a small packed file may unpack to anything.
        checkpoint : path-like, default=None
            A folder, for files only. Counts of finished files are kept in it, so that a
            run that was killed goes on where it was when it is started again.
        n_jobs : int, default=-1
            Number of threads, as scikit-learn counts them: -1 is one per processor.
        memory_budget : int, default=None
            Bytes for the records and tables of the count, beyond which temporary files
            are used.
        spill_folder : path-like, default=None
            Where temporary files go; None for the system's folder.
        progress : bool, default=False
            Whether a line on standard error shows the share of bytes read, if that is a
            terminal.

        Returns
        -------
        counts : ClassCounts
            Of kind "count", or "binary" with `binary=True`, terms sorted, with
            `document_count`.

        Notes
        -----
        Files and queries are read by DuckDB: ``pip install duckdb pyarrow``.

        Queries only read: they run in a database of their own that reaches the files
        named in them, loads no extension and knows no tables, and any other statement,
        also inside a WITH, and table functions that do not read are refused.

        With `tfidf` the source is read twice, and must give the same rows: a file that
        was rewritten in between is an error.

        An empty text is a document without terms. An empty field of a CSV file is an
        empty text, but a missing label; null in JSON, Parquet or a table is missing.
        Labels of CSV files are integers if all of them are written as such, or truth
        values if all are True or False, and strings otherwise.

        With `checkpoint`, other settings or a file whose content was changed are an
        error; `min_df`, `max_df`, `max_features`, `tfidf` and `on_bad_rows` may change,
        and files may be added. Files are known by their SHA-256, which takes some 5 %
        of the time of a count.

        Examples
        --------
        >>> from bayesieve.counts import ClassCounts
        >>> texts = ["good film", "bad film", "good plot"]
        >>> counts = ClassCounts.from_text([(texts, ["pos", "neg", "pos"])])
        >>> counts
        ClassCounts(kind='count', 2 classes, 4 features (named), total weight 3)
        >>> counts.feature_names.tolist()
        ['bad', 'film', 'good', 'plot']
        >>> counts.feature_count
        array([[1., 1., 0., 0.],
               [0., 1., 2., 1.]])

        From files: ``ClassCounts.from_text("reviews-*.csv.gz", "review", "stars")``.
        """
        options = TextOptions(
            analyzer=analyzer,
            ngram_range=ngram_range,
            lowercase=lowercase,
            strip_accents=strip_accents,
            token_pattern=token_pattern,
            stop_words=stop_words,
            binary=binary,
        )
        texts = TextSource(
            source,
            text,
            label,
            sql=sql,
            on_bad_rows=on_bad_rows,
            max_row_bytes=max_row_bytes,
            n_jobs=n_jobs,
            again="tfidf=True" if tfidf else None,
        )
        with limited_threads(n_jobs):
            return texts.count(
                cls,
                options,
                min_df=min_df,
                max_df=max_df,
                max_features=max_features,
                tfidf=tfidf,
                classes=classes,
                checkpoint=checkpoint,
                progress=progress,
                memory_budget=memory_budget,
                spill_folder=spill_folder,
            )

    @classmethod
    def from_anndata(
        cls,
        source: Any,
        label: str,
        *,
        layer: str | None = None,
        use_raw: bool = False,
        batch: str | None = None,
        binary: bool = False,
        kind: str | None = None,
        classes: Any = None,
        check_counts: bool = True,
        on_bad_rows: str = "error",
        memory_budget: int | None = None,
        n_jobs: int | None = -1,
    ) -> ClassCounts | StratifiedCounts:
        """Count the genes of single cells, from an AnnData object or an .h5ad file.

        A file, or an object backed by one, is read once, a block at a time. **Exact**.

        Parameters
        ----------
        source : AnnData or path-like
            In memory, backed, or the path of an .h5ad file.
        label : str
            Column of obs with the class of each cell. Categories without cells are left
            out.
        layer : str, default=None
            Layer that holds the raw counts; None for X.
        use_raw : bool, default=False
            Whether they are those of ``raw.X``, with the genes of ``raw``.
        batch : str, default=None
            Column of obs with the stratum of each cell: a batch, a donor, a site. The
            counts of each stratum are then kept apart.
        binary : bool, default=False
            Short for `kind="binary"`.
        kind : {"count", "binary"}, default=None
            What to count: molecules (default), or cells in which the gene was seen.
        classes : array-like, default=None
            All classes there may be. Another label is an error, a class without cells
            is kept with count 0.
        check_counts : bool, default=True
            Whether molecules must be whole numbers, as those of normalised data are
            not. False takes estimated counts, which are fractions.
        on_bad_rows : {"error", "skip"}, default="error"
            What to do about cells without label or batch: a ValueError that names the
            first one, or leave them out with one `BadRowsWarning` that says how many
            there are. Their values are checked all the same.
        memory_budget : int, default=None
            Bytes of a matrix on disk that are in memory at a time; None for 32 MB. The
            table of counts comes on top.
        n_jobs : int, default=-1
            Threads that read, unpack and count, as scikit-learn counts them: -1 is one
            per processor.

        Returns
        -------
        counts : ClassCounts or StratifiedCounts
            With `batch` a mapping from strata to their counts; the names of genes are
            the feature names.

        Notes
        -----
        Time O(nnz). A matrix that is stored by columns is read a block of columns at a
        time. Needs anndata and h5py: ``pip install anndata h5py``.

        Examples
        --------
        >>> import anndata, numpy as np, pandas as pd
        >>> from bayesieve import ClassCounts
        >>> adata = anndata.AnnData(
        ...     np.array([[3, 0], [0, 2], [1, 4]], dtype=np.float32),
        ...     obs=pd.DataFrame({"type": ["T", "B", "B"]}, index=["c1", "c2", "c3"]),
        ...     var=pd.DataFrame(index=["CD3D", "CD79A"]),
        ... )
        >>> counts = ClassCounts.from_anndata(adata, label="type")
        >>> counts.classes.tolist(), counts.feature_names.tolist()
        (['B', 'T'], ['CD3D', 'CD79A'])
        >>> counts.feature_count
        array([[1., 6.],
               [3., 0.]])
        """
        return count_anndata(
            cls,
            source,
            label,
            layer=layer,
            use_raw=use_raw,
            batch=batch,
            kind=kind,
            binary=binary,
            classes=classes,
            check_counts=check_counts,
            on_bad_rows=on_bad_rows,
            memory_budget=memory_budget,
            n_jobs=n_jobs,
        )

    @classmethod
    def from_sequences(
        cls,
        paths: Any,
        labels: Any = None,
        *,
        k: int = 31,
        canonical: bool = True,
        binary: bool = True,
        records: bool = False,
        merge_copies: bool = False,
        min_df: float = 1,
        classes: Any = None,
        checkpoint: Any = None,
        memory_budget: int | None = None,
        spill_folder: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> ClassCounts:
        r"""Count the k-mers of sequences in FASTA and FASTQ files.

        **Exact**, and the same for any number of threads, budget or order of files. A
        file is a row: a genome, or the reads of a sample. No k-mer is held as a string.

        Parameters
        ----------
        paths : path-like, glob or list of them
            FASTA or FASTQ, told by the content; packed by gzip, bzip2, xz, zstd or zip,
            too. Lower case counts as upper case, U as T; k-mers with any other letter
            are left out.
        labels : array-like, mapping or callable, default=None
            A label for each file; or by its path, its name, its name without endings
            or its folder, whole numbers too; or a function of its path. An array, or a
            Series that is just numbered, is in the order of the paths, of which a glob
            gives those that match sorted as strings (g1, g10, g2): names are safer;
            where its numbers could be names, it is refused. None for the name of the
            folder that each file is in. With `records`, of the records: in order, by
            their header or its first word, or a function of the header. A label of
            None leaves a row out. At most 16,384 different ones.
        k : int, default=31
            Length of the k-mers, 1 to 31.
        canonical : bool, default=True
            Whether a k-mer and its reverse complement are one feature, called by the
            first of the two in alphabetical order.
        binary : bool, default=True
            Count rows that have a k-mer (kind "binary"), or how often it occurs.
        records : bool, default=False
            Whether each record of a file is a row, in place of each file.
        merge_copies : bool, default=False
            Hold k-mers that occur in the same rows as one column, called by the first
            of them; `copies` has them all. Of one variant or gene there are many.
            Rows are told apart by random numbers of 64 bits that add up.
        min_df : int or float, default=1
            With `binary`: leave out k-mers in fewer rows, a number (int) or a share in
            [0, 1] (float; 1.0 is all of them). Such counts cannot be added.
        classes : array-like, default=None
            All labels there may be; another one is an error.
        checkpoint : path-like, default=None
            A folder. Counts of finished files are kept in it, so that a run that was
            killed goes on where it was when it is started again, with the same
            arguments and labels; a function of labels is taken to be the same.
        memory_budget : int, default=None
            Bytes for what is counted, beyond which temporary files are used. The
            result comes on top.
        spill_folder : path-like, default=None
            Where temporary files go.
        n_jobs : int, default=None
            Threads, as scikit-learn counts them; None is 1, -1 one for each processor.
        progress : bool, default=False
            Show how many bytes are read, on a terminal.

        Returns
        -------
        counts : ClassCounts
            `feature_names` makes a name when it is asked for.

        Notes
        -----
        Time O(bases + k-mers log k-mers). Memory O(distinct k-mers) without a budget:
        24 bytes for each (k-mer, class), and 0.6 GB of occurrences for each pass.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve import ClassCounts
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name, bases in (("a", "ACGTA"), ("b", "CCGTA")):
        ...         path = pathlib.Path(folder, f"{name}.fasta")
        ...         _ = path.write_text(f">{name}\n{bases}\n")
        ...     counts = ClassCounts.from_sequences(
        ...         f"{folder}/*.fasta", {"a": "wild", "b": "mutant"}, k=4
        ...     )
        >>> counts.feature_names.tolist(), counts.classes.tolist()
        (['ACGG', 'ACGT', 'CGTA'], ['mutant', 'wild'])
        >>> counts.feature_count
        array([[1., 0., 1.],
               [0., 1., 1.]])
        """
        owner = "from_sequences"
        spelling = Spelling.of_kmers(k, canonical, owner=owner)
        source = SequenceSource(
            paths, labels, spelling, records=records, classes=classes, owner=owner
        )
        return source.count(
            cls,
            binary=binary,
            merge_copies=merge_copies,
            min_df=min_df,
            checkpoint=checkpoint,
            memory_budget=memory_budget,
            spill_folder=spill_folder,
            n_jobs=n_jobs,
            progress=progress,
        )

    @classmethod
    def from_bytes(
        cls,
        paths: Any,
        labels: Any = None,
        *,
        n: int = 6,
        binary: bool = True,
        merge_copies: bool = False,
        min_df: float = 1,
        classes: Any = None,
        checkpoint: Any = None,
        memory_budget: int | None = None,
        spill_folder: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> ClassCounts:
        r"""Count the n-grams of bytes of files of any kind, each of which is a row.

        **Exact**; for programs, logs, captures: whatever is not text. Files are read as
        they are, never unpacked.

        Parameters
        ----------
        paths : path-like, glob or list of them
        labels : array-like, mapping or callable, default=None
            Of the files, as in :meth:`from_sequences`.
        n : int, default=6
            Bytes in a row, 1 to 8.
        binary, merge_copies, min_df, classes, checkpoint
        memory_budget, spill_folder, n_jobs, progress
            As in :meth:`from_sequences`.

        Returns
        -------
        counts : ClassCounts
            Features are called by their bytes as hexadecimal digits.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayesieve import ClassCounts
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paths = [pathlib.Path(folder, name) for name in ("a", "b")]
        ...     for path, content in zip(paths, (b"MZ\x90", b"MZ\x00"), strict=True):
        ...         _ = path.write_bytes(content)
        ...     counts = ClassCounts.from_bytes(paths, ["x", "y"], n=2)
        >>> counts.feature_names.tolist()
        ['4d5a', '5a00', '5a90']
        """
        owner = "from_bytes"
        spelling = Spelling.of_bytes(n, owner=owner)
        source = SequenceSource(paths, labels, spelling, classes=classes, owner=owner)
        return source.count(
            cls,
            binary=binary,
            merge_copies=merge_copies,
            min_df=min_df,
            checkpoint=checkpoint,
            memory_budget=memory_budget,
            spill_folder=spill_folder,
            n_jobs=n_jobs,
            progress=progress,
        )

    @classmethod
    def from_dask(
        cls,
        data: Any,
        labels: Any = None,
        *,
        text: Any = None,
        label: Any = None,
        client: Any = None,
        kind: str | None = None,
        binary: bool = False,
        binarize: float | None = 0.0,
        classes: Any = None,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: str | None = None,
        token_pattern: str = DEFAULT_PATTERN,
        stop_words: Any = None,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        n_jobs: int | None = 1,
        n_groups: int = 1,
    ) -> ClassCounts:
        """Count a Dask collection on its cluster.

        One task counts a partition, further tasks add the counts up in a tree, and only
        the result is fetched. Tasks are pure: after a lost worker they run again and
        give the same counts. **Exact**, equal to one process, for texts and integers;
        sums of fractions may differ in their last bits.

        Parameters
        ----------
        data : Dask array, dataframe or bag
            An array has features, in blocks of NumPy arrays or SciPy sparse matrices.
            A dataframe has texts (`text` names the column) or features (all columns
            but the label). A bag has (text, label) pairs, or dicts.
        labels : array-like or Dask array or series, default=None
            One label for each row of an array, or of a dataframe without `label`.
        text, label : hashable, default=None
            Columns of a dataframe; keys of a bag's dicts, "text" and "label" unless
            given.
        client : distributed.Client, default=None
            Where to count; None for wherever Dask computes by default.
        kind, binary, binarize
            Of features, as in :meth:`from_matrix`; `binary` also of texts.
        classes : array-like, default=None
            All classes there may be; None for those found.
        analyzer, ngram_range, lowercase, strip_accents, token_pattern, stop_words, \
min_df, max_df, max_features
            Of texts, as in scikit-learn's CountVectorizer.
        n_jobs : int, default=1
            Threads of one task; a worker may run several tasks.
        n_groups : int, default=1
            Terms are merged in this many groups, each on its own: with many partitions
            and workers, no worker then has to hold every term. The result is the same.

        Returns
        -------
        counts : ClassCounts

        Notes
        -----
        Network: each partial count travels O(log n_partitions) times at most. Terms
        below `min_df` are dropped on the workers.
        """
        plan = make_plan(
            cls,
            holds_texts(data, text),
            kind=kind,
            binary=binary,
            binarize=binarize,
            classes=classes,
            analyzer=analyzer,
            ngram_range=ngram_range,
            lowercase=lowercase,
            strip_accents=strip_accents,
            token_pattern=token_pattern,
            stop_words=stop_words,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
            n_jobs=n_jobs,
            n_groups=n_groups,
        )
        where = {"text": text, "label": label, "client": client}
        return plan.finish(count_on_dask(data, labels, plan, **where))

    @classmethod
    def from_spark(
        cls,
        frame: Any,
        *,
        text: str | None = None,
        label: str = "label",
        features: Any = None,
        kind: str | None = None,
        binary: bool = False,
        binarize: float | None = 0.0,
        classes: Any = None,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: str | None = None,
        token_pattern: str = DEFAULT_PATTERN,
        stop_words: Any = None,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        n_jobs: int | None = 1,
        n_groups: int | None = None,
    ) -> ClassCounts:
        """Count a Spark DataFrame on its executors.

        Each partition is counted where it is, its counts are shuffled by groups of
        terms, and each group is merged by one task; the driver puts together groups
        that have no term in common. Tasks are pure: Spark may run them again. **Exact**
        as :meth:`from_dask`.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
        text : str, default=None
            Column of texts.
        label : str, default="label"
            Column of labels: strings, integers, booleans or floats.
        features : str or list of str, default=None
            Instead of `text`: a column of MLlib vectors, sparse or dense, or of arrays;
            or numeric columns, whose names the counts keep.
        kind, binary, binarize, classes
            As in :meth:`from_dask`.
        analyzer, ngram_range, lowercase, strip_accents, token_pattern, stop_words, \
min_df, max_df, max_features
            Of texts, as in scikit-learn's CountVectorizer.
        n_jobs : int, default=1
            Threads of one task.
        n_groups : int, default=None
            Number of groups of terms; None for the default parallelism of the session.

        Returns
        -------
        counts : ClassCounts

        Notes
        -----
        Needs Java 17 and bayesieve for the workers' Python; in a local session
        `PYSPARK_PYTHON` must be the running interpreter.
        """
        names = None if features is None or isinstance(features, str) else features
        plan = make_plan(
            cls,
            text is not None,
            kind=kind,
            binary=binary,
            binarize=binarize,
            classes=classes,
            feature_names=names,
            analyzer=analyzer,
            ngram_range=ngram_range,
            lowercase=lowercase,
            strip_accents=strip_accents,
            token_pattern=token_pattern,
            stop_words=stop_words,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
            n_jobs=n_jobs,
            n_groups=default_groups(frame) if n_groups is None else n_groups,
        )
        totals = count_on_spark(frame, plan, text=text, label=label, features=features)
        return plan.finish(totals)

    # ------------------------------------------------------------------ attributes

    @property
    def feature_count(self) -> Any:
        """Class sums; for moments computed from the means."""
        if self.mean is not None:
            return self.class_count[:, None] * self.mean
        return self.__dict__["feature_count"]

    @property
    def category_offsets(self) -> Array | None:
        """First column of each feature in `feature_count` (categories only)."""
        sizes = self.n_categories
        return None if sizes is None else category_offsets(sizes)

    @property
    def categories(self) -> list[Array] | None:
        """Codes of each feature (categories only)."""
        sizes = self.n_categories
        return None if sizes is None else [np.arange(size) for size in sizes]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.size)

    @property
    def n_features(self) -> int:
        """Number of features (not of categories)."""
        if self.n_categories is not None:
            return int(self.n_categories.size)
        table: Any = self.__dict__["feature_count"]
        if table is None:
            table = self.mean
        return int(table.shape[1])

    # ------------------------------------------------------------------ arithmetic

    def __add__(self, other: object) -> ClassCounts:
        return add(self, other) if isinstance(other, ClassCounts) else NotImplemented

    def __radd__(self, other: object) -> ClassCounts:
        if isinstance(other, int) and other == 0:  # the start of sum()
            return self
        return NotImplemented

    def __sub__(self, other: object) -> ClassCounts:
        if not isinstance(other, ClassCounts):
            return NotImplemented
        return subtract(self, other)

    def scaled(self, factor: float) -> ClassCounts:
        """Return the counts with every weight multiplied by `factor` (forgetting).

        Parameters
        ----------
        factor : float > 0

        Returns
        -------
        counts : ClassCounts
        """
        if isinstance(factor, bool) or not isinstance(factor, (int, float, np.number)):
            raise TypeError(
                "The 'factor' parameter must be a number > 0. Got "
                f"{type(factor).__name__}."
            )
        factor = float(factor)
        if not (np.isfinite(factor) and factor > 0):
            raise ValueError(
                f"The 'factor' parameter must be a finite number > 0. Got {factor!r}."
            )
        tables = {"class_count": self.class_count, **self._tables()}
        tables.pop("mean", None)
        return self._with(**{name: table * factor for name, table in tables.items()})

    def select(self, indices: Any) -> ClassCounts:
        """Return the counts of some features.

        Parameters
        ----------
        indices : array-like of int, or boolean mask of shape (n_features,)
            Features, in the order wanted.

        Returns
        -------
        counts : ClassCounts
        """
        return select(self, indices)

    # ------------------------------------------------------------------ storage

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to one .npz file, atomically and without pickles.

        Parameters
        ----------
        path : str or path-like
            Written exactly there; an existing file is replaced only by a complete one,
            which keeps its permissions. A device, pipe or folder is a ValueError.
        """
        save_counts(self, path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, memory_budget: int | None = None
    ) -> ClassCounts:
        """Read counts written by :meth:`save`.

        Parameters
        ----------
        path : str or path-like
        memory_budget : int, default=None
            Bytes of memory that the file may ask for; one that asks for more is a
            ValueError. None for 32 times its size and 16 MB, far more than usual files
            need; labels of very different lengths can need more.

        Returns
        -------
        counts : ClassCounts
            Equal to what was saved. A damaged or foreign file is a ValueError; one of
            the same format that a newer bayesieve has written is read with a
            `NewerVersionWarning`.
        """
        return load_counts(cls, path, memory_budget)

    # ------------------------------------------------------------------ comparison

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassCounts):
            return NotImplemented
        mine, theirs = self._tables(), other._tables()
        return (
            self.kind == other.kind
            and same_labels(self.classes, other.classes)
            and same_labels(self.feature_names, other.feature_names)
            and same_table(self.class_count, other.class_count)
            and same_table(self.n_categories, other.n_categories)
            and mine.keys() == theirs.keys()
            and all(same_table(table, theirs[name]) for name, table in mine.items())
        )

    def __repr__(self) -> str:
        named = " (named)" if self.feature_names is not None else ""
        details = [
            f"kind={self.kind!r}",
            f"{self.n_classes} classes",
            f"{self.n_features} features{named}",
            f"total weight {self.class_count.sum():.6g}",
        ]
        table = self.__dict__["feature_count"]
        if sparse.issparse(table):
            details.append(f"{table.nnz} stored cells")
        return f"ClassCounts({', '.join(details)})"


def _copied(table: Any, dtype: type = np.float64) -> Any:
    if table is None:
        return None
    if sparse.issparse(table):
        refuse_malformed(table)
        return sparse.csc_array(table, dtype=dtype, copy=True)
    return np.array(table, dtype=dtype, order="C")


def count_matrix(
    X: Any,
    codes: Array,
    classes: Array,
    weights: Array | None = None,
    *,
    kind: Kind = "count",
    binarize: float | None = 0.0,
    names: Array | None = None,
    min_categories: Any = None,
) -> ClassCounts:
    """Count data whose shapes, labels and weights are already validated.

    Parameters
    ----------
    X : {ndarray, CSR, CSC} of shape (n_samples, n_features)
        Numeric and 2-D. Values are checked while they are counted.
    codes : ndarray of shape (n_samples,), int
        `classes[codes]` are the labels.
    classes : ndarray of shape (n_classes,)
        Sorted classes.
    weights : ndarray of shape (n_samples,), float64, or None
        Row weights >= 0.
    kind, binarize, min_categories
        As in :meth:`ClassCounts.from_matrix`.
    names : ndarray of str or None
        Feature names, for the result and for error messages.

    Returns
    -------
    counts : ClassCounts

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.counts import count_matrix
    >>> X, codes = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1])
    >>> count_matrix(X, codes, np.array(["no", "yes"])).class_count
    array([1., 1.])
    """
    rule = CountRule(kind, binarize, min_categories)
    names = None if names is None else np.array(names, dtype=object)
    return count_coded(ClassCounts, X, codes, np.array(classes), weights, rule, names)


def merge_saved(paths: Iterable[Any]) -> ClassCounts:
    """Return the sum of counts saved by `ClassCounts.save`, in any order.

    For the workers of any scheduler: each counts its share and saves it, and the files
    are merged here, the sum and one of them in memory at a time.

    Parameters
    ----------
    paths : iterable of path-like
        The files, each once; or the path of one.

    Returns
    -------
    counts : ClassCounts

    Examples
    --------
    >>> import tempfile, os
    >>> from bayesieve.counts import ClassCounts, merge_saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [os.path.join(folder, name) for name in ("a.npz", "b.npz")]
    ...     ClassCounts.from_text([(["good film"], ["yes"])]).save(paths[0])
    ...     ClassCounts.from_text([(["bad film"], ["no"])]).save(paths[1])
    ...     merge_saved(paths).feature_names.tolist()
    ['bad', 'film', 'good']
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    listed = list(paths)
    if not listed:
        raise ValueError("merge_saved needs at least one file. Got none.")
    places = [os.path.realpath(os.fspath(path)) for path in listed]
    if len(set(places)) != len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise ValueError(f"Each file can be merged once. Got {twice!r} twice.")
    return merge_files(ClassCounts, listed)
