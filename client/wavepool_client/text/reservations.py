"""Describes reservations and quotes; pure, and tolerant of missing fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any, cast

from wavepool_client.text.counts import counted
from wavepool_client.text.machines import seconds_text
from wavepool_client.text.start_times import instant_of, time_text

Fields = dict[str, Any]

PREFIX = "res_"
SHORT = 8
LIST_COLUMNS = ("id", "name", "owner", "GPUs", "state", "place or time", "machine", "disk", "cost", "created")
DETAIL_COLUMNS = ("users", "last login", "image", "queue", "on hold", "why")
GIVEN = "given"
"""Where a key is from that came with a request."""


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """For each id its first 8 characters without the prefix, or as many as tell it from the others."""
    bare = {one: one.removeprefix(PREFIX) for one in ids}
    shortened: dict[str, str] = {}
    for one, code in bare.items():
        others = [other for other in bare.values() if other != code]
        length = SHORT
        while length < len(code) and any(other.startswith(code[:length]) for other in others):
            length += 1
        shortened[one] = code[:length]
    return shortened


def host_name(reservation_id: str, node: int = 0) -> str:
    """The host's name for ssh, which no name server knows. With `-1` behind it, it is the machine of rank 1.

    It has the last characters of the id, which are random: the first ones are the time, and the same for reservations
    that were made within half a minute. The session calls itself so, too.
    """
    return f"wp-{reservation_id.removeprefix(PREFIX)[-SHORT:].lower()}{f'-{node}' if node else ''}"


def nodes_of(one: Fields) -> list[Fields]:
    """The machines of a reservation that has several, by rank; empty if it has one."""
    return cast("list[Fields]", one.get("nodes") or [])


def left_text(seconds: float) -> str:
    """Time left, such as `2h05m left`, `5m left` or `40s left`."""
    whole = max(0, int(seconds))
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours}h{minutes:02}m left"
    return f"{minutes}m left" if minutes else f"{whole}s left"


def end_text(fields: Fields, now: datetime, zone: tzinfo | None = None) -> str:
    """When it ends, and how long that is, such as `2026-11-26 22:05:00 UTC (2h05m left)`."""
    instant = instant_of(fields.get("expires_at"))
    if instant is None:
        return ""
    return f"{time_text(fields.get('expires_at'), zone)} ({left_text((instant - now).total_seconds())})"


def hours_text(hours: object) -> str:
    """A number of hours for people, such as `1 h 30 min`."""
    return seconds_text(hours * 3600) if isinstance(hours, int | float) else ""


def gpus_text(fields: Fields) -> str:
    """How many GPUs of which type: of the machine's, if it has one."""
    return f"{fields.get('gpu_count') or 1} x {fields.get('machine_gpu_type') or fields.get('gpu_type') or 'GPU'}"


def usd_text(usd: object) -> str:
    """Dollars and cents, rounded up at the last digit only if there is less than a cent."""
    if not isinstance(usd, int | float):
        return "-"
    return f"${usd:.2f}" if usd == 0 or usd >= 0.01 else f"${usd:.6f}"  # noqa: PLR2004 - a cent


def wait_text(fields: Fields) -> str:
    """How long it will wait; empty if that is not known."""
    p50, p90 = fields.get("eta_p50"), fields.get("eta_p90")
    if not isinstance(p50, int | float):
        return ""
    usual = "at once" if p50 < 1 else f"in {seconds_text(p50)}"
    slow = f", in 9 of 10 cases within {seconds_text(p90)}" if isinstance(p90, int | float) and p90 > p50 else ""
    return f"likely {usual}{slow}"


