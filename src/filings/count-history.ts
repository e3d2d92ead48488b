import type { RedisClient } from '../redis/connection/connect.ts';
import { pairsOf } from '../redis/hash-fields.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';

/** The number of filings that an account had in each status at one time. */
export interface CountSample {
  /** Milliseconds on Redis's clock, a whole minute. */
  readonly at: number;
  readonly counts: Readonly<Record<string, number>>;
}

const minuteMs = 60_000;
const coarseMs = 10 * minuteMs;
const fineForMs = 360 * minuteMs;
// Maximum number of samples of an account: a week without gaps, about 45 KB.
const samplesMax = 1_350;

// KEYS   1 the history  2 the account's marks of polling
// ARGV   1 the generation that the counts belong to  2 the minute  3 a minute that is dropped ('' = none)
//        4 number of samples that are kept, then status and count in turn
// Reply  1 when the counts were noted, otherwise 0
const noteScript = defineScript(`
if redis.call('HGET', KEYS[2], 'generation') ~= ARGV[1] then return 0 end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last and tonumber(string.match(last[1], '^%d+')) >= tonumber(ARGV[2]) then return 0 end
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[4], ARGV[2] .. '-0', unpack(ARGV, 5))
if ARGV[3] ~= '' then redis.call('XDEL', KEYS[1], ARGV[3] .. '-0') end
return 1`);

/**
 * The filings of an account by status, over the past week: each minute of the last six hours, each tenth
 * before. A Redis stream per account, with ids `<minute in ms>-0` and a field per status.
 */
export function createCountHistory(redis: RedisClient, keys: Keys) {
  const notedIn = new Map<string, number>();

  return {
    /**
     * Notes the counts at a time (ms), unless this or another process has noted counts in the same minute,
     * the account is no longer polled, or no poll of it was complete yet. `counts` is called only when it may
     * be needed. A crash leaves a gap.
     */
    async note(account: string, at: number, counts: () => Promise<CountSample['counts']>) {
      const minute = at - (at % minuteMs);
      if (notedIn.get(account) === minute) return;
      const key = keys.account(account);
      const old = minute - fineForMs;
      // Read before the counts, so that those are not noted for an account that is created anew meanwhile.
      const [generation, completeAt] = await redis.hmget(key.polling, 'generation', 'lastCompletePollAt');
      if (generation == null || !(Number(completeAt) > 0)) return;
      notedIn.set(account, minute);
      const args = [
        generation,
        minute,
        old % coarseMs === 0 ? '' : old,
        samplesMax,
        ...Object.entries(await counts()).flat(),
      ];
      await noteScript.run(redis, [key.countHistory, key.polling], args);
    },

    /** The samples since a time (ms), oldest first. */
    async read(account: string, since: number): Promise<CountSample[]> {
      const reply = await redis.xrange(keys.account(account).countHistory, `${Math.max(0, since)}-0`, '+');
      return reply.map(([id, fields]) => ({ at: Number.parseInt(id, 10), counts: toCounts(fields) }));
    },
  };
}

/** At most `max` of the samples, evenly spread, the newest among them. */
export function thinSamples(samples: readonly CountSample[], max: number): CountSample[] {
  const step = Math.max(1, Math.ceil(samples.length / max));
  return samples.filter((_, place) => (samples.length - 1 - place) % step === 0);
}

function toCounts(fields: readonly string[]): Record<string, number> {
  // The daemon writes numbers only, so other values are left out.
  const counts = pairsOf(fields).map(([status, count]) => [status, Number(count)] as const);
  return Object.fromEntries(counts.filter(([, count]) => Number.isFinite(count)));
}
