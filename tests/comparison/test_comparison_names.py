"""Names of methods and columns as people type them."""

import pytest

from unmet.comparison import METHODS, split_names
from unmet.comparison._names import method_names, plain_name


def test_words_tell_methods_apart():
    assert len({plain_name(method.name) for method in METHODS}) == len(METHODS)


def test_all_methods_can_be_named_in_one_list():
    every = [method.name for method in METHODS]
    assert method_names(",".join(every)) == every
    assert method_names(", ".join(name.upper().replace("–", "-") for name in every)) == every
    assert method_names("; ".join(every)) == every  # as the help lists them
    assert method_names(every) == every


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Tobit,skewed", ["Tobit, skewed"]),
        ("tobit, powell", ["Tobit", "Powell"]),
        ("Bayes, Powell, Powell", ["Bayes, Powell", "Powell"]),
        ("wang-wang,Peng—Huang,", ["Wang–Wang", "Peng–Huang"]),
    ],
)
def test_commas_inside_a_name_do_not_split_it(text, names):
    assert method_names(text) == names


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match="there is no 'magic'; choose from Kaplan–Meier; Tobit;"):
        method_names("Tobit, magic")


def test_columns_keep_their_case():
    assert split_names("a, b ,C", ["a, b", "c"]) == ["a, b", "C"]
