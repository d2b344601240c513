"""Files that are no tables but sequences of letters, or bytes of any kind.

Nothing here reads them: `bayesieve.sequences` does, and cuts them into windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesieve.io._format import Format

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Bytes", "Sequences"]


class Sequences(Format):
    """FASTA and FASTQ, told by their content or by their names."""

    name = "fasta"
    told = "FASTA or FASTQ"
    endings = (".fasta", ".fa", ".fna", ".ffn", ".faa", ".frn", ".fastq", ".fq")
    is_sequences = True

    def columns(self, file: DataFile) -> list[str]:
        """Refuse: there are none."""
        raise self.unreadable(file, ValueError())

    def unreadable(self, file: DataFile, error: Exception) -> ValueError:
        """Say what reads such files, whatever was tried."""
        return ValueError(
            f"{file.path!r} holds sequences, not a table. Hint: bayesieve select reads "
            "FASTA and FASTQ with --labels FILE, and so do SparseSequenceNB and "
            "ClassCounts.from_sequences in Python."
        )


class Bytes(Format):
    """Files of any kind, whose bytes are counted as they are; only where asked for."""

    name = "bytes"
    told = "bytes"
    endings = ()
    is_sequences = True
