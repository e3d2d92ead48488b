import { formatBody } from '../../callbacks/body-formats.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { ListedAttempt } from '../store/delivery-records.ts';
import type { Journal } from '../store/journal.ts';

/** The request of an attempt, written once more; custom headers have no values. */
export interface AttemptRequest {
  readonly url: string;
  readonly contentType: string;
  /** Whole seconds. */
  readonly timestamp: number;
  readonly signature: string;
  /** Names of the custom headers. */
  readonly names: readonly string[];
  /** Null for none. */
  readonly traceparent: string | null;
  readonly body: string;
}

/** Why the request of an attempt is not known: it was not kept, or its event is no longer in the log. */
export type RequestMissing = 'not_kept' | 'event_trimmed';

/** One attempt in full. */
export interface AttemptDetail {
  readonly attempt: ListedAttempt;
  readonly request: AttemptRequest | RequestMissing;
  /** The nearest attempts of the event for the same subscription, on both sides, newest first. */
  readonly earlier: readonly ListedAttempt[];
  readonly later: readonly ListedAttempt[];
}

/** Reads an attempt in full. Null if there is none, it is no longer kept, or it cannot be read. */
export type ReadAttempt = (
  account: string,
  subscription: string,
  id: string,
) => Promise<AttemptDetail | null>;

// Maximum number of attempts on each side, and of records that are searched for them.
const nearMax = 20;
const searchedMax = 5_000;

/** Reads attempts from the journal, and their events from the log. */
export function createAttemptReader(
  journal: Pick<Journal, 'read'>,
  log: Pick<EventLog, 'outlineAt' | 'load'>,
): ReadAttempt {
  async function requestOf(
    account: string,
    { request, eventId, filingId }: ListedAttempt,
  ): Promise<AttemptRequest | RequestMissing> {
    if (request === undefined) return 'not_kept';
    const { position, format = 'standard', payload = 'full', names = [], body, ...sent } = request;
    const bytes = body === undefined ? await logged(account, eventId, position) : Buffer.from(body);
    if (bytes === null) return 'event_trimmed';
    const sender = { account, format, payload };
    const written = formatBody(sender, { id: eventId, filingId, body: bytes });
    const { url, timestamp, signature, traceparent = null } = sent;
    const { contentType } = written;
    return { url, contentType, timestamp, signature, names, traceparent, body: written.bytes.toString() };
  }

  async function logged(account: string, eventId: string, position: number): Promise<Buffer | null> {
    const [outline] = await log.outlineAt(account, [position]);
    const [entry] = outline?.id === eventId ? await log.load(account, [outline]) : [];
    return entry?.body ?? null;
  }

  return async (account, subscription, id) => {
    const itself = { order: 'newest', from: id, to: id, readMax: 1, wanted: 1 } as const;
    const [attempt] = (await journal.read(account, subscription, 'attempts', itself)).found;
    if (attempt === undefined) return null;
    const around = { from: `(${id}`, having: { eventId: attempt.eventId } };
    const near = (order: 'newest' | 'oldest', to: string) => {
      const stretch = { ...around, order, to, readMax: searchedMax, wanted: nearMax };
      return journal.read(account, subscription, 'attempts', stretch);
    };
    const [request, earlier, later] = await Promise.all([
      requestOf(account, attempt),
      near('newest', '-'),
      near('oldest', '+'),
    ]);
    return { attempt, request, earlier: earlier.found, later: later.found.toReversed() };
  };
}
