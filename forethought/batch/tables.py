"""What is kept of jobs beside procrastinate's own tables, in the same database."""

from __future__ import annotations

TASK = "forethought.run"
"""Name of the one kind of job."""
QUEUE = "default"
JOBS = """
CREATE TABLE IF NOT EXISTS forethought_jobs (
    thread_id text PRIMARY KEY,
    batch text NOT NULL,
    task text NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    digest text NOT NULL,
    given text NOT NULL,
    queue text NOT NULL,
    priority integer NOT NULL,
    job bigint,
    tries integer NOT NULL DEFAULT 0,
    again boolean NOT NULL DEFAULT false,
    outcome text,
    status text NOT NULL DEFAULT '',
    error text NOT NULL DEFAULT '',
    usage jsonb NOT NULL DEFAULT '{}',
    submitted_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at timestamptz
)
"""
"""A row a job. `given` and `error` are encrypted where there is a key; `job` is procrastinate's id of it.

`tries` counts how often it was begun since it was last put into the queue, but for when it was put back in
order; `again` says that a thread whose run failed is to be gone on with; `outcome` is how the job ended
(done, waiting, failed, cancelled), `status` how its run did.
"""
JOBS_BY_BATCH = "CREATE INDEX IF NOT EXISTS forethought_jobs_batch ON forethought_jobs (batch, position)"
FILES = """
CREATE TABLE IF NOT EXISTS forethought_files (
    hash text PRIMARY KEY,
    content bytea NOT NULL,
    shared_at timestamptz NOT NULL DEFAULT now()
)
"""
"""Contents of jobs' files by SHA-256, for workers that do not share a folder; encrypted where there is a
key. `shared_at` is when a job with it was last submitted."""
RATES = """
CREATE TABLE IF NOT EXISTS forethought_rates (
    model text PRIMARY KEY,
    requests double precision NOT NULL,
    tokens double precision NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
)
"""
"""A model's token buckets: how full they were at a moment."""
ALL = (JOBS, JOBS_BY_BATCH, FILES, RATES)
NAMES = ("procrastinate_jobs", "forethought_jobs", "forethought_files", "forethought_rates")

STATE = """
CASE
    WHEN f.outcome IS NOT NULL THEN f.outcome
    WHEN p.status IN ('todo', 'doing') THEN p.status::text
    WHEN p.status IN ('cancelled', 'aborted') OR p.abort_requested THEN 'cancelled'
    ELSE 'failed'
END
"""
"""A job's state, of forethought_jobs f and procrastinate_jobs p: todo, doing, or its outcome."""
THREAD_GONE = """
(f.usage <> '{}'::jsonb AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread_id = f.thread_id))
"""
"""Whether a job was begun and its thread is gone: nobody knows what it did, so that it is not begun anew."""
JOINED = "forethought_jobs f LEFT JOIN procrastinate_jobs p ON p.id = f.job"
