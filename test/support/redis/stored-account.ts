import { createHash } from 'node:crypto';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import type { AccountKeys, Keys } from '../../../src/redis/keys.ts';
import { storedDelivery } from './stored-delivery.ts';
import { rememberKeys } from './set-back.ts';

/** What the store holds for one account. Tests read and spoil it here, so that only this file knows its keys. */
export type StoredAccount = ReturnType<typeof storedAccount>;

/** What the store holds for the account of these keys. */
export function storedAccount(redis: RedisClient, keys: AccountKeys) {
  return {
    /** Remembers the account as it is now; returns what sets it back, as a failover without its last writes does. */
    remember: () => rememberKeys(redis, keys.base),
    /** The same of its log alone. */
    rememberLog: () => rememberKeys(redis, keys.events, keys.head, keys.bodies),
    setIncarnation: (text: string) => redis.set(keys.incarnation, text),
    /** Milliseconds until its incarnation is forgotten. */
    incarnationExpiresInMs: () => redis.pttl(keys.incarnation),
    /** Begins the account's history, as its first complete poll does. */
    begin: (generation: string) => redis.hset(keys.polling, 'generation', generation),
    /** Puts a text in the place of the marks of polling. */
    spoilPolling: () => redis.set(keys.polling, 'garbage'),
    /** The marks of polling. */
    polling: () => redis.hgetall(keys.polling),
    setPolling: (marks: Readonly<Record<string, string | number>>) => redis.hset(keys.polling, marks),
    /** Loses all marks of polling, the history's beginning among them. */
    dropPolling: () => redis.del(keys.polling),
    /** Marks it as read completely just now. */
    completePoll: (generation: string, at = Date.now()) =>
      redis.hset(keys.polling, {
        generation,
        baselined: 'true',
        lastCompletePollAt: at,
        lastCompleteEndAt: at,
      }),
    /** Lets the process that polls it hold it for these milliseconds from now on. */
    holdFor: (ms: number) => redis.pexpire(keys.lease, ms),
    /** Fields of the records that were set aside since they cannot be read, oldest first. */
    setAside: async () => (await redis.xrange(keys.unreadable, '-', '+')).map(([, fields]) => fields),
    /** Milliseconds until these are forgotten all together. */
    setAsideExpiresInMs: () => redis.pttl(keys.unreadable),
    /** Makes this position the last one of the log. */
    setHead: (position: number) => redis.set(keys.head, `${position} ${'0'.repeat(48)}`),
    /** Puts an entry into the log without moving its head. */
    addEntry: (entry: string, id: string) => redis.xadd(keys.events, entry, 'id', id),
    /** Takes the events below a position from the log, as retention does. */
    dropEventsBelow: (position: number) => redis.xtrim(keys.events, 'MINID', `${position}-0`),
    /** Takes all events from the log, as retention does. */
    dropAllEvents: () => redis.xtrim(keys.events, 'MAXLEN', 0),
    /** Epoch of its latest deliverer. */
    epoch: () => redis.hget(keys.delivery, 'epoch'),
    /** Gives it to another deliverer. */
    overtake: () => redis.hset(keys.delivery, 'epoch', 'another deliverer'),
    /** Loses log and head. */
    dropLog: () => redis.del(keys.head, keys.events),
    /** Loses the bodies of events that are stored beside the log. */
    dropBodies: (...positions: readonly number[]) => redis.hdel(keys.bodies, ...positions.map(String)),
    /** Number of bodies that are stored beside the log. */
    bodies: () => redis.hlen(keys.bodies),
    /** Ids of the filings that have events in the log. */
    filingsWithEvents: () => redis.hkeys(keys.filingEvents),
    /** Number of events in the log. */
    events: () => redis.xlen(keys.events),
    /** Bytes that Redis uses for the log, without the bodies beside it. */
    logMemory: async () => Number(await redis.memory('USAGE', keys.events, 'SAMPLES', 0)),
    /** Bytes that Redis uses for all of the account. */
    async memory(): Promise<number> {
      const sizes = (await redis.keys(`${keys.base}:*`)).map((key) =>
        redis.memory('USAGE', key, 'SAMPLES', 0),
      );
      return (await Promise.all(sizes)).reduce<number>((sum, size) => sum + Number(size), 0);
    },
    /** Ids of the filings that are stored. */
    filings: () => redis.hkeys(keys.filings),
    /** The stored texts of all filings, by id. */
    filingTexts: () => redis.hgetall(keys.filings),
    /** Replaces the stored text of a filing. */
    setFiling: (id: string, text: string | Buffer) => redis.hset(keys.filings, id, text),
    /** Stored details of the filings that are not settled, by id. */
    details: () => redis.hgetall(keys.details),
    /** Puts filings into the index of statuses, each as `memberOf` writes it. */
    addToIndex: (members: readonly string[]) =>
      redis.zadd(keys.index, ...members.flatMap((member) => ['0', member])),
    /** Notes the counts of filings of these times (ms), oldest first. */
    async addCounts(times: readonly number[], counts: Readonly<Record<string, number>>): Promise<void> {
      const pipeline = redis.pipeline();
      for (const at of times) pipeline.xadd(keys.countHistory, `${at}-0`, ...Object.entries(counts).flat());
      await pipeline.exec();
    },
    /** Number of filings in a status, as it is counted. */
    setCount: (status: string, filings: number) => redis.hset(keys.counts, status, filings),
    /** Notes something of filings, whether they are known or not. */
    addTriage: (ids: readonly string[]) =>
      redis.hset(keys.triage, ...ids.flatMap((id) => [id, '{"seen":null,"assignee":"Lee","note":null}'])),
    dropTriage: (ids: readonly string[]) => redis.hdel(keys.triage, ...ids),
    /** Number of filings that polls have missed. */
    missing: () => redis.hlen(keys.missing),
    /** Ids of the subscriptions that are stored. */
    subscriptions: () => redis.hkeys(keys.subscriptions),
    /** Stored text of a subscription, null if there is none. */
    subscriptionText: (id: string) => redis.hget(keys.subscriptions, id),
    /** Puts a text in the place of all subscriptions. */
    async spoilSubscriptions(): Promise<void> {
      await redis.del(keys.subscriptions);
      await redis.set(keys.subscriptions, 'garbage');
    },
    dropAllSubscriptions: () => redis.del(keys.subscriptions),
    /** Lists certificates, `<subscription> cert` or `<subscription> ca`, with the times (ms) at which they end. */
    addCertificates: (ends: Readonly<Record<string, number>>) =>
      redis.zadd(keys.certificates, ...Object.entries(ends).flatMap(([name, end]) => [end, name])),
    dropCertificates: () => redis.del(keys.certificates),
    /** Number of certificates that are listed or to be warned of. */
    certificates: async () =>
      (await redis.zcard(keys.certificates)) + (await redis.zcard(keys.certificateWarnings)),
    setSubscriptions: (texts: Readonly<Record<string, string>>) => redis.hset(keys.subscriptions, texts),
    dropSubscriptions: (...ids: readonly string[]) => redis.hdel(keys.subscriptions, ...ids),
    /** Number of subscriptions that are listed by the token that made them. */
    subscriptionsOfTokens: () => redis.zlexcount(keys.order, '[tok_', '+'),
    /** Stored texts of all subscriptions. */
    subscriptionTexts: () => redis.hvals(keys.subscriptions),
    /** Replaces the stored text of a subscription. */
    setSubscription: (id: string, text: string) => redis.hset(keys.subscriptions, id, text),
    /** Stored texts of the account's tokens, by id. */
    tokenTexts: () => redis.hgetall(keys.tokens),
    setTokens: (texts: Readonly<Record<string, string>>) => redis.hset(keys.tokens, texts),
    dropToken: (id: string) => redis.hdel(keys.tokens, id),
    /** Stored texts of the page's sessions that the account's tokens opened, by id. */
    sessionTexts: () => redis.hgetall(keys.sessions),
    /** Milliseconds until these sessions expire all together. */
    sessionsExpireInMs: () => redis.pttl(keys.sessions),
    /** Stored text of the registration under an idempotency key, null if there is none. */
    registration: (key: string) => redis.get(keys.idempotency(hashOf(key))),
    setRegistration: (key: string, text: string) => redis.set(keys.idempotency(hashOf(key)), text),
    /** Stored texts of all registrations under idempotency keys. */
    async registrations(): Promise<string[]> {
      const found = await redis.keys(`${keys.idempotency('')}*`);
      return (await Promise.all(found.map((key) => redis.get(key)))).flatMap((text) => text ?? []);
    },
    /** Number of idempotency keys that are counted. */
    registrationsCounted: () => redis.zcard(keys.registrations),
    /** Counts idempotency keys of one byte each that expire at a time (ms). */
    countRegistrations: (count: number, expiresAt: number) =>
      redis.zadd(
        keys.registrations,
        ...Array.from({ length: count }, (_, i) => [expiresAt, `${i} 1`]).flat(),
      ),
    /** Has the idempotency keys that are counted expire now. */
    async expireRegistrations(): Promise<void> {
      const members = await redis.zrange(keys.registrations, '0', '-1');
      await redis.zadd(keys.registrations, ...members.flatMap((member) => ['1', member]));
    },
    dropRegistrationsCounted: () => redis.del(keys.registrations),
    /** Says how many bytes the account uses of its quota, for a minute. */
    setUsedBytes: (bytes: number | string) => redis.set(keys.quota, bytes, 'PX', 60_000),
    dropUsedBytes: () => redis.del(keys.quota),
    /** The names of the account's keys, without what all of them begin with. */
    keys: async () =>
      (await redis.keys(`${keys.base}:*`)).map((key) => key.slice(keys.base.length + 1)).toSorted(),
    /** What is stored for one subscription's delivery. */
    of: (id: string) => storedDelivery(redis, keys.subscription(id)),
  };
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');

/** What the store holds beside the accounts' own keys: their records and the operator's sessions. */
export function storedRecords(redis: RedisClient, keys: Keys) {
  return {
    of: (account: string) => storedAccount(redis, keys.account(account)),
    /** Stored texts of the accounts' records, by name. */
    accountTexts: () => redis.hgetall(keys.accounts),
    setAccount: (account: string, text: string) => redis.hset(keys.accounts, account, text),
    /** Stored texts of the operator's sessions of the page, by id. */
    sessionTexts: () => redis.hgetall(keys.sessions),
    setSession: (id: string, text: string) => redis.hset(keys.sessions, id, text),
    /** Puts a text in the place of the operator's sessions. */
    spoilSessions: () => redis.set(keys.sessions, 'garbage'),
    dropSessions: () => redis.del(keys.sessions),
    /** Writes many accounts at once, and lists them. */
    async addAccounts(texts: Readonly<Record<string, string>>): Promise<void> {
      await redis.hset(keys.accounts, texts);
      await redis.zadd(keys.accountLists.names, ...Object.keys(texts).flatMap((name) => ['0', name]));
    },
    dropAccounts: () => redis.del(keys.accounts),
    /** Notes that an account may have rejections. */
    addRejecting: (account: string) => redis.zadd(keys.accountLists.rejecting, Date.now(), account),
    /** Forgets which accounts may have rejections. */
    dropRejecting: () => redis.del(keys.accountLists.rejecting),
    /** The account of each subscription that is listed with public keys, by the subscription's id. */
    signedBy: () => redis.hgetall(keys.signed.accounts),
    /** Makes a subscription seem listed with public keys since a time (ms). */
    setSignedSince: (id: string, at: number) => redis.zadd(keys.signed.ages, at, id),
    /** Number of subscriptions with public keys whose age is known. */
    signedAges: () => redis.zcard(keys.signed.ages),
    dropSigned: () => redis.del(keys.signed.accounts, keys.signed.ages),
    /** Puts a text in the place of the turns at a partner host. */
    spoilTurns: (host: string) => redis.set(keys.hostBudget(host), 'garbage'),
    /** Has all turns at a partner host taken until a time (ms). */
    takeTurnsUntil: (host: string, at: number) => redis.set(keys.hostBudget(host), at),
    turnsTakenUntil: async (host: string) => Number(await redis.get(keys.hostBudget(host))),
    /** Milliseconds until the turns at a partner host are forgotten. */
    turnsExpireInMs: (host: string) => redis.pttl(keys.hostBudget(host)),
    /** Puts a text in the place of the times of the last polls. */
    spoilPollTimes: () => redis.set(keys.polled, 'garbage'),
    dropPollTimes: () => redis.del(keys.polled),
    /** Number of accounts of which the time of the last poll is known. */
    pollTimes: () => redis.zcard(keys.polled),
  };
}
