/** Every event type with when it is told (contract, Callbacks). */
export const eventTypes = {
  'filing.created': 'A filing was first seen, after the baseline; `previousStatus` is null.',
  'filing.unpaid': 'The status became UNPAID.',
  'filing.paid': 'The status became PAID.',
  'filing.pending': 'The status became PENDING.',
  'filing.completed':
    'The status became COMPLETED; or `completedAt` moved while it was, and `inferred` tells whether that proves an unseen round trip.',
  'filing.rejected': 'The status became REJECTED; or `rejectionReason` moved while it was.',
  'filing.reopened': 'COMPLETED became PENDING (told instead of `filing.pending`).',
  'filing.status_changed':
    'The status became a value that this version does not know; it is passed on verbatim.',
  'filing.removed': 'The partner service no longer knows the filing: it answered 404 on two polls.',
  'filing.restored': 'The partner service knows a removed filing again.',
  ping: 'A test call; it is in no log.',
  'account.auth_failed': 'The partner service refuses the key of the account.',
  'account.doubtful':
    "What polls find is not believed to be the account's own, and is held back until it is, or until the operator accepts it.",
  'account.stale': 'For several poll intervals no poll could be completed.',
  'account.recovered': 'Polls complete again, and nothing is held back.',
  'subscription.disabled':
    'A subscription was disabled because its endpoint answered 410 or failed for too long.',
  'subscription.fell_behind': 'Events left the log for their age before a subscription got them.',
} as const;

/** The name of an event type. */
export type EventType = keyof typeof eventTypes;

const names = Object.keys(eventTypes) as EventType[];

/** The patterns that stand for several types. */
export const eventPrefixes = [...new Set(names.filter((name) => name.includes('.')).map(prefixOf))];

/** What may be asked for: every type by its name, and every `prefix.*`. */
export const eventPatterns: readonly string[] = [...eventPrefixes, ...names];

function prefixOf(name: string): string {
  return `${name.slice(0, name.indexOf('.'))}.*`;
}
