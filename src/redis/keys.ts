import { tagsApart } from './slots-apart.ts';

/**
 * Every key the product writes, with type, lifetime, writer and reader. All keys of one account share the
 * hash tag `{account}`, so a Redis Cluster keeps an account on one shard and every script stays within one
 * slot.
 *
 * | key                           | type   | lives                         | written by                    | read by            |
 * |-------------------------------|--------|-------------------------------|-------------------------------|--------------------|
 * | `P:store`                     | string | for ever                      | first start on an empty store | store watch        |
 * | `P:probe`                     | string | a minute                      | readiness                     | none               |
 * | `P:aof:{<n>}`                 | string | a minute                      | AOF rewriter                  | none               |
 * | `P:taken`                     | hash   | for ever                      | work watch                    | work watch         |
 * | `P:polled`                    | zset   | with the accounts             | after polls                   | monitoring         |
 * | `P:proxy-outage`            | string | two minutes                   | delivery                      | API                |
 * | `P:budget:{<host>}`           | hash   | seconds                       | take-turns.lua                | polling, API       |
 * | `P:proofs:{<kind> <name>}`    | string | a minute                      | asking endpoints              | asking endpoints   |
 * | `P:accounts`                  | hash   | for ever                      | account store                 | all roles          |
 * | `P:{P:accounts}:names`        | zset   | with the accounts             | account store                 | API                |
 * | `P:{P:accounts}:unsound`      | zset   | with the accounts             | account store, polling, API   | API                |
 * | `P:{P:accounts}:rejecting`    | zset   | with the accounts             | before commits, upkeep        | API                |
 * | `P:sessions`                  | hash   | a week after the last         | session store                 | API                |
 * | `P:{~signed}:accounts`        | hash   | with subscriptions of `v1a`   | subscription store, upkeep    | API                |
 * | `P:{~signed}:ages`            | zset   | with subscriptions of `v1a`   | subscription store, upkeep    | API                |
 * | `P:witness:<a>`               | stream | an hour                       | after commits                 | polling            |
 * | `P:witness:{<n>}:<a>`         | stream | an hour                       | after commits, in a cluster   | polling            |
 * | `P:{a}:incarnation`           | string | a day longer than the account | account store                 | polling, API       |
 * | `P:{a}:filings`               | hash   | with the account              | commit-changes.lua            | polling, API       |
 * | `P:{a}:index`                 | zset   | with the account              | commit-changes.lua            | polling, API       |
 * | `P:{a}:details`               | hash   | while not COMPLETED           | commit-changes.lua            | API                |
 * | `P:{a}:seen`                  | hash   | about as long as REJECTED     | API (mark-seen.lua)           | API                |
 * | `P:{a}:counts`                | hash   | with the account              | commit-changes.lua            | polling, API       |
 * | `P:{a}:count-history`         | stream | a week                        | after polls                   | API                |
 * | `P:{a}:head`                  | string | with the account              | commit-changes.lua, append    | delivery, API      |
 * | `P:{a}:log`                   | stream | retention                     | commit-changes.lua, append    | delivery, API      |
 * | `P:{a}:bodies`                | hash   | retention                     | commit-changes.lua, append    | delivery, API      |
 * | `P:{a}:filing-events`         | hash   | retention                     | commit-changes.lua            | API                |
 * | `P:{a}:missing`               | hash   | until seen again              | polling                       | polling            |
 * | `P:{a}:polling`               | hash   | with the account              | polling                       | polling, API       |
 * | `P:{a}:lease`                 | string | seconds                       | polling                       | polling            |
 * | `P:{a}:sweep-lease`           | string | seconds                       | polling                       | polling            |
 * | `P:{a}:tokens`                | hash   | with the account              | token store                   | API                |
 * | `P:{a}:sessions`              | hash   | a week after the last         | session store                 | API                |
 * | `P:{a}:unreadable`            | stream | a week                        | the process that finds it     | operators          |
 * | `P:{a}:subscriptions`         | hash   | with the account              | subscription store            | delivery, API      |
 * | `P:{a}:delivery`              | hash   | with the account              | deliverer                     | deliverer, API     |
 * | `P:{a}:changes`               | list   | with the account              | sub. store, replays           | deliverer          |
 * | `P:{a}:registrations`         | zset   | 24 hours after the last       | subscription store            | subscription store |
 * | `P:{a}:quota`                 | string | a day, then counted again     | stores of what clients store  | these stores, API  |
 * | `P:{a}:order`                 | zset   | with the account              | subscription store            | API                |
 * | `P:{a}:certificates`          | zset   | while subscriptions have any  | subscription store            | gauges             |
 * | `P:{a}:certificate-warnings`  | zset   | until they have expired       | subscription store, warn.lua  | upkeep             |
 * | `P:{a}:idempotency:<hash>`    | string | 24 hours                      | subscription store            | subscription store |
 * | `P:{a}:sub:<id>`              | hash   | with the subscription         | drain, subscription store     | drain, API         |
 * | `P:{a}:sub:<id>:lanes`        | hash   | until delivered               | drain (settle.lua)            | drain, API         |
 * | `P:{a}:sub:<id>:attempts`     | stream | trimmed                       | drain (settle.lua)            | API                |
 * | `P:{a}:sub:<id>:dead`         | stream | retention                     | drain (settle.lua)            | API, replay        |
 * | `P:{a}:sub:<id>:replays`      | hash   | with the subscription         | replay, drain (settle.lua)    | drain, API         |
 * | `P:{a}:sub:<id>:replay-lanes` | hash   | until delivered               | drain (settle.lua)            | drain              |
 * | `P:{~queues}:…`               | BullMQ | BullMQ's                      | BullMQ                        | BullMQ             |
 */
