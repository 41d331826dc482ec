"""What the scripted services answer unless a test says otherwise: a table of the fields of each RPC's response."""

# pyright: basic

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1 import identity_pb2
from wavepool.scheduler.v1 import queues_pb2

STOPPED = {"provider": "dstack", "backend": "hotaisle", "gpu_type": "MI300X", "message": "three were unfit"}
PRICED_GPU_TYPES = ("MI300X", "MI300A", "MI250X", "MI210", "MI325X")
SAFE_TIME: Any = datetime.fromtimestamp(1_800_000_600, UTC)
ACTIVE_AT: Any = datetime.fromtimestamp(1_800_000_000, UTC)
EXPIRES_AT: Any = datetime.fromtimestamp(4_000_000_000, UTC)

TOKEN = {
    "token_id": "tok_9",
    "name": "laptop",
    "prefix": "wp_us",
    "user_id": "user_user",
    "account_id": "acc_user",
}
KEY = {
    "key_id": "key_1",
    "user_id": "user_user",
    "name": "laptop",
    "type": "ssh-ed25519",
    "fingerprint": "SHA256:ab/cd+ef",
}
USER = {"user_id": "user_user", "name": "ada", "role": "ROLE_USER", "account_id": "acc_user"}
PROFILE = {"user_id": "user_ada", "name": "ada", "visibility": "PROFILE_VISIBILITY_OFF"}
MEMBER = {"user_id": "user_user", "user_name": "ada", "level": "MEMBER_LEVEL_MANAGER", "from_sign_in": True}
TEAM = {"team_id": "team_1", "name": "compilers", "account_id": "acc_team", "members": [MEMBER]}
ACCOUNT = {
    "account_id": "acc_user",
    "name": "ada",
    "owner": "ACCOUNT_OWNER_USER",
    "owner_id": "user_user",
    "owner_name": "ada",
}
RESOLVED = identity_pb2.ResolveKeysResponse(
    user="demo",
    keys=[
        identity_pb2.ResolvedKey(public_key="ssh-ed25519 AAAA", origin="wavepool"),
        identity_pb2.ResolvedKey(public_key="ssh-ed25519 CCCC", origin="github.com/demo"),
    ],
    notes=["github.com does not answer"],
)

NO_DAYS = {"least_days": 7, "remaining_micros": 1_000_000_000}
MANY_DAYS = {
    "days": 30,
    "least_days": 7,
    "remaining_micros": 60_000_000,
    "month": {"low_micros": 20_000_000, "middle_micros": 25_000_000, "high_micros": 30_000_000},
    "months_left_low": 2.0,
    "months_left_high": 3.0,
    "task_costs": {
        "tasks": 47,
        "cold_tasks": 3,
        "spent_micros": 5_250_000,
        "mean_micros": 111_702.1,
        "cold_micros": 969_858.2,
        "warm_micros": 53_191.5,
    },
}

_RED: dict[str, Any] = {
    "name": "red",
    "display_name": "Team Red",
    "parent": "lab",
    "priority": 200,
    "resources": {"gpu": {"quota": 4, "over_quota_weight": 2.5, "limit": -1, "lending_limit": 0}},
    "reclaim_strategy": "RECLAIM_STRATEGY_AGGRESSIVE",
    "reclaim_min_runtime": timedelta(minutes=5),
    "time_limit": timedelta(minutes=10),
    "longest_borrowing": timedelta(hours=4),
    "max_jobs_per_user": 7,
    "ordering": "classic",
    "placement": "spread",
    "classes": {"batch": {}, "urgent": {"value": 20, "administrators_only": True}},
    "default_class": "batch",
    "max_priority": 0,
    "max_priority_by_account": {"acc_other": 20, "acc_team": 30},
}
RED = queues_pb2.Queue(**_RED)
LAB = queues_pb2.Queue(name="lab", priority=100, policy=queues_pb2.FAIRNESS_POLICY_KUEUE)
_SNAPSHOT: dict[str, Any] = {
    "snapshot_id": "s-1",
    "time": SAFE_TIME,
    "size_bytes": 6,
    "files": 2,
    "reason": "end",
    "duration": timedelta(seconds=2),
}
_DISK: dict[str, Any] = {
    "disk_id": "dsk_01J",
    "user_id": "user_ada",
    "name": "work",
    "state": "DISK_STATE_IN_USE",
    "size_limit_bytes": 1 << 30,
    "create_time": ACTIVE_AT,
    "safe_time": SAFE_TIME,
    "reservation_id": "res_01J",
    "snapshots": [_SNAPSHOT],
}


