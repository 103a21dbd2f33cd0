"""Forethought, smolagents, LangChain's create_agent and a bare loop on one scripted model (`make bench`).

`task` is what they are asked, `script` the model that answers each of them in its own protocol, `server`
serves it over HTTP and keeps the accounts, `contenders` holds a file for each framework, `worker` runs the
cells of the `grid`, `report` and `plots` write what came out.

All have one tool, which takes no time and returns 1 KB. Ours and create_agent write each step to SQLite
before the next begins; the others keep nothing. Where several look-ups may come in one turn, the script
asks for five; our plan lists all of them. Not compared: answers (the script makes no mistakes), the length
of real replies, loops in code, slow tools, streaming, other providers' caches.
"""
