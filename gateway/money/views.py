"""Turns billing's answers into what HTTP shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from wavepool.billing.v1 import billing_pb2, reports_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from gateway.money import schemas
from gateway.words.enum_names import budget_period_name, budget_scope_name, overhead_policy_name
from gateway.words.proto_time import instant_of
from vocabulary.money import dollars_of


def report_of(
    report: reports_pb2.GetCostReportResponse,
    credit: reports_pb2.GetOperatorCreditResponse,
    machines: Sequence[vmpool_pb2.Machine],
) -> schemas.CostReport:
    """A report of cost and charge, with the operator's credit; `machines` are those of the pool."""
    return schemas.CostReport(
        cost_usd=dollars_of(report.cost_micros),
        charged_usd=dollars_of(report.charged_micros),
        overhead_usd=dollars_of(report.overhead_micros),
        surplus_usd=dollars_of(report.surplus_micros),
        cost_note=cost_note(report.cost_micros, report.charged_micros, machines),
        costs=_parts(report.costs),
        overheads=_parts(report.overheads),
        policy=overhead_policy_name(report.policy),
        accounts=[
            schemas.AccountCosts(
                account_id=account.account_id,
                account_name=account.account_name,
                charged_usd=dollars_of(account.charged_micros),
                use_usd=dollars_of(account.use_micros),
                overhead_usd=dollars_of(account.overhead_micros),
            )
            for account in report.accounts
        ],
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
    return schemas.LedgerProof(
        right=not answer.faults,
        transactions=answer.transactions,
        postings=answer.postings,
        last_seq=answer.last_seq,
        last_digest=answer.last_digest,
        faults=list(answer.faults),
    )


def statement_of(
    answer: reports_pb2.GetStatementResponse,
    start: datetime | None,
    end: datetime | None,
    user_names: Mapping[str, str],
) -> schemas.Statement:
    """An account's statement; `user_names` has the users' names by their ids."""
    return schemas.Statement(
        account_id=answer.account_id,
        account_name=answer.account_name,
        start_time=start,
        end_time=end,
        opening_usd=dollars_of(answer.opening_micros),
        closing_usd=dollars_of(answer.closing_micros),
        held_usd=dollars_of(answer.held_micros),
        lines=[
            schemas.StatementLine(
                start_time=instant_of(line.start_time),
                time=instant_of(line.time),
                kind=line.kind.upper(),
                amount_usd=dollars_of(line.amount_micros),
                description=line.description,
                reason=line.reason,
                subject=line.subject,
                user_id=line.user_id,
                problem=line.problem,
                gpu_type=line.gpu_type,
                hold_id=line.hold_id,
            )
            for line in answer.lines
        ],
        by_day=_usages(answer.by_day),
        by_problem=_usages(answer.by_problem),
        by_gpu_type=_usages(answer.by_gpu_type),
        by_user=_usages(answer.by_user, user_names),
        truncated=answer.truncated,
    )


def grants_of(answer: billing_pb2.ListGrantsResponse) -> schemas.GrantList:
    """An account's grants."""
    return schemas.GrantList(
        grants=[
            schemas.Grant(
                id=grant.grant_id,
                amount_usd=dollars_of(grant.amount_micros),
                remaining_usd=dollars_of(grant.remaining_micros),
                create_time=instant_of(grant.create_time),
                expire_time=instant_of(grant.expire_time),
                description=grant.description,
            )
            for grant in answer.grants
        ]
    )


def budgets_of(answer: billing_pb2.ListBudgetsResponse) -> schemas.BudgetList:
    """All budgets."""
    return schemas.BudgetList(
        budgets=[
            schemas.Budget(
                id=budget.budget_id,
                scope=budget_scope_name(budget.scope),
                subject=budget.subject,
                subject_name=budget.subject_name or budget.subject,
                period=budget_period_name(budget.period),
                limit_usd=dollars_of(budget.limit_micros),
                spent_usd=dollars_of(budget.spent_micros),
                hard=budget.hard,
            )
            for budget in answer.budgets
        ]
    )


def _parts(parts: Iterable[reports_pb2.Part]) -> list[schemas.CostPart]:
    return [schemas.CostPart(reason=part.name, amount_usd=dollars_of(part.amount_micros)) for part in parts]


def _usages(
    usages: Iterable[reports_pb2.Usage], labels: Mapping[str, str] = MappingProxyType({})
) -> list[schemas.Usage]:
    return [
        schemas.Usage(
            name=usage.name,
            label=labels.get(usage.name, usage.name),
            charged_usd=dollars_of(usage.charged_micros),
            works=usage.works,
        )
        for usage in usages
    ]
