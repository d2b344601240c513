"""Files of counts and models with right checksums and wrong content."""

from __future__ import annotations

import io
import zipfile

import numpy as np


def members_of(data):
    """The members of an archive, by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members):
    """A well-formed archive with right checksums."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def rewritten(data, change):
    """An archive whose members were changed."""
    return archive_of(change(members_of(data)))


def npy(array):
    """The bytes of an array as `numpy.save` writes it."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def array_of(content):
    """The array of a member."""
    return np.load(io.BytesIO(content), allow_pickle=False)