export interface Keys {
  readonly prefix: string;
  /**
   * BullMQ's own prefix. All jobs are in one slot; `~` cannot start an account's name, so the two never meet.
   */
  readonly queues: string;
  readonly store: string;
  readonly probe: string;
  /** Keys that are only written, one of them on each server of a cluster. */
  aofMark(n: number): string;
  /** How often work of each queue was seen to be taken, one field per queue. */
  readonly taken: string;
  /** Accounts by the time of their last poll. */
  readonly polled: string;
  /** Why callbacks wait for the forward proxy (src/delivery/held.ts). */
  readonly proxyOutage: string;
  /** The time from which a partner host's next turn is free (src/partner/host-budgets.ts). */
  hostBudget(host: string): string;
  /** The questions to endpoints of a minute, of an account or to a host (src/delivery/ownership). */
  proofs(kind: 'account' | 'host', name: string): string;
  readonly accounts: string;
  /**
   * What is known of all accounts without reading each, in the slot of `accounts`
   * (src/accounts/account-changes.ts).
   */
  readonly accountLists: AccountLists;
  /** The operator's sessions of the page. */
  readonly sessions: string;
  /** The subscriptions with public keys, in one slot (src/subscriptions/public-keys.ts). */
  readonly signed: { readonly accounts: string; readonly ages: string };
  /**
   * A channel, not a key: each process publishes its commits there. Channels belong to no database of a
   * server, so its name ends in the number of the database, other than 0.
   */
  readonly commits: string;
  /** The latest commits to an account's log, where Redis is one server. */
  publishedCommits(account: string): string;
  /**
   * Two copies of `publishedCommits` in a Redis Cluster. At least one of them is on another primary than the
   * account's keys, so that a failover does not set back all three (src/redis/slots-apart.ts).
   */
  publishedCommitsApart(account: string): readonly string[];
  account(account: string): AccountKeys;
}

/** Lists of accounts, written in one step with the records of accounts. */
export interface AccountLists {
  /** The names of all accounts. */
  readonly names: string;
  /** Accounts by the time in ms from which on their polling may be other than `ok`, 0 for now. */
  readonly unsound: string;
  /**
   * Accounts that may have rejections, by the time in ms of their last announcement
   * (src/filings/rejecting-accounts.ts).
   */
  readonly rejecting: string;
}

/** The keys of one account; every string starts with `base`. */
export interface AccountKeys {
  readonly base: string;
  /**
   * The incarnation that these keys belong to; see src/accounts/incarnations.ts. Scripts that create keys
   * check it, or another key that is removed when it changes.
   */
  readonly incarnation: string;
  readonly filings: string;
  /**
   * The filings in each status but COMPLETED, with `<status>\0<rank> <id>` for each, ranked by age in the
   * status (src/filings/detection/age-rank.ts).
   */
  readonly index: string;
  readonly details: string;
  /** The marks on rejections that were seen, by filing. */
  readonly seen: string;
  readonly counts: string;
  readonly countHistory: string;
  readonly head: string;
  readonly events: string;
  readonly bodies: string;
  readonly filingEvents: string;
  readonly missing: string;
  readonly polling: string;
  readonly lease: string;
  readonly sweepLease: string;
  readonly tokens: string;
  /** Sessions of the page that were opened with the account's tokens. */
  readonly sessions: string;
  /**
   * Records that could not be read and were set aside (`setAside`).
   */
  readonly unreadable: string;
  readonly subscriptions: string;
  /**
   * The order of the subscriptions: ` <age> <id>` of all, and `<token> <age> <id>` of those of tokens that
   * manage only their own (`orderMembers`).
   */
  readonly order: string;
  /** The epoch of the latest deliverer, and how far it is (src/delivery/store/open.lua). */
  readonly delivery: string;
  /** The latest changes of subscriptions (src/delivery/store/changes.lua). */
  readonly changes: string;
  /** The certificates of subscriptions, `<id> cert` and `<id> ca`, by the time in ms at which they end. */
  readonly certificates: string;
  /** The same, by the time at which the account is to be warned next. */
  readonly certificateWarnings: string;
  /** The idempotency keys in use, with the bytes of their records, by the time in ms at which they expire. */
  readonly registrations: string;
  /** The bytes that are stored through the API, without tokens (src/redis/quota/quota.lua). */
  readonly quota: string;
  idempotency(hash: string): string;
  subscription(id: string): SubscriptionKeys;
}

