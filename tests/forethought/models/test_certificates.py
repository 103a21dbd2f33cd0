"""A provider is asked over TLS only where its certificate is trusted."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import BaseModel

from forethought.models import ConfigurationError, Message, Models, reply_spec
from forethought.settings import Settings
from tests.support.model_server import ModelServer, script


class Ok(BaseModel):
    ok: bool


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of 127.0.0.1 that nobody vouches for, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a model server")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "server.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(built.public_bytes(serialization.Encoding.PEM) + secret)
    return path


@pytest.fixture
def asked(model_server: Callable[..., ModelServer], certificate: Path) -> tuple[ModelServer, Settings]:
    """A model server behind TLS, and the settings that point at it."""
    server = model_server(script({"ok": True}))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server._http.socket = context.wrap_socket(server._http.socket, server_side=True)
    return server, Settings(base_url=server.url.replace("http:", "https:"), request_retries=5)


async def ask(settings: Settings, model: str = "m") -> object:
    messages = [Message("user", "?")]
    return await Models(settings).ask(role="tool", model=model, messages=messages, reply=reply_spec(Ok))


async def test_one_that_nobody_vouches_for_is_refused_and_nothing_is_sent(
    asked: tuple[ModelServer, Settings],
) -> None:
    server, settings = asked
    with pytest.raises(
        ConfigurationError, match=r"the certificate is not trusted: .*CERTIFICATE_VERIFY_FAILED"
    ):
        await ask(settings)
    assert not server.requests


async def test_one_that_the_operator_trusts_is_accepted(
    asked: tuple[ModelServer, Settings], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server, settings = asked
    await ask(settings)
    assert len(server.requests) == 1
