import { randomUUID } from 'node:crypto';
import { SnapshotLostError } from '../../filings/commit/commit-writer.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import { decodeMarks, encodeMarks, type MarksUpdate, type PollingMarks } from './marks.ts';

/** The marks of polling, one hash per account. */
export interface MarksStore {
  read(account: string): Promise<PollingMarks>;
  /**
   * Begins the snapshot of an account that has none yet, and returns the marks either way. Rejects with
   * SnapshotLostError, with nothing written, when the account was removed, or removed and created again: its
   * incarnation is another.
   */
  begin(account: string, incarnation: string): Promise<PollingMarks>;
  /**
   * Writes some marks and adds to the number of requests, in one step. Rejects with SnapshotLostError when
   * the generation is another.
   */
  write(account: string, generation: string, marks: MarksUpdate, requests: number): Promise<void>;
  /**
   * Writes marks although they go back in time. Rejects with SnapshotLostError when the generation is
   * another.
   */
  correct(account: string, generation: string, marks: MarksUpdate): Promise<void>;
  /** Writes `unreadable` where the account has marks and the text is another one. */
  noteUnreadable(account: string, text: string): Promise<void>;
}

// Both of these reply 0, with nothing written, when the marks are not of the generation in ARGV[1].

// KEYS 1 the marks. ARGV generation, number of requests, then names and values. Times only move forward:
// polls overlap, and each of them is right. Once there is a baseline, `hidden` only decreases.
const writeMarks = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HINCRBY', KEYS[1], 'requestsTotal', ARGV[2])
local baselined = redis.call('HGET', KEYS[1], 'baselined') == 'true'
for i = 3, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  local former = tonumber(redis.call('HGET', KEYS[1], name) or 0)
  local isOlder = string.sub(name, -2) == 'At' and tonumber(value) <= former
  local isMore = name == 'hidden' and baselined and tonumber(value) > former
  if not isOlder and not isMore then redis.call('HSET', KEYS[1], name, value) end
end
return 1`);

// KEYS 1 the marks. ARGV generation, then names and values.
const correctMarks = defineScript(`
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return 1`);

// KEYS 1 the marks  2 incarnation. ARGV incarnation, generation. Replies the marks as fields and values, nil
// when the incarnation is another.
const beginScript = defineScript(`
local incarnation = redis.call('GET', KEYS[2])
if incarnation and string.sub(incarnation, 1, 5 + #ARGV[1]) ~= 'open ' .. ARGV[1] then return nil end
redis.call('HSETNX', KEYS[1], 'generation', ARGV[2])
return redis.call('HGETALL', KEYS[1])`);

// KEYS 1 the marks. ARGV the text.
const writeUnreadable = defineScript(`
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or (redis.call('HGET', KEYS[1], 'unreadable') or '') == ARGV[1] then return 0 end
return redis.call('HSET', KEYS[1], 'unreadable', ARGV[1])`);

/** The marks in Redis. */
export function createMarksStore(redis: RedisClient, keys: Keys): MarksStore {
  const keyOf = (account: string) => keys.account(account).polling;
  return {
    async read(account) {
      return decodeMarks(await redis.hgetall(keyOf(account)));
    },
    async begin(account, incarnation) {
      const key = keys.account(account);
      const reply = await beginScript.run(redis, [key.polling, key.incarnation], [incarnation, randomUUID()]);
      if (reply === null) throw new SnapshotLostError(account);
      return decodeMarks(Object.fromEntries(pairs(reply as string[])));
    },
    async write(account, generation, marks, requests) {
      const values = [generation, requests, ...encodeMarks(marks)];
      await inGeneration(account, writeMarks.run(redis, [keyOf(account)], values));
    },
    async correct(account, generation, marks) {
      const values = [generation, ...encodeMarks(marks)];
      await inGeneration(account, correctMarks.run(redis, [keyOf(account)], values));
    },
    async noteUnreadable(account, text) {
      await writeUnreadable.run(redis, [keyOf(account)], [text]);
    },
  };
}

/** Rejects with SnapshotLostError unless the script's reply is 1. */
export async function inGeneration(account: string, reply: Promise<unknown>): Promise<void> {
  if ((await reply) !== 1) throw new SnapshotLostError(account);
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] ?? '', flat[i + 1] ?? ''];
}
