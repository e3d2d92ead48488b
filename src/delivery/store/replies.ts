import { type Checkpoint, type StreamEntry, toOutline, withBody } from '../../events/timeline.ts';
import type { LogRead } from '../../events/event-log.ts';
import type { SubscriptionKeys } from '../../redis/keys.ts';
import { decodeRecord } from '../../redis/unreadable-record.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { Lane } from '../schedule/lanes.ts';
import { parseLane } from './delivery-records.ts';

/** Settings and state of a subscription as another drain or the API left them. */
export interface CurrentSettings {
  /** The subscription's settings as stored; equal text means equal settings. */
  readonly settings: string;
  readonly delivery: DeliveryState;
  /** Ids of the unfinished replays, oldest first. */
  readonly replays: readonly string[];
}

/** The state that a drain starts from, all of one moment. */
export interface Claim extends CurrentSettings {
  /** Null when the caller's lanes are still current. */
  readonly lanes: ReadonlyMap<string, Lane> | null;
  /** The newest event in the log. */
  readonly head: Checkpoint;
  /** The first entries after the cursor; none while the subscription is disabled. */
  readonly read: LogRead;
}

/** The result of a settlement or a look. */
export type SettleResult =
  | {
      readonly kind: 'settled';
      readonly head: Checkpoint;
      readonly enabled: boolean;
      /** Whether this settlement has disabled the subscription. */
      readonly disabled: boolean;
      /** The position up to which a look has passed over events that the drain does not know; 0 for none. */
      readonly passed: number;
      /** Null when the settings are still of the version that the drain knows. */
      readonly changed: CurrentSettings | null;
    }
  | { readonly kind: 'fenced' } // another drain has begun or the subscription is gone: stop
  | { readonly kind: 'set_back' }; // Redis was set back under the drain: begin anew from what it holds now

/** The reply of claim.lua for a subscription that exists. */
export type ClaimReply = [
  settings: Buffer,
  state: Buffer,
  lanes: Buffer[] | null,
  head: number,
  timeline: Buffer,
  /** JSON; or the number of the call of its batch whose reply has them, and the bodies. */
  entries: Buffer | number,
  bodies: Buffer[],
  running: Buffer,
];

/** The reply of settle.lua. */
export type SettleReply =
  | [0 | -1]
  | [1, number, string, enabled: number, passed: number]
  | [1, number, string, enabled: number, passed: number, settings: string, state: string[], running: string];

// The entries of a reply, for the others of its batch that begin at the same one.
const reads = new WeakMap<ClaimReply, LogRead>();

/**
 * The claim in a reply to a drain that asked for a number of entries; `of` gives the replies of the same
 * batch. Drains of one batch may share their entries, which they do not change. Throws UnreadableRecordError.
 */
export function toClaim(
  reply: ClaimReply,
  entriesWanted: number,
  own: SubscriptionKeys,
  of: (call: number) => ClaimReply,
): Claim {
  const [settings, state, lanes, head, timeline, entries, , running] = reply;
  return {
    ...toCurrentSettings(
      settings.toString(),
      JSON.parse(state.toString()) as string[],
      running.toString(),
      own,
    ),
    lanes: lanes === null ? null : toLanes(lanes.map(String), own),
    head: { position: head, timeline: timeline.toString() },
    read: toRead(typeof entries === 'number' ? of(entries) : reply, entriesWanted),
  };
}

function toRead(reply: ClaimReply, entriesWanted: number): LogRead {
  const known = reads.get(reply);
  if (known !== undefined) return known;
  const [, , , , , text, bodies] = reply;
  if (typeof text === 'number') throw new Error('entries that no call of the batch has');
  const stream = JSON.parse(text.toString()) as StreamEntry[];
  // The script adds bodies to as many entries as fit; a missing body is ''.
  const outline = stream.slice(0, Math.max(bodies.length, 1)).map(toOutline);
  const read = outline.map((entry, i) => withBody(entry, bodies[i] ?? null));
  const entries = read.filter((entry) => entry !== null);
  const lost = outline.filter((_, i) => read[i] === null && bodies[i] !== undefined);
  const stretch = {
    entries,
    more: stream.length === entriesWanted || entries.length < stream.length,
    ...(lost.length === 0 ? {} : { lost }),
  };
  reads.set(reply, stretch);
  return stretch;
}

/**
 * The result in a reply; `foundAt` is the head as the drain named it, which the reply leaves out where it is
 * unchanged. Throws UnreadableRecordError.
 */
export function toSettleResult(
  reply: SettleReply,
  own: SubscriptionKeys,
  foundAt: Checkpoint | null,
): SettleResult {
  if (reply.length === 1) return { kind: reply[0] === 0 ? 'fenced' : 'set_back' };
  const [, position, timeline, enabled, passed] = reply;
  const changed = reply.length === 5 ? null : toCurrentSettings(reply[5], reply[6], reply[7], own);
  const head = timeline === '' && foundAt !== null ? foundAt : { position, timeline };
  return { kind: 'settled', head, enabled: enabled === 1, disabled: enabled === -1, passed, changed };
}

function toLanes(flat: readonly string[], own: SubscriptionKeys): Map<string, Lane> {
  const lanes = new Map<string, Lane>();
  for (const [filingId, text] of pairs(flat))
    lanes.set(filingId, decodeRecord(own.lanes, filingId, text, parseLane));
  return lanes;
}

function toCurrentSettings(
  settings: string,
  state: readonly string[],
  running: string,
  own: SubscriptionKeys,
): CurrentSettings {
  return {
    settings,
    delivery: parseDeliveryState(fieldsOf(state), own.state),
    replays: running === '' ? [] : running.split(' '),
  };
}

function fieldsOf(flat: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) fields[flat[i] ?? ''] = flat[i + 1] ?? '';
  return fields;
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] ?? '', flat[i + 1] ?? ''];
}
