"""A trained model on this machine: loaded once, asked for one reflection at a time, always the likeliest.

Weights are read from safetensors files only, and no code of a model's folder is ever run.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forethought.training.errors import TrainingError
from forethought.training.prompt import shorten

MAX_NEW_TOKENS = 768
"""Of a reflection, which is at most six sentences."""


@dataclass(frozen=True)
class Reflected:
    """What the model wrote, and its tokens."""

    text: str
    input_tokens: int
    output_tokens: int
    whole: bool
    """Whether it came to its end by itself."""


class LocalModel:
    """An adapter with its base, or a whole model, and its tokenizer."""

    def __init__(self, path: Path) -> None:
        """Raises TrainingError where it cannot be loaded."""
        self.model, self.tokenizer = _load(path)
        self._one = threading.Lock()

    def reflect(self, messages: Sequence[dict[str, str]], max_seconds: float) -> Reflected:
        """The reply to chat messages; a trajectory that is too long for the model is cut in its middle.

        Blocks for as long as it takes, at most about `max_seconds`. Raises TrainingError where the prompt
        does not fit.
        """
        import torch

        ids = self._encode(messages)
        with self._one, torch.inference_mode():
            prompt = torch.tensor([ids], device=self.model.device)
            written = self.model.generate(
                input_ids=prompt,
                attention_mask=torch.ones_like(prompt),
                do_sample=False,
                num_beams=1,
                temperature=None,
                top_p=None,
                top_k=None,
                max_new_tokens=min(MAX_NEW_TOKENS, self._most // 2),
                max_time=max_seconds,
                eos_token_id=self._ends,
                pad_token_id=self._ends[0],
            )[0, len(ids) :].tolist()
        text = self.tokenizer.decode(written, skip_special_tokens=True).strip()
        return Reflected(text, len(ids), len(written), bool(written) and written[-1] in self._ends)

    @property
    def _most(self) -> int:
        """Tokens that the model can hold, prompt and reply."""
        return int(getattr(self.model.config, "max_position_embeddings", 0) or 32_768)

    @property
    def _ends(self) -> list[int]:
        """Tokens that end a reply: the tokenizer's, which the training rows end with, and the model's own."""
        own = self.model.generation_config.eos_token_id
        listed = own if isinstance(own, list) else [own]
        return [end for end in dict.fromkeys([self.tokenizer.eos_token_id, *listed]) if end is not None]

    def _encode(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """The prompt as training rows have it, within what the model can hold."""
        room = self._most - min(MAX_NEW_TOKENS, self._most // 2)
        asked = [message["role"] for message in messages].index("user")

        def encoded(user: str) -> list[int]:
            told = [*messages[:asked], {**messages[asked], "content": user}, *messages[asked + 1 :]]
            text = self.tokenizer.apply_chat_template(told, tokenize=False, add_generation_prompt=True)
            ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
            return ids

        user = shorten(messages[asked]["content"], lambda text: len(encoded(text)) <= room)
        if user is None:
            raise TrainingError(f"the task and its background do not fit into {room} tokens")
        return encoded(user)


def _load(path: Path) -> tuple[Any, Any]:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    options: dict[str, Any] = {"dtype": "auto", "use_safetensors": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        if (path / "adapter_config.json").is_file():
            model = _adapted(path, options)
        else:
            model = AutoModelForCausalLM.from_pretrained(path, **options)
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be loaded: {str(error)[:300]}") from error
    return model.to(device).eval(), tokenizer


def _adapted(path: Path, options: dict[str, Any]) -> Any:
    """The base that the adapter names, with the adapter merged into it."""
    from peft import PeftConfig, PeftModel
    from transformers import AutoModelForCausalLM

    base = PeftConfig.from_pretrained(str(path)).base_model_name_or_path
    whole = AutoModelForCausalLM.from_pretrained(base, **options)
    return PeftModel.from_pretrained(whole, str(path)).merge_and_unload()
