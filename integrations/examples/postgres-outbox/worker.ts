// Sends the mails of the outbox. DATABASE_URL names the database. SMTP_URL names the mail server, MAIL_FROM and MAIL_TO the addresses;
// without SMTP_URL mails are printed. Any number of workers may run, and each may be killed at any time.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import nodemailer from 'nodemailer';
import pg from 'pg';
import type { FilingEvent } from './event.ts';

const { DATABASE_URL = '', MAIL_FROM = '', MAIL_TO = '', SMTP_URL } = process.env;
// Milliseconds between two looks into an empty outbox.
const idleMs = Number(process.env['IDLE_MS'] ?? 1000);
const database = new pg.Pool({ connectionString: DATABASE_URL, max: 1 });
database.on('error', (error) => console.error(`PostgreSQL: ${error.message}`));
const mailer = SMTP_URL === undefined ? null : nodemailer.createTransport(SMTP_URL);

// The oldest mail that is due and that no other worker has. The mails of one filing go out in their order.
const nextMail = `
  select id, webhook_id, filing_id, event, attempts from outbox
  where sent_at is null and due_at <= now() and not exists (
    select from outbox as earlier
    where earlier.account = outbox.account and earlier.filing_id = outbox.filing_id
      and earlier.id < outbox.id and earlier.sent_at is null
  )
  order by id limit 1 for update skip locked`;

interface Mail {
  readonly id: string;
  readonly webhook_id: string;
  readonly filing_id: string;
  readonly event: FilingEvent;
  readonly attempts: number;
}

/** Sends one mail; true when none is due. The row is locked until it is marked: a worker that is killed leaves it as it was. */
async function sendNext(): Promise<boolean> {
  const client = await database.connect();
  try {
    await client.query('begin');
    const [mail] = (await client.query<Mail>(nextMail)).rows;
    if (mail !== undefined) {
      const error = await send(mail).then(
        () => null,
        (reason: unknown) => String(reason),
      );
      if (error === null) await client.query('update outbox set sent_at = now() where id = $1', [mail.id]);
      else await postpone(client, mail, error);
    }
    await client.query('commit');
    client.release();
    return mail === undefined;
  } catch (error) {
    // The connection is closed, and its transaction with it.
    client.release(true);
    throw error;
  }
}

/** A second, two, four … up to an hour later. */
async function postpone(client: pg.PoolClient, { id, attempts }: Mail, error: string): Promise<void> {
  await client.query(
    `update outbox set attempts = attempts + 1, last_error = $2, due_at = now() + $3 * interval '1 second' where id = $1`,
    [id, error.replaceAll('\0', ''), Math.min(2 ** attempts, 3600)],
  );
}

// A mail may go out twice: a worker can be killed after the mail server took it and before it is marked. Both have the same Message-ID, by
// which mailboxes know a repeat.
async function send({ webhook_id, filing_id, event }: Mail): Promise<void> {
  const { status, rejectionReason, stalled } = event.data;
  const subject =
    stalled === undefined ? `Filing ${filing_id} is ${status}` : `Filing ${filing_id} is still ${status}`;
  const text = [
    `Seen at ${event.timestamp}.`,
    ...(status === 'REJECTED' ? [`Reason: ${rejectionReason ?? 'none was given'}`] : []),
    ...(stalled === undefined ? [] : [`It has been so since ${stalled.since}.`]),
  ].join('\n');
  if (mailer === null) console.log(JSON.stringify({ subject, text }));
  else
    await mailer.sendMail({
      from: MAIL_FROM,
      to: MAIL_TO,
      subject,
      text,
      messageId: `<${webhook_id}@filing-webhooks>`,
    });
}

for (;;) {
  const isEmpty = await sendNext().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return true;
  });
  if (isEmpty) await sleep(idleMs);
}
