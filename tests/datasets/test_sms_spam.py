from __future__ import annotations

import hashlib

import numpy as np
import pytest

from bayesieve.datasets import load_sms_spam


@pytest.fixture(scope="module")
def sms():
    return load_sms_spam()


def test_sizes_are_those_of_the_source(sms):
    assert len(sms.data) == 5574
    assert sms.target.shape == (5574,)
    names, sizes = np.unique(sms.target, return_counts=True)
    assert dict(zip(names.tolist(), sizes.tolist(), strict=True)) == {
        "ham": 4827,
        "spam": 747,
    }
    assert sms.target_names == ["ham", "spam"]


def test_rows_keep_their_order_and_text(sms):
    assert sms.data[1] == "Ok lar... Joking wif u oni..."
    assert sms.target[:4].tolist() == ["ham", "ham", "spam", "ham"]
    rows = "".join(
        f"{label}\t{text}\n" for label, text in zip(sms.target, sms.data, strict=True)
    )
    assert (
        hashlib.sha256(rows.encode()).hexdigest()
        == "34adfc346e93deccde2622ef57bdb54425126acb7b16ae2098e58ddce8d7e0c4"
    )


def test_messages_are_plain_strings_and_none_is_empty(sms):
    assert all(type(text) is str and text.strip() for text in sms.data)


def test_description_names_authors_licence_and_repeats(sms):
    for phrase in ("Almeida", "Hidalgo", "CC BY 4.0", "403 messages repeat"):
        assert phrase in sms.DESCR
    assert len(sms.data) - len(set(sms.data)) == 403


def test_return_x_y_gives_the_same_rows(sms):
    data, target = load_sms_spam(return_X_y=True)
    assert data == sms.data
    np.testing.assert_array_equal(target, sms.target)


def test_each_call_returns_its_own_copy(sms):
    first = load_sms_spam()
    first.data[0] = "changed"
    first.target[0] = "spam"
    assert load_sms_spam().data[0] == sms.data[0] != "changed"


def test_agrees_with_the_source_file(sms, real_data):
    source = real_data("sms_spam")
    assert source["text"].tolist() == sms.data
    assert source["label"].tolist() == sms.target.tolist()