def quote_text(quote: Fields) -> str:
    """What a reservation would cost, and how long it would wait."""
    count = quote.get("gpu_count") or 1
    price = quote.get("price_per_gpu_hour")
    rate = usd_text(price * count) if isinstance(price, int | float) else "-"
    machines = quote.get("machines") or 1
    on = f" on {machines} machines" if machines > 1 else ""
    what = f"{count} x {quote.get('gpu_type')}{on} for {hours_text(quote.get('hours'))}"
    wait = wait_text(quote)
    start = start_text(quote)
    when = f"; starts at {start}" if start else f"; starts {wait}" if wait else ""
    lines = [f"{what}: {rate}/h, {usd_text(quote.get('hold_usd'))} on hold{when}"]
    if borrowed := borrowed_text(quote):
        lines.append(f"{borrowed}: it will get no more time while others wait for what is within theirs")
    return "\n".join(lines)


def borrowed_text(fields: Fields) -> str:
    """How many of its GPUs are above the quota of its queue; empty if none is."""
    borrowed = fields.get("borrowed_gpus")
    if not isinstance(borrowed, int | float) or not borrowed:
        return ""
    return f"{borrowed:g} of its GPUs {'is' if borrowed == 1 else 'are'} above the quota of its queue"


def _recall_text(one: Fields, zone: tzinfo | None) -> str:
    """When it is ended for another queue; empty if it is not."""
    end = time_text(one.get("recall_time"), zone)
    return f"at {end}, if queue {one.get('recall_queue')} still waits for its quota then" if end else ""


def dearest_price(quote: Fields) -> float:
    """Dollars per hour of each GPU, on the dearest of the GPU types that the reservation may get."""
    price = quote.get("price_per_gpu_hour")
    hours, hold = quote.get("hours"), quote.get("hold_usd")
    found = float(price) if isinstance(price, int | float) else 0.0
    if isinstance(hours, int | float) and isinstance(hold, int | float) and hours > 0:
        # The hold is rounded up to a millionth of a dollar.
        found = max(found, round(hold / hours / (quote.get("gpu_count") or 1), 4))
    return found


def start_text(fields: Fields, zone: tzinfo | None = None) -> str:
    """When it is to start, with the zone; empty if it starts as soon as it has GPUs."""
    return time_text(fields.get("start_time"), zone)


def place_text(fields: Fields, now: datetime, zone: tzinfo | None = None) -> str:
    """Where it stands: its start, its place in the queue, or its end."""
    if fields.get("state") == "pending":
        return f"starts {time_text(fields.get('start_time'), zone)}"
    if fields.get("state") == "queued":
        position = fields.get("position")
        return ", ".join(part for part in (f"position {position}" if position else "", wait_text(fields)) if part)
    if fields.get("state") == "active":
        return end_text(fields, now, zone)
    return time_text(fields.get("end_time"), zone)


def list_rows(
    found: Sequence[Fields], now: datetime, zone: tzinfo | None = None, *, details: bool = False
) -> list[Sequence[object]]:
    """The lines of the list; with `details`, the columns of details, too."""
    short = short_ids([str(one.get("id")) for one in found])
    return [
        (
            short[str(one.get("id"))],
            one.get("name"),
            one.get("owner"),
            gpus_text(one),
            one.get("state"),
            place_text(one, now, zone),
            one.get("machine_id"),
            one.get("disk_name"),
            usd_text(one.get("cost_usd")),
            time_text(one.get("create_time"), zone),
            *(_details(one, zone) if details else ()),
        )
        for one in found
    ]


def _details(one: Fields, zone: tzinfo | None) -> Sequence[object]:
    return (
        ", ".join(map(str, one.get("users") or [])),
        time_text(one.get("last_login_at"), zone),
        one.get("image"),
        one.get("queue"),
        usd_text(one.get("hold_usd")),
        one.get("message"),
    )


def note_texts(changed: Fields) -> list[str]:
    """What is not as it should be with the keys of a reservation that was made or changed."""
    return [str(note) for note in cast("list[object]", changed.get("notes") or [])]


def other_name_text(one: Fields, asked: object) -> str:
    """What a reservation is called now, if it is not what was asked for; else empty."""
    name = one.get("name")
    return f"the name {asked} is taken, so it is {name} now" if asked and name != asked else ""


