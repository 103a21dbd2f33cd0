"""The tables of jobs beside procrastinate's own, in the same database."""

from __future__ import annotations

TASK = "forethought.run"
"""procrastinate's name for our only kind of job."""
JOBS = """
CREATE TABLE IF NOT EXISTS forethought_jobs (
    thread_id text PRIMARY KEY,
    batch text NOT NULL,
    task text NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    digest text NOT NULL,
    payload text NOT NULL,
    files text[] NOT NULL,
    job bigint,
    tries integer NOT NULL DEFAULT 0,
    outcome text,
    status text NOT NULL DEFAULT '',
    error text NOT NULL DEFAULT '',
    usage jsonb NOT NULL DEFAULT '{}',
    started_at timestamptz,
    ended_at timestamptz
)
"""
"""A row a job. `payload` and `error` are encrypted where there is a key; `job` is procrastinate's id of it.

`digest` tells the payload from another one, `files` are the hashes of its files. `tries` counts how often it
was begun since it was last submitted or retried, but for when it was put back in order. `outcome` is how the
job ended (done, waiting, failed, cancelled), `status` how its run did.
"""
JOBS_BY_BATCH = "CREATE INDEX IF NOT EXISTS forethought_jobs_batch ON forethought_jobs (batch, position)"
FILES = "CREATE TABLE IF NOT EXISTS forethought_files (hash text PRIMARY KEY, content bytea NOT NULL)"
"""Contents of jobs' files by SHA-256, for workers that share no folder; encrypted where there is a key."""
ALL = (JOBS, JOBS_BY_BATCH, FILES)
STATE = """
CASE
    WHEN f.outcome IS NOT NULL THEN f.outcome
    WHEN p.status IN ('todo', 'doing') THEN p.status::text
    ELSE 'failed'
END
"""
"""A job's state, of forethought_jobs f and procrastinate_jobs p: todo, doing, or its outcome."""
JOINED = "forethought_jobs f LEFT JOIN procrastinate_jobs p ON p.id = f.job"
OF_BATCH = "(?::text IS NULL OR f.batch = ?)"
"""Whether a job is in the batch; true for all jobs if no batch is named."""
