/** How the dashboard colours a type. */
type Tone = 'good' | 'bad' | 'warn' | 'info' | 'busy' | 'plain';

interface EventTypeFacts {
  /** When such an event is appended, as a sentence of the OpenAPI document. */
  readonly when: string;
  /** The kind of `data`; src/api/document/event-schemas.ts has its fields. */
  readonly data: string;
  readonly tone: Tone;
}

/**
 * Every event type. Filters, the OpenAPI document, metrics, the command `trigger` and the dashboard derive
 * from this list; docs/webhooks.md is held to it by a test.
 */
export const eventTypes = {
  'filing.created': {
    when: 'A filing was first seen, after the baseline; `previousStatus` is null.',
    data: 'filing',
    tone: 'plain',
  },
  'filing.unpaid': { when: 'The status became UNPAID.', data: 'filing', tone: 'warn' },
  'filing.paid': { when: 'The status became PAID.', data: 'filing', tone: 'info' },
  'filing.pending': { when: 'The status became PENDING.', data: 'filing', tone: 'busy' },
  'filing.completed': {
    when: 'The status became COMPLETED; or `completedAt` moved while it was, and `inferred` says whether that proves an unseen round trip.',
    data: 'filing',
    tone: 'good',
  },
  'filing.rejected': {
    when: 'The status became REJECTED; or `rejectionReason` moved while it was, or `completedAt`, which proves an unseen round trip (`inferred`).',
    data: 'filing',
    tone: 'bad',
  },
  'filing.reopened': {
    when: 'COMPLETED became PENDING (in place of `filing.pending`).',
    data: 'filing',
    tone: 'busy',
  },
  'filing.status_changed': {
    when: 'The status became a value that this version does not know; it is passed on verbatim.',
    data: 'filing',
    tone: 'plain',
  },
  'filing.removed': {
    when: 'The partner service no longer knows the filing: it answered 404 on two polls.',
    data: 'filing',
    tone: 'plain',
  },
  'filing.restored': {
    when: 'The partner service knows a removed filing again.',
    data: 'filing',
    tone: 'plain',
  },
  'filing.snapshot': {
    when: 'A subscription with `from: "state"` begins: the filing as it is, once for each. It is in no log.',
    data: 'filing',
    tone: 'plain',
  },
  'filing.stalled': {
    when: "A filing has been in its status for longer than the account's `stalledAfter` allows; once per stay and limit.",
    data: 'stalled',
    tone: 'warn',
  },
  'filing.due': {
    when: "A filing that is not COMPLETED comes near its due date by the account's `due`, or passes it; once for each of `dueWarnings` and due date.",
    data: 'due',
    tone: 'warn',
  },
  'filing.resubmitted': {
    when: 'A later filing answers the rejection: it has the same policy number, state, type and endorsement number, or a person said so. With `answeredBy` null it answers it no more.',
    data: 'filing',
    tone: 'info',
  },
  'filing.noted': {
    when: 'A person took note of a filing, took that back, wrote a note or assigned the filing. Only subscriptions with `filing.noted` or `*` get it: `filing.*` leaves it out.',
    data: 'noted',
    tone: 'info',
  },
  ping: { when: 'A test call; it is in no log.', data: 'ping', tone: 'plain' },
  'account.auth_failed': {
    when: 'The partner service refuses the key of the account.',
    data: 'account',
    tone: 'bad',
  },
  'account.doubtful': {
    when: "What polls find is not believed to be the account's own, and is held back until it is, or until the operator accepts it.",
    data: 'account',
    tone: 'bad',
  },
  'account.stale': {
    when: 'For several poll intervals no poll could be completed.',
    data: 'account',
    tone: 'bad',
  },
  'account.recovered': {
    when: 'Polls complete again, and nothing is held back.',
    data: 'account',
    tone: 'good',
  },
  'account.digest': {
    when: "The time of day of the account's `digest` has come: what is rejected, and what is new since the digest before. Once a local day.",
    data: 'digest',
    tone: 'info',
  },
  'account.certificate_expiring': {
    when: 'A certificate of a subscription, or of the authorities that it trusts, ends within 30 days; and once more when it has ended.',
    data: 'certificate',
    tone: 'bad',
  },
  'subscription.disabled': {
    when: 'A subscription was disabled: its endpoint answered 410, failed for too long or could not be verified, or it has expired.',
    data: 'disabled',
    tone: 'bad',
  },
  'subscription.recovered': {
    when: 'A subscription that was disabled for failing was enabled again, because its endpoint accepted a callback when it was asked.',
    data: 'recovered',
    tone: 'good',
  },
  'subscription.fell_behind': {
    when: 'Events left the log, for their age or for room, before a subscription got them.',
    data: 'fellBehind',
    tone: 'bad',
  },
} as const satisfies Readonly<Record<string, EventTypeFacts>>;

/** The name of an event type. */
export type EventType = keyof typeof eventTypes;

/** Event types that a read of a filing can lead to. */
export type FilingEventType = {
  [T in EventType]: (typeof eventTypes)[T]['data'] extends 'filing' | 'stalled' | 'due' ? T : never;
}[EventType];

const names = Object.keys(eventTypes) as EventType[];

/**
 * Whether events of this type are about the account or a subscription, and go to those subscriptions only
 * that name them.
 */
export function isOperational(type: EventType): boolean {
  return !['filing', 'stalled', 'due', 'noted', 'ping'].includes(eventTypes[type].data);
}

/** The type of the events of what people note of filings, which no `prefix.*` stands for. */
export const notedType = 'filing.noted';

/** The type of the events with which a subscription begins that asks for what is. */
export const snapshotType = 'filing.snapshot';

/** The type of the event of a rejection that a later filing answers, or answers no more. */
export const answerType = 'filing.resubmitted';

/**
 * Whether events of this type report what a filing is. Others of a filing remark on what was reported before,
 * or say it again to one subscription.
 */
export function reportsFiling(type: string): boolean {
  const isKnown = Object.hasOwn(eventTypes, type);
  return (
    isKnown && eventTypes[type as EventType].data === 'filing' && type !== snapshotType && type !== answerType
  );
}

/** The types of which there are events in the log. */
export const loggedEventTypes: readonly EventType[] = names.filter(
  (name) => name !== 'ping' && name !== snapshotType,
);

/** The pattern that stands for every type of which there are events in the log. */
export const everyType = '*';

/** The patterns that stand for the types with one beginning. */
export const eventPrefixes = [...new Set(names.filter((name) => name.includes('.')).map(prefixOf))];

/** The patterns that a subscription may ask for: every type by its name, every `prefix.*`, and `*`. */
export const eventPatterns: readonly string[] = [everyType, ...eventPrefixes, ...names];

/** The patterns that messages offer. A `ping` may be asked for, but comes with test calls only. */
export const offeredPatterns: readonly string[] = eventPatterns.filter((name) => name !== 'ping');

function prefixOf(name: string): string {
  return `${name.slice(0, name.indexOf('.'))}.*`;
}
