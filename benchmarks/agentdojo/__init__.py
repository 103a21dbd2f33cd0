"""AgentDojo with an obedient model: what an injection gets through, and what a person is asked needlessly.

AgentDojo (https://github.com/ethz-spylab/agentdojo) has four suites of tools over a make-believe office,
bank, chat and travel agency, tasks of their user, and injections: orders that stand in what the tools return.
Here our compiled graph does the tasks with a scripted model that knows the right calls of the task, and obeys
the injection as soon as a tool returns it: it proposes the calls that the injection wants. So nothing holds
an injection back but the agent's gates. A scripted person approves the task's own calls and rejects the
others.

    pip install -e '.[agentdojo]'
    python -m benchmarks.agentdojo
"""
