"""Converts reports and statements to proto messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from wavepool.billing.v1 import reports_pb2 as pb

from servicekit.rpc.proto_time import instant_to_proto
from services.billing.ledger.report import CostReport, OverheadPolicy
from services.billing.ledger.statement import Statement, StatementLine
from services.billing.store.machine_usage_store import OperatorBalance
from services.billing.store.posting_store import Proof
from services.billing.wire.fields import optional_instant

MAX_LINES = 5000
"""Lines of one answer; a message has a limit."""

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_POLICIES = {one: pb.OverheadPolicy.Value(f"OVERHEAD_POLICY_{one.name}") for one in OverheadPolicy}


def period_from_proto(
    request: pb.GetCostReportRequest | pb.GetStatementRequest, now: datetime
) -> tuple[datetime, datetime]:
    """A period's start and end; from the beginning and until now if they are unset. Raises InvalidFieldError."""
    start = optional_instant("start_time", request, request.start_time)
    end = optional_instant("end_time", request, request.end_time)
    return start or _EARLIEST, end or now


def operator_credit_to_proto(balance: OperatorBalance) -> pb.GetOperatorCreditResponse:
    """The operator's credit as a proto."""
    return pb.GetOperatorCreditResponse(
        granted_micros=balance.granted_micros,
        cost_micros=balance.cost_micros,
        remaining_micros=balance.remaining_micros,
        charged_micros=balance.charged_micros,
    )


def report_to_proto(report: CostReport, names: Mapping[str, str], policy: OverheadPolicy) -> pb.GetCostReportResponse:
    """A report as a proto, accounts by name."""
    uses, overheads = report.use_by_account(), report.overhead_by_account(policy)
    accounts = sorted(uses.keys() | report.charged_by_account.keys(), key=lambda one: names.get(one, one))
    return pb.GetCostReportResponse(
        cost_micros=report.cost_micros,
        charged_micros=report.charged_micros,
        overhead_micros=report.overhead_micros,
        surplus_micros=report.surplus_micros,
        costs=[pb.Part(name=book.value, amount_micros=micros) for book, micros in report.cost_by_book.items()],
        overheads=[pb.Part(name=name, amount_micros=micros) for name, micros in report.overheads().items()],
        policy=_POLICIES[policy],
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
    return pb.GetStatementResponse(
        account_id=statement.account_id,
        account_name=statement.account_name,
        opening_micros=statement.opening_micros,
        closing_micros=statement.closing_micros,
        held_micros=statement.held_micros,
        lines=[_line_to_proto(line) for line in lines[-MAX_LINES:]],
        by_day=_usages(statement, lambda line: line.time.astimezone(UTC).date().isoformat()),
        by_problem=_usages(statement, lambda line: line.purpose.problem),
        by_gpu_type=_usages(statement, lambda line: line.purpose.gpu_type),
        by_user=_usages(statement, lambda line: line.purpose.user_id),
        truncated=len(lines) > MAX_LINES,
    )


def proof_to_proto(proof: Proof) -> pb.VerifyLedgerResponse:
    """The result of a verification as a proto."""
    return pb.VerifyLedgerResponse(
        transactions=proof.last_seq - proof.first_seq + 1,
        postings=proof.postings,
        last_seq=proof.last_seq,
        last_digest=proof.last_digest,
        faults=proof.faults,
    )


def _line_to_proto(line: StatementLine) -> pb.StatementLine:
    return pb.StatementLine(
        time=instant_to_proto(line.time),
        kind=line.kind.value,
        amount_micros=line.amount_micros,
        description=line.description,
        reason=line.reason,
        subject=line.purpose.subject,
        user_id=line.purpose.user_id,
        problem=line.purpose.problem,
        gpu_type=line.purpose.gpu_type,
        start_time=instant_to_proto(line.start_time),
        hold_id=line.hold_id,
    )


def _usages(statement: Statement, key: Callable[[StatementLine], str]) -> list[pb.Usage]:
    return [
        pb.Usage(name=name, charged_micros=usage.charged_micros, works=usage.works)
        for name, usage in statement.usage_by(key).items()
    ]
