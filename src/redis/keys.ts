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
 * | `P:{a}:effective`             | zset   | with the account              | commit-changes.lua            | polling, API       |
 * | `P:{a}:created`               | zset   | with the account              | commit-changes.lua            | API                |
 * | `P:{a}:look-alikes`           | zset   | with the account              | commit-changes.lua            | polling, API       |
 * | `P:{a}:details`               | hash   | while not COMPLETED           | commit-changes.lua            | API                |
 * | `P:{a}:triage`                | hash   | until room is needed          | commit-changes.lua            | API, polling       |
 * | `P:{a}:answers`               | hash   | as long as REJECTED           | commit-changes.lua            | polling, API       |
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
 * | `P:{a}:nothing`               | none   | never                         | none                          | deliverer          |
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
export type Keys = Readonly<ReturnType<typeof createKeys>>;

/** The keys of one account; every string starts with `base`. */
export type AccountKeys = Readonly<ReturnType<typeof accountKeys>>;

/** The keys of one subscription's delivery. */
export type SubscriptionKeys = Readonly<ReturnType<typeof subscriptionKeys>>;

/**
 * Names every key below one prefix, in a database of this number. Two deployments with different prefixes or
 * databases share none.
 */
export function createKeys(prefix: string, database: number = 0) {
  // Of the account that was asked for last.
  let [last, lastKeys] = ['', accountKeys(`${prefix}:{}`)];
  return {
    prefix,
    /**
     * BullMQ's own prefix. All jobs are in one slot; `~` cannot start an account's name, so the two never
     * meet.
     */
    queues: `${prefix}:{~queues}`,
    store: `${prefix}:store`,
    probe: `${prefix}:probe`,
    /** Keys that are only written, one of them on each server of a cluster. */
    aofMark: (n: number) => `${prefix}:aof:{${n}}`,
    /** How often work of each queue was seen to be taken, one field per queue. */
    taken: `${prefix}:taken`,
    /** Accounts by the time of their last poll. */
    polled: `${prefix}:polled`,
    /** Why callbacks wait for the forward proxy (src/delivery/held.ts). */
    proxyOutage: `${prefix}:proxy-outage`,
    /** The time from which a partner host's next turn is free (src/partner/host-budgets.ts). */
    hostBudget: (host: string) => `${prefix}:budget:{${host}}`,
    /** The questions to endpoints of a minute, of an account or to a host (src/delivery/ownership). */
    proofs: (kind: 'account' | 'host', name: string) => `${prefix}:proofs:{${kind} ${name}}`,
    accounts: `${prefix}:accounts`,
    /**
     * What is known of all accounts without reading each, in the slot of `accounts`
     * (src/accounts/account-store.ts).
     */
    accountLists: accountLists(`${prefix}:{${prefix}:accounts}`),
    /** The operator's sessions of the page. */
    sessions: `${prefix}:sessions`,
    /** The subscriptions with public keys, in one slot (src/subscriptions/public-keys.ts). */
    signed: { accounts: `${prefix}:{~signed}:accounts`, ages: `${prefix}:{~signed}:ages` },
    /**
     * A channel, not a key: each process publishes its commits there. Channels belong to no database of a
     * server, so its name ends in the number of the database, other than 0.
     */
    commits: database === 0 ? `${prefix}:commits` : `${prefix}:commits:${database}`,
    /** The latest commits to an account's log, on a single Redis server. */
    publishedCommits: (account: string) => `${prefix}:witness:${account}`,
    account(account: string): AccountKeys {
      if (account !== last) [last, lastKeys] = [account, accountKeys(`${prefix}:{${account}}`)];
      return lastKeys;
    },
    /**
     * Two copies of `publishedCommits` in a Redis Cluster. At least one of them is on another primary than
     * the account's keys, so that a failover does not set back all three (src/redis/slots-apart.ts).
     */
    publishedCommitsApart: (account: string): readonly string[] =>
      tagsApart(account).map((tag) => `${prefix}:witness:{${tag}}:${account}`),
  };
}

function accountLists(base: string) {
  return {
    /** The names of all accounts. */
    names: `${base}:names`,
    /** Accounts by the time in ms from which on their polling may be other than `ok`, 0 for now. */
    unsound: `${base}:unsound`,
    /**
     * Accounts that may have rejections, by the time in ms of their last announcement
     * (src/filings/rejecting-accounts.ts).
     */
    rejecting: `${base}:rejecting`,
  };
}

function accountKeys(base: string) {
  return {
    base,
    /**
     * The incarnation that these keys belong to; see src/accounts/incarnations.ts. Scripts that create keys
     * check it, or another key that is removed when it changes.
     */
    incarnation: `${base}:incarnation`,
    filings: `${base}:filings`,
    /**
     * The filings in each status but COMPLETED, with `<status>\0<rank> <id>` for each, ranked by age in the
     * status; answered rejections stand apart (src/filings/detection/age-rank.ts).
     */
    index: `${base}:index`,
    /** The same filings, ranked by their effective date. */
    effective: `${base}:effective`,
    /** The rejections that were so at their first read, ranked by the filings' own `createdAt`. */
    created: `${base}:created`,
    /** The open rejections, with `<key>\0<rank> <id>` for each, by what they look like and by age. */
    lookAlikes: `${base}:look-alikes`,
    details: `${base}:details`,
    /** The rejection that each filing answers. */
    answers: `${base}:answers`,
    /** The notes of people, by filing (src/filings/detection/triage.ts). */
    triage: `${base}:triage`,
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
    /** Sessions of the page that were opened with the account's tokens. */
    sessions: `${base}:sessions`,
    /**
     * Records that could not be read and were set aside (`setAside`).
     */
    unreadable: `${base}:unreadable`,
    subscriptions: `${base}:subscriptions`,
    /**
     * The order of the subscriptions: ` <age> <id>` of all, and `<token> <age> <id>` of those of tokens that
     * manage only their own (`orderMembers`).
     */
    order: `${base}:order`,
    /** The epoch of the latest deliverer, and how far it is (src/delivery/store/open.lua). */
    delivery: `${base}:delivery`,
    /** The latest changes of subscriptions (src/delivery/store/changes.lua). */
    changes: `${base}:changes`,
    /** The certificates of subscriptions, `<id> cert` and `<id> ca`, by the time in ms at which they end. */
    certificates: `${base}:certificates`,
    /** The same, by the time at which the account is to be warned next. */
    certificateWarnings: `${base}:certificate-warnings`,
    /**
     * The idempotency keys in use, with the bytes of their records, by the time in ms at which they expire.
     */
    registrations: `${base}:registrations`,
    /** The bytes that are stored through the API, without tokens (src/redis/quota/quota.lua). */
    quota: `${base}:quota`,
    /**
     * Never written. Redis refuses a script that names it (TRYAGAIN) while the slot of the account moves to
     * another node of a cluster, when some of its keys may be on one and some on the other.
     */
    nothing: `${base}:nothing`,
    idempotency: (hash: string) => `${base}:idempotency:${hash}`,
    subscription: (id: string): SubscriptionKeys => subscriptionKeys(`${base}:sub:${id}`),
  };
}

function subscriptionKeys(base: string) {
  return {
    state: base,
    lanes: `${base}:lanes`,
    attempts: `${base}:attempts`,
    dead: `${base}:dead`,
    replays: `${base}:replays`,
    replayLanes: `${base}:replay-lanes`,
  };
}