def added_key_texts(changed: Fields, *, given: bool) -> list[str]:
    """The keys that may log in now, and where they are from; with `given`, also those that came with the request."""
    keys = cast("list[Fields]", changed.get("added_keys") or [])
    return [
        f"{key.get('user')} may log in with {key.get('type')} {key.get('fingerprint')} ({key.get('origin')})"
        for key in keys
        if given or key.get("origin") != GIVEN
    ]


def show_rows(one: Fields, now: datetime, zone: tzinfo | None = None) -> list[tuple[str, str]]:
    """All that is known of one reservation, without what is empty."""
    steps = cast("list[Fields]", one.get("steps") or [])
    extensions = cast("list[Fields]", one.get("extensions") or [])
    gpus = cast("list[int]", one.get("machine_gpus") or [])
    keys = cast("list[Fields]", one.get("keys") or [])
    rows = [
        ("id", str(one.get("id") or "")),
        ("name", str(one.get("name") or "")),
        ("owner", str(one.get("owner") or "")),
        ("state", str(one.get("state") or "")),
        ("why", str(one.get("message") or "")),
        ("GPUs", gpus_text(one)),
        ("time", hours_text(one.get("hours"))),
        ("queue", str(one.get("queue") or "")),
        ("place", place_text(one, now, zone) if one.get("state") == "queued" else ""),
        ("created", time_text(one.get("create_time"), zone)),
        ("starts", start_text(one, zone)),
        ("got its GPUs", time_text(one.get("launched_at"), zone)),
        ("active from", time_text(one.get("active_at"), zone)),
        ("until", end_text(one, now, zone) if one.get("state") == "active" else time_text(one.get("expires_at"), zone)),
        ("ended", time_text(one.get("end_time"), zone)),
        ("machine", str(one.get("machine_id") or "")),
        ("its GPUs", ", ".join(map(str, gpus))),
        *((f"node {node.get('rank')}", _node_text(one, node)) for node in nodes_of(one)),
        ("disk", _disk_text(one, zone)),
        ("image", _image_text(one)),
        ("borrows", borrowed_text(one)),
        ("ends early", _recall_text(one, zone)),
        ("steps", ", ".join(f"{step.get('name')} {short_time(step.get('seconds'))}" for step in steps)),
        ("extensions", "; ".join(_extension_text(one, zone) for one in extensions)),
        ("history", "\n".join(_act_text(act, zone) for act in cast("list[Fields]", one.get("history") or []))),
        ("users", ", ".join(map(str, one.get("users") or []))),
        ("may change it", ", ".join(map(str, one.get("editors") or []))),
        ("keys", "; ".join(f"{key.get('user')} {key.get('fingerprint')}" for key in keys)),
        ("last login", time_text(one.get("last_login_at"), zone)),
        ("connections", str(one.get("connections") or "")),
        ("no connection", f"since {idle}" if (idle := time_text(one.get("idle_since"), zone)) else ""),
        ("out of memory", _memory_text(one, zone)),
        ("host key", str(one.get("host_key") or "")),
        ("software", _software_text(one)),
        ("not held back", "; ".join(map(str, one.get("gaps") or []))),
        ("price", f"{usd_text(one.get('price_per_gpu_hour'))}/h for each GPU"),
        ("on hold", usd_text(one.get("hold_usd"))),
        ("cost so far", usd_text(one.get("cost_usd"))),
        ("cost of its GPUs", _machine_cost_text(one)),
        ("connect", str(one.get("ssh_command") or "")),
        ("host for ssh", host_name(str(one.get("id") or "")) if one.get("ssh_command") else ""),
    ]
    return [(name, text) for name, text in rows if text]


