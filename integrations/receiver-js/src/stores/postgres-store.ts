import { ConfigurationError } from '../errors.ts';
import { idsMax, subjectOf, type Delivery, type Store, type Taken } from './store.ts';

/** What the store needs of a client within a transaction: that of `pg`, PGlite and others. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A pool as `pg` has it. */
export interface PostgresPool<Client extends PostgresClient> {
  connect(): Promise<Client & { release(destroy?: boolean): void }>;
}

/** How a Postgres store gets its transactions: from a pool, or from a function of yours. */
export type PostgresStoreOptions<Client extends PostgresClient> = {
  /** The table, of `postgresTable`. Default `filing_webhooks_marks`; a schema may stand before it. */
  readonly table?: string;
  /** Milliseconds that a delivery waits for the transaction of another one about the same filing; then it is `in_flight`. Default 10 000. */
  readonly waitMs?: number;
  /**
   * Milliseconds after which Postgres ends a transaction in which nothing happens: that of a machine without power would hold its filing for hours.
   * A handler may not pause longer between two statements. Default 60 000.
   */
  readonly idleMs?: number;
} & (
  | { readonly pool: PostgresPool<Client>; readonly transaction?: never }
  | {
      /** Runs `work` in a transaction: commits when it resolves, rolls back when it rejects, and rejects then. */
      readonly transaction: <Result>(work: (client: Client) => Promise<Result>) => Promise<Result>;
      readonly pool?: never;
    }
);

/** The table of the marks, to be created once, by your migrations. */
export function postgresTable(table = 'filing_webhooks_marks'): string {
  return `create table if not exists ${checked(table)} (
  subject text primary key,
  sequence bigint not null,
  webhook_ids text[] not null,
  handled_at timestamptz not null default now()
)`;
}

// Marks a delivery unless it is repeated or stale. The row stays locked until the end of the transaction, also where it is not updated: another
// delivery about the same filing waits here, and is judged by what was committed.
const markStatement = (table: string) => `
insert into ${table} as mark (subject, sequence, webhook_ids)
values ($1, $2::bigint, array[$3::text])
on conflict (subject) do update
  set sequence = greatest(mark.sequence, excluded.sequence),
      webhook_ids = (array[$3::text] || mark.webhook_ids)[1:${idsMax}],
      handled_at = now()
  where not ($3::text = any (mark.webhook_ids))
    and (excluded.sequence > mark.sequence
      or $4::text = 'any' or ($4 = 'equal' and excluded.sequence = mark.sequence))
returning sequence > $2::bigint as "isStale"`;

const knownStatement = (table: string) =>
  `select $2::text = any (webhook_ids) as "isRepeat" from ${table} where subject = $1`;

// Both hold until the end of the transaction.
const limitStatement =
  "select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)";

// SQLSTATE lock_not_available: `lock_timeout` ended the wait.
const lockNotAvailable = '55P03';

/**
 * Keeps marks in a table of Postgres, written in the transaction in which the handler works: what the handler writes with `context.transaction` and
 * the mark are committed together, or neither is. So each event has its effect there exactly once, whatever is killed whenever. One handler runs at
 * a time for each filing. With `pool`, each delivery takes a connection for as long as its handler runs.
 */
export function postgresStore<Client extends PostgresClient>(
  options: PostgresStoreOptions<Client>,
): Store<Client> {
  const { waitMs = 10_000, idleMs = 60_000 } = options;
  if ((options.pool === undefined) === (options.transaction === undefined))
    throw new ConfigurationError('postgresStore needs either a pool or a function transaction.');
  if (!(waitMs >= 1 && idleMs >= 1)) throw new ConfigurationError('waitMs and idleMs have to be 1 or more.');
  const table = checked(options.table ?? 'filing_webhooks_marks');
  const { pool } = options;
  const inTransaction: <Result>(work: (client: Client) => Promise<Result>) => Promise<Result> =
    options.transaction ?? ((work) => withPool(pool, work));
  return {
    async take(delivery, handle) {
      return inTransaction(async (client) => {
        const verdict = await markIn(client, table, delivery, { waitMs, idleMs });
        if (typeof verdict === 'string') return verdict;
        await handle({ transaction: client, isStale: verdict.isStale });
        // A handler may have swallowed an error of a statement. Postgres would turn the commit into a rollback then, without an error.
        await client.query('select 1');
        return 'handled';
      }).catch((error: unknown) => {
        if (error instanceof WaitedTooLong) return 'in_flight' as const;
        throw error;
      });
    },
  };
}

class WaitedTooLong extends Error {}

async function markIn(
  client: PostgresClient,
  table: string,
  delivery: Delivery,
  { waitMs, idleMs }: { readonly waitMs: number; readonly idleMs: number },
): Promise<Taken | { readonly isStale: boolean }> {
  const subject = subjectOf(delivery);
  const { webhookId, filing, takes } = delivery;
  await client.query(limitStatement, [`${Math.round(waitMs)}ms`, `${Math.round(idleMs)}ms`]);
  const { rows } = await client
    .query(markStatement(table), [subject, filing?.sequence ?? 0, webhookId, takes])
    .catch((error: unknown) => {
      const { code } = error as { readonly code?: unknown };
      throw code === lockNotAvailable ? new WaitedTooLong('', { cause: error }) : error;
    });
  const [marked] = rows as readonly { readonly isStale: boolean }[];
  if (marked === undefined) {
    const known = await client.query(knownStatement(table), [subject, webhookId]);
    const [row] = known.rows as readonly { readonly isRepeat: boolean }[];
    return row?.isRepeat === true ? 'repeated' : 'stale';
  }
  await client.query('set local lock_timeout to default'); // the handler's own statements wait as they are used to
  return marked;
}

async function withPool<Client extends PostgresClient, Result>(
  pool: PostgresPool<Client> | undefined,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  if (pool === undefined) throw new ConfigurationError('postgresStore has no pool.');
  const client = await pool.connect();
  // pg ends the process at an error of a connection that nobody listens to. The next statement meets it, too.
  const { on, off } = client as Partial<
    Record<'on' | 'off', (event: string, listener: () => void) => unknown>
  >;
  on?.call(client, 'error', ignore);
  let isBroken = false;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (isBroken = true));
    throw error;
  } finally {
    off?.call(client, 'error', ignore);
    client.release(isBroken);
  }
}

const ignore = (): void => undefined;

function checked(table: string): string {
  if (/^[a-z_][\w]*(?:\.[a-z_][\w]*)?$/i.test(table)) return table;
  throw new ConfigurationError(`The name of a table is letters, digits and _: ${table}`);
}
