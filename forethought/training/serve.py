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
"""Maximum tokens of a reflection (at most six sentences)."""


@dataclass(frozen=True)
class Reflected:
    """What the model wrote, and its tokens."""

    text: str
    input_tokens: int
    output_tokens: int
    whole: bool
    """Whether the model ended the text itself."""


class LocalModel:
    """An adapter with its base, or a whole model, and its tokenizer."""

    def __init__(self, path: Path) -> None:
        """Raises TrainingError where it cannot be loaded."""
        self.model, self.tokenizer = _load(path)
        self._one = threading.Lock()
        holds = int(getattr(self.model.config, "max_position_embeddings", 0) or 32_768)
        self._new_tokens = min(MAX_NEW_TOKENS, holds // 2)
        self._prompt_tokens = holds - self._new_tokens
        # The tokenizer's end of a reply is what the training rows end with; the model has ends of its own.
        own = self.model.generation_config.eos_token_id
        ends = [self.tokenizer.eos_token_id, *(own if isinstance(own, list) else [own])]
        self._ends = [end for end in dict.fromkeys(ends) if end is not None]

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
                max_new_tokens=self._new_tokens,
                max_time=max_seconds,
                eos_token_id=self._ends,
                pad_token_id=self._ends[0],
            )[0, len(ids) :].tolist()
        text = self.tokenizer.decode(written, skip_special_tokens=True).strip()
        return Reflected(text, len(ids), len(written), bool(written) and written[-1] in self._ends)

    def _encode(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """The prompt as training rows have it, within what the model can hold."""
        user_at = [message["role"] for message in messages].index("user")

        def encoded(user: str) -> list[int]:
            chat = [*messages[:user_at], {**messages[user_at], "content": user}, *messages[user_at + 1 :]]
            text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
            ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
            return ids

        user = shorten(messages[user_at]["content"], lambda text: len(encoded(text)) <= self._prompt_tokens)
        if user is None:
            raise TrainingError(
                f"the task and its background do not fit into {self._prompt_tokens} tokens: shorten the "
                "background"
            )
        return encoded(user)


def _load(path: Path) -> tuple[Any, Any]:
    """The model, with an adapter merged into the base that it names, and its tokenizer."""
    import torch
    from peft import PeftConfig, PeftModel
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    is_adapter = (path / "adapter_config.json").is_file()
    options: dict[str, Any] = {"dtype": "auto", "use_safetensors": True, "trust_remote_code": False}
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        base = PeftConfig.from_pretrained(str(path)).base_model_name_or_path if is_adapter else path
        model = AutoModelForCausalLM.from_pretrained(base, **options)
        if is_adapter:
            model = PeftModel.from_pretrained(model, str(path)).merge_and_unload()
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be loaded: {str(error)[:300]}") from error
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer
