"""What a registry says of an image, much of it wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.images.errors import ImageError, ImageUnavailableError
from services.executor.images.manifest import config_of, digest_for_this_platform, digest_of, manifest_of
from services.executor.images.registries import Registries, failure
from vocabulary.image_references import image_reference

DIGEST = "sha256:" + "a" * 64
LAYER = {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": DIGEST, "size": 7}
MANIFEST = {"schemaVersion": 2, "config": {"digest": DIGEST, "size": 1}, "layers": [LAYER, LAYER]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["manifests", "layers", "config", "platform", "digest", "size", "urls", "Env", "os", "Cmd", "mediaType"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)
REFERENCE = image_reference("registry.example/team/rocm:6.2")


def raw(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_sizes_are_added_up() -> None:
    assert manifest_of(raw(MANIFEST)).compressed_bytes == 15


def test_layers_from_elsewhere_are_refused_as_their_author_chooses_the_address() -> None:
    foreign = {**LAYER, "urls": ["http://169.254.169.254/latest"]}
    with pytest.raises(ImageError, match="fetched from elsewhere"):
        manifest_of(raw({**MANIFEST, "layers": [LAYER, foreign]}))
    with pytest.raises(ImageError, match="fetched from elsewhere"):
        manifest_of(raw({**MANIFEST, "config": {**foreign}}))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"layers": []},
        {"layers": [LAYER] * 501},
        {"layers": [{**LAYER, "size": -1}]},
        {"config": None},
        {"layers": [1]},
    ],
)
def test_a_manifest_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ImageError):
        manifest_of(raw({**MANIFEST, **wrong} if wrong else {}))


@given(JSON)
def test_whatever_a_registry_says_is_read_or_refused(value: Any) -> None:
    for read in (digest_for_this_platform, manifest_of, config_of):
        try:
            read(raw(value))
        except ImageError:
            continue


@pytest.mark.parametrize("text", [b"", b"[", b"null", b"[" * 100_000, b"\xff"])
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(ImageError):
        manifest_of(text)


def test_a_manifest_of_one_image_has_its_own_digest() -> None:
    assert digest_for_this_platform(raw(MANIFEST)) == digest_of(raw(MANIFEST))


def test_a_shell_is_known_by_the_images_environment() -> None:
    assert config_of(raw({"config": {"Env": ["SHELL=/usr/bin/zsh"]}})).shell == "/usr/bin/zsh"
    assert config_of(raw({"config": {"Env": ["SHELL=/bin/x:/root\n"]}})).shell == ""


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (
            'level=fatal msg="reading manifest 1 in r/n: manifest unknown: manifest unknown"',
            ImageError,
            "no such image",
        ),
        ('level=fatal msg="requested access to the resource is denied"', ImageError, "does not give it out"),
        (
            'level=fatal msg="reading manifest 1 in r/n: unauthorized: authentication required"',
            ImageError,
            "give it out",
        ),
        (
            'level=fatal msg="pinging: dial tcp 1.2.3.4:1: connect: connection refused"',
            ImageUnavailableError,
            "refused",
        ),
        ('level=fatal msg="received unexpected HTTP status: 503 Service Unavailable"', ImageUnavailableError, "503"),
        ("killed", ImageUnavailableError, "killed"),
    ],
)
def test_what_skopeo_says_is_the_images_fault_or_ours(said: str, kind: type[Exception], words: str) -> None:
    error = failure(said, REFERENCE)
    assert type(error) is kind
    assert words in str(error)


def test_only_registries_of_the_setting_are_spoken_to() -> None:
    Registries(("registry.example",)).check(REFERENCE)
    for registries in (Registries(), Registries(("other.example",)), Registries(("registry.example:443",))):
        with pytest.raises(ImageError, match="EXECUTOR_IMAGE_REGISTRIES"):
            registries.check(REFERENCE)
