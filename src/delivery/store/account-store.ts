import { randomUUID } from 'node:crypto';
import { bodiesAtOnceMax, lostBody, type LogRead } from '../../events/event-log.ts';
import type { NewEvent } from '../../events/event.ts';
import { withoutPageLinks, type AddPageLink } from '../../events/page-link.ts';
import { toOutline, withBody, type Checkpoint, type StreamEntry } from '../../events/timeline.ts';
import { clockStepMsMin } from '../../redis/clock.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys, SubscriptionKeys } from '../../redis/keys.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import { replyError, type OnUnreadable } from '../../redis/unreadable-record.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { Lane } from '../schedule/lanes.ts';
import { parseLanes } from './delivery-records.ts';
import { settlementTexts, type SubscriptionSettlement } from './settlement-text.ts';

/** A deliverer and its latest write, as its calls name them. */
export interface Fence {
  readonly epoch: string;
  /** Number of its settles so far. */
  readonly settles: number;
}

/** An account as a deliverer finds it that begins. */
export interface OpenedAccount {
  readonly fence: Fence;
  /** Every event up to here is done for each subscription that does not lag. */
  readonly level: Checkpoint;
  /** Whether the level was brought back: the log is not the one that it was of. */
  readonly isBroughtBack: boolean;
  readonly head: Checkpoint;
  readonly version: string;
  readonly ids: readonly string[];
}

/** A subscription as it is stored. */
export interface LoadedSubscription {
  /** Equal texts mean equal settings. */
  readonly settings: string;
  readonly delivery: DeliveryState;
}

/** The next stretch of the log, with all that was changed since the last one, of one moment. */
export interface AccountRead {
  readonly head: Checkpoint;
  readonly version: string;
  /** Ids of the subscriptions changed since the known version. Null if they are not known. */
  readonly changed: readonly string[] | null;
  readonly stretch: LogRead;
}

/** Why a deliverer ends: another one has begun, or the account is gone; Redis was set back under it. */
export type Overtaken = 'fenced' | 'set_back';

/** What is written in one step. */
export interface AccountSettlement {
  readonly known: Checkpoint;
  readonly level: number;
  /** When the account is next due, milliseconds on Redis's clock; null for not before something changes. */
  readonly nextAt: number | null;
  /** The version of the settings up to which nothing is open. */
  readonly version: string;
  readonly subscriptions: readonly SubscriptionSettlement[];
}

/** The account after a settle. */
export interface SettledAccount {
  readonly head: Checkpoint;
  /** Of the settings; results of later attempts are judged by those. */
  readonly version: string;
  readonly results: readonly Settled[];
}

/** The result of one subscription's part of a settle. */
export type Settled = 'enabled' | 'disabled' | 'now_disabled' | 'now_enabled' | 'gone' | Error;

/** Delivery of accounts in Redis. Each script of a deliverer is refused once another one has begun. */
export type AccountStore = ReturnType<typeof createAccountDeliveryStore>;

// Maximum number of subscriptions of one script: a few milliseconds.
const loadedAtOnce = 200;
// Maximum bytes of bodies that one script reads: it copies them twice.
const readBytesMax = bodiesAtOnceMax / 4;

/**
 * Each settle may remove attempts and dead letters from before `oldestKept` (milliseconds on Redis's clock;
 * null removes none), and the oldest of a subscription that take more than its equal share of `bytesMax`,
 * the bytes of them that an account keeps.
 */
