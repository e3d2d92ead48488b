import { randomBytes } from 'node:crypto';
import type { EventLog, OutlinedEntry } from '../../events/event-log.ts';
import type { FilterJudge } from '../../subscriptions/content-filter/judge.ts';
import { wantedAmong } from '../../subscriptions/content-filter/wanted-entries.ts';
import { createCursor } from '../../subscriptions/cursor.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { SubscriptionStore } from '../../subscriptions/store/subscription-store.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DrainQueue } from '../drain-queue.ts';
import type { LogOutline } from '../../events/event-log.ts';
import type { FindEvents } from '../../events/search/find-events.ts';
import type { LogSections } from '../../events/search/log-sections.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import { eachPageOfLetters, findLettersAmong, lettersMax } from './find-letters.ts';
import { isAskedFor, type Replay, type ReplayRequest } from './replay.ts';
import { nothing, selectRange, type Selection, type SettledRecord } from './select-range.ts';
import { progressOf, type ReplayProgress } from './replay-progress.ts';
import { replaysKept, type ReplayStore } from './replay-store.ts';

/** Delivers events again. */
export interface Replayer {
  /**
   * Begins to deliver the selected events again, under the same webhook-ids and with the same bodies,
   * whenever nothing else is to be sent. Only events that the subscription asks for match, and only once they
   * are done; the others are still on their way to it. An event that the request names is unknown where
   * `isSeen` is false of its type. A repeated request returns the running replay. Throws ReplayRefusedError.
   * A crash leaves the replay either added or not begun at all.
   */
  start(
    account: string,
    subscription: string,
    request: ReplayRequest,
    isSeen?: IsSeen,
  ): Promise<{ id: string; matched: number }>;
  /** Number of events that `start` would deliver again. Starts nothing. Throws ReplayRefusedError. */
  count(account: string, subscription: string, request: ReplayRequest, isSeen?: IsSeen): Promise<number>;
  /** Null when there is no such replay, or no longer. */
  progress(account: string, subscription: string, id: string): Promise<ReplayProgress | null>;
  /** The replays that are kept of a subscription, the latest first. */
  list(account: string, subscription: string): Promise<ReplayProgress[]>;
  /**
   * Ends a replay: callbacks in flight may still arrive, and nothing is sent for it after that. Atomic. False
   * when there is no such replay. One that has ended already stays as it is.
   */
  cancel(account: string, subscription: string, id: string): Promise<boolean>;
}

/** Whether the caller that asks for a replay sees events of this type. */
type IsSeen = (type: string) => boolean;

/** Why a replay cannot be begun. */
export type ReplayRefusal = 'no_subscription' | 'too_many' | 'unknown_events' | 'log_too_long';

const refusals: Readonly<Record<ReplayRefusal, string>> = {
  no_subscription: 'no such subscription',
  too_many: `${replaysKept} replays of the subscription are unfinished`,
  unknown_events: 'some of the events are not in the log',
  log_too_long: 'some of the events were not found in the newest part of the log, which was searched',
};

/** A replay cannot be begun; `eventIds` are those that were not found. */
export class ReplayRefusedError extends Error {
  override readonly name = 'ReplayRefusedError';
  readonly reason: ReplayRefusal;
  readonly eventIds: readonly string[];

  constructor(reason: ReplayRefusal, eventIds: readonly string[] = []) {
    super(refusals[reason]);
    this.reason = reason;
    this.eventIds = eventIds;
  }
}

