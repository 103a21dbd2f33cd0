"""Agreement of our scorers with the official ones: the same predictions through both.

    python -m benchmarks.agreement hotpotqa hotpot ReAct reflexion

An adapter is a module here with a function `compare`, whose arguments are checkouts of public repositories.
"""
