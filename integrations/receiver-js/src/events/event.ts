import { knownEventTypes, type KnownEvent } from './events.ts';

/** An event of a type that this version of the package does not know, sent by a later version of the daemon. */
export interface UnknownEvent {
  readonly type: string;
  /** When the change was seen. An instant, ISO 8601 in UTC. */
  readonly timestamp: string;
  /** `account`, `filingId` and `sequence` are there where the event is about a filing. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Any event. `type` alone cannot narrow it, since an unknown event may have any text there: ask `isKnownEvent` first, and `switch` on the type
 * of what is left.
 */
export type AnyEvent = KnownEvent | UnknownEvent;

/** The daemon's question whether this endpoint wants callbacks; the receivers of this package answer it. */
export interface ChallengeEvent {
  readonly type: 'subscription.challenge';
  readonly timestamp: string;
  readonly data: { readonly account: string; readonly subscription: string; readonly challenge: string };
}

const knownTypes: ReadonlySet<string> = new Set(knownEventTypes);

/**
 * Whether this version of the package knows the type of an event. The fields are those that the daemon promises for the type; they are not
 * compared with the schema.
 */
export function isKnownEvent(event: AnyEvent): event is KnownEvent {
  return knownTypes.has(event.type);
}

/** Whether an event is the daemon's question whether this endpoint wants callbacks. */
export function isChallenge(event: {
  readonly type: string;
  readonly data: object;
}): event is ChallengeEvent {
  const { challenge } = event.data as { readonly challenge?: unknown };
  return event.type === 'subscription.challenge' && typeof challenge === 'string';
}
