import { Cluster } from 'ioredis';
import type { RedisClient } from '../connection/connect.ts';
import { waitsForReplicas } from '../connection/wait-replicas.ts';
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

const neededInCluster: readonly string[] = ['cluster|slots'];

// Asks the server for what the rules allow, and carries nothing out; a server that cannot be asked is
// believed. The calls are whole: Redis 7.0 crashes when it looks for the key of one without.
//
// ARGV   1 calls, each a list of words (JSON)
// Reply  numbers of the calls that are forbidden, and of those that the server does not know
const permissionsScript = defineScript(`
local forbidden, unknown = {}, {}
for i, words in ipairs(redis.acl_check_cmd and cjson.decode(ARGV[1]) or {}) do
  local known, allowed = pcall(redis.acl_check_cmd, unpack(words))
  if not known then unknown[#unknown + 1] = i
  elseif not allowed then forbidden[#forbidden + 1] = i end
end
return { forbidden, unknown }`);

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
 * Describes what the daemon needs and Redis (in a cluster: any master) lacks or denies its user, or null if
 * nothing is missing. Names commands, keys and channels as the missing ACL rules, and the commands that the
 * server itself lacks. Only a client that waits for replicas needs WAIT. Rejects if Redis does not answer.
 */
export async function checkPermissions(redis: RedisClient, keys: Keys): Promise<string | null> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const commands = [...neededCommands, ...(redis instanceof Cluster ? neededInCluster : [])];
  const calls = [
    ...commands
      .filter((name) => name !== 'wait' || waitsForReplicas(redis))
      .map((name) => ({ rule: `+${name}`, words: wordsOf(name, keys.probe, keys.commits) })),
    // The keys of an account, and of a queue, have a hash tag.
    ...[keys.account('probe').head, `${keys.queues}:probe`].map((key) => ({
      rule: `~${key}`,
      words: ['set', key, ''],
    })),
  ];
  const words = JSON.stringify(calls.map((call) => call.words));
  const rulesOf = (numbers: readonly number[]) => {
    const found = new Set(numbers);
    return calls.filter((_, i) => found.has(i + 1)).map(({ rule }) => rule);
  };
  try {
    const replies = await Promise.all(nodes.map((node) => permissionsScript.run(node, [], [words])));
    const found = replies as readonly (readonly [forbidden: number[], unknown: number[]])[];
    const unknown = rulesOf(found.flatMap((lists) => lists[1]));
    return (
      describeUnknown(unknown.map((rule) => rule.slice(1)).filter((name) => name !== 'client|setname')) ??
      describeForbidden(rulesOf(found.flatMap((lists) => lists[0])))
    );
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.message.startsWith('NOPERM')) return describeForbidden(['+eval', '+evalsha']);
    const [, command] = /^ERR unknown command '(eval(?:sha)?)'/i.exec(error.message) ?? [];
    if (command === undefined) throw error;
    return describeUnknown([command.toLowerCase()]);
  }
}

function wordsOf(name: string, key: string, channel: string): readonly string[] {
  if (withoutKey.has(name)) return name.split('|');
  return [...name.split('|'), ...(shapes[name]?.(key, channel) ?? [key])];
}

function describeForbidden(missing: readonly string[]): string | null {
  if (missing.length === 0) return null;
  return `Redis does not allow the daemon's user all that it needs. Its rules lack: ${missing.join(' ')}, or the keys and channels that these are for (docs/operations.md, A user of Redis)`;
}

function describeUnknown(missing: readonly string[]): string | null {
  if (missing.length === 0) return null;
  return `Redis lacks commands that the daemon needs: ${missing.join(' ')}. They were removed or renamed there (rename-command), or it is too old, or a sentinel, which needs redis+sentinel:// in REDIS_URL`;
}
