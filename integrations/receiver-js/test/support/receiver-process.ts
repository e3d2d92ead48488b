// A receiver as an agency runs it, for tests that kill it. Prints its address, then `begin` and `end` of each handler. STORE is `redis` (REDIS_URL,
// PREFIX) or `postgres` (PGHOST); each event that was handled is written there, too.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { PoolClient } from 'pg';
import { toNodeHandler } from '../../src/middleware/node.ts';
import {
  createReceiver,
  postgresStore,
  redisStore,
  type KnownEvent,
  type Receiver,
} from '../../src/index.ts';

const { env } = process;
const secrets = env['WEBHOOK_SECRET'] ?? '';
// Milliseconds that a handler takes, so that there is something to kill.
const handlerMs = 20;

async function working(write: () => Promise<unknown>): Promise<void> {
  console.log('begin');
  await write();
  await new Promise((resolve) => setTimeout(resolve, handlerMs));
  console.log('end');
}

const lineOf = ({ data }: KnownEvent) =>
  'filingId' in data ? JSON.stringify([data.filingId, data.sequence, data.status]) : '';

async function withRedis(): Promise<Receiver> {
  const { Redis } = await import('ioredis'); // of the two clients only the one that is used: starts are most of a test's time
  const redis = new Redis(env['REDIS_URL'] ?? '');
  const prefix = env['PREFIX'] ?? '';
  return createReceiver({
    secrets,
    store: redisStore({
      eval: (script, keys, args) => redis.eval(script, keys.length, ...keys, ...args),
      prefix,
      leaseMs: 500,
    }),
    handle: (event) => working(() => redis.rpush(`${prefix}:handled`, lineOf(event))),
  });
}

async function withPostgres(): Promise<Receiver> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ host: env['PGHOST'], user: 'postgres', database: 'postgres' });
  return createReceiver({
    secrets,
    store: postgresStore<PoolClient>({ pool }),
    handle: (event, { transaction }) =>
      working(() => transaction.query('insert into handled (line) values ($1)', [lineOf(event)])),
  });
}

const receiver = env['STORE'] === 'redis' ? await withRedis() : await withPostgres();
const handle = toNodeHandler(receiver);
const server = createServer((request, response) => void handle(request, response));
server.listen(Number(env['PORT'] ?? 0), '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as { port: number };
console.log(`http://127.0.0.1:${port}`);
