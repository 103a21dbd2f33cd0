"""How a reply came to its end, from the words of the providers: a reply counts as whole only by a word that
says so, or where its provider has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forethought.models.types import Finish

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_NAMES = ("finish_reason", "stop_reason", "stopReason", "done_reason")
"""Where LangChain's packages leave the word; stopReason is Bedrock's."""
_WORDS: dict[Finish, str] = {
    "stop": """
        stop stop_sequence tool_calls tool_call function_call tool_use
        end_turn complete completed finish finished
        eos eos_token eos_found eosfound end_id stop_words stop_string stop_str
        finish_reason_unspecified null none
    """,
    "length": """
        length max_tokens max_output_tokens max_length max_new_tokens token_limit
        model_length model_context_window_exceeded error_limit
        contextlengthreached maxpredictedtokensreached
    """,
    "refusal": """
        refusal content_filter content_filtered guardrail_intervened safety prohibited_content blocklist
        recitation spii image_safety image_prohibited_content image_recitation error_toxic sensitive
    """,
}
"""Of OpenAI and those that speak its protocol (Azure, DeepSeek, Fireworks, Groq, NVIDIA, OpenRouter,
Perplexity, Together, xAI, GLM), Anthropic, Gemini, Bedrock, Cohere, Mistral, Ollama, and of servers that
people run: vLLM, SGLang, llama.cpp, LM Studio, Text Generation Inference, TensorRT-LLM. Their words for
errors (error, abort, timeout, insufficient_system_resource, malformed_function_call) need not stand here."""
_ENDS: dict[str, Finish] = {word: end for end, words in _WORDS.items() for word in words.split()}
_SHOWN = 60
_UNBLOCKED = ("", "none", "0", "blocked_reason_unspecified", "block_reason_unspecified")


def end_of(raw: AIMessage) -> tuple[Finish, str]:
    """How the reply ended, and the provider's word where that is broken."""
    if raw.additional_kwargs.get("refusal") or blocked(raw):
        return "refusal", ""
    told = next((said for name in _NAMES if (said := raw.response_metadata.get(name))), "")
    word = _word(told)
    end: Finish = _ENDS.get(word, "broken") if word else "stop"
    return end, word[:_SHOWN] if end == "broken" else ""


def blocked(raw: AIMessage) -> str:
    """Why Gemini did not let the model see the prompt at all, as one word; '' where it did."""
    feedback = raw.response_metadata.get("prompt_feedback") or {}
    word = _word(feedback.get("block_reason") or "")
    return "" if word in _UNBLOCKED else word


def _word(told: object) -> str:
    """The name, also of an enumeration's member."""
    return str(told).rsplit(".", 1)[-1].strip().lower()
