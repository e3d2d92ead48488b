import { Cluster } from 'ioredis';
import type { RedisClient } from '../connection/connect.ts';
import type { Keys } from '../keys.ts';
import { defineScript } from '../scripts.ts';

/**
 * Commands that the user of Redis needs, those of the queues included, as rules of an ACL name them
 * (docs/operations.md#a-user-of-redis).
 */
export const neededCommands: readonly string[] = `
  bzpopmin client|setname decrby del eval evalsha exec exists get hdel hexists hget hgetall hincrby
  hkeys hlen hmget hmset hrandfield hscan hset hsetnx hstrlen hvals incr incrby info lindex llen
  lpop lpos lpush lrange lrem lset ltrim memory|usage multi persist pexpire pexpireat ping pttl
  publish rename rpop rpoplpush rpush sadd scan scard select set setnx sismember smembers srem
  subscribe time type unlink wait xadd xdel xlen xrange xread xrevrange xsetid xtrim zadd zcard
  zcount zlexcount zmscore zpopmin zrange zrangebylex zrangebyscore zrem zremrangebyrank zremrangebyscore
  zrevrange zrevrangebylex zrevrangebyscore zscan zscore`
  .trim()
  .split(/\s+/);

const neededInCluster: readonly string[] = ['cluster|keyslot', 'cluster|slots'];

// Asks the server for what the rules allow, and carries nothing out; a server that cannot be asked is
// believed. The calls are whole: Redis 7.0 crashes when it looks for the key of one without.
//
// ARGV   1 calls, each a list of words (JSON)
// Reply  numbers of the calls that are forbidden
const permissionsScript = defineScript(`
local forbidden = {}
for i, words in ipairs(redis.acl_check_cmd and cjson.decode(ARGV[1]) or {}) do
  local known, allowed = pcall(redis.acl_check_cmd, unpack(words))
  if known and not allowed then forbidden[#forbidden + 1] = i end
end
return forbidden`);

const withoutKey = new Set([
  'client|setname',
  'exec',
  'info',
  'multi',
  'ping',
  'scan',
  'select',
  'time',
  'wait',
]);
// Arguments of the other calls; all that are not named here have their key alone.
const shapes: Readonly<Record<string, (key: string, channel: string) => readonly string[]>> = {
  bzpopmin: (key) => [key, '0'],
  eval: () => ['return 1', '0'],
  evalsha: () => ['0', '0'],
  publish: (_, channel) => [channel, ''],
  rename: (key) => [key, key],
  rpoplpush: (key) => [key, key],
  set: (key) => [key, ''],
  subscribe: (_, channel) => [channel],
  xread: (key) => ['STREAMS', key, '0'],
};

/**
 * The problem with what the user of Redis (in a cluster: of every master) may do; null while it may do all
 * that the work needs. Names commands, keys and channels as the rules of an ACL that are missing. Rejects
 * when Redis does not answer.
 */
export async function checkPermissions(redis: RedisClient, keys: Keys): Promise<string | null> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const commands = [...neededCommands, ...(redis instanceof Cluster ? neededInCluster : [])];
  const calls = [
    ...commands.map((name) => ({ rule: `+${name}`, words: wordsOf(name, keys.probe, keys.commits) })),
    // The keys of an account, and of a queue, have a hash tag.
    ...[keys.account('probe').head, `${keys.queues}:probe`].map((key) => ({
      rule: `~${key}`,
      words: ['set', key, ''],
    })),
  ];
  const words = JSON.stringify(calls.map((call) => call.words));
  try {
    const found = await Promise.all(nodes.map((node) => permissionsScript.run(node, [], [words])));
    const forbidden = new Set(found.flatMap((numbers) => numbers as number[]));
    return describe(calls.filter((_, i) => forbidden.has(i + 1)).map(({ rule }) => rule));
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOPERM')) throw error;
    return describe(['+eval', '+evalsha']);
  }
}

function wordsOf(name: string, key: string, channel: string): readonly string[] {
  if (withoutKey.has(name)) return name.split('|');
  return [...name.split('|'), ...(shapes[name]?.(key, channel) ?? [key])];
}

function describe(missing: readonly string[]): string | null {
  if (missing.length === 0) return null;
  return `Redis does not allow the daemon's user all that it needs. Its rules lack: ${missing.join(' ')}, or the keys and channels that these are for (docs/operations.md, A user of Redis)`;
}
