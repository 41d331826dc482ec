"""What a session gets of its machine."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.executor.sessions.share import Share


def test_two_of_eight_gpus_come_with_a_quarter_of_the_machine() -> None:
    share = Share.of(2, 8, 192, 2_000_000)

    assert (share.cores, share.memory_mib, share.shared_memory_mib) == (48, 475_000, 237_500)
    assert share.environment["OMP_NUM_THREADS"] == "48"


def test_shared_memory_is_8_gib_for_each_gpu_if_there_is_so_much() -> None:
    assert Share.of(1, 1, 2, 12_000).shared_memory_mib == 8192
    assert Share.of(1, 1, 2, 4_000).shared_memory_mib == 3800


@given(
    st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=8).filter(lambda gpus: sum(gpus) <= 8),
    st.integers(1, 256),
    st.integers(1024, 4_000_000),
)
def test_the_sessions_of_a_machine_never_get_more_than_it_has(gpus: list[int], cores: int, memory_mib: int) -> None:
    shares = [Share.of(some, 8, cores, memory_mib) for some in gpus]

    assert sum(share.cores for share in shares) <= cores
    assert sum(share.memory_mib for share in shares) < memory_mib
    for share in shares:
        assert share.shared_memory_mib <= share.memory_mib
        assert int(share.environment["MAX_JOBS"]) >= 1
