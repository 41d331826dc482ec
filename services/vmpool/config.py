"""vmpool's settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from ipaddress import IPv4Network
from typing import Annotated, ParamSpec, Self, TypeVar

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from servicekit.settings.config import LEADER_TERM, CommaSeparated, LeaderTerm, ServiceSettings
from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.lease import Holder
from services.vmpool.machines.machine_token import kept_secret
from services.vmpool.machines.order_checks import check_gpu_count, check_gpu_type
from services.vmpool.machines.orphan_policy import OrphanPolicy
from services.vmpool.policy.offer_choice import OfferPolicy, OfferTimes, SpotPolicy
from services.vmpool.policy.retention import Retention
from services.vmpool.policy.sizing import Limits
from services.vmpool.policy.warm_windows import WarmWindow, parse_keep_warm
from vocabulary.gpu_types import GPU_TYPES, default_first
from vocabulary.money import micros_of
from vocabulary.ports import USUAL_PORTS, usual_target

P = ParamSpec("P")
T = TypeVar("T")
OWN_HOST = frozenset({"local", "docker"})
"""Providers whose machines share one host: two machines at work there would spoil each other's timings."""
RENTED_MACHINES = 3
"""Limit on rented machines at a time, if no setting gives one."""
MOST_MACHINES = 1000
"""A larger number is surely a typing error, and an expensive one."""
NotNegative = Annotated[timedelta, Field(ge=timedelta(0))]
Positive = Annotated[timedelta, Field(gt=timedelta(0))]


