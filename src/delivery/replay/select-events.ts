import type { EventLog, OutlinedEntry } from '../../events/event-log.ts';
import type { FindEvents } from '../../events/search/find-events.ts';
import { positionBefore } from '../../events/search/position-at.ts';
import { wantedAmong, type JudgedLog } from '../../subscriptions/content-filter/wanted-entries.ts';
import type { Cursor } from '../../subscriptions/cursor.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import { eachPageOfLetters, type LettersDeps } from './letters.ts';
import { isAskedFor, ReplayRefusedError, type Replay, type ReplayRequest } from './replay.ts';

/** The part of a replay that its request selects. */
export type Selection = Pick<Replay, 'matched' | 'first' | 'last' | 'positions'>;

/** Whether the caller that asks for a replay sees events of this type. */
export type IsSeen = (type: string) => boolean;

export interface SelectionDeps extends LettersDeps, JudgedLog {
  readonly log: EventLog;
  readonly findEvents: FindEvents;
  /**
   * Maximum number of events that are read to be matched, so that a request is answered in seconds however
   * long the log is. Those behind count as matching.
   */
  readonly countMax: number;
}

/** The positions of the log that a subscription has settled. */
type Settled = Pick<Cursor, 'last' | 'isDone'>;

// Maximum number of events whose bodies are read for a filter: a few seconds. Those behind count as matching.
const judgedMax = 20_000;
const readAtOnce = 200;
// Maximum number of dead letters in one replay, the oldest; the others are left to another one.
const lettersMax = 10_000;

/**
 * Selects the settled events that a request asks for and the subscription gets. An event that the request
 * names is unknown if `isSeen` is false for its type. Throws ReplayRefusedError.
 */
export async function selectEvents(
  deps: SelectionDeps,
  subscription: Subscription,
  settled: Settled,
  request: ReplayRequest,
  isSeen?: IsSeen,
): Promise<Selection> {
  const { account } = subscription;
  const { eventIds, filingId } = request;
  if (request.deadLettersOnly) return selectDeadLetters(deps, subscription, request);
  if (eventIds === undefined && filingId === null) return selectRange(deps, subscription, settled, request);
  let found: readonly (OutlinedEntry | null)[];
  if (eventIds === undefined) {
    found = await deps.log.outlineAt(account, await deps.log.positionsOf(account, filingId ?? ''));
  } else {
    const { entries, complete } = await deps.findEvents(account, eventIds, filingId, isSeen);
    const unknown = eventIds.filter((id) => !entries.has(id));
    if (unknown.length > 0)
      throw new ReplayRefusedError(complete ? 'unknown_events' : 'log_too_long', unknown);
    found = [...entries.values()];
  }
  const past = found.filter((entry) => entry !== null).filter(({ position }) => settled.isDone(position));
  const matching = await wantedOf(deps, subscription, request, past);
  return ofPositions(matching.map(({ position }) => position).toSorted((a, b) => a - b));
}

// The dead letters whose events the log still has.
async function selectDeadLetters(
  deps: SelectionDeps,
  subscription: Subscription,
  request: ReplayRequest,
): Promise<Selection> {
  const { account, id } = subscription;
  const found: number[] = [];
  for await (const page of eachPageOfLetters(deps, account, id)) {
    const positions = page.map(({ position }) => position);
    const entries = await deps.log.outlineAt(account, positions);
    const known = entries.flatMap((entry, i) =>
      entry !== null && entry.id === page[i]?.eventId ? [entry] : [],
    );
    const matching = await wantedOf(deps, subscription, request, known);
    found.push(...matching.map(({ position }) => position));
  }
  return ofPositions(found.toSorted((a, b) => a - b).slice(0, lettersMax));
}

function ofPositions(positions: readonly number[]): Selection {
  const [first = 1, last = 0] = [positions[0], positions.at(-1)];
  return { matched: positions.length, first, last, positions };
}

// Counts the events of a stretch of the log.
async function selectRange(
  deps: SelectionDeps,
  subscription: Subscription,
  settled: Settled,
  request: ReplayRequest,
): Promise<Selection> {
  const { account, filter = null } = subscription;
  const { log } = deps;
  const countMax = filter === null ? deps.countMax : Math.min(deps.countMax, judgedMax);
  const lastBefore = async (time: number) => (await positionBefore(log, account, time)).position;
  const { after, before } = request;
  const end = Math.min(settled.last(), before === null ? Infinity : await lastBefore(before));
  let at = after === null ? 0 : await lastBefore(after);
  let [matched, first, last, read] = [0, 1, 0, 0];
  while (at < end && read < countMax) {
    const entries = await log.outlineAfter(account, at, readAtOnce);
    const past = entries.filter(({ position }) => position <= end && settled.isDone(position));
    const found = await wantedOf(deps, subscription, request, past);
    if (matched === 0) first = found[0]?.position ?? first;
    last = found.at(-1)?.position ?? last;
    matched += found.length;
    read += entries.length;
    at = entries.at(-1)?.position ?? end;
  }
  if (at < end)
    return { matched: matched + end - at, first: matched === 0 ? at + 1 : first, last: end, positions: null };
  return matched === 0 ? ofPositions([]) : { matched, first, last, positions: null };
}

// Those of these entries that are asked for and that the subscription gets.
function wantedOf(
  deps: SelectionDeps,
  subscription: Subscription,
  request: ReplayRequest,
  entries: readonly OutlinedEntry[],
): Promise<OutlinedEntry[]> {
  const asked = entries.filter((entry) => isAskedFor(request, entry));
  return wantedAmong(deps, subscription.account, subscription, asked);
}
