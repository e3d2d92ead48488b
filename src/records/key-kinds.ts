import type { AccountKeys, SubscriptionKeys } from '../redis/keys.ts';

/** The remedy for a key that has a wrong type, or a value that the daemon did not write. */
export interface KeyKind {
  /** The name that Redis has for it. */
  readonly type: 'string' | 'hash' | 'zset' | 'stream';
  /** Its name in logs and metrics. */
  readonly kind: string;
  /**
   * `forget`: it is set aside and begins anew; `rebuild`: it is made again from other keys; `stand`: no other
   * key holds the same, so the work that needs it stands still until the operator repairs it.
   */
  readonly remedy: 'forget' | 'rebuild' | 'stand';
  /** The operator's task where the daemon cannot repair the key; empty otherwise. */
  readonly todo: string;
}

/** Keys of an account that have one value for the account as a whole. */
export type AccountKeyName = {
  [Name in keyof AccountKeys]: AccountKeys[Name] extends string ? Name : never;
}[keyof AccountKeys];

const restore = (what: string) => `restore it from a backup, or DEL it: ${what}`;

/** The keys of an account, by their name in `AccountKeys`; without `base`, which is not a key. */
export const accountKeyKinds: Readonly<Record<Exclude<AccountKeyName, 'base'>, KeyKind>> = {
  incarnation: { type: 'string', kind: 'incarnation', remedy: 'rebuild', todo: '' },
  filings: {
    type: 'hash',
    kind: 'filings',
    remedy: 'stand',
    todo: 'restore it from a backup, or DELETE the account and PUT it anew',
  },
  index: { type: 'zset', kind: 'index', remedy: 'rebuild', todo: '' },
  newest: { type: 'zset', kind: 'newest', remedy: 'forget', todo: '' },
  details: { type: 'hash', kind: 'details', remedy: 'forget', todo: '' },
  seen: { type: 'hash', kind: 'seen', remedy: 'forget', todo: '' },
  counts: { type: 'hash', kind: 'counts', remedy: 'rebuild', todo: '' },
  countHistory: { type: 'stream', kind: 'count-history', remedy: 'forget', todo: '' },
  head: {
    type: 'string',
    kind: 'head',
    remedy: 'rebuild',
    todo: 'the log is empty and does not say where it ends: restore it from a backup',
  },
  events: {
    type: 'stream',
    kind: 'log',
    remedy: 'stand',
    todo: restore('events that were not delivered yet are given up then'),
  },
  bodies: {
    type: 'hash',
    kind: 'bodies',
    remedy: 'stand',
    todo: restore('events that were not delivered yet are given up then'),
  },
  filingEvents: { type: 'hash', kind: 'filing-events', remedy: 'rebuild', todo: '' },
  missing: { type: 'hash', kind: 'missing', remedy: 'forget', todo: '' },
  polling: { type: 'hash', kind: 'polling', remedy: 'forget', todo: '' },
  lease: { type: 'string', kind: 'lease', remedy: 'forget', todo: '' },
  tokens: {
    type: 'hash',
    kind: 'tokens',
    remedy: 'stand',
    todo: restore('tokens have to be made anew then'),
  },
  sessions: { type: 'hash', kind: 'sessions', remedy: 'forget', todo: '' },
  unreadable: { type: 'stream', kind: 'unreadable', remedy: 'forget', todo: '' },
  subscriptions: {
    type: 'hash',
    kind: 'subscriptions',
    remedy: 'stand',
    todo: restore('subscriptions have to be registered anew then'),
  },
  byAge: { type: 'zset', kind: 'by-age', remedy: 'forget', todo: '' },
  byMaker: { type: 'zset', kind: 'by-maker', remedy: 'rebuild', todo: '' },
  settingsVersion: { type: 'string', kind: 'settings-version', remedy: 'forget', todo: '' },
  resting: { type: 'hash', kind: 'resting', remedy: 'forget', todo: '' },
  lagging: { type: 'zset', kind: 'lagging', remedy: 'forget', todo: '' },
  certificates: { type: 'zset', kind: 'certificates', remedy: 'forget', todo: '' },
  certificateWarnings: { type: 'zset', kind: 'certificate-warnings', remedy: 'forget', todo: '' },
  registrations: { type: 'zset', kind: 'registrations', remedy: 'forget', todo: '' },
  quota: { type: 'string', kind: 'quota', remedy: 'forget', todo: '' },
};

/** The keys of a subscription, by their name in `SubscriptionKeys`. */
export const subscriptionKeyKinds: Readonly<Record<keyof SubscriptionKeys, Omit<KeyKind, 'todo'>>> = {
  state: { type: 'hash', kind: 'sub', remedy: 'rebuild' },
  accessToken: { type: 'hash', kind: 'sub:access-token', remedy: 'forget' },
  lanes: { type: 'hash', kind: 'sub:lanes', remedy: 'rebuild' },
  attempts: { type: 'stream', kind: 'sub:attempts', remedy: 'forget' },
  dead: { type: 'stream', kind: 'sub:dead', remedy: 'forget' },
  replays: { type: 'hash', kind: 'sub:replays', remedy: 'forget' },
  replayLanes: { type: 'hash', kind: 'sub:replay-lanes', remedy: 'rebuild' },
};

/**
 * The names of all records: the kinds of keys, the two that belong to no account, and `other` where Redis
 * does not say which key it was.
 */
export const recordKinds: readonly string[] = [
  'accounts',
  'witness',
  ...Object.values(accountKeyKinds).map(({ kind }) => kind),
  ...Object.values(subscriptionKeyKinds).map(({ kind }) => kind),
  'other',
];
