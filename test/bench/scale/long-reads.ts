import { setTimeout as sleep } from 'node:timers/promises';
import { longest, spentOn } from './spent.ts';
import type { Row } from './results.ts';
import { authorized, type Stage, type StageDaemon } from './stage.ts';

const seconds = 10;
const pages = 200;

/** A part of an API whose requests together read much of an account. */
export interface LongRead {
  readonly path: string;
  /** `pages`: one page after the other, 200 in all; `table`: as CSV, for ten seconds. */
  readonly as: 'pages' | 'table';
}

/** The longest commands while some lists are gone through. */
export async function longestOfReads(
  stage: Stage,
  daemon: StageDaemon,
  reads: Readonly<Record<string, LongRead>>,
): Promise<Row> {
  let row: Row = {};
  for (const [name, { path, as }] of Object.entries(reads)) {
    const read = as === 'pages' ? readPages : readTable;
    // One after the other: they would disturb each other.
    // oxlint-disable-next-line no-await-in-loop
    row = { ...row, ...longest(name, await spentOn(stage, daemon, () => read(daemon, path))) };
  }
  return row;
}

/** The longest command while a subscription is served that begins there, for ten seconds. */
export async function longestOfBeginning(
  stage: Stage,
  daemon: StageDaemon,
  account: string,
  from: 'earliest' | 'state',
): Promise<number> {
  const path = `/v1/accounts/${account}/subscriptions`;
  const body = { url: `${stage.receiver.url}/${from}`, from };
  const spent = await spentOn(stage, daemon, async () => {
    const { id } = await daemon.api.ok<{ id: string }>('POST', path, body);
    await sleep(seconds * 1_000);
    await daemon.api.ok('DELETE', `${path}/${id}`);
  });
  if ((await stage.receiver.arrivals()).length === 0) throw new Error(`nothing came from ${from}`);
  return spent.longestMs;
}

/** The longest command of a scrape. */
export async function longestOfMetrics(stage: Stage, daemon: StageDaemon): Promise<Row> {
  return longest('metrics', await spentOn(stage, daemon, () => daemon.metric('filing_webhooks_filings')));
}

async function readPages({ url }: StageDaemon, path: string): Promise<void> {
  let cursor: string | null = null;
  for (let page = 0; page < pages && (page === 0 || cursor !== null); page += 1) {
    const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    // oxlint-disable no-await-in-loop
    const answer: Response = await fetch(`${url}${path}${from}`, authorized);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    cursor = ((await answer.json()) as { nextCursor: string | null }).nextCursor;
    // oxlint-enable no-await-in-loop
  }
}

async function readTable({ url }: StageDaemon, path: string): Promise<void> {
  const headers = { ...authorized.headers, accept: 'text/csv' };
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), seconds * 1_000);
  try {
    const answer = await fetch(url + path, { headers, signal: ended.signal });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    await answer.body?.pipeTo(new WritableStream());
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}
