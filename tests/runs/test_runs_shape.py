"""The shape of a JSON value: every part is checked and named."""

import pytest

from unmet.runs import check_shape

SHAPE = {"name": "text", "sizes": ["count"], "share": "share", "by": {"*": "number"}, "last": (None, "flag")}
SOUND = {"name": "a", "sizes": [1, 2], "share": 0.5, "by": {"x": -1.5}, "last": None}


def test_sound_values_pass():
    check_shape(SOUND, SHAPE, "model")
    check_shape({**SOUND, "last": True, "sizes": [], "by": {}}, SHAPE, "model")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": 1}, r"model\['name'\] is not a short text"),
        ({"name": "x" * 20_000}, r"model\['name'\] is not a short text"),
        ({"sizes": [1, -1]}, r"model\['sizes'\]\[1\] is not a whole number"),
        ({"sizes": [1.5]}, "whole number"),
        ({"sizes": [True]}, "whole number"),
        ({"sizes": {"a": 1}}, r"model\['sizes'\] is not a list"),
        ({"share": 1}, "between 0 and 1"),
        ({"by": {"x": "1"}}, r"model\['by'\]\['x'\] is not a finite number"),
        ({"by": {"x": float("nan")}}, "finite"),
        ({"by": {"x": 10**400}}, "finite"),
        ({"by": [1]}, r"model\['by'\] is not an object"),
        ({"last": 1}, "true or false"),
        ({"more": 1}, "has the unknown part 'more'"),
    ],
)
def test_a_wrong_part_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        check_shape({**SOUND, **change}, SHAPE, "model")


def test_a_missing_part_is_named():
    with pytest.raises(ValueError, match="model lacks 'share'"):
        check_shape({name: value for name, value in SOUND.items() if name != "share"}, SHAPE, "model")
