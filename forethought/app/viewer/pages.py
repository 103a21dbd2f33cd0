"""The pages: which data each one shows."""

from __future__ import annotations

from starlette.routing import Route

from forethought.app.viewer import evaluations, knowledge, run_pages
from forethought.app.viewer.export import download
from forethought.app.viewer.thread_list import threads

ROUTES = [
    Route("/", threads, name="threads"),
    Route("/knowledge", knowledge.planning_errors, name="knowledge"),
    Route("/knowledge/taxonomy", knowledge.taxonomy, name="taxonomy"),
    Route("/knowledge/lessons", knowledge.lessons, name="lessons"),
    *evaluations.ROUTES,
    Route("/threads/{thread}", run_pages.run, name="run"),
    Route("/threads/{thread}/branches", run_pages.branches, name="branches"),
    Route("/threads/{thread}/export.{kind}", download, name="export"),
]
