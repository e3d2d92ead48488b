import type { NewEvent } from '../../events/event.ts';
import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { Lane } from '../schedule/lanes.ts';
import type { Attempt, DeadLetter } from './delivery-records.ts';

/** The part of the delivery state that holds the progress of delivery. */
export type ProgressFields = Pick<DeliveryState, 'cursor' | 'done' | 'parked'> & {
  /**
   * The timeline at the cursor; null where the drain does not know it and the script looks it up in the log.
   */
  readonly timeline: string | null;
  /** Number of filings that the current snapshot still has to send; null where none is worked on. */
  readonly snapshots: number | null;
  /** Number of events on which the filter could not decide (`undecidedText`); null without a filter. */
  readonly undecided: string | null;
};

/** The part that holds the endpoint's health, and whether its lanes are still to be tried at once. */
export type EndpointFields = Pick<
  DeliveryState,
  | 'failures'
  | 'failedFilings'
  | 'failingSince'
  | 'lastSuccessAt'
  | 'workedAt'
  | 'pausedUntil'
  | 'probes'
  | 'nextAttemptAt'
  | 'release'
  | 'releasedAt'
  | 'settledAt'
  | 'obstacle'
  | 'throttledUntil'
> & {
  /** Until when no new event wakes the subscription, in milliseconds; 0 = any does. */
  readonly restsUntil: number;
};

/** An event about the subscription itself, for the account's log. */
export interface OperationalNotice {
  readonly event: NewEvent;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
}

/** The writes of one step of a drain. */
export interface Settlement {
  /** Fields that changed. */
  readonly progress: Partial<ProgressFields>;
  /** Fields that changed; left out if the endpoint is no longer of the version that the drain knows. */
  readonly endpoint: Partial<EndpointFields>;
  /** Lanes that changed; null where a lane is empty now. */
  readonly lanes: ReadonlyMap<string, Lane | null>;
  readonly attempts: readonly Attempt[];
  readonly deadLetters: readonly DeadLetter[];
  /** Ids of dead letters whose event was delivered by a replay: they leave the list. */
  readonly recovered: readonly string[];
  /** Changes of the current replay. */
  readonly replay: ReplayChanges | null;
  /** Appended to the account's log; null = none. */
  readonly announced: OperationalNotice | null;
  /** Disables the subscription and appends the notice, if the endpoint is still of that version. */
  readonly disabling: (OperationalNotice & { readonly reason: string }) | null;
}

/** The part of a settlement that is about a replay. */
export interface ReplayChanges {
  readonly id: string;
  /** Its state as JSON; null when it is as before. */
  readonly state: string | null;
  /** Those of its lanes that changed; null where a lane is empty now. */
  readonly lanes: ReadonlyMap<string, Lane | null>;
  readonly finished: boolean;
}

type Values = (string | number)[];

const toText = (record: Attempt | DeadLetter): string => JSON.stringify(record);

/** The attempts of a settlement as lines for settle.lua, each of JSON. */
export function attemptLines(settlement: Settlement | null): readonly string[] {
  return settlement === null ? [] : settlement.attempts.map(toText);
}

/**
 * A settlement as settle.lua takes it, from the length of the progress on, without its attempts; null writes
 * nothing.
 */
export function settleArguments(settlement: Settlement | null): readonly (string | number)[] {
  if (settlement === null) return nothing;
  const { replay, announced, disabling } = settlement;
  const values: Values = [0, 0];
  values[0] = pushFields(values, settlement.progress);
  values[1] = pushFields(values, settlement.endpoint);
  pushLanes(values, settlement.lanes);
  pushList(values, settlement.deadLetters.map(toText));
  pushList(values, settlement.recovered);
  if (replay === null) values.push(0, 0);
  else {
    pushLanes(values, replay.lanes);
    values.push(3, replay.id, replay.state ?? '', replay.finished ? '1' : '');
  }
  pushList(values, announced === null ? [] : eventValues(announced));
  pushList(values, disabling === null ? [] : [disabling.reason, ...eventValues(disabling)]);
  return values;
}

const nothing: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 0];

// Fields and values; returns how many of both there are. A field without a value is left out.
function pushFields(values: Values, fields: Partial<ProgressFields> | Partial<EndpointFields>): number {
  const { length } = values;
  for (const name in fields) {
    const value = fields[name as keyof typeof fields] as FieldValue | null;
    if (value !== null) values.push(name, fieldText(value));
  }
  return values.length - length;
}

type FieldValue = number | string | boolean | readonly string[];

function fieldText(value: FieldValue): string | number {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

function pushLanes(values: Values, lanes: ReadonlyMap<string, Lane | null>): void {
  values.push(2 * lanes.size);
  for (const [filing, lane] of lanes) values.push(filing, lane === null ? '' : JSON.stringify(lane));
}

function pushList(values: Values, list: readonly (string | number)[]): void {
  values.push(list.length, ...list);
}

function eventValues({ event, at }: OperationalNotice): Values {
  return [event.id, event.type, at, event.body];
}
