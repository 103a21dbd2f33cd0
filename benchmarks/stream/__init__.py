"""A stream of tasks: does an agent that was corrected once stay right?

Ten families have twelve tasks each over small files. A family has a house rule that no file states, such as
"what the canteen sells never counts as sales". The rule changes every answer of its family, and a careful
reader without it gives another definite answer. After the first wrong answer of a family the agent is told
the rule in a person's words, and once more, in other words, after a later one. No rule is about the unrelated
tasks beside, half of which have the same kinds of files.

    python -m benchmarks.stream --base-url http://127.0.0.1:8399/v1 --model openai:reader --out build/stream

Four methods see the same tasks with the same model: our agent with and without its experience, ReAct with all
corrections pasted into the prompt, and LangChain's agent with LangMem's memory tools. LangMem is installed by
`make bench-stream` alone. If a run stops, the same command goes on.
"""