export function createAccountDeliveryStore(
  redis: RedisClient,
  keys: Keys,
  oldestKept: (now: number) => number | null,
  bytesMax: number,
  onUnreadable: OnUnreadable = () => undefined,
  addPageLink: AddPageLink = withoutPageLinks,
) {
  const script = (file: string) => loadScript(new URL(file, import.meta.url));
  const [openScript, loadScripts, readScript] = [script('open.lua'), script('load.lua'), script('read.lua')];
  const settleScript = committing(script('settle.lua'));
  const dueScript = script('is-due.lua');

  return {
    /** Begins to deliver. Null if the account has no subscriptions. */
    async open(account: string): Promise<OpenedAccount | null> {
      const { delivery, head, events, changes, subscriptions, nothing } = keys.account(account);
      const epoch = randomUUID();
      const named = [delivery, head, events, changes, subscriptions, nothing];
      const reply = (await openScript.run(redis, named, [epoch])) as OpenReply | null;
      if (reply === null) return null;
      const [level, timeline, broughtBack, newest, newestTimeline, version, ids] = reply;
      return {
        fence: { epoch, settles: 0 },
        level: { position: level, timeline },
        isBroughtBack: broughtBack === '1',
        head: { position: newest, timeline: newestTimeline },
        version,
        ids,
      };
    },
    /**
     * Reads subscriptions: null for one that is gone, an UnreadableRecordError for one that cannot be read.
     * `beyond` brings every cursor back that is beyond this position. Null in all when another one has begun.
     */
    async load(account: string, { epoch }: Fence, ids: readonly string[], beyond: number | null) {
      const { delivery, head, events, subscriptions, nothing, subscription } = keys.account(account);
      const loaded: (LoadedSubscription | null | Error)[] = [];
      for (let from = 0; from < ids.length; from += loadedAtOnce) {
        const some = ids.slice(from, from + loadedAtOnce);
        // Redis serves other clients in between.
        const reply = (await loadScripts.run(
          redis,
          [delivery, head, events, subscriptions, nothing],
          [epoch, subscription('').state, beyond ?? '', ...some],
        )) as LoadReply[] | null;
        if (reply === null) return null;
        loaded.push(...reply.map((each, i) => toLoaded(each, subscription(some[i] ?? '').state)));
      }
      return loaded;
    },
    /** Ids of all subscriptions, in no order. */
    ids: (account: string) => redis.hkeys(keys.account(account).subscriptions),
    /** The lanes of a subscription, and the ids of its unfinished replays, the oldest first. */
    async waiting(account: string, id: string): Promise<{ lanes: Map<string, Lane>; replays: string[] }> {
      const own = keys.account(account).subscription(id);
      const [stored, running] = await Promise.all([
        redis.hgetall(own.lanes),
        redis.hget(own.replays, 'running'),
      ]);
      return { lanes: parseLanes(own.lanes, stored), replays: running?.match(/\S+/g) ?? [] };
    },
    /**
     * Reads up to `entries` entries after `known`, or after an earlier position; 0 only looks. `version` is
     * that of the known settings.
     */
    async read(
      account: string,
      { epoch }: Fence,
      known: Checkpoint,
      version: string,
      entries: number,
      after = known.position,
    ): Promise<AccountRead | Overtaken> {
      const { delivery, head, events, bodies, changes } = keys.account(account);
      const reply = (await readScript.runBuffer(
        redis,
        [delivery, head, events, bodies, changes],
        [epoch, known.position, known.timeline, version, entries, readBytesMax, after],
      )) as ReadReply;
      if (reply.length === 1) return refusals[reply[0]];
      const [, position, timeline, newVersion, changed, text, found] = reply;
      const stretch = toStretch(text, found, entries);
      for (const lost of stretch.lost ?? [])
        onUnreadable(account, lostBody(bodies, lost.position), 'left_out');
      return {
        head: { position, timeline: timeline.toString() },
        version: newVersion.toString(),
        changed: changed === null ? null : [...new Set(changed.map(String))],
        stretch,
      };
    },
    /** Writes a settlement; atomic, but one subscription that cannot be written holds up no other. */
    async settle(
      account: string,
      { epoch, settles }: Fence,
      settlement: AccountSettlement,
      now: number,
    ): Promise<SettledAccount | Overtaken> {
      const key = keys.account(account);
      const { known, level, nextAt, version, subscriptions } = settlement;
      const kept = Math.max(0, oldestKept(now) ?? 0);
      const common = [level, nextAt ?? 0, version, kept, bytesMax, key.subscription('').state, now];
      const named = [key.delivery, key.head, key.events, key.bodies, key.subscriptions, key.polling];
      const linked = (event: NewEvent) => addPageLink(account, event);
      const texts = subscriptions.flatMap((each) => settlementTexts(each, linked));
      const reply = (await settleScript.run(
        redis,
        [...named, key.changes, key.nothing],
        [epoch, settles, known.position, known.timeline, ...common, ...texts],
      )) as SettleReply;
      if (reply[0] !== 1) return refusals[reply[0]];
      const [, position, timeline, newVersion, ...results] = reply;
      const settled = results.map((each, i) => toSettled(each, key.subscription(subscriptions[i]?.id ?? '')));
      return { head: { position, timeline }, version: newVersion, results: settled };
    },
    /**
     * Whether anything of the account waits to be delivered: events beyond the level, changed settings, an
     * attempt that is due, or times of a clock that was ahead. False for an account without subscriptions.
     */
    async isDue(account: string, now: number): Promise<boolean> {
      const { delivery, head, changes, subscriptions } = keys.account(account);
      const latest = now + clockStepMsMin;
      return (await dueScript.run(redis, [subscriptions, delivery, head, changes], [now, latest])) === 1;
    },
  };
}

const refusals = { [0]: 'fenced', [-1]: 'set_back' } as const;

const settledAs: Readonly<Record<number, Settled>> = {
  2: 'now_enabled',
  1: 'enabled',
  0: 'disabled',
  [-1]: 'now_disabled',
  [-2]: 'gone',
};

type OpenReply = [number, string, string, number, string, string, string[]];
type LoadReply = 0 | string | [settings: string, state: string];
type ReadReply =
  | [keyof typeof refusals]
  | [1, number, Buffer, version: Buffer, changed: Buffer[] | null, entries: Buffer, bodies: Buffer[]];
type SettleReply = [keyof typeof refusals] | [1, number, string, version: string, ...(number | string)[]];

function toSettled(result: number | string, own: SubscriptionKeys): Settled {
  return typeof result === 'number'
    ? (settledAs[result] ?? 'gone')
    : replyError(result, ...Object.values(own));
}

function toLoaded(reply: LoadReply, key: string): LoadedSubscription | null | Error {
  if (reply === 0) return null;
  if (typeof reply === 'string') return replyError(reply, key);
  const [settings, state] = reply;
  try {
    return { settings, delivery: parseDeliveryState(JSON.parse(state) as Record<string, string>, key) };
  } catch (error) {
    return error as Error;
  }
}

// The script adds bodies to as many entries as fit; a missing body is ''.
function toStretch(text: Buffer, bodies: readonly Buffer[], wanted: number): LogRead {
  const stream = JSON.parse(text.toString()) as StreamEntry[];
  const outline = stream.slice(0, Math.max(bodies.length, 1)).map(toOutline);
  const read = outline.map((entry, i) => withBody(entry, bodies[i] ?? null));
  const entries = read.filter((entry) => entry !== null);
  const lost = outline.filter((_, i) => read[i] === null && bodies[i] !== undefined);
  const more = stream.length === wanted || outline.length < stream.length;
  return { entries, more, ...(lost.length === 0 ? {} : { lost }) };
}
