"""Rules as operators write them: a JSON list, whose rules add to the built-in ones or change them by name."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from services.billing.alert_rules.rule import Comparison, Rule, Severity, check_name
from services.billing.errors import InvalidFieldError

DEFAULT_SUMMARY = "{reading} is {value}; the limit is {threshold}."

_REQUIRED = ("severity", "reading", "comparison", "threshold")
_UPWARD = frozenset({Comparison.AT_LEAST, Comparison.ABOVE})


class RuleForm(BaseModel):
    """One entry of the list. Only `name` is required if a built-in rule has it; what is left out stays."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: str
    severity: Severity | None = None
    reading: str | None = None
    comparison: Comparison | None = None
    threshold: FiniteFloat | None = None
    clear_threshold: FiniteFloat | None = None
    for_seconds: Annotated[float, Field(ge=0, le=30 * 86400)] | None = None
    summary: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    enabled: bool = True


_FORMS = TypeAdapter(list[RuleForm])


def rules_of(text: str, built_in: Sequence[Rule]) -> list[Rule]:
    """The built-in rules with the changes of a JSON list; raises ValueError that names entry and field."""
    try:
        return _changed(_FORMS.validate_json(text or "[]"), built_in)
    except ValidationError as error:
        raise ValueError(faults_of(error)) from None


def rules_in(toml: str) -> list[Rule]:
    """The rules of a file of ours, which has the same entries in tables."""
    return _changed(_FORMS.validate_python(tomllib.loads(toml)["rules"]), ())


def _changed(forms: Sequence[RuleForm], built_in: Sequence[Rule]) -> list[Rule]:
    rules = {rule.name: rule for rule in built_in}
    for number, form in enumerate(forms):
        try:
            rule = _rule_of(form, rules.get(form.name))
        except InvalidFieldError as error:
            raise ValueError(f"entry {number}: {error}") from error
        if form.enabled:
            rules[form.name] = rule
        else:
            rules.pop(form.name, None)
    return list(rules.values())


def faults_of(error: ValidationError) -> str:
    """The faults of entries, or of the options of one, in one line, without their values, which may be secrets."""
    said: list[str] = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        place = list(fault["loc"])
        where = [f"entry {place.pop(0)}"] if place and isinstance(place[0], int) else []
        where += [".".join(map(str, place))] if place else []
        said.append(": ".join([*where, fault["msg"].removeprefix("Value error, ")]))
    return "; ".join(said)


def _rule_of(form: RuleForm, base: Rule | None) -> Rule:
    check_name("name", form.name)
    if form.reading is not None:
        check_name("reading", form.reading)
    given: dict[str, Any] = form.model_dump(exclude={"name", "enabled", "for_seconds"}, exclude_none=True)
    if form.for_seconds is not None:
        given["for_duration"] = timedelta(seconds=form.for_seconds)
    if form.threshold is not None:
        given.setdefault("clear_threshold", form.threshold)
    if base is None:
        if not form.enabled:
            raise InvalidFieldError("name", f"there is no rule {form.name!r} to switch off")
        missing = [name for name in _REQUIRED if name not in given]
        if missing:
            raise InvalidFieldError(missing[0], f"is missing, and no built-in rule is called {form.name!r}")
        given = {"for_duration": timedelta(0), "summary": DEFAULT_SUMMARY} | given
        rule = Rule(name=form.name, **given)
    else:
        rule = replace(base, **given)
    is_calm = (
        rule.clear_threshold <= rule.threshold
        if rule.comparison in _UPWARD
        else (rule.clear_threshold >= rule.threshold)
    )
    if not is_calm:
        raise InvalidFieldError(
            "clear_threshold",
            f"must be {'at most' if rule.comparison in _UPWARD else 'at least'} the threshold {rule.threshold:g}, "
            f"because the rule is {rule.comparison.value!r}; it is {rule.clear_threshold:g}",
        )
    return rule
