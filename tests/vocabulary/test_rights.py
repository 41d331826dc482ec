from __future__ import annotations

import pytest

from vocabulary.rights import Asker, Belonging, Right, Standing, may, standing_of

HERS = Belonging("alice", "team", editor_ids=("eve",))
ON_HER_DISK = Belonging("alice", "team", is_personal=True)
DISK = Belonging("alice", is_personal=True)
ALL, SHARED = set(Right), {Right.SEE, Right.END}


@pytest.mark.parametrize(
    ("asker", "thing", "standing", "rights"),
    [
        (Asker("alice", ["team"]), HERS, Standing.OWNER, ALL),
        (Asker("alice", ["another"]), HERS, None, set()),
        (Asker("bob", ["team"]), HERS, Standing.MEMBER, SHARED),
        (Asker("", ["team"]), Belonging("", "team"), Standing.MEMBER, SHARED),
        (Asker("bob", ["bobs"]), HERS, None, set()),
        (Asker("eve", ["team"]), HERS, Standing.EDITOR, ALL),
        (Asker("eve", ["eves"]), HERS, None, set()),
        (Asker("max", ["team"], ["team"]), HERS, Standing.MANAGER, ALL),
        (Asker("max", ["team"], ["another"]), HERS, Standing.MEMBER, SHARED),
        (Asker("max", ["team"], ["team"]), ON_HER_DISK, Standing.MANAGER, SHARED),
        (Asker("alice", ["team"], ["team"]), ON_HER_DISK, Standing.OWNER, ALL),
        (Asker("op", []), ON_HER_DISK, Standing.OPERATOR, ALL),
        (Asker("alice", ["another"]), DISK, Standing.OWNER, ALL),
        (Asker("max", ["team"], ["team"]), DISK, None, set()),
        (Asker("op", []), DISK, Standing.OPERATOR, ALL),
    ],
)
def test_each_has_the_rights_of_the_best_standing(
    asker: Asker, thing: Belonging, standing: Standing | None, rights: set[Right]
) -> None:
    found = standing_of(asker, thing)
    assert found is standing
    assert {right for right in Right if found and may(right, found, thing)} == rights
