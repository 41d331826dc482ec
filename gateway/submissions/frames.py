"""Turns a job's events into the frames that people see; pure: the same log gives the same frames, byte for byte."""

from __future__ import annotations

from typing import Any

from wavepool.scheduler.v1.scheduler_pb2 import JobEvent, Provisioning

from gateway.submissions.end_frames import end_frame
from gateway.submissions.event_schemas import InQueueEvent, ProvisioningFields
from gateway.submissions.run_frames import Frame, Setting, frame_from, run_frame
from gateway.submissions.sharing import shared_frame
from gateway.words.enum_names import start_kind_name
from gateway.words.json_values import to_json
from gateway.words.proto_time import milliseconds_of
from gateway.words.shown import fields_of
from vocabulary.money import dollars_of


def frame_of(event: JobEvent, setting: Setting) -> Frame | None:
    """The frame for an event; None if it shows nothing, as for kinds that are newer than this gateway."""
    frame = _frame(event, setting)
    if frame is None:
        return None
    common = {
        "submission_id": event.job_id,
        "timestamp": milliseconds_of(event.time),
        "attempt": event.attempt,
        "cost_usd": dollars_of(event.cost_micros),
    }
    whole = Frame(frame.status, {**common, **frame.fields})
    return shared_frame(whole) if setting.is_shared else whole


def encode(seq: int | None, frame: Frame) -> bytes:
    """The frame as bytes for the stream; without `seq` it has no id, and a client resumes before it."""
    identity = b"" if seq is None else b"id: %d\n" % seq
    data = to_json({"status": frame.status, **frame.fields})
    return b"event: %s\n%sdata: %s\n\n" % (frame.status.encode(), identity, data)


def decoded(data: bytes) -> tuple[int | None, bytes]:
    """The sequence number of an encoded frame, None if it has none, and its JSON, as it is."""
    head, _, body = data.removesuffix(b"\n\n").partition(b"\ndata: ")
    _, _, seq = head.partition(b"\nid: ")
    return (int(seq) if seq else None), body


def _frame(event: JobEvent, setting: Setting) -> Frame | None:
    match event.WhichOneof("event"):
        case "queued":
            return _queued(event)
        case "provisioning":
            return Frame("PROVISIONING", provisioning_fields(event.provisioning))
        case "retrying":
            message = f"Back in the queue: the attempt was lost through no fault of yours: {event.retrying.reason}"
            place = dict.fromkeys(("position", "eta_p50_seconds", "eta_p90_seconds"))
            return Frame("IN_QUEUE", {"id": event.job_id, **place, "message": message})
        case "run":
            return run_frame(event.run, setting)
        case "ended":
            status, fields = end_frame(setting.mode, event.ended.state, event.ended.result)
            benchmarked = event.ended.result.benchmarked.device
            labels = {**setting.labels, **({"device": benchmarked} if benchmarked else {})}
            labels["machine_gpu_type"] = event.ended.machine_gpu_type or None
            return Frame(status, {**labels, **fields, "cost_usd": dollars_of(event.ended.cost_micros), "final": True})
        case _:
            return None


def _queued(event: JobEvent) -> Frame:
    queued = event.queued
    known = {"remainingSubmissions": queued.remaining_submissions} if queued.HasField("remaining_submissions") else {}
    return frame_from(InQueueEvent, queued, id=event.job_id, position=queued.position, **known)


def provisioning_fields(step: Provisioning) -> dict[str, Any]:
    """The way to a machine, of a submission or a reservation."""
    return fields_of(ProvisioningFields, step, vm_state=start_kind_name(step.start_kind) if step.start_kind else None)
