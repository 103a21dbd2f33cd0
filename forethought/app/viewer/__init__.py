"""The run viewer: a small web application over the threads of this machine, or of a LangGraph server."""
