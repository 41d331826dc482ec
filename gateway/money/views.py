"""Turns billing's answers into what HTTP shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from wavepool.billing.v1 import billing_pb2, reports_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from gateway.money import schemas
from gateway.words.shown import shown
from vocabulary.money import dollars_of


def report_of(
    report: reports_pb2.GetCostReportResponse,
    credit: reports_pb2.GetOperatorCreditResponse,
    machines: Sequence[vmpool_pb2.Machine],
) -> schemas.CostReport:
    """A report of cost and charge, with the operator's credit; `machines` are those of the pool."""
    return shown(
        schemas.CostReport,
        report,
        cost_note=cost_note(report.cost_micros, report.charged_micros, machines),
        costs=_parts(report.costs),
        overheads=_parts(report.overheads),
        cloud_granted_usd=dollars_of(credit.granted_micros),
        cloud_remaining_usd=dollars_of(credit.remaining_micros),
    )


def cost_note(cost_micros: int, charged_micros: int, machines: Sequence[vmpool_pb2.Machine]) -> str:
    """Why users were charged for machines that cost nothing, such as this host; empty if that is not so."""
    if cost_micros or charged_micros <= 0 or any(machine.price_micros_per_hour for machine in machines):
        return ""
    if not machines:
        return "users pay the price of a GPU type; machines cost nothing"
    types = " or ".join(f"{_article(one)} {one}" for one in sorted({machine.gpu_type for machine in machines}))
    which = "this machine costs" if len(machines) == 1 else "these machines cost"
    return f"priced as {types}; {which} nothing"


def _article(gpu_type: str) -> str:
    """The article of a name that is spelt out, such as MI300X or T4."""
    return "an" if gpu_type[:1] in "AEFHILMNORSX" else "a"


def proof_of(answer: reports_pb2.VerifyLedgerResponse) -> schemas.LedgerProof:
    """The result of a verification."""
    return shown(schemas.LedgerProof, answer, right=not answer.faults)


def statement_of(
    answer: reports_pb2.GetStatementResponse,
    start: datetime | None,
    end: datetime | None,
    user_names: Mapping[str, str],
) -> schemas.Statement:
    """An account's statement; `user_names` has the users' names by their ids."""
    return shown(
        schemas.Statement,
        answer,
        start_time=start,
        end_time=end,
        lines=[shown(schemas.StatementLine, line, kind=line.kind.upper()) for line in answer.lines],
        by_day=_usages(answer.by_day),
        by_problem=_usages(answer.by_problem),
        by_gpu_type=_usages(answer.by_gpu_type),
        by_user=_usages(answer.by_user, user_names),
    )


def budgets_of(answer: billing_pb2.ListBudgetsResponse) -> schemas.BudgetList:
    """All budgets."""
    return schemas.BudgetList(
        budgets=[
            shown(schemas.Budget, budget, subject_name=budget.subject_name or budget.subject)
            for budget in answer.budgets
        ]
    )


def _parts(parts: Iterable[reports_pb2.Part]) -> list[schemas.CostPart]:
    return [shown(schemas.CostPart, part, reason=part.name) for part in parts]


def _usages(
    usages: Iterable[reports_pb2.Usage], labels: Mapping[str, str] = MappingProxyType({})
) -> list[schemas.Usage]:
    return [shown(schemas.Usage, usage, label=labels.get(usage.name, usage.name)) for usage in usages]
