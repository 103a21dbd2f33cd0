"""Forethought, smolagents, LangChain's create_agent and a bare loop on one scripted model (`make bench`).

`task` is what they are asked, `script` the model that answers each of them in its own protocol, `server`
serves it over HTTP and keeps the accounts, `contenders` holds a file for each framework, `worker` runs the
cells of the `grid`, `report` and `plots` write what came out. docs/performance.md says what is compared.
"""
