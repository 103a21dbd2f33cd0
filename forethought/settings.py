"""What only the operator may choose: read from the environment (prefix FORETHOUGHT_), .env and the command
line.

A client of a server sets a `Context`, never this: so a server's key can never be sent to an address that a
client chose, and a client can name neither a path nor a module.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import (
    AnyHttpUrl,
    BeforeValidator,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from forethought.approval_rules import ApprovalRule, parse_rules
from forethought.sizes import LEAST_WINDOW_TOKENS
from forethought.users import named_tokens

LEAST_TOKENS = 1_000
"""The smallest token budget of a task."""
Effort = Literal["paper", "auto", "low"]
MODEL_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.:/@+-]*$"
MODEL_HINT = "write provider:name, such as openai:gpt-4.1"
NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"
_HINTS = {MODEL_NAME: MODEL_HINT, NAME: "use letters, digits, _ and -"}
"""What to write instead of a text that a pattern rejects."""
_ADDRESS = TypeAdapter(AnyHttpUrl | None)


def _data_dir() -> Path:
    return Path(platformdirs.user_data_dir("forethought"))


def key_bytes(text: str) -> bytes:
    """A key as AES takes it. Raises ValueError, which does not repeat it."""
    text = text.strip()
    try:
        if re.fullmatch(r"[0-9A-Fa-f]+", text) and len(text) in (32, 48, 64):
            return bytes.fromhex(text)
        key = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except ValueError:
        key = b""
    if len(key) not in (16, 24, 32):
        raise ValueError(
            "must be 16, 24 or 32 random bytes in base64 or hexadecimal; "
            "make them with: openssl rand -base64 32"
        )
    return key


def sendable_key(text: str) -> str:
    """A provider's key without the white space that a file or a secret store leaves around it.

    Raises ValueError, which does not repeat it, where no HTTP header can hold it.
    """
    text = text.strip()
    if not re.fullmatch(r"[ -~]*", text):
        raise ValueError(
            "cannot be a key: it contains a line break, a control character or a non-ASCII character; "
            "copy it again"
        )
    return text


def users_of(settings: Settings) -> dict[str, str]:
    """The server's users and their tokens."""
    return named_tokens(settings.access_tokens.get_secret_value()) if settings.access_tokens else {}


