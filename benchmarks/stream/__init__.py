"""A stream of tasks: does an agent that was corrected once stay right?

Ten families have twelve tasks each over small files. A family has a house rule that no file states, such as
"the canteen's sales never count". The rule changes every answer of its family. A careful reader who does not
know the rule gives another definite answer. After the first wrong answer of a family, a person says the rule.
After a later wrong answer, the person says it once more in other words. No rule concerns the unrelated tasks,
half of which use the same kinds of files.

    python -m benchmarks.stream --base-url http://127.0.0.1:8399/v1 --model openai:reader --out build/stream

Four methods see the same tasks with the same model: our agent with and without its experience, ReAct with all
corrections pasted into the prompt, and LangChain's agent with LangMem's memory tools. LangMem is installed by
only `make bench-stream`. If a run stops, the same command continues it.
"""
