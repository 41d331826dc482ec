from __future__ import annotations

import base64
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey

from services.billing.sign_in.id_token import InvalidIdTokenError, UnknownKeyError, verified_claims

ISSUER, CLIENT = "https://id.example.org", "wavepool"
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
KEY = RSAKey.generate_key(2048, {"kid": "first", "alg": "RS256", "use": "sig"})
FOREIGN = RSAKey.generate_key(2048, {"kid": "first", "alg": "RS256"})
FOR_ENCRYPTION = RSAKey.generate_key(2048, {"kid": "enc", "use": "enc"})
KEYS = KeySet.import_key_set(KeySet([KEY, FOR_ENCRYPTION]).as_dict(private=False))


def claims(**changes: Any) -> dict[str, Any]:
    made = {"iss": ISSUER, "aud": CLIENT, "sub": "u1", "iat": SECONDS - 5, "exp": SECONDS + 300, **changes}
    return {name: value for name, value in made.items() if value is not None}


def signed(header: dict[str, Any] | None = None, key: Any = KEY, **changes: Any) -> str:
    header = {"alg": "RS256", "kid": "first", **(header or {})}
    algorithms = [header["alg"]]
    registry = jws.JWSRegistry(algorithms=algorithms, strict_check_header=False)
    return jwt.encode(header, claims(**changes), key, registry=registry)


def verified(token: str, nonce: str = "", now: datetime = NOW, keys: KeySet = KEYS) -> dict[str, Any]:
    return verified_claims(token, nonce, keys, ISSUER, CLIENT, now)


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def test_a_genuine_token_gives_its_claims() -> None:
    assert verified(signed(groups=["a"]))["groups"] == ["a"]


@pytest.mark.parametrize(
    ("algorithm", "key"),
    [
        ("ES256", ECKey.generate_key("P-256", {"kid": "k"})),
        ("EdDSA", OKPKey.generate_key("Ed25519", {"kid": "k"})),
        ("Ed25519", OKPKey.generate_key("Ed25519", {"kid": "k"})),
    ],
)
@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
def test_other_key_pairs_sign_as_well(algorithm: str, key: Any) -> None:
    token = signed({"alg": algorithm, "kid": "k"}, key)
    assert verified(token, keys=KeySet.import_key_set(KeySet([key]).as_dict(private=False)))["sub"] == "u1"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"iss": "https://evil.example.org"}, f"its iss is not '{ISSUER}'"),
        ({"iss": ISSUER + "/"}, "its iss is not"),
        ({"iss": None}, "it lacks iss"),
        ({"aud": "another"}, f"its aud is not '{CLIENT}'"),
        ({"aud": ["another"]}, "its aud is not"),
        ({"aud": []}, "its aud is not"),
        ({"aud": None}, "it lacks aud"),
        ({"aud": [CLIENT, "another"]}, "it is for several audiences"),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "it was given to another program"),
        ({"azp": "another"}, "it was given to another program"),
        ({"sub": ""}, "its sub is wrong"),
        ({"sub": 7}, "its sub is wrong"),
        ({"sub": None}, "it lacks sub"),
        ({"exp": SECONDS - 30}, "it has expired"),
        ({"exp": None}, "it lacks exp"),
        ({"exp": "soon"}, "its exp is wrong"),
        ({"iat": SECONDS + 31}, "its iat is wrong"),
        ({"iat": SECONDS - 631}, "it is more than 10 minutes old"),
        ({"iat": None}, "it lacks iat"),
        ({"nbf": SECONDS + 31}, "its nbf is wrong"),
        ({"nonce": "another"}, "its nonce is not the one of this sign-in"),
        ({"events": {"http://schemas.openid.net/event/backchannel-logout": {}}}, "it is no ID token"),
    ],
)
def test_wrong_claims_are_refused_with_their_fault(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidIdTokenError, match="sign in again") as refused:
        verified(signed(**changes))
    assert fault in str(refused.value)
    assert refused.value.violations[0][0] == "id_token"


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": SECONDS - 29},
        {"iat": SECONDS + 30},
        {"iat": SECONDS - 629},
        {"nbf": SECONDS + 30},
        {"aud": [CLIENT]},
        {"aud": [CLIENT, "another"], "azp": CLIENT},
    ],
)
def test_a_small_difference_of_clocks_and_our_own_audience_are_taken(changes: dict[str, Any]) -> None:
    assert verified(signed(**changes))["sub"] == "u1"