/** The keys of one subscription's delivery. */
export interface SubscriptionKeys {
  readonly state: string;
  readonly lanes: string;
  readonly attempts: string;
  readonly dead: string;
  readonly replays: string;
  readonly replayLanes: string;
}

/**
 * Names every key below one prefix, in a database of this number. Two deployments with different prefixes or
 * databases share none.
 */
export function createKeys(prefix: string, database: number = 0): Keys {
  // Of the account that was asked for last.
  let [last, lastKeys] = ['', accountKeys(`${prefix}:{}`)];
  return {
    prefix,
    queues: `${prefix}:{~queues}`,
    store: `${prefix}:store`,
    probe: `${prefix}:probe`,
    aofMark: (n) => `${prefix}:aof:{${n}}`,
    taken: `${prefix}:taken`,
    polled: `${prefix}:polled`,
    proxyOutage: `${prefix}:proxy-outage`,
    hostBudget: (host) => `${prefix}:budget:{${host}}`,
    proofs: (kind, name) => `${prefix}:proofs:{${kind} ${name}}`,
    accounts: `${prefix}:accounts`,
    accountLists: accountLists(`${prefix}:{${prefix}:accounts}`),
    sessions: `${prefix}:sessions`,
    signed: { accounts: `${prefix}:{~signed}:accounts`, ages: `${prefix}:{~signed}:ages` },
    commits: database === 0 ? `${prefix}:commits` : `${prefix}:commits:${database}`,
    publishedCommits: (account) => `${prefix}:witness:${account}`,
    account(account) {
      if (account !== last) [last, lastKeys] = [account, accountKeys(`${prefix}:{${account}}`)];
      return lastKeys;
    },
    publishedCommitsApart: (account) =>
      tagsApart(account).map((tag) => `${prefix}:witness:{${tag}}:${account}`),
  };
}

function accountLists(base: string): AccountLists {
  return { names: `${base}:names`, unsound: `${base}:unsound`, rejecting: `${base}:rejecting` };
}

function accountKeys(base: string): AccountKeys {
  return {
    base,
    incarnation: `${base}:incarnation`,
    filings: `${base}:filings`,
    index: `${base}:index`,
    details: `${base}:details`,
    seen: `${base}:seen`,
    counts: `${base}:counts`,
    countHistory: `${base}:count-history`,
    head: `${base}:head`,
    events: `${base}:log`,
    bodies: `${base}:bodies`,
    filingEvents: `${base}:filing-events`,
    missing: `${base}:missing`,
    polling: `${base}:polling`,
    lease: `${base}:lease`,
    sweepLease: `${base}:sweep-lease`,
    tokens: `${base}:tokens`,
    sessions: `${base}:sessions`,
    unreadable: `${base}:unreadable`,
    subscriptions: `${base}:subscriptions`,
    order: `${base}:order`,
    delivery: `${base}:delivery`,
    changes: `${base}:changes`,
    certificates: `${base}:certificates`,
    certificateWarnings: `${base}:certificate-warnings`,
    registrations: `${base}:registrations`,
    quota: `${base}:quota`,
    idempotency: (hash) => `${base}:idempotency:${hash}`,
    subscription: (id) => subscriptionKeys(`${base}:sub:${id}`),
  };
}

function subscriptionKeys(base: string): SubscriptionKeys {
  return {
    state: base,
    lanes: `${base}:lanes`,
    attempts: `${base}:attempts`,
    dead: `${base}:dead`,
    replays: `${base}:replays`,
    replayLanes: `${base}:replay-lanes`,
  };
}
