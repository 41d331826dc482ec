"""Converts reports and statements to proto messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from wavepool.billing.v1 import reports_pb2 as pb

from servicekit.rpc.proto_of import proto_of
from services.billing.ledger.report import CostReport, OverheadPolicy
from services.billing.ledger.statement import Statement, StatementLine
from services.billing.store.posting_store import Proof
from services.billing.wire.fields import optional_instant

MAX_LINES = 5000
"""Lines of one answer; a message has a limit."""

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


def period_from_proto(
    request: pb.GetCostReportRequest | pb.GetStatementRequest, now: datetime
) -> tuple[datetime, datetime]:
    """A period's start and end; from the beginning and until now if they are unset. Raises InvalidFieldError."""
    start = optional_instant("start_time", request, request.start_time)
    end = optional_instant("end_time", request, request.end_time)
    return start or _EARLIEST, end or now


def report_to_proto(report: CostReport, names: Mapping[str, str], policy: OverheadPolicy) -> pb.GetCostReportResponse:
    """A report as a proto, accounts by name."""
    uses, overheads = report.use_by_account(), report.overhead_by_account(policy)
    accounts = sorted(uses.keys() | report.charged_by_account.keys(), key=lambda one: names.get(one, one))
    return proto_of(
        pb.GetCostReportResponse,
        report,
        costs=[pb.Part(name=book.value, amount_micros=micros) for book, micros in report.cost_by_book.items()],
        overheads=[pb.Part(name=name, amount_micros=micros) for name, micros in report.overheads().items()],
        policy=policy,
        accounts=[
            pb.AccountCost(
                account_id=account_id,
                account_name=names.get(account_id, ""),
                charged_micros=report.charged_by_account.get(account_id, 0),
                use_micros=uses.get(account_id, 0),
                overhead_micros=overheads.get(account_id, 0),
            )
            for account_id in accounts
        ],
    )


def statement_to_proto(statement: Statement) -> pb.GetStatementResponse:
    """A statement as a proto; the newest lines if there are too many."""
    lines = statement.lines
    return proto_of(
        pb.GetStatementResponse,
        statement,
        lines=[proto_of(pb.StatementLine, line, line.purpose) for line in lines[-MAX_LINES:]],
        by_day=_usages(statement, lambda line: line.time.astimezone(UTC).date().isoformat()),
        by_problem=_usages(statement, lambda line: line.purpose.problem),
        by_gpu_type=_usages(statement, lambda line: line.purpose.gpu_type),
        by_user=_usages(statement, lambda line: line.purpose.user_id),
        truncated=len(lines) > MAX_LINES,
    )


def proof_to_proto(proof: Proof) -> pb.VerifyLedgerResponse:
    """The result of a verification as a proto."""
    return proto_of(pb.VerifyLedgerResponse, proof, transactions=proof.last_seq - proof.first_seq + 1)


def _usages(statement: Statement, key: Callable[[StatementLine], str]) -> list[pb.Usage]:
    return [proto_of(pb.Usage, usage, name=name) for name, usage in statement.usage_by(key).items()]