def price(gpu_type: str, price_micros_per_hour: int = 1_990_000) -> dict[str, Any]:
    return {
        "gpu_type": gpu_type,
        "price_micros_per_hour": price_micros_per_hour,
        "minimum_billed": timedelta(0),
        "billing_increment": timedelta(microseconds=1),
        "start_time": datetime(2026, 11, 1, tzinfo=UTC),
    }


def _price_set(request: Any) -> dict[str, Any]:
    set_to = price(request.gpu_type, request.price_micros_per_hour)
    return {"period": {"period_id": "price_2", "price": set_to, "spot": request.spot, "source": _BY_HAND}}


def _reservation_quote(request: Any) -> dict[str, Any]:
    spec = request.spec
    return {
        "gpu_type": "MI300X",
        "gpus": spec.gpus,
        "duration": spec.duration,
        "price_micros_per_hour": 1_990_000,
        "hold_micros": 3_980_000,
        "eta_p50": timedelta(seconds=90),
        "start_time": spec.start_time if spec.HasField("start_time") else None,
    }


def _record(user_id: str, runtime_ns: float) -> dict[str, Any]:
    time = Timestamp(seconds=1_767_225_600)
    return {
        "user_id": user_id,
        "job_id": f"job_{user_id}",
        "runtime_ns": runtime_ns,
        "interval": 0.25,
        "end_time": time,
    }


def _ranking(rank: int, user_id: str, runtime_ns: float) -> dict[str, Any]:
    figures = {"runtime_ns": runtime_ns, "interval": 0.25 * (rank == 1), "gflops": 2.5, "timings": 3}
    return {"rank": rank, "user_id": user_id, "job_id": f"job_{user_id}", **figures}


_BY_HAND = "PRICE_SOURCE_ADMINISTRATOR"
_SPEEDUP = {"speedup": 1.5, "speedup_low": 1.4, "speedup_high": 1.6}
_CASE = {**_SPEEDUP, "verdict": "COMPARISON_VERDICT_FASTER"}
_LOAD = {"waiting_jobs": 2, "running_jobs": 1}

NOTICES = {"notify": identity_pb2.NOTIFY_FAILED, "email": "ada@example.org", "available": True}