class VmPoolSettings(ServiceSettings):
    """Settings, read from `VMPOOL_*`; those with an `AMD_` alias also by that older name. Durations are in seconds."""

    model_config = SettingsConfigDict(env_prefix="VMPOOL_", populate_by_name=True)

    port: int = USUAL_PORTS["vmpool"]
    drain: timedelta = timedelta(seconds=1)
    """Calls take milliseconds. Only watches are cut off, and they resume elsewhere."""
    billing_target: str = usual_target("billing")
    providers: Annotated[CommaSeparated[str], Field(min_length=1)] = ("local",)
    """Providers of machines in order of preference: the names of installed plug-ins, separated by commas."""
    pool_name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,19}$")] = "wavepool"
    """Distinguishes this pool's machines from those of other pools in the same cloud account."""
    secret: SecretStr | None = None
    """Secret that machines' tokens are made from. If it is unset, one is made at first use and kept in the data
    folder."""
    strangers: OrphanPolicy = OrphanPolicy.REPORT
    """Policy for machines that have our pool's name but not our token: `report` or `release`."""
    gpu_types: Annotated[CommaSeparated[str], Field(min_length=1)] = GPU_TYPES
    """GPU types that may be asked for, separated by commas."""
    default_gpu: str = Field(default="", validation_alias=AliasChoices("VMPOOL_DEFAULT_GPU", "AMD_DEFAULT_GPU"))
    """GPU type of requested machines that name none; empty: the first of `gpu_types`."""
    max_machines: Annotated[int, Field(ge=0, le=MOST_MACHINES)] | None = Field(
        default=None, validation_alias=AliasChoices("VMPOOL_MAX_MACHINES", "AMD_VM_MAX_CONCURRENT")
    )
    """Limit on machines at a time. Unset: 3, or 1 if a provider's machines are this host itself."""
    idle_timeout: NotNegative = Field(
        default=timedelta(seconds=600), validation_alias=AliasChoices("VMPOOL_IDLE_TIMEOUT", "AMD_VM_IDLE_TIMEOUT")
    )
    """Time for which an idle machine is kept."""
    idle_timeouts: dict[str, NotNegative] = Field(default_factory=dict[str, timedelta])
    """Idle timeouts of single GPU types, as JSON, e.g. `{"MI210": 60}`."""
    surplus_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Each further idle machine is kept for this share of the time of the one used after it; 1 keeps all equally
    long."""
    release_margin: NotNegative = timedelta(seconds=60)
    """An idle machine is released this long before the end of paid time, so that no further time is billed."""
    keep_warm: str = ""
    """Schedule of machines to keep ready, e.g. `Mon-Fri 08:00-18:00 Europe/Berlin MI300X=1; ...`."""
    backends: CommaSeparated[str] = ()
    """Backends or providers to rent from, in order of preference, separated by commas. Unset: the order of `providers`,
    then the price. A provider with no backend in the list comes last, with its usual backends."""
    spot_policy: SpotPolicy = SpotPolicy.ON_DEMAND
    """Kind of machine to rent: on-demand, spot (a machine that the provider can take away) or auto."""
    max_price: Annotated[Decimal, Field(ge=0)] = Decimal(0)
    """Highest price in dollars per GPU hour; 0: no limit."""
    unfit_limit: Annotated[int, Field(ge=0)] = 3
    """After this many machines of a kind in a row that cost money and ran nothing, no more are rented; 0: no limit."""
    gpus_per_machine: Annotated[CommaSeparated[int], Field(min_length=1)] = (1,)
    """GPUs of a machine: 1, 2, 4 or 8, separated by commas if there are several. The first number is the usual one,
    for jobs that need no more and for machines that are kept warm. The pool orders larger ones by itself for jobs that
    need more. Requests may name any of them."""
    machine_network: IPv4Network | None = None
    """Network in which the machines reach one another, such as a cloud's private one, `10.128.0.0/20`. Unset: they do
    not, and reservations of several machines are refused."""
    offer_lifetime: NotNegative = timedelta(seconds=15)
    """Time for which a provider's offers are used without asking again."""
    lease_duration: Positive = timedelta(seconds=60)
    """Duration of a lease whose request gives none."""
    longest_lease: Positive = timedelta(hours=1)
    """Longest duration of a job's lease; it may be renewed."""
    longest_reservation: Positive = timedelta(hours=50)
    """Longest duration of a reservation's lease. It lasts until the reservation's end, so that it outlives a scheduler
    that is away."""
    demand_lifetime: Positive = timedelta(seconds=60)
    """Time for which reported demand counts unless it is reported again."""
    heartbeat_interval: Positive = timedelta(seconds=2)
    lost_after: Positive = timedelta(seconds=6)
    """A machine that leaves heartbeats unanswered for this long is lost."""
    reserved_lost_after: Positive = timedelta(minutes=10)
    """The same for a machine with reservations, as long as its provider does not say that it ended."""
    reconcile_interval: Positive = timedelta(seconds=1)
    history_duration: Positive = timedelta(days=30)
    """Machines that are over, leases, events and usage facts are kept for this long; sums of them stay for good."""
    takeover_timeout: NotNegative = timedelta(seconds=20)
    """Time to wait for another vmpool that serves the SQLite file to end. On PostgreSQL a second one waits for ever."""
    leader_term: LeaderTerm = LEADER_TERM
    """Longest time for which a vmpool that was killed or stopped keeps others from the database, on PostgreSQL."""
    metrics_interval: Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(hours=1))] = timedelta(seconds=15)
    """Time between two reports of readings to billing, which makes alerts of them."""
    metrics_window: Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(days=1))] = timedelta(minutes=30)
    """Time over which failed machines are counted and the use of machines is averaged for alerts."""
    usage_interval: Positive = timedelta(seconds=60)
    """Time between two reports of a machine's cost to billing."""

    @field_validator("gpus_per_machine")
    @classmethod
    def _legal_counts(cls, counts: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(_checked(check_gpu_count, count, "gpus_per_machine") for count in counts))

    @model_validator(mode="after")
    def _known_gpu_types(self) -> Self:
        self._warm_windows()
        self.default_gpu_type()
        for gpu_type in self.idle_timeouts:
            _checked(check_gpu_type, gpu_type, self.gpu_types, "idle_timeouts")
        return self

    @model_validator(mode="after")
    def _durations_in_order(self) -> Self:
        if self.lost_after <= self.heartbeat_interval:
            raise ValueError(
                "lost_after: must be longer than heartbeat_interval, as one heartbeat may go unanswered, and so than "
                f"{self.heartbeat_interval.total_seconds():g} s; it is {self.lost_after.total_seconds():g} s"
            )
        if self.reserved_lost_after < self.lost_after:
            raise ValueError(
                f"reserved_lost_after: must be at least lost_after, {self.lost_after.total_seconds():g} s; "
                f"it is {self.reserved_lost_after.total_seconds():g} s"
            )
        if self.lease_duration > self.longest_lease:
            raise ValueError(
                f"lease_duration: must be at most longest_lease, {self.longest_lease.total_seconds():g} s; "
                f"it is {self.lease_duration.total_seconds():g} s"
            )
        if self.lease_duration > self.longest_reservation:
            raise ValueError(
                f"longest_reservation: must be at least lease_duration, {self.lease_duration.total_seconds():g} s; "
                f"it is {self.longest_reservation.total_seconds():g} s"
            )
        return self

    def resolved_secret(self) -> bytes:
        """The pool's secret; raises ValueError if the file that keeps it is broken."""
        return kept_secret(self.data_dir) if self.secret is None else self.secret.get_secret_value().encode()

    def longest_of(self, holder: Holder) -> tuple[timedelta, str]:
        """The longest duration of a lease of such a holder, and the name of the setting."""
        if holder is Holder.RESERVATION:
            return self.longest_reservation, "VMPOOL_LONGEST_RESERVATION"
        return self.longest_lease, "VMPOOL_LONGEST_LEASE"

    def limits(self) -> Limits:
        """Limits for sizing, from the settings."""
        retention = Retention(self.idle_timeout, self._idle_timeouts(), self.surplus_share, self.release_margin)
        return Limits(self.most_machines(), retention, self.offers(), self._warm_windows(), self.unfit_limit)

    def offers(self) -> OfferPolicy:
        """Policy for choosing offers."""
        return OfferPolicy(
            backends=self.backends,
            spot=self.spot_policy,
            max_price_micros_per_gpu_hour=micros_of(self.max_price),
            gpu_count=self.gpus_per_machine[0],
            larger_gpu_counts=tuple(count for count in self.gpus_per_machine if count > self.gpus_per_machine[0]),
        )

    def most_machines(self) -> int:
        """The largest number of machines at a time."""
        if self.max_machines is not None:
            return self.max_machines
        return 1 if OWN_HOST.intersection(self.providers) else RENTED_MACHINES

    def default_gpu_type(self) -> str:
        """GPU type of a requested machine that names none."""
        try:
            return default_first(self.gpu_types, self.default_gpu)[0]
        except ValueError as error:
            raise ValueError(f"default_gpu: {error}") from error

    def offer_times(self) -> OfferTimes:
        """Times for which offers can be used."""
        return OfferTimes(fresh=self.offer_lifetime)

    def _idle_timeouts(self) -> dict[str, timedelta]:
        return {check_gpu_type(name, self.gpu_types): timeout for name, timeout in self.idle_timeouts.items()}

    def _warm_windows(self) -> tuple[WarmWindow, ...]:
        return _checked(parse_keep_warm, self.keep_warm, self.gpu_types)


def _checked(check: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The check's result; raises ValueError instead of InvalidFieldError, because settings need it."""
    try:
        return check(*args, **kwargs)
    except InvalidFieldError as error:
        raise ValueError(str(error)) from error
