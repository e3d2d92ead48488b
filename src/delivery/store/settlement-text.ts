import type { NewEvent } from '../../events/event.ts';
import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { EndpointHealth } from '../schedule/endpoint-health.ts';
import type { Lane } from '../schedule/lanes.ts';
import type { Attempt, DeadLetter } from './delivery-records.ts';

/** The part of the delivery state that holds the progress of delivery. */
export type ProgressFields = Pick<DeliveryState, 'cursor' | 'done' | 'parked'> & {
  /** Number of filings that the current snapshot still has to send. Null if there is none. */
  readonly snapshots: number | null;
  /** Number of events on which the filter could not decide (`undecidedText`). Null without a filter. */
  readonly undecided: string | null;
};

/** The part that holds the endpoint's health, and whether its lanes are still to be tried at once. */
export type EndpointFields = EndpointHealth &
  Pick<DeliveryState, 'nextAttemptAt' | 'release' | 'releasedAt' | 'settledAt' | 'throttledUntil' | 'lost'>;

/** An event about the subscription itself, for the account's log. */
export interface OperationalNotice {
  readonly event: NewEvent;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
}

/** The notice that a subscription is disabled. */
export interface Disabling extends OperationalNotice {
  readonly reason: string;
  /** Milliseconds on Redis's clock; 0 unless it is disabled for failing. */
  readonly disabledAt: number;
}

/** The part of a settlement that is about a replay. */
export interface ReplayChanges {
  readonly id: string;
  /** Its state as JSON. Null if unchanged. */
  readonly state: string | null;
  /** Its lanes that changed; null = the lane is now empty. */
  readonly lanes: ReadonlyMap<string, Lane | null>;
  readonly finished: boolean;
}

/** The writes of a settle for one subscription. */
export interface SubscriptionSettlement {
  readonly id: string;
  /** Of the settings by which the results were judged. */
  readonly endpointVersion: number;
  /** Whether its cursor counts although the level is beyond it; null = as it is stored. */
  readonly lags: boolean | null;
  /** Fields that changed. */
  readonly progress: Partial<ProgressFields>;
  /** Fields that changed; left out if the endpoint is no longer of that version. */
  readonly endpoint: Partial<EndpointFields>;
  /** Lanes that changed; null = the lane is now empty. */
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
  readonly disabling: Disabling | null;
  /** Enables the subscription and appends the notice, if it is still disabled for failing. */
  readonly enabling: OperationalNotice | null;
}

/**
 * A subscription's part of a settle as settle.lua takes it: one text, followed by its attempts; `linked` adds
 * the link to the page of an event.
 */
export function settlementTexts(
  settlement: SubscriptionSettlement,
  linked: (event: NewEvent) => NewEvent,
): string[] {
  const { id, endpointVersion, lags, attempts, deadLetters, recovered, replay } = settlement;
  const { announced, disabling, enabling, lanes } = settlement;
  const texts = (notice: OperationalNotice) => eventTexts({ ...notice, event: linked(notice.event) });
  const own: Record<string, string | readonly string[]> = {
    id,
    endpointVersion: String(endpointVersion),
    attempts: String(attempts.length),
    lags: lags === null ? '' : lags ? '1' : '0',
    progress: fieldTexts(settlement.progress),
    endpoint: fieldTexts(settlement.endpoint),
  };
  if (lanes.size > 0) own['lanes'] = laneTexts(lanes);
  if (deadLetters.length > 0) own['dead'] = deadLetters.map(toText);
  if (recovered.length > 0) own['recovered'] = recovered;
  if (replay !== null)
    own['replay'] = [replay.id, replay.state ?? '', replay.finished ? '1' : '', ...laneTexts(replay.lanes)];
  if (announced !== null) own['announced'] = texts(announced);
  if (disabling !== null)
    own['disabling'] = [disabling.reason, String(disabling.disabledAt), ...texts(disabling)];
  if (enabling !== null) own['enabling'] = texts(enabling);
  return [JSON.stringify(own), ...attempts.map(toText)];
}

const toText = (record: Attempt | DeadLetter): string => JSON.stringify(record);

type FieldValue = number | string | boolean | readonly string[] | null;

// Fields and values in turn. A field without a value is left out.
function fieldTexts(fields: Partial<ProgressFields> | Partial<EndpointFields>): string[] {
  const texts: string[] = [];
  for (const name in fields) {
    const value = fields[name as keyof typeof fields] as FieldValue;
    if (value !== null) texts.push(name, fieldText(value));
  }
  return texts;
}

function fieldText(value: number | string | boolean | readonly string[]): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'object' ? JSON.stringify(value) : String(value).toWellFormed();
}

// Redis's parser of JSON takes no half of a surrogate pair.
function laneTexts(lanes: ReadonlyMap<string, Lane | null>): string[] {
  return [...lanes].flatMap(([filing, lane]) => [
    filing.toWellFormed(),
    lane === null ? '' : JSON.stringify(lane),
  ]);
}

function eventTexts({ event, at }: OperationalNotice): string[] {
  return [event.id, event.type, String(at), event.body.toWellFormed()];
}