export interface ReplayerDeps {
  readonly subscriptions: SubscriptionStore;
  readonly log: EventLog;
  /** Judges events by the filters of subscriptions. */
  readonly judge: FilterJudge;
  readonly outline: LogOutline;
  readonly sections: LogSections;
  readonly findEvents: FindEvents;
  readonly delivery: DeliveryStore;
  readonly replays: ReplayStore;
  readonly queue: Pick<DrainQueue, 'wake'>;
  /**
   * Maximum number of events that are read to be matched, so that a request is answered in seconds however
   * long the log is. Those behind count as matching.
   */
  readonly countMax: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

const seesAll: IsSeen = () => true;

/** A replayer over the stores and the drain queue. */
export function createReplayer(deps: ReplayerDeps): Replayer {
  return {
    async start(account, id, request, isSeen = seesAll) {
      const { replay, added } = await chooseAndAdd(deps, account, id, request, isSeen);
      await deps.queue.wake(account, [id]);
      if (added === replay.id) return { id: replay.id, matched: replay.matched };
      const former = await deps.replays.load(account, id, added);
      return { id: added, matched: former?.replay.matched ?? replay.matched };
    },
    async count(account, id, request, isSeen = seesAll) {
      const { matched } = await choose(deps, account, id, request, isSeen);
      return matched;
    },
    async progress(account, subscription, id) {
      const record = await deps.replays.load(account, subscription, id);
      return record === null ? null : progressOf(record);
    },
    async list(account, subscription) {
      return (await deps.replays.list(account, subscription)).map(progressOf);
    },
    async cancel(account, subscription, id) {
      const result = await deps.replays.cancel(account, subscription, id);
      // A drain takes note of it, and of when the subscription is next due without this replay.
      if (result === 'cancelled') await deps.queue.wake(account, [subscription]);
      return result !== 'unknown';
    },
  };
}

async function chooseAndAdd(
  deps: ReplayerDeps,
  account: string,
  id: string,
  request: ReplayRequest,
  isSeen: IsSeen,
): Promise<{ replay: Replay; added: string }> {
  const { upTo, ...selection } = await choose(deps, account, id, request, isSeen);
  const lettersAmong = await findLettersAmong(deps, account, id, selection);
  const replay: Replay = {
    id: `rpl_${randomBytes(12).toString('hex')}`,
    request,
    createdAt: deps.now(),
    ...selection,
    ...(lettersAmong === null ? {} : { lettersAmong }),
  };
  const added = await deps.replays.add(account, id, replay, upTo);
  if (added.kind === 'added') return { replay, added: added.id };
  if (added.kind !== 'set_back') throw new ReplayRefusedError(added.kind);
  // Redis was set back meanwhile.
  return chooseAndAdd(deps, account, id, request, isSeen);
}

async function choose(
  deps: ReplayerDeps,
  account: string,
  id: string,
  request: ReplayRequest,
  isSeen: IsSeen,
): Promise<Selection & { readonly upTo: Checkpoint }> {
  const record = await deps.subscriptions.get(account, id);
  if (record === null) throw new ReplayRefusedError('no_subscription');
  const { cursor, timeline, done } = record.delivery;
  const upTo = await deps.log.commonWith(account, { position: cursor, timeline });
  const settled = createCursor(upTo.position, upTo.position === cursor ? done : '');
  return { ...(await select(deps, { ...record, settled }, request, isSeen)), upTo };
}

function select(
  deps: ReplayerDeps,
  record: SettledRecord,
  request: ReplayRequest,
  isSeen: IsSeen,
): Promise<Selection> {
  if (request.deadLettersOnly) return selectDeadLetters(deps, record, request);
  if (request.eventIds !== undefined) return selectEvents(deps, record, request, request.eventIds, isSeen);
  return request.filingId === null
    ? selectRange(deps, record, request)
    : selectFiling(deps, record, request, request.filingId);
}

async function selectEvents(
  deps: ReplayerDeps,
  { subscription, settled }: SettledRecord,
  request: ReplayRequest,
  eventIds: readonly string[],
  isSeen: IsSeen,
): Promise<Selection> {
  const { account } = subscription;
  const { entries, complete } = await deps.findEvents(account, eventIds, request.filingId, isSeen);
  const unknown = eventIds.filter((id) => !entries.has(id));
  if (unknown.length > 0) throw new ReplayRefusedError(complete ? 'unknown_events' : 'log_too_long', unknown);
  const past = [...entries.values()].filter(({ position }) => settled.isDone(position));
  const positions = (await wanted(deps, subscription, request, past)).map(({ position }) => position);
  return ofPositions(
    positions.toSorted((a, b) => a - b),
    null,
  );
}

async function selectFiling(
  deps: ReplayerDeps,
  { subscription, settled }: SettledRecord,
  request: ReplayRequest,
  filingId: string,
): Promise<Selection> {
  const { account } = subscription;
  const { log } = deps;
  const past = (await log.positionsOf(account, filingId)).filter(settled.isDone);
  const entries = (await log.outlineAt(account, past)).filter((entry) => entry !== null);
  const matching = await wanted(deps, subscription, request, entries);
  return ofPositions(
    matching.map(({ position }) => position),
    null,
  );
}

async function selectDeadLetters(
  deps: ReplayerDeps,
  { subscription }: SubscriptionRecord,
  request: ReplayRequest,
): Promise<Selection> {
  const { account, id } = subscription;
  const letters = new Map<number, string>();
  for await (const page of eachPageOfLetters(deps, account, id)) {
    const entries = page.flatMap(({ entry }) => entry ?? []);
    const matching = new Set(await wanted(deps, subscription, request, entries));
    for (const { letter, entry } of page)
      if (entry !== null && matching.has(entry)) letters.set(letter.position, letter.id);
  }
  const oldest = [...letters].toSorted(([a], [b]) => a - b).slice(0, lettersMax);
  return ofPositions(
    oldest.map(([position]) => position),
    oldest.map(([, letter]) => letter),
  );
}

function ofPositions(positions: readonly number[], letters: readonly string[] | null): Selection {
  const [first, last] = [positions[0], positions.at(-1)];
  if (first === undefined || last === undefined) return nothing;
  return { matched: positions.length, first, last, positions, letters };
}

// Those of these entries that are asked for and that the subscription gets.
function wanted(
  deps: ReplayerDeps,
  subscription: Subscription,
  request: ReplayRequest,
  entries: readonly OutlinedEntry[],
): Promise<OutlinedEntry[]> {
  const asked = entries.filter((entry) => isAskedFor(request, entry));
  return wantedAmong(deps, subscription.account, subscription, asked);
}
