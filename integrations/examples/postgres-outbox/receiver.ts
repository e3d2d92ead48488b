// Takes the callbacks of filing-webhooks into PostgreSQL. DATABASE_URL names the database, WEBHOOK_SECRET is the subscription's, PORT the
// port to listen on. It may be killed at any time: an event is answered with 204 after all that it causes was committed, and before that
// nothing was.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import pg from 'pg';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { FilingEvent, WebhookEvent } from './event.ts';

const { DATABASE_URL = '', HOST = '127.0.0.1', PORT = '8080', WEBHOOK_SECRET = '' } = process.env;
const bodyBytesMax = 1024 * 1024;
const webhook = new Webhook(WEBHOOK_SECRET);
const database = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
database.on('error', (error) => console.error(`PostgreSQL: ${error.message}`));

interface Answer {
  readonly status: number;
  readonly body?: string;
}

const server = createServer((request, response) => {
  void answer(request).then(({ status, body = '' }) => response.writeHead(status).end(body));
});
server.listen(Number(PORT), HOST, () => {
  console.log(`listening on http://${HOST}:${(server.address() as AddressInfo).port}/`);
});

async function answer(request: IncomingMessage): Promise<Answer> {
  try {
    const body = await read(request);
    if (body === null) return { status: 413 };
    const event = webhook.verify(body, request.headers as Record<string, string>) as WebhookEvent;
    if (event.type === 'subscription.challenge') return { status: 200, body: String(event.data.challenge) };
    if (event.data.filingId !== undefined)
      await take(String(request.headers['webhook-id']), event as FilingEvent);
    return { status: 204 };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    // Whatever is not a 2xx comes again.
    return { status: error instanceof WebhookVerificationError ? 401 : 500 };
  }
}

// Null for a body that is too large, which is read to its end but not kept: only then the sender reads the answer.
async function read(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  }
  return bytes <= bodyBytesMax ? Buffer.concat(chunks) : null;
}

// One statement is one transaction. An id that is known gives no row in `first`, an older sequence none in `state`: nothing follows from it.
const takeEvent = `
  with first as (
    insert into received (webhook_id) values ($1) on conflict do nothing returning webhook_id
  ), state as (
    insert into filings (account, filing_id, sequence, status, rejection_reason, removed, filing, changed_at)
    select $2, $3, $4, $5, $6, $7, $8, $9 from first
    on conflict (account, filing_id) do update set
      sequence = excluded.sequence, status = excluded.status, rejection_reason = excluded.rejection_reason,
      removed = excluded.removed, filing = excluded.filing, changed_at = excluded.changed_at
    where filings.sequence < excluded.sequence or ($10 and filings.sequence = excluded.sequence)
    returning account, filing_id
  )
  insert into outbox (webhook_id, account, filing_id, event)
  select $1, account, filing_id, $11 from state where $12`;

async function take(webhookId: string, { type, timestamp, data }: FilingEvent): Promise<void> {
  const { account, filingId, sequence, status, rejectionReason, filing } = data;
  const isSnapshot = type === 'filing.snapshot';
  const isRemoved = type === 'filing.removed';
  // Also a filing that is REJECTED or COMPLETED when it is seen first, which is what an outage leaves behind.
  const isQuiet = isSnapshot || isRemoved || type === 'filing.resubmitted';
  const isMailed =
    type === 'filing.stalled' || (!isQuiet && (status === 'REJECTED' || status === 'COMPLETED'));
  await database.query(takeEvent, [
    webhookId,
    account,
    filingId,
    sequence,
    clean(status),
    rejectionReason === null ? null : clean(rejectionReason),
    isRemoved,
    filing ? toJson(filing) : null,
    timestamp,
    isSnapshot,
    toJson({ type, timestamp, data: { ...data, filing: undefined } }),
    isMailed,
  ]);
}

// PostgreSQL has no text with the character NUL, and none with half of a surrogate pair. The partner service may send both.
function clean(text: string): string {
  return text.replaceAll('\0', '\u{fffd}').toWellFormed();
}

// The same for all texts and names of a value: JSON.stringify writes those characters as escapes.
function toJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\\(?:u0000|ud[89a-f]..|(.))/g, (escape, other?: string) =>
    other === undefined ? String.raw`\ufffd` : escape,
  );
}
