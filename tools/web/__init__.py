"""Fetching a page of the web and reading what is on it, for visit_webpage."""