def _machine_cost_text(one: Fields) -> str:
    """What its GPUs cost the operator, and how that compares with the charge; empty if it is not known."""
    cost, overhead, surplus = (one.get(name) for name in ("machine_cost_usd", "overhead_usd", "surplus_usd"))
    if not isinstance(cost, int | float) or not isinstance(overhead, int | float):
        return ""
    difference = f"{usd_text(surplus)} less" if surplus else f"{usd_text(overhead)} more"
    return f"{usd_text(cost)} to the operator, {difference} than charged"


def _software_text(one: Fields) -> str:
    """Versions of a reservation's machine."""
    words = {"driver": "driver", "rocm": "ROCm", "cuda": "CUDA"}
    known = cast("dict[str, str]", one.get("software") or {})
    return ", ".join(f"{words.get(name, name)} {known[name]}" for name in sorted(known))


def _node_text(one: Fields, node: Fields) -> str:
    """A machine of several: which, since when it is ready, and its host for ssh."""
    ready = time_text(node.get("ready_at"))
    host = host_name(str(one.get("id") or ""), int(node.get("rank") or 0)) if one.get("ssh_command") else ""
    parts = (str(node.get("machine_id") or ""), f"ready {ready}" if ready else str(node.get("state") or ""), host)
    return ", ".join(part for part in parts if part)


def choice_text(one: Fields) -> str:
    """A reservation among several, in a line."""
    return f"{one.get('id')}  {one.get('name')}  {gpus_text(one)}  {one.get('state')}"


def short_time(seconds: object) -> str:
    """A length of time with tenths of seconds, if it is below ten."""
    return f"{seconds:.1f} s" if isinstance(seconds, int | float) and seconds < 10 else seconds_text(seconds)  # noqa: PLR2004


def _memory_text(one: Fields, zone: tzinfo | None) -> str:
    if not one.get("oom_count"):
        return ""
    last = time_text(one.get("last_oom_at"), zone)
    return f"{counted(one['oom_count'], 'process', 'processes')} killed{f', the last at {last}' if last else ''}"


def _extension_text(one: Fields, zone: tzinfo | None) -> str:
    return f"{hours_text(one.get('hours'))} by {one.get('by')} at {time_text(one.get('at'), zone)}"


def _act_text(act: Fields, zone: tzinfo | None) -> str:
    """Who did what to it, such as `2026-11-26 20:30:00 ada: let bob in`."""
    text = str(act.get("text") or "")
    match act.get("what"):
        case "extended":
            did = f"added {hours_text(act.get('hours'))}"
        case "users_changed":
            did = users_text(act)
        case "notified":
            did = f"wrote: {text}"
        case "ending":
            did = f"ended it: {text}" if text else "ended it"
        case other:
            did = str(other)
    return f"{time_text(act.get('at'), zone)} {act.get('by') or 'Wavepool'}: {did}"


def users_text(fields: Fields) -> str:
    """Who may log in now, and who no more."""
    words = {"added": "let {} in", "editors": "let {} change it", "removed": "removed {}"}
    parts = [
        word.format(", ".join(map(str, fields.get(name) or []))) for name, word in words.items() if fields.get(name)
    ]
    return ", and ".join(parts)


def _disk_text(one: Fields, zone: tzinfo | None) -> str:
    """Its disk, and until when what was written is safe."""
    name, safe, fault = one.get("disk_name"), time_text(one.get("disk_safe_time"), zone), one.get("disk_fault")
    if not name:
        return ""
    kept = f"{name}, safe until {safe}" if safe else f"{name}, nothing saved yet"
    return f"{kept}; the last snapshot failed: {fault}" if fault else kept


def _image_text(one: Fields) -> str:
    """Its image, and which one that was when its session began."""
    image, digest = one.get("image"), one.get("image_digest")
    if one.get("build_digest"):
        image = f"built from {one['build_digest']}"
    named = f"{image} ({digest})" if image and digest else str(image or "")
    return f"{named}, with its own command" if one.get("preserve_entrypoint") else named
