"""Billing's settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    Field,
    JsonValue,
    SecretStr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import SettingsConfigDict

from servicekit.settings.config import CommaSeparated, ServiceSettings
from services.billing.alert_rules import money
from services.billing.alert_rules.platform import platform_rules
from services.billing.alert_rules.rule import Rule
from services.billing.alert_rules.rule_file import faults_of, rules_of
from services.billing.errors import InvalidFieldError
from services.billing.identity.account import check_name
from services.billing.ledger.report import OverheadPolicy
from vocabulary.gpu_types import GPU_TYPES, default_first
from vocabulary.limits import LONGEST_RUN
from vocabulary.money import Tariff, micros_of
from vocabulary.names import known_name, none_of
from vocabulary.ports import USUAL_PORTS
from vocabulary.web_addresses import is_protected_url

SignInRole = Literal["user", "operator", "admin"]
"""Roles that groups of the identity provider may give, from the fewest rights to the most."""

Positive = Annotated[timedelta, Field(gt=timedelta(0))]
LOG_CHANNEL = '[{"name": "log", "kind": "log"}]'

_CHANNELS = TypeAdapter(list[dict[str, JsonValue]])
_SERVER = TypeAdapter(dict[str, JsonValue])


class BillingSettings(ServiceSettings):
    """Settings from `BILLING_*`; those with an `AMD_` alias are also read by that older name. Dollars are decimal."""

    model_config = SettingsConfigDict(env_prefix="BILLING_", populate_by_name=True)

    port: int = USUAL_PORTS["billing"]
    bootstrap_account: str = "local"
    """The account that a new database begins with; none if empty."""
    grant_credits_total: Annotated[Decimal, Field(ge=0)] = Field(
        default=Decimal("1400.00"),
        validation_alias=AliasChoices("BILLING_GRANT_CREDITS_TOTAL", "AMD_GRANT_CREDITS_TOTAL"),
    )
    """Dollars that the first account is granted."""
    machine_budget: Annotated[Decimal, Field(ge=0)] | None = None
    """Dollars that machines may cost the operator in total; beyond it vmpool starts none. Unset: the granted total."""
    cost_alert_threshold: Annotated[CommaSeparated[Annotated[Decimal, Field(gt=0, le=1)]], Field(min_length=1)] = Field(
        default=(Decimal("0.8"),),
        validation_alias=AliasChoices("BILLING_COST_ALERT_THRESHOLD", "AMD_COST_ALERT_THRESHOLD"),
    )
    """Shares of an account's credit, of the cloud's credit and of the machine budget whose spending fires an alert."""
    overhead_policy: OverheadPolicy = OverheadPolicy.OPERATOR
    """Who bears the overhead in reports: the `operator`, or `shared` by the accounts. Nobody is charged for it."""
    free_daily_credit: Annotated[Decimal, Field(ge=0)] = Decimal(0)
    """Dollars that each account is given on every day (UTC) on which it needs credit; they lapse at midnight."""
    alert_burn_rate: Annotated[Decimal, Field(gt=0)] | None = None
    """Dollars per hour that machines may cost before an alert fires; unset: no such alert."""
    alert_account_burn_rate: Annotated[Decimal, Field(gt=0)] | None = None
    """Dollars per hour that one account may spend before an alert fires; unset: no such alert."""
    alert_burn_window: Annotated[timedelta, Field(ge=timedelta(minutes=1), le=timedelta(days=1))] = timedelta(hours=1)
    """Time over which a burn rate is measured."""
    alert_forecast_days: Annotated[Decimal, Field(ge=0, le=3650)] = Decimal(7)
    """An alert fires if credit ends within so many days at the rate of the last one; 0: no such alert."""
    alert_rules: str = ""
    """Rules that add to the built-in ones or change them: a JSON list, or the path of a file with one."""
    alert_channels: SecretStr = SecretStr(LOG_CHANNEL)
    """Where alerts go: a JSON list, or the path of a file with one."""
    alert_interval: Annotated[timedelta, Field(ge=timedelta(seconds=1), le=timedelta(hours=1))] = timedelta(seconds=30)
    """Time between two looks at all figures; a settlement is looked at at once."""
    alert_retry: Positive = timedelta(days=1)
    """Time after which a message that no try has delivered is given up."""
    alert_retention: Positive = timedelta(days=90)
    """Time for which the history of alerts is kept."""
    notice_mail: SecretStr = SecretStr("")
    """The server for mails to users about ends: the options of an `email` channel without `to`, as a JSON object or the
    path of a file with one. Empty: nobody is mailed."""
    mi300x_hourly_rate: Annotated[Decimal, Field(ge=0)] = Field(
        default=Decimal("1.99"), validation_alias=AliasChoices("BILLING_MI300X_HOURLY_RATE", "AMD_MI300X_HOURLY_RATE")
    )
    """Dollars per MI300X hour. These rates are the prices that a new database begins with; prices/settings_prices.py
    says what a change does later."""
    hourly_rates: dict[str, Annotated[Decimal, Field(ge=0)]] = Field(default_factory=dict[str, Decimal])
    """Dollars per hour of other GPU types, as JSON such as `{"MI210": 1.10}`. A type that is left out costs as much as
    an MI300X: no provider has quoted us a price for it yet, and this one is surely enough."""
    gpu_types: Annotated[CommaSeparated[str], Field(min_length=1)] = Field(
        default=GPU_TYPES, validation_alias=AliasChoices("VMPOOL_GPU_TYPES")
    )
    """GPU types that can be asked for. This is the pool's setting; the price list is made from it."""
    default_gpu: str = Field(default="", validation_alias=AliasChoices("VMPOOL_DEFAULT_GPU", "AMD_DEFAULT_GPU"))
    """GPU type of a request that names none; also the pool's setting."""
    longest_run: Annotated[timedelta, Field(gt=timedelta(0))] = Field(
        default=LONGEST_RUN, validation_alias=AliasChoices("SCHEDULER_LONGEST_RUN")
    )
    """Longest time of one attempt, which a hold covers. This is the scheduler's setting; quotes are made from it."""
    oidc_issuer: str = ""
    """URL of the organisation's identity provider, exactly as it calls itself; empty: sign-in is off."""
    oidc_client_id: str = ""
    """The name of this Wavepool at the provider, as a public client."""
    oidc_scopes: CommaSeparated[str] = ("openid", "profile", "email")
    """What the provider is asked for. Some providers send groups only if a scope such as `groups` is among them."""
    oidc_groups_claim: str = "groups"
    """The claim with a person's groups; dots lead into objects, as in `realm_access.roles`."""
    oidc_teams: dict[str, str] = Field(default_factory=dict[str, str])
    """The team that each group stands for, as JSON: `{"gpu-users": "research"}`."""
    oidc_roles: dict[str, SignInRole] = Field(default_factory=dict[str, SignInRole])
    """The role that each group gives, as JSON: `{"gpu-admins": "admin"}`. Everybody else becomes a user at
    each sign-in. Unset: roles are given in Wavepool alone, and sign-ins leave them as they are."""
    oidc_admitted_groups: CommaSeparated[str] = ()
    """Groups whose members may sign in; empty: everybody whom the provider knows."""
    oidc_email_domains: CommaSeparated[str] = ()
    """Domains of the verified e-mail addresses that may sign in; empty: all."""
    oidc_token_lifetime: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(hours=12)
    """Time for which the API token of a sign-in works."""

    keys_dir: Path | None = None
    """Folder with a file `<user>.keys` for each user whose public SSH keys the operator keeps; unset: none."""
    github_url: str = ""
    """Where people's public SSH keys are, as `<url>/<name>.keys`, such as https://github.com; empty: off."""

    github_api_url: str = ""
    """GitHub's API; empty: https://api.github.com for https://github.com, and `<url>/api/v3` for any other."""
    github_token_file: Path | None = None
    """File with the token for the API, which must be allowed to read members and the repository."""
    required_team: str = ""
    """The organisation, or `organisation/team`, that people whose keys come from GitHub must belong to; empty: none."""
    required_repository: str = ""
    """The `owner/repository` that they must have write access to; empty: none."""

    @field_validator("required_team", "required_repository")
    @classmethod
    def _plain_path(cls, value: str, info: ValidationInfo) -> str:
        wanted = r"\w[\w.-]*/\w[\w.-]*" if info.field_name == "required_repository" else r"\w[\w.-]*(/\w[\w.-]*)?"
        if value and not re.fullmatch(wanted, value, re.ASCII):
            example = "lab/kernels" if info.field_name == "required_repository" else "lab, or lab/gpu-users"
            raise ValueError(f"must be as in GitHub's addresses, such as {example}; it is {value!r}")
        return value

    @model_validator(mode="after")
    def _whole_team_check(self) -> Self:
        for name in ("required_team", "required_repository"):
            if getattr(self, name) and not self.github_url:
                raise ValueError(f"{name}: needs BILLING_GITHUB_URL, such as https://github.com")
            if getattr(self, name) and self.github_token_file is None:
                raise ValueError(
                    f"{name}: needs BILLING_GITHUB_TOKEN_FILE; GitHub shows members only to a member's token"
                )
        return self

    def api_url(self) -> str:
        """The address of GitHub's API."""
        base = self.github_url.rstrip("/")
        usual = "https://api.github.com" if base == "https://github.com" else f"{base}/api/v3"
        return self.github_api_url or usual

    @field_validator("github_url", "github_api_url")
    @classmethod
    def _protected_github(cls, value: str) -> str:
        if value and not is_protected_url(value):
            raise ValueError("must be an https URL, such as https://github.com; http is for this machine alone")
        return value

    @model_validator(mode="after")
    def _whole_identity_provider(self) -> Self:
        if not self.oidc_issuer:
            return self
        if not is_protected_url(self.oidc_issuer):
            raise ValueError("oidc_issuer: must be an https URL; http is for this machine alone")
        if not self.oidc_client_id:
            raise ValueError("oidc_client_id: must be set if BILLING_OIDC_ISSUER is")
        if "openid" not in self.oidc_scopes:
            raise ValueError("oidc_scopes: must include openid")
        for team in self.oidc_teams.values():
            try:
                check_name(team)
            except InvalidFieldError as error:
                raise ValueError(f"oidc_teams: a team's {error}") from error
        return self

    @model_validator(mode="after")
    def _known_gpu_types(self) -> Self:
        try:
            default_first(self.gpu_types, self.default_gpu)
        except ValueError as error:
            raise ValueError(f"VMPOOL_DEFAULT_GPU: {error}") from error
        for gpu_type in self.hourly_rates:
            if not known_name(gpu_type, self.gpu_types):
                raise ValueError(f"hourly_rates: {none_of(gpu_type, self.gpu_types)} (VMPOOL_GPU_TYPES)")
            if known_name(gpu_type, ["MI300X"]):
                raise ValueError("hourly_rates: leave MI300X out; its price is BILLING_MI300X_HOURLY_RATE")
        return self

    def price_tariffs(self) -> dict[str, Tariff]:
        """The settings' price of every GPU type that can be asked for, the default type first."""
        default = micros_of(self.mi300x_hourly_rate)
        gpu_types = default_first(self.gpu_types, self.default_gpu)
        rates = {known_name(gpu_type, gpu_types): micros_of(rate) for gpu_type, rate in self.hourly_rates.items()}
        return {gpu_type: Tariff(rates.get(gpu_type, default)) for gpu_type in gpu_types}

    @field_validator("alert_channels")
    @classmethod
    def _readable_channels(cls, value: SecretStr) -> SecretStr:
        _channels_of(value)
        return value

    @field_validator("notice_mail")
    @classmethod
    def _readable_server(cls, value: SecretStr) -> SecretStr:
        _server_of(value)
        return value

    @model_validator(mode="after")
    def _readable_rules(self) -> Self:
        try:
            self.rules()
        except ValueError as error:
            raise ValueError(f"alert_rules: {error}") from error
        return self

    def thresholds(self) -> tuple[float, ...]:
        """The shares whose spending fires an alert, lowest first."""
        return tuple(sorted({float(threshold) for threshold in self.cost_alert_threshold}))

    def rules(self) -> Sequence[Rule]:
        """The built-in rules with the operator's changes and additions; raises ValueError."""
        about_money = money.money_rules(
            self.thresholds(),
            None if self.alert_burn_rate is None else float(self.alert_burn_rate),
            None if self.alert_account_burn_rate is None else float(self.alert_account_burn_rate),
            float(self.alert_forecast_days),
        )
        return rules_of(_text_of(self.alert_rules), [*about_money, *platform_rules()])

    def channels(self) -> Sequence[Mapping[str, Any]]:
        """The options of each channel, as the operator wrote them; raises ValueError."""
        return _channels_of(self.alert_channels)

    def notice_mail_options(self) -> Mapping[str, Any] | None:
        """The options of the server for mails to users, as the operator wrote them; None if there is none."""
        return _server_of(self.notice_mail)

    def windows(self) -> money.Windows:
        """Over how long rates are measured."""
        return money.Windows(burn=self.alert_burn_window)

    def machine_budget_micros(self) -> int:
        """The budget for machines, in micro-dollars."""
        return micros_of(self.grant_credits_total if self.machine_budget is None else self.machine_budget)

    def grant_micros(self) -> int:
        """The first account's grant, in micro-dollars."""
        return micros_of(self.grant_credits_total)


def _channels_of(setting: SecretStr) -> Sequence[Mapping[str, Any]]:
    try:
        return _CHANNELS.validate_json(_text_of(setting.get_secret_value()) or "[]")
    except ValidationError as error:
        # Its own message would quote what was given, secrets among it.
        raise ValueError(faults_of(error)) from None


def _server_of(setting: SecretStr) -> Mapping[str, Any] | None:
    if not setting.get_secret_value():
        return None
    text = _text_of(setting.get_secret_value(), "{", "a JSON object")
    try:
        return _SERVER.validate_json(text)
    except ValidationError as error:
        raise ValueError(faults_of(error)) from None


def _text_of(setting: str, begins: str = "[", kind: str = "a JSON list") -> str:
    """JSON that begins so as it is; anything else is the path of a file. Raises ValueError."""
    if not setting or setting.lstrip().startswith(begins):
        return setting
    try:
        return Path(setting).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise ValueError(f"must be {kind} or the path of a file with one; this file: {reason}") from None
