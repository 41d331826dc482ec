"""Schemas of reports, statements, grants and budgets. Amounts are dollars."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from gateway.words.answer_words import BudgetPeriodWord, BudgetScopeWord, OverheadPolicyWord, PostingKindWord

Dollars = Annotated[
    Decimal,
    Field(max_digits=15, decimal_places=6, description="Dollars, to the micro-dollar."),
    PlainSerializer(float, return_type=float, when_used="json"),
]
PositiveDollars = Annotated[Dollars, Field(gt=0)]


class CostPart(BaseModel):
    """A part of an amount, by reason."""

    reason: str
    amount_usd: float


class AccountCosts(BaseModel):
    """An account's part of a period."""

    account_id: str
    account_name: str
    charged_usd: Annotated[float, Field(description="Charges less refunds.")]
    use_usd: Annotated[float, Field(description="The cost of the GPUs while its runs used them.")]
    overhead_usd: Annotated[float, Field(description="Its share of the overhead, by the policy.")]


class CostReport(BaseModel):
    """The cost of machines in a period, and the charges: cost - charged = overhead - surplus."""

    cost_usd: float
    charged_usd: float
    overhead_usd: Annotated[float, Field(description="Cost less charge; 0 if more was charged.")]
    surplus_usd: Annotated[float, Field(description="Charge less cost; 0 if machines cost more.")]
    cost_note: Annotated[str, Field(description="Why machines cost nothing, if users were charged; or empty.")]
    costs: Annotated[list[CostPart], Field(description="The cost by reason; they sum to it.")]
    overheads: Annotated[list[CostPart], Field(description="The overhead by reason; they sum to it.")]
    policy: OverheadPolicyWord
    accounts: list[AccountCosts]
    cloud_granted_usd: Annotated[float, Field(description="All credit that the cloud has granted the operator.")]
    cloud_remaining_usd: Annotated[float, Field(description="The part of the grant that machines have not used.")]


class LedgerProof(BaseModel):
    """The result of adding the whole ledger up again."""

    right: bool
    transactions: int
    postings: int
    last_seq: int
    last_digest: Annotated[
        str, Field(description="If you keep a copy elsewhere, it later proves that nothing before it was changed.")
    ]
    faults: list[str]


class StatementLine(BaseModel):
    """All charges of a job or reservation in the period, or another movement of credit.

    Added is positive, spent is negative.
    """

    start_time: Annotated[datetime | None, Field(description="Of the first charge: a reservation has many.")]
    time: Annotated[datetime | None, Field(description="Of the last charge.")]
    kind: PostingKindWord
    amount_usd: float
    description: str
    reason: Annotated[str, Field(description="Why less was charged than was used.")]
    subject: str
    user_id: str
    problem: str
    gpu_type: str
    hold_id: Annotated[
        str, Field(description="The charge that a refund gives back; empty if the line is not about a charge.")
    ]


class Usage(BaseModel):
    """Charges less refunds, and the number of jobs and reservations."""

    name: Annotated[str, Field(description="A day, a problem, a GPU type, or a user's id.")]
    label: Annotated[str, Field(description="The same for people: the user's name.")]
    charged_usd: float
    works: int


class Statement(BaseModel):
    """An account's period: opening + the sum of all lines = closing. Credit on hold is not spent.

    With `user_id` only that user's lines are listed, and the balances remain the account's.
    """

    account_id: str
    account_name: str
    start_time: datetime | None
    end_time: datetime | None
    opening_usd: float
    closing_usd: float
    held_usd: Annotated[float, Field(description="Of the closing balance.")]
    lines: list[StatementLine]
    by_day: list[Usage]
    by_problem: list[Usage]
    by_gpu_type: list[Usage]
    by_user: list[Usage]
    truncated: Annotated[bool, Field(description="Older lines are not listed; balances and sums include them.")]


class Grant(BaseModel):
    """Credit that was granted."""

    id: int
    amount_usd: float
    remaining_usd: Annotated[float, Field(description="Neither charged nor expired.")]
    create_time: datetime | None
    expire_time: datetime | None
    description: str


class GrantList(BaseModel):
    """An account's grants, newest first."""

    grants: list[Grant]


class GrantRequest(BaseModel):
    """Credit for an account."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"account_id": "acct_01J", "amount_usd": 5}]}
    )

    account_id: Annotated[str, Field(min_length=1, max_length=100)]
    amount_usd: PositiveDollars
    expire_time: Annotated[datetime | None, Field(description="When the rest expires; none: never.")] = None
    description: Annotated[str, Field(max_length=500)] = ""


class RevocationRequest(BaseModel):
    """Credit to take back."""

    model_config = ConfigDict(extra="forbid")

    account_id: Annotated[str, Field(min_length=1, max_length=100)]
    amount_usd: PositiveDollars
    description: Annotated[str, Field(max_length=500)] = ""


class RefundRequest(BaseModel):
    """A charge to give back."""

    model_config = ConfigDict(extra="forbid")

    hold_id: Annotated[str, Field(min_length=1, max_length=100)]
    amount_usd: PositiveDollars
    description: Annotated[str, Field(max_length=500, description="The reason, for the account's owner.")] = ""


class Credit(BaseModel):
    """An account's credit after a movement."""

    available_usd: float


class BudgetRequest(BaseModel):
    """A limit for what may be charged in a period (UTC)."""

    model_config = ConfigDict(extra="forbid")

    scope: Literal["ACCOUNT", "USER", "QUEUE"]
    subject: Annotated[str, Field(min_length=1, max_length=100, description="The id or the name.")]
    period: Literal["DAY", "WEEK", "MONTH", "TOTAL"]
    limit_usd: Annotated[Dollars, Field(ge=0)]
    hard: Annotated[
        bool, Field(description="Refuse submissions that could exceed it; a soft budget is only shown.")
    ] = True


class Budget(BaseModel):
    """A budget, with what is charged or on hold in its present period."""

    id: str
    scope: BudgetScopeWord
    subject: str
    subject_name: Annotated[str, Field(description="The account's or user's name; for a queue, its subject.")]
    period: BudgetPeriodWord
    limit_usd: float
    spent_usd: float
    hard: bool


class BudgetList(BaseModel):
    """All budgets."""

    budgets: list[Budget]


class NewBudget(BaseModel):
    """A budget's id."""

    id: str
