"""The pages: which data each one shows."""

from __future__ import annotations

from starlette.routing import Route

from forethought.app.viewer import evaluations, run_pages
from forethought.app.viewer.experience import experience
from forethought.app.viewer.export import download
from forethought.app.viewer.thread_list import threads

ROUTES = [
    Route("/", threads, name="threads"),
    Route("/experience", experience, name="experience"),
    *evaluations.ROUTES,
    Route("/threads/{thread}", run_pages.run, name="run"),
    Route("/threads/{thread}/branches", run_pages.branches, name="branches"),
    Route("/threads/{thread}/export.{kind}", download, name="export"),
]