def test_the_nonce_must_be_that_of_the_browser() -> None:
    assert verified(signed(nonce="n1"), "n1")["nonce"] == "n1"
    for token, nonce in ((signed(nonce="n1"), "n2"), (signed(nonce="n1"), ""), (signed(), "n1")):
        with pytest.raises(InvalidIdTokenError, match="nonce"):
            verified(token, nonce)


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE"])
@pytest.mark.parametrize("signature", ["", "AAAA"])
def test_a_token_without_a_signature_is_refused(algorithm: str, signature: str) -> None:
    for header in ({"alg": algorithm}, {"alg": algorithm, "kid": "first"}):
        with pytest.raises(InvalidIdTokenError, match="its form or its signature is wrong"):
            verified(f"{part(header)}.{part(claims())}.{signature}", keys=KeySet([KEY]))


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
@pytest.mark.parametrize("form", ["PEM", "DER"])
def test_the_public_key_is_no_shared_secret(algorithm: str, form: Any) -> None:
    public = KEY.as_bytes(encoding=form, private=False)
    begin = f"{part({'alg': algorithm, 'kid': 'first'})}.{part(claims())}"
    signature = hmac.digest(public, begin.encode(), algorithm.replace("HS", "sha"))
    with pytest.raises(InvalidIdTokenError, match="is not allowed"):
        verified(f"{begin}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}")


@pytest.mark.parametrize("algorithm", ["RS512", "PS256"])
def test_only_the_named_algorithms_are_taken(algorithm: str) -> None:
    key = RSAKey.import_key(KEY.as_dict(private=True) | {"alg": algorithm})
    with pytest.raises((InvalidIdTokenError, UnknownKeyError)):
        verified(signed({"alg": algorithm}, key))


def test_a_key_that_came_with_the_token_proves_nothing() -> None:
    own = FOREIGN.as_dict(private=False)
    for header in ({"jwk": own}, {"jwk": own, "kid": "first"}, {"jku": "https://evil.example.org/jwks"}):
        with pytest.raises(InvalidIdTokenError, match="signature"):
            verified(signed(header, FOREIGN))


def test_the_key_of_another_with_the_same_name_is_refused() -> None:
    with pytest.raises(InvalidIdTokenError, match="signature"):
        verified(signed(key=FOREIGN))


def test_a_key_that_is_not_known_is_told_apart() -> None:
    for header in ({"kid": "second"}, {"kid": "enc"}):
        with pytest.raises(UnknownKeyError):
            verified(signed(header, FOREIGN))


def test_changed_claims_break_the_signature() -> None:
    header, _, signature = signed(groups=["choir"]).split(".")
    with pytest.raises(InvalidIdTokenError, match="signature"):
        verified(f"{header}.{part(claims(groups=['gpu-admins']))}.{signature}")


@pytest.mark.parametrize("kind", ["at+jwt", "logout+jwt", "secevent+jwt"])
def test_tokens_of_other_kinds_are_no_id_tokens(kind: str) -> None:
    with pytest.raises(InvalidIdTokenError, match="it is no ID token"):
        verified(signed({"typ": kind}))


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "a.b.c.d.e", "é.é.é", "\0", "[" * 5000, "x" * 200_000])
def test_text_that_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidIdTokenError, match="its form or its signature is wrong"):
        verified(token)


@pytest.mark.parametrize("payload", [[], "text", 7, None])
def test_signed_json_that_is_no_object_is_refused(payload: Any) -> None:
    token = jws.serialize_compact({"alg": "RS256", "kid": "first"}, json.dumps(payload), KEY)
    with pytest.raises(InvalidIdTokenError, match="its form"):
        verified(token)


def test_headers_that_nobody_knows_are_ignored_unless_they_are_critical() -> None:
    assert verified(signed({"vendor": "x"}))["sub"] == "u1"
    token = signed({"vendor": "x"})
    header = {"alg": "RS256", "kid": "first", "crit": ["vendor"], "vendor": "x"}
    with pytest.raises(InvalidIdTokenError):
        verified(".".join([part(header), *token.split(".")[1:]]))


def test_a_token_ages_while_it_lies_about() -> None:
    token = signed(exp=SECONDS + 86_400)
    assert verified(token, now=NOW + timedelta(minutes=10))["sub"] == "u1"
    with pytest.raises(InvalidIdTokenError, match="10 minutes old"):
        verified(token, now=NOW + timedelta(minutes=11))
