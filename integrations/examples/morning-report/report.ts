// Prints or mails what an agency wants to know in the morning: which filings are rejected, which wait, which were completed. For cron.
// API_URL and API_TOKEN (a read-only token is enough) name the daemon, ACCOUNT the account, STATE_FILE a file that remembers where the last
// report ended. SMTP_URL, MAIL_FROM and MAIL_TO mail the report; without SMTP_URL it is printed.
import { readFile, rename, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { parse } from 'csv-parse/sync';
import nodemailer from 'nodemailer';

const {
  ACCOUNT = 'default',
  API_TOKEN = '',
  API_URL = 'http://127.0.0.1:3000',
  MAIL_FROM,
  MAIL_TO,
} = process.env;
const { SMTP_URL, STATE_FILE = 'morning-report.json' } = process.env;
// Days in one status after which a filing is in the report.
const waitingDays = Number(process.env['WAITING_DAYS'] ?? 10);
const dayMs = 86_400_000;

/** A line of a table: the columns by their names, all as text. */
type Row = Readonly<Record<string, string>>;

interface Event {
  readonly type: string;
  readonly data: { readonly filingId: string; readonly status: string };
}

interface Events {
  readonly items: readonly Event[];
  readonly nextCursor: string | null;
  readonly resumeCursor: string;
}

try {
  await report();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function report(): Promise<void> {
  const account = `/v1/accounts/${encodeURIComponent(ACCOUNT)}`;
  // The log first: what happens while this runs is in the next report, not in none.
  const { events, cursor } = await readEvents(`${account}/events`, await readCursor());
  const rejected = await readTable(`/v1/rejections?account=${encodeURIComponent(ACCOUNT)}`);
  const open = await readTable(`${account}/filings?status=UNPAID,PAID,PENDING&order=oldest`);
  const waitsSince = Date.now() - waitingDays * dayMs;
  const text = write({
    rejected,
    newlyRejected: filingsThatBecame('REJECTED', events),
    waiting: open.filter((row) => Date.parse(row['since'] ?? '') < waitsSince),
    completed: filingsThatBecame('COMPLETED', events),
  });
  if (SMTP_URL === undefined) console.log(text);
  else {
    const subject = `Filings of ${ACCOUNT}: ${rejected.length} rejected`;
    await nodemailer.createTransport(SMTP_URL).sendMail({ from: MAIL_FROM, to: MAIL_TO, subject, text });
  }
  // Only now: a report that could not be sent is repeated, with all that has happened since.
  await writeFile(`${STATE_FILE}.new`, JSON.stringify({ cursor }));
  await rename(`${STATE_FILE}.new`, STATE_FILE);
}

// The place in the log where the last report ended; null before the first one.
async function readCursor(): Promise<string | null> {
  try {
    return (JSON.parse(await readFile(STATE_FILE, 'utf8')) as { cursor: string }).cursor;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

// All events since a place in the log, or of the last day, and the place after them.
async function readEvents(path: string, from: string | null): Promise<{ events: Event[]; cursor: string }> {
  const events: Event[] = [];
  const start = from === null ? { after: new Date(Date.now() - dayMs).toISOString() } : { cursor: from };
  for (let query: Record<string, string> = start; ;) {
    const search = new URLSearchParams({ ...query, types: 'filing.*', limit: '100' });
    const page = (await (await get(`${path}?${search}`, 'application/json')).json()) as Events;
    events.push(...page.items);
    if (page.nextCursor === null) return { events, cursor: page.resumeCursor };
    query = { ...(from === null ? start : {}), cursor: page.nextCursor };
  }
}

async function readTable(path: string): Promise<Row[]> {
  return parse<Row>(await (await get(path, 'text/csv')).text(), { columns: true, bom: true });
}

async function get(path: string, accept: string): Promise<Response> {
  const response = await fetch(new URL(path, API_URL), {
    headers: { authorization: `Bearer ${API_TOKEN}`, accept },
    signal: AbortSignal.timeout(5 * 60_000),
  });
  if (response.ok) return response;
  const { detail = '' } = (await response.json().catch(() => ({}))) as { detail?: string };
  throw new Error(`GET ${path} answered ${response.status}: ${detail}`);
}

// Filings whose last event left them in this status, and that got there meanwhile.
function filingsThatBecame(status: string, events: readonly Event[]): Set<string> {
  const last = new Map(events.map(({ type, data }) => [data.filingId, { type, status: data.status }]));
  const quiet = ['filing.removed', 'filing.stalled', 'filing.resubmitted'];
  return new Set(
    [...last].filter(([, is]) => is.status === status && !quiet.includes(is.type)).map(([id]) => id),
  );
}

interface Findings {
  readonly rejected: readonly Row[];
  readonly newlyRejected: ReadonlySet<string>;
  readonly waiting: readonly Row[];
  readonly completed: ReadonlySet<string>;
}

function write({ rejected, newlyRejected, waiting, completed }: Findings): string {
  const isNew = (row: Row): boolean => newlyRejected.has(row['filingId'] ?? '');
  const news = rejected.filter(isNew);
  return [
    `Filings of ${ACCOUNT}, ${new Date().toISOString().slice(0, 10)}`,
    ...section(`Rejected since the last report: ${news.length}`, news.map(rejection)),
    ...section(
      `Rejected before: ${rejected.length - news.length}`,
      rejected.filter((row) => !isNew(row)).map(rejection),
    ),
    ...section(
      `In one status for more than ${waitingDays} days: ${waiting.length}`,
      waiting.map((row) => `${about(row)}: ${row['status']} since ${day(row)}`),
    ),
    ...section(`Completed since the last report: ${completed.size}`, [...completed]),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', title, ...lines.map((line) => `  ${printable(line)}`)];
}

function rejection(row: Row): string {
  const seen = row['seenBy']
    ? ` (seen by ${row['seenBy']}${row['seenNote'] ? `: ${row['seenNote']}` : ''})`
    : '';
  return `${about(row)}: ${row['rejectionReason'] || 'no reason given'}, since ${day(row)}${seen}`;
}

function about(row: Row): string {
  return [row['filingId'], row['insuredsName'], row['policyNumber'], row['stateAbbr']]
    .filter(Boolean)
    .join(', ');
}

function day(row: Row): string {
  return (row['since'] ?? '').slice(0, 10);
}

// Texts of others begin no line of their own and control no terminal.
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ');
}
