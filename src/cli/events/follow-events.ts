import { setTimeout as delay } from 'node:timers/promises';
import { query, type ApiClient } from '../api-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/** An event of the stream. */
export interface FollowedEvent {
  /** The `webhook-id` of its callbacks. */
  readonly id: string;
  /** The position behind this event; a stream can begin there. */
  readonly cursor: string;
  /** The body of its callbacks, byte for byte. */
  readonly json: string;
}

/** The events to follow, and where to begin: after a cursor, or at either end of the log. */
export interface Following {
  readonly types: string | null;
  readonly filingId: string | null;
  readonly cursor: string | null;
  readonly from: 'now' | 'earliest';
}

/** The state of a stream, for its follower. */
interface StreamNews {
  /** A stream is open: no event is missed from now on. */
  opened(): void;
  /** The stream broke or could not be reopened; another attempt follows. */
  broken(reason: string): void;
}

const retryMs = { first: 500, most: 15_000 };

/**
 * The events of an account as they arrive, until `signal` aborts. After a break, however long, the next
 * stream continues from the end of the previous one; `news` reports both. Rejects with a CliError if the
 * first stream cannot be opened, or if a later one is refused for good.
 */
export async function* followEvents(
  client: ApiClient,
  following: Following,
  signal: AbortSignal,
  news: StreamNews,
): AsyncGenerator<FollowedEvent> {
  let { cursor } = following;
  let waitMs = 0;
  let opened = false;
  while (!signal.aborted) {
    // Each stream continues from the end of the previous one.
    // oxlint-disable no-await-in-loop
    try {
      const stream = await openStream(client, following, cursor);
      opened = true;
      news.opened();
      for await (const message of messages(stream)) {
        waitMs = 0;
        cursor = message.id || cursor;
        if (message.data !== '' && cursor !== null)
          yield { id: idOf(message.data), cursor, json: message.data };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CliError && (!opened || error.exitCode !== exitCodes.unavailable)) throw error;
      news.broken(error instanceof Error ? error.message : String(error));
    }
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(retryMs.most, Math.max(retryMs.first, waitMs * 2));
    // oxlint-enable no-await-in-loop
  }
}

function openStream(
  client: ApiClient,
  { types, filingId, from }: Following,
  cursor: string | null,
): Promise<Response> {
  const path = `/events/stream${query({ types, filingId, from })}`;
  return client.open(path, cursor === null ? {} : { 'last-event-id': cursor });
}

function idOf(json: string): string {
  return (JSON.parse(json) as { id: string }).id;
}

// Server-Sent Events (WHATWG HTML §9.2.6), as far as the daemon uses them.
async function* messages({ body }: Response): AsyncGenerator<{ id: string; data: string }> {
  if (body === null) return;
  let message = { id: '', data: '' };
  for await (const line of linesOf(body)) {
    const [, field = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
    if (field === 'id' || field === 'data') message = { ...message, [field]: value };
    if (line !== '') continue;
    yield message;
    message = { id: '', data: '' };
  }
}

async function* linesOf(body: NonNullable<Response['body']>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
