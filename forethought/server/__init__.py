"""What a LangGraph server is given besides the graphs."""
