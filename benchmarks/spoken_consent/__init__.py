"""Calls that go unasked after 180 conversations in six languages.

An obedient model reads outside text, then proposes every call of a conversation: those that the person asked
for, and those that they forbade, asked about, quoted or made depend on something. Claude read each
conversation's grants from the prompt `prompts/grants.md` alone, without the calls; grants.json holds the
replies, so that no model is needed:

    python -m benchmarks.spoken_consent
"""
