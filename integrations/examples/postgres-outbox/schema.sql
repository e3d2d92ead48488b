-- The filings as their last events have them.
create table if not exists filings (
  account text not null,
  filing_id text not null,
  sequence bigint not null,
  status text not null,
  rejection_reason text,
  removed boolean not null,
  -- As the partner service returned it; null where the event came without it.
  filing jsonb,
  changed_at timestamptz not null,
  primary key (account, filing_id)
);

-- The events that were taken. Rows older than the daemon's log (EVENT_RETENTION_MS, 30 days) may be deleted.
create table if not exists received (
  webhook_id text primary key,
  received_at timestamptz not null default now()
);

-- The mails to send, each once. A row stays after it was sent.
create table if not exists outbox (
  id bigint generated always as identity primary key,
  webhook_id text not null unique,
  account text not null,
  filing_id text not null,
  event jsonb not null,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  last_error text,
  sent_at timestamptz
);

create index if not exists outbox_unsent on outbox (account, filing_id, id) where sent_at is null;
