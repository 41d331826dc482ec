"""Asks the policy in force which waiting jobs get which machine now, and who gives way."""

from __future__ import annotations

from services.scheduler.fairness.backfill import behind_dated, with_kept
from services.scheduler.fairness.growth import grown
from services.scheduler.fairness.kai.plan import kai_plan
from services.scheduler.fairness.kueue.plan import kueue_plan
from services.scheduler.fairness.settings import FairnessPolicy
from services.scheduler.fairness.situation import Plan, Situation


def plan(situation: Situation) -> Plan:
    """What the tree's policy decides. The same situation always gives the same plan."""
    decide = kueue_plan if situation.queues.policy is FairnessPolicy.KUEUE else kai_plan
    return grown(behind_dated(situation), with_kept(situation, decide))
