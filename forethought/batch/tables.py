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
    ended_at timestamptz,
    run text,
    begun_from text
)
"""
"""A row a job. `given` and `error` are encrypted where there is a key; `job` is procrastinate's id of it.

`tries` counts how often it was begun since it was last put into the queue, but for when it was put back in
order, and for when its worker died after the thread had come further; `again` says that a thread whose run
failed is to be gone on with; `outcome` is how the job ended (done, waiting, failed, cancelled), `status` how
its run did. `run` is an id of the try that is under way, or was when the job ended: what another try says of
the job is not heard. `begun_from` is the thread's newest checkpoint when that try was begun.
"""
JOBS_MORE = """
ALTER TABLE forethought_jobs ADD COLUMN IF NOT EXISTS run text, ADD COLUMN IF NOT EXISTS begun_from text
"""
"""For a table that was made before these."""
JOBS_BY_JOB = "CREATE INDEX IF NOT EXISTS forethought_jobs_job ON forethought_jobs (job)"
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
FILES_MORE = """
ALTER TABLE forethought_files ADD COLUMN IF NOT EXISTS shared_at timestamptz NOT NULL DEFAULT now()
"""
RATES = """
CREATE TABLE IF NOT EXISTS forethought_rates (
    model text PRIMARY KEY,
    requests double precision NOT NULL,
    tokens double precision NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
)
"""
"""A model's token buckets: how full they were at a moment."""
ALL = (JOBS, JOBS_MORE, JOBS_BY_BATCH, FILES, FILES_MORE, RATES, JOBS_BY_JOB)
"""The last one shows that all of them were carried out."""
NAMES = (
    "procrastinate_jobs",
    "forethought_jobs",
    "forethought_jobs_job",
    "forethought_files",
    "forethought_rates",
)

STATE = """
CASE
    WHEN f.outcome IN ('done', 'waiting', 'failed', 'cancelled') THEN f.outcome
    WHEN f.outcome IS NOT NULL THEN 'failed'
    WHEN p.status IN ('todo', 'doing') THEN p.status::text
    WHEN p.status IN ('cancelled', 'aborted') OR p.abort_requested THEN 'cancelled'
    ELSE 'failed'
END
"""
"""A job's state, of forethought_jobs f and procrastinate_jobs p: todo, doing, or its outcome."""
THREAD_GONE = """
((f.usage <> '{}'::jsonb OR coalesce(f.begun_from, '') <> '')
    AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread_id = f.thread_id))
"""
"""Whether a job was begun and its thread is gone: nobody knows what it did, so that it is not begun anew."""
JOINED = "forethought_jobs f LEFT JOIN procrastinate_jobs p ON p.id = f.job"
