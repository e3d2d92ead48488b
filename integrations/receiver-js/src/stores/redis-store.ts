import { ConfigurationError } from '../errors.ts';
import { idsMax, subjectOf, type Delivery, type Store, type Taken } from './store.ts';

/** How a Redis store reaches its Redis, and how long it keeps things. */
export interface RedisStoreOptions {
  /**
   * Runs a Lua script. ioredis: `(script, keys, args) => redis.eval(script, keys.length, ...keys, ...args)`; node-redis:
   * `(script, keys, args) => client.eval(script, { keys, arguments: args })`.
   */
  readonly eval: (script: string, keys: string[], args: string[]) => Promise<unknown>;
  /** Begins every key. Two daemons, or two receivers that each want every event, need two. Default `filing-webhooks`. */
  readonly prefix?: string;
  /** Milliseconds that a mark is kept after the last event of its filing; longer than the daemon's EVENT_RETENTION_MS. Default 90 days. */
  readonly keptMs?: number;
  /** Milliseconds after which the turn of a killed process ends; a living one renews it. Default 10 000. */
  readonly leaseMs?: number;
  /** Milliseconds that a delivery waits for the turn of another one; then it is `in_flight`. Default 11 000. */
  readonly waitMs?: number;
}

// Marks are one sorted set for each filing: members are ids of handled events, scores their sequences.
// KEYS: marks, lease. ARGV: webhook-id, sequence, takes, token, milliseconds of the lease.
// Reply: take | take_stale (the lease is ours) | repeated | stale | in_flight.
const claimScript = `
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 'repeated' end
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local verdict = 'take'
if last then
  local sequence, handled = tonumber(ARGV[2]), tonumber(last)
  if sequence < handled or (sequence == handled and ARGV[3] ~= 'equal') then
    if ARGV[3] ~= 'any' then return 'stale' end
    verdict = 'take_stale'
  end
end
if not redis.call('SET', KEYS[2], ARGV[4], 'NX', 'PX', ARGV[5]) then return 'in_flight' end
return verdict`;

// KEYS: marks, lease. ARGV: webhook-id, sequence, token, milliseconds to keep, maximum of ids. Writes the mark, whoever has the lease by now, and
// ends the lease if it is ours. Reply: 1.
const markScript = `
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[5]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if redis.call('GET', KEYS[2]) == ARGV[3] then redis.call('DEL', KEYS[2]) end
return 1`;

// KEYS: lease. ARGV: token, milliseconds; 0 ends it. Reply: 1 if the lease was ours.
const leaseScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

// Milliseconds between two looks at the turn of another delivery.
const lookMs = 250;

/**
 * Keeps marks in a Redis, for any number of processes. Each step is one script, so it is atomic; a mark is written after the handler, in a step of
 * its own. A process that is killed between the two, or a Redis that loses its last writes, lets an event be handled again; none is lost. One
 * handler runs at a time for each filing, unless a process stands still for longer than `leaseMs`.
 */
export function redisStore(options: RedisStoreOptions): Store {
  const { prefix = 'filing-webhooks', keptMs = 90 * 86_400_000, leaseMs = 10_000, waitMs = 11_000 } = options;
  if (typeof options.eval !== 'function')
    throw new ConfigurationError('redisStore needs eval, a function (script, keys, args) of your client.');
  if (!(leaseMs >= 100 && keptMs > leaseMs))
    throw new ConfigurationError('leaseMs has to be 100 or more, and keptMs more than that.');

  const keysOf = (delivery: Delivery) => {
    const subject = `${prefix}:{${subjectOf(delivery)}}`; // one slot of a cluster
    return { marks: `${subject}:marks`, lease: `${subject}:lease` };
  };

  async function claim(delivery: Delivery, token: string): Promise<unknown> {
    const { marks, lease } = keysOf(delivery);
    const sequence = String(delivery.filing?.sequence ?? 0);
    const args = [delivery.webhookId, sequence, delivery.takes, token, String(leaseMs)];
    const deadline = Date.now() + waitMs;
    for (;;) {
      const verdict = await options.eval(claimScript, [marks, lease], args);
      if (verdict !== 'in_flight' || Date.now() + lookMs > deadline) return verdict;
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }

  async function mark(delivery: Delivery, token: string): Promise<void> {
    const { marks, lease } = keysOf(delivery);
    const sequence = String(delivery.filing?.sequence ?? 0);
    const args = [delivery.webhookId, sequence, token, String(keptMs), String(idsMax)];
    await options.eval(markScript, [marks, lease], args);
  }

  return {
    async take(delivery, handle) {
      const token = crypto.randomUUID();
      const verdict = await claim(delivery, token);
      if (verdict !== 'take' && verdict !== 'take_stale') return toTaken(verdict);
      const { lease } = keysOf(delivery);
      // Where this fails, the lease ends by itself: the next delivery waits for that, or a long handler may be called twice.
      const change = (ms: number) =>
        options.eval(leaseScript, [lease], [token, String(ms)]).catch(() => undefined);
      const renewal = setInterval(() => void change(leaseMs), leaseMs / 3);
      try {
        await handle({ transaction: undefined, isStale: verdict === 'take_stale' });
        await mark(delivery, token);
        return 'handled';
      } catch (error) {
        await change(0);
        throw error;
      } finally {
        clearInterval(renewal);
      }
    },
  };
}

function toTaken(verdict: unknown): Taken {
  if (verdict === 'repeated' || verdict === 'stale' || verdict === 'in_flight') return verdict;
  throw new Error(`eval of the Redis store answered ${String(verdict)} instead of the reply of its script`);
}