ANSWERS: dict[str, Any] = {
    # Machines
    "ResumeRenting": {"resumed_sources": [STOPPED]},
    "GetPoolMetrics": {
        "total_machines": 4,
        "active_machines": 1,
        "busy_machines": 1,
        "cold_starts": 3,
        "warm_reuses": 6,
        "idle_seconds": 90.5,
        "cost_micros": 2_500_000,
    },
    "ListOffers": {
        "offers": [
            {
                "provider": "dstack",
                "backend": "hotaisle",
                "gpu_type": "MI300X",
                "gpu_count": 1,
                "price_micros_per_hour": 1_990_000,
                "minimum_billed": timedelta(seconds=1800),
            }
        ],
        "failures": [{"provider": "local", "message": "it is asleep"}],
    },
    "DiagnoseProviders": {
        "findings": [{"provider": "dstack", "check": "token", "message": "it is empty", "remedy": "make one"}]
    },
    # Money
    "GetBalance": lambda request: {
        "account_id": request.account_id,
        "account_name": "demo",
        "granted_micros": 1_400_000_000,
        "charged_micros": 350_000_000,
        "held_micros": 50_000_000,
        "available_micros": 1_000_000_000,
        "alert_threshold_permille": 800,
    },
    "ListPostings": {
        "postings": [
            {"posting_id": "p_1", "kind": "POSTING_KIND_CHARGE", "amount_micros": -1234, "description": "job_1"}
        ],
        "next_page_token": "page-2",
    },
    "GetWorkCost": {"cost_micros": 250_000, "charged_micros": 100_000, "overhead_micros": 150_000, "surplus_micros": 0},
    "ListPrices": {
        "prices": [price(gpu_type) for gpu_type in PRICED_GPU_TYPES],
        "spot_prices": [price("MI300X", 990_000)],
    },
    "SetPrice": _price_set,
    "ListPricePeriods": {
        "periods": [{"period_id": "price_1", "price": price("MI300X"), "source": "PRICE_SOURCE_SETTINGS"}]
    },
    "GetQuote": {
        "hour_micros": 1_990_000,
        "price_micros": 235_943,
        "minimum_micros": 1,
        "hold_micros": 497_500,
        "duration": timedelta(seconds=426, milliseconds=830),
        "longest_run": timedelta(seconds=900),
        "lines": [
            {
                "gpu_type": "MI300X",
                "price_micros_per_hour": 1_990_000,
                "hour_micros": 1_990_000,
                "price_micros": 235_943,
            }
        ],
    },
    "ProjectCosts": NO_DAYS,
    "ListScenarios": {
        "assumptions": {
            "gpu_type": "MI300X",
            "price_micros_per_hour": 1_990_000,
            "cold_start": timedelta(seconds=210),
            "run": timedelta(seconds=28),
            "idle_timeout": timedelta(seconds=300),
            "warm_share": 44 / 47,
            "grant_micros": 1_400_000_000,
            "days_per_month": 30,
        },
        "scenarios": [
            {
                "tasks_per_day": 10,
                "cases": [
                    {"reuse": "REUSE_NONE", "task_micros": 131_562, "month_micros": 39_468_334, "grant_months": 35.5},
                    {"reuse": "REUSE_SITTINGS", "warm_share": 0.936, "task_micros": 65_800, "month_micros": 19_750_000},
                ],
            }
        ],
        "circulating": [{"tasks_per_day": 10, "low_micros": 15_000_000, "high_micros": 30_000_000, "months": 8}],
        "left_out": ["8 months at $30.00 are $240.00."],
    },
    # People
    "ListNames": {"names": {"user_ada": "ada"}},
    "ListTokens": {"tokens": [TOKEN]},
    "RevokeToken": {},
    "AddKey": {"key": KEY},
    "ListKeys": {"keys": [KEY]},
    "RemoveKey": {},
    **{rpc: {"notices": NOTICES} for rpc in ("GetNotices", "SetNotices")},
    "BeginGithubClaim": {"challenge": "sign this", "fingerprints": ["SHA256:ab"]},
    "FinishGithubClaim": {"user": {"github_name": "alice"}},
    **{rpc: {"user": USER} for rpc in ("CreateUser", "GetUser", "UpdateUser")},
    **{rpc: {"profile": PROFILE} for rpc in ("GetProfile", "SetProfile")},
    "GetUserProgress": {
        "difficulties": [{"difficulty": "EASY", "solved": 2, "problems": 30}, {"difficulty": "HARD", "problems": 9}],
        "days": [{"date": "2026-11-29", "submissions": 4}],
    },
    "ListUsers": {"users": [USER]},
    **{rpc: {"team": TEAM} for rpc in ("CreateTeam", "GetTeam", "AddTeamMember", "RemoveTeamMember")},
    "ListTeams": {"teams": [TEAM]},
    "ListAccounts": {"accounts": [ACCOUNT]},
    "GetAccount": {"account": ACCOUNT},
    "GetSignInOptions": {},
    "SignIn": {"token_id": "tok_3", "token": "wp_user", "expire_time": datetime(2026, 11, 26, 12, tzinfo=UTC)},
    # Alerts
    "ListAlerts": {
        "alerts": [
            {
                "alert_id": "alert_1",
                "rule": "account-credit-spent-80",
                "severity": "ALERT_SEVERITY_WARNING",
                "phase": "ALERT_PHASE_FIRING",
                "labels": {"account": "acc_user"},
                "summary": "demo has spent $8.00 of its credit of $10.00 (80.0%).",
                "value": 0.8,
            }
        ]
    },
    "ListActs": {
        "acts": [
            {
                "act_id": "act_1",
                "time": {"seconds": 100},
                "kind": "drain_machine",
                "user_name": "ann",
                "request": '{"machine_id":"m-1"}',
                "before": '{"state":"WARM"}',
                "outcome": "OK",
            }
        ]
    },
    "RecordRefusal": {},
    "ListAlertHistory": {
        "transitions": [
            {
                "transition_id": "altr_1",
                "alert_id": "alert_1",
                "event": "ALERT_EVENT_FIRED",
                "deliveries": [
                    {
                        "channel": "ops",
                        "outcome": "DELIVERY_OUTCOME_WAITING",
                        "attempts": 2,
                        "failure": "it answered HTTP 503",
                    }
                ],
            }
        ],
        "next_page_token": "page-2",
    },
    "ListAlertRules": {
        "rules": [
            {"name": "operator-burn-rate", "comparison": "ALERT_COMPARISON_ABOVE"},
            {
                "name": "account-credit-spent-80",
                "comparison": "ALERT_COMPARISON_AT_LEAST",
                "threshold": 0.8,
                "about_accounts": True,
            },
        ],
        "channels": [{"name": "ops", "kind": "slack"}],
    },
    "SendTestAlert": {"deliveries": [{"channel": "ops", "failure": "it answered HTTP 503"}]},
    # Jobs
    "GetQueueMetrics": {"queued_jobs": 2, "running_jobs": 1, "ended_jobs": 9, "finished_jobs": 7},
    "GetJobMetrics": {
        "groups": [
            {
                "group": "user_ada",
                "jobs": 4,
                "succeeded": 3,
                "accepted": 2,
                "failed": 1,
                "lost_attempts": 3,
                "wait": {"p50_seconds": 1.5, "p90_seconds": 9},
                "run": {"p50_seconds": 2, "p90_seconds": 3},
                "useful_gpu_seconds": 6,
                "paid_gpu_seconds": 8,
                "efficiency": 0.75,
                "gflops": 12.5,
            },
            {"group": "user_gone", "jobs": 1, "cancelled": 1},
        ],
        "start_time": datetime(1970, 1, 2, tzinfo=UTC),
        "end_time": datetime(1970, 1, 3, tzinfo=UTC),
        "kept_since_time": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
    },
    "GetCurrentMetrics": {
        "queues": [{"queue": "default", "gpu_type": "MI300X", "waiting_jobs": 2, "oldest_wait_seconds": 7.5}],
        "window_seconds": 900,
    },
    "ListRankings": {
        "problem": "vector-addition",
        "gpu_type": "MI300X",
        "dtype": "float32",
        "timing_mode": "TIMING_MODE_FIRST_CALL",
        "ranked": True,
        "rankings": [_ranking(1, "user_ada", 1.5e6), _ranking(2, "user_gone", 2e6)],
        "own": _ranking(9, "user_user", 4e6),
        "users": 9,
    },
    "ListRecords": {
        "problem": "vector-addition",
        "gpu_type": "MI300X",
        "dtype": "float32",
        "ranked": True,
        "timing_mode": "TIMING_MODE_COLD",
        "records": [_record("user_ada", 3e6), _record("user_user", 2e6)],
        "own": [_record("user_user", 2e6)],
    },
    "ListProgress": {
        "gpu_type": "MI300X",
        "dtype": "float32",
        "timing_mode": "TIMING_MODE_COLD",
        "problems": [
            {
                "slug": "vector-addition",
                "attempts": 3,
                "solved": True,
                "users": 9,
                "best_runtime_ns": 2e6,
                "record_runtime_ns": 1.5e6,
                "record_interval": 0.25,
            }
        ],
    },
    "CompareJobs": {
        "verdict": "COMPARISON_VERDICT_FASTER",
        "reason": "It is 1.500 times as fast.",
        "cases": [{"name": "n = 2^20", "base_runtime_ns": 3e6, "other_runtime_ns": 2e6, **_CASE}],
        **_SPEEDUP,
    },
    # Queues
    "ListQueues": {
        "queues": [
            {"queue": LAB, **_LOAD},
            {
                "queue": RED,
                **_LOAD,
                "shares": [{"gpu_type": "MI300X", "quota": 4, "fair_share": 3, "used": 1}],
                **{field: _RED[field] for field in ("ordering", "placement", "classes", "default_class")},
                "max_priority": 5,
            },
        ],
        "generation": 5,
        "plugins": [
            {
                "kind": "SCHEDULER_PLUGIN_KIND_ORDERING",
                "name": "short-first",
                "distribution": "wavepool-short-first 1.0",
                "failures": 2,
                "last_failure": "ZeroDivisionError: no worth",
                "queues": ["red"],
            }
        ],
    },
    "SetMaintenance": {},
    "ApplyQueues": {
        "changes": [
            {
                "name": "red",
                "kind": "QUEUE_CHANGE_KIND_CHANGED",
                "fields": [{"field": "resources.gpu.quota", "before": "4", "after": "6"}],
            }
        ],
        "generation": 6,
    },
    "ExplainJob": {
        "position": 3,
        "queue": "red",
        "ahead_in_queue": 2,
        "reason": "2 jobs are ahead of it, job_0THER among them.",
        "remedy": "A run that ends.",
        "ordering": "classic",
        "job_class": "urgent",
        "class_value": 20,
        "placement": "spread",
        "machines": [
            {"machine_id": "m_1", "gpu_type": "MI300X", "reason": "in use by job_0THER"},
            {
                "machine_id": "m_2",
                "gpu_type": "MI300X",
                "reason": "others are ahead",
                "scores": [{"name": "promised"}, {"name": "spread", "value": 2}],
            },
        ],
        "deadline": datetime(2026, 11, 1, 12, tzinfo=UTC),
        "latest_start_time": datetime(2026, 11, 1, 11, 45, tzinfo=UTC),
        "estimate_basis": "12 runs of the same problems",
        "eta_p50": timedelta(seconds=90),
        "eta_p90": timedelta(minutes=10),
    },
    # Disks
    **{rpc: {"disk": _DISK} for rpc in ("CreateDisk", "DeleteDisk", "RenameDisk", "CloneDisk")},
    "ListDisks": {"disks": [_DISK]},
    "GetDiskContent": {
        "snapshot": _SNAPSHOT,
        "files": [{"path": "src/", "time": SAFE_TIME}, {"path": "src/a", "size_bytes": 6, "time": SAFE_TIME}],
        "is_cut": True,
    },
    "SnapshotDisk": {"snapshot": _SNAPSHOT, "is_unchanged": True, "skipped": 2},
    # Reservations
    "UploadBuildContext": lambda request: {"digest": f"sha256:{len(request.content)}"},
    "QuoteReservation": _reservation_quote,
    "NotifyReservation": {"terminals": 2},
    "GetReservationUsage": {
        "usage": [
            {
                "account_id": "acct_1",
                "user_id": "user_9",
                "gpu_type": "MI300X",
                "reservations": 2,
                "day": datetime.fromtimestamp(1_795_651_200, UTC),
                "gpu_time": timedelta(seconds=5_400),
            }
        ]
    },
    "GetCalendar": {
        "entries": [
            {
                "reservation_id": "res_01J",
                "account_id": "acc_user",
                "user_id": "user_ada",
                "name": "training",
                "gpu_type": "MI300X",
                "gpus": 2,
                "begin_time": ACTIVE_AT,
                "end_time": EXPIRES_AT,
                "state": "RESERVATION_STATE_ACTIVE",
                "machine_id": "m_1",
                "more_machine_ids": ["m_2"],
            },
            {
                "reservation_id": "res_02J",
                "account_id": "acc_other",
                "user_id": "user_eve",
                "name": "secret",
                "gpu_type": "MI300X",
                "gpus": 4,
                "begin_time": EXPIRES_AT,
                "end_time": EXPIRES_AT + timedelta(hours=1),
                "state": "RESERVATION_STATE_PENDING",
                "late": True,
            },
        ]
    },
    "GetAvailability": {
        "gpu_types": [
            {
                "gpu_type": "MI300X",
                "total_gpus": 16,
                "free_gpus": 5,
                "largest_free": 4,
                "startable_gpus": 2,
                "reserved_gpus": 8,
                "queue_length": 3,
                "price_micros_per_hour": 1_990_000,
                "waits": [
                    {"gpus": 1, "eta_p50": timedelta(0), "eta_p90": timedelta(seconds=5)},
                    {"gpus": 8},
                ],
                "next_dated_time": EXPIRES_AT,
                "next_dated_gpus": 4,
                "maintenance": "new firmware until 15:00",
                "queue_head": {"gpus": 1, "eighths": 4, "create_time": EXPIRES_AT, "reason": "It needs half a GPU."},
            }
        ]
    },
}
