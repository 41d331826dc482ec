from __future__ import annotations

from wavepool_client.text.profile import COLUMNS, profile_rows, profile_title


def test_a_profile_of_a_gpu_names_the_tool_and_its_version() -> None:
    made = {
        "kernels": [{}],
        "tool": "rocprofv3",
        "tool_version": "1.1.0",
        "clock": "GPU",
        "name": "n",
        "solution_calls": 3,
    }
    assert profile_title(made) == "profile of 3 calls of n, by rocprofv3 1.1.0"


def test_a_newer_gateway_may_leave_out_or_change_anything() -> None:
    for profile in ({}, {"outcome": "NEW"}, {"kernels": None}, {"kernels": [{"mean_ns": "much", "grid": 7}]}):
        assert isinstance(profile_title(profile), str)
        assert all(len(row) == len(COLUMNS) for row in profile_rows(profile))


def test_a_long_name_leaves_room_for_the_figures() -> None:
    [row] = profile_rows({"kernels": [{"name": "k" * 500, "calls": 1, "vgpr": 8, "agpr": 4}]})
    assert len(str(row[0])) == 60
    assert (row[COLUMNS.index("VGPR")], row[COLUMNS.index("AGPR")]) == (8, 4)