class Settings(BaseSettings):
    """The operator's choices."""

    model_config = SettingsConfigDict(
        env_prefix="FORETHOUGHT_", extra="forbid", env_ignore_empty=True, hide_input_in_errors=True
    )

    model: str | None = Field(default=None, description="Default model: provider:name.")
    effort: Effort | None = Field(default=None, description="Default effort.")
    base_url: str | None = Field(default=None, description="Address of an OpenAI-compatible endpoint.")
    context_tokens: int | None = Field(
        default=None,
        ge=LEAST_WINDOW_TOKENS,
        description="Context window; default: the model's, else 128,000 tokens.",
    )
    api_key: SecretStr | None = Field(
        default=None, description="Key for that endpoint; no other key is sent there."
    )
    db: str | None = Field(
        default=None,
        repr=False,  # its address may hold a password
        description="Thread database: a path, sqlite:///path or postgresql://user@host/db; default: in "
        "the data folder.",
    )
    encryption_key: SecretStr | None = Field(
        default=None,
        description="Key to encrypt threads and files: 16, 24 or 32 bytes in base64 or hex.",
    )
    data_dir: Path = Field(default_factory=_data_dir, description="Folder for threads and files.")
    files_dir: Path | None = Field(
        default=None, description="Only folder from which a server's clients may name files."
    )
    access_tokens: SecretStr | None = Field(
        default=None,
        description="A server's users and bearer tokens: name=token,...; without, it serves only its own "
        "machine.",
    )
    embedding_model: str | None = Field(
        default=None,
        description="Model that embeds the passages of files, provider:name; default: search by words alone.",
    )
    max_file_mb: float = Field(
        default=50, gt=0, allow_inf_nan=False, description="Maximum megabytes of an input file."
    )
    planning_errors_file: Path | None = Field(
        default=None, description="File of planning errors; default: the packaged one."
    )
    effort_file: Path | None = Field(default=None, description="Rules of effort auto; default: packaged.")
    tools: str | None = Field(default=None, description="Module of additional tools.")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Private hosts that visit_webpage may open, comma-separated.",
    )
    tavily_api_key: SecretStr | None = Field(
        default=None,
        validation_alias="TAVILY_API_KEY",
        description="Key for Tavily's web search; default: ddgs.",
    )
    request_timeout_s: float = Field(
        default=600, gt=0, allow_inf_nan=False, description="Seconds to wait for a model's reply."
    )
    drain_s: float = Field(
        default=25,
        ge=0,
        allow_inf_nan=False,
        description="Seconds for running calls to finish after SIGTERM.",
    )
    request_retries: int = Field(default=10, ge=0, le=50, description="Retries of a failed model request.")
    mcp_file: Path | None = Field(
        default=None,
        description="JSON file of MCP servers.",
    )
    reader_seconds: float = Field(
        default=20,
        gt=0,
        allow_inf_nan=False,
        description="Time limit for reading a document, page or picture.",
    )
    reader_memory_mb: int = Field(
        default=1024,
        ge=64,
        description="Memory limit for reading one; none on macOS.",
    )
    python_backend: Literal["monty", "sandlock"] = Field(
        default="monty",
        description="Sandbox of the python tool: a Python subset (monty), or CPython on Linux (sandlock).",
    )
    python_seconds: float = Field(
        default=10, gt=0, allow_inf_nan=False, description="Time limit of a python call."
    )
    python_memory_mb: int = Field(default=256, ge=16, description="Memory limit of a python call.")

    tracing: Literal["off", "otel"] = Field(
        default="off",
        description="Send OpenTelemetry spans; the OTEL_ variables say where.",
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Log on stderr as text, or as JSON objects."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="warning",
        description="Lowest level to log; info: each node, model call and tool call.",
    )

    models_dir: Path | None = Field(
        default=None,
        description="Folder of models named local:PATH; default: in the data folder.",
    )
    allow_ungated_models: bool = Field(
        default=False, description="Allow local models that have not passed the gate."
    )

    transcription: Literal["auto", "whisper", "openai"] = Field(
        default="auto",
        description="Transcribe audio with Whisper on this machine, with an endpoint (openai), or with "
        "either (auto).",
    )
    whisper_model: str = Field(default="base", description="Whisper model: a name or a checkpoint path.")
    transcription_model: str = Field(default="whisper-1", description="Model of the transcription endpoint.")
    max_audio_minutes: float = Field(default=60, gt=0, description="Maximum minutes of an audio file.")

    evals_dir: Path | None = Field(
        default=None,
        description="Folder of benchmark data; default: in the data folder.",
    )

    allowed_models: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Models that runs may use, comma-separated; default: any."
    )
    max_tokens: int | None = Field(
        default=None, ge=LEAST_TOKENS, description="Highest token budget of a run."
    )
    max_usd: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Highest dollar budget of a run."
    )
    max_seconds: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Highest time budget of a run, in seconds."
    )
    require_plan_approval: bool = Field(
        default=False, description="Require a person's approval of every plan."
    )

    approvals: Annotated[tuple[ApprovalRule, ...], NoDecode, BeforeValidator(parse_rules)] = Field(
        default=(), description="Approval rules in YAML or JSON, checked before a run's; first match wins."
    )
    least_approval: Literal["never", "tainted", "always"] = Field(
        default="never", description="Lowest `approve_tools` that a run may choose."
    )

    @field_validator("model")
    @classmethod
    def _is_model(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(MODEL_NAME, value):
            raise ValueError(MODEL_HINT)
        return value

    @field_validator("allowed_hosts", "allowed_models", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return (
            tuple(part.strip() for part in value.split(",") if part.strip())
            if isinstance(value, str)
            else value
        )

    @field_validator("api_key", "tavily_api_key")
    @classmethod
    def _is_sendable(cls, value: SecretStr | None) -> SecretStr | None:
        key = sendable_key(value.get_secret_value()) if value is not None else ""
        return SecretStr(key) if key else None

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        try:
            _ADDRESS.validate_python(value)
        except ValidationError as error:
            raise ValueError("must look like https://host/v1") from error
        return value

    @field_validator("encryption_key", "access_tokens")
    @classmethod
    def _can_be_read(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if value is not None:
            read = named_tokens if info.field_name == "access_tokens" else key_bytes
            read(value.get_secret_value())
        return value

    @property
    def key(self) -> bytes | None:
        """What to encrypt with; None: nothing is encrypted."""
        return key_bytes(self.encryption_key.get_secret_value()) if self.encryption_key else None

    @property
    def local_models_dir(self) -> Path:
        """Where models on this machine are."""
        return self.models_dir or self.data_dir / "models"

    @property
    def benchmarks_dir(self) -> Path:
        """Where the benchmarks' data is."""
        return self.evals_dir or self.data_dir / "evals"

    @property
    def blobs_dir(self) -> Path:
        """Where files are kept by content hash."""
        return self.data_dir / "files"


SECRETS = frozenset(
    name for name, field in Settings.model_fields.items() if field.annotation == SecretStr | None
)
"""The fields whose values are never shown."""
VARIABLES = {
    str(field.validation_alias or f"FORETHOUGHT_{name.upper()}"): str(field.validation_alias or name)
    for name, field in Settings.model_fields.items()
}
"""The environment variable of each field, and the name that `Settings` takes the field by."""


def read_settings(**flags: Any) -> Settings:
    """The settings; `flags` go before the environment.

    Raises ValueError, one line that names the flag or variable that is wrong and keeps a secret.
    """
    try:
        return Settings(**flags)
    except ValidationError as error:
        first = error.errors()[0]
    name, reason = str(first["loc"][0]), reason_of(first)
    variable = name if name.isupper() else f"FORETHOUGHT_{name.upper()}"
    if name in flags:
        variable = f"--{name.replace('_', '-')}"
    if name.lower() in SECRETS:  # nearly right, it would still say a lot
        raise ValueError(f"{variable}: {reason}")
    raise ValueError(f"{variable} is {str(first.get('input'))[:100]!r}: {reason}")


def reason_of(error: Mapping[str, Any]) -> str:
    """Why a value is not taken, of one of pydantic's errors, for the middle of a line."""
    if error["type"] == "string_pattern_mismatch" and (hint := _HINTS.get(error["ctx"]["pattern"])):
        return hint
    reason = str(error["msg"]).removeprefix("Value error, ").replace("Input should be", "must be", 1)
    return reason[:1].lower() + reason[1:].removesuffix(", unable to parse string as an integer")
