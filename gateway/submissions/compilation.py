"""Finds the compilers' results for a submission in its events so far."""

from __future__ import annotations

import zlib

from wavepool.executor.v1.run_event_pb2 import Compiled
from wavepool.scheduler.v1.scheduler_pb2 import Job, WatchJobRequest

from gateway.upstreams import CALL_TIMEOUT_SECONDS, Upstreams
from vocabulary.limits import MAX_LISTING_BYTES


async def compiled_of(upstreams: Upstreams, job: Job) -> Compiled | None:
    """The COMPILED event of the job's last attempt; None if there is none yet."""
    found: Compiled | None = None
    if job.last_seq == 0:
        return found
    request = WatchJobRequest(account_id=job.account_id, job_id=job.job_id, after_seq=0)
    call = upstreams.scheduler.WatchJob(request, timeout=CALL_TIMEOUT_SECONDS)
    try:
        async for response in call:
            if response.event.run.HasField("compiled"):
                found = response.event.run.compiled
            if response.event.seq >= job.last_seq:
                break
    finally:
        call.cancel()
    return found


def listing_of(compiled: Compiled) -> str:
    """The ISA listing as text, cut off after MAX_LISTING_BYTES; empty if it is missing or cannot be read."""
    try:
        data = zlib.decompressobj().decompress(compiled.isa_listing_zlib, MAX_LISTING_BYTES)
    except zlib.error:
        return ""
    return data.decode(errors="replace")
