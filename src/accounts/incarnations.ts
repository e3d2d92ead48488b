import type { RedisClient } from '../redis/connection/connect.ts';
import type { AccountKeys, Keys } from '../redis/keys.ts';
import { escapeGlob, scanKeys } from '../redis/scan-keys.ts';
import { defineScript } from '../redis/scripts.ts';

const forgottenAfterMs = 24 * 3_600_000;

// Takes one step in emptying or opening an account's keys, unless another process has gone on from there.
//
// KEYS   1 incarnation, then keys that are removed
// ARGV   1 its expected value ('' = none)  2 its next value
//        3 milliseconds for which that stays ('' = for ever)
// Reply  1, or 0 with nothing written when the value is another
const stepScript = defineScript(`
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('UNLINK', KEYS[i]) end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`);

// Closes an account's keys for the incarnation to come, unless another process has gone on from there.
//
// KEYS   1 incarnation, then the keys that writers check, which are removed, then the account's other keys
//        with fixed names
// ARGV   1 its expected value ('' = none)  2 its next value  3 number of keys that are removed
// Reply  0 with nothing written when the value is another; 1 when keys of a former account may remain; 2 when
//        there are none: the account is new, or its removal has come to its end. A removal sets the mark's
//        expiry as its last step.
const closeScript = defineScript(`
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[1] then return 0 end
local ended = found == '' or (string.match(found, '^closed ') and redis.call('PTTL', KEYS[1]) > 0)
local is_clean = ended and redis.call('EXISTS', unpack(KEYS, 2)) == 0
redis.call('UNLINK', unpack(KEYS, 2, 1 + ARGV[3]))
redis.call('SET', KEYS[1], ARGV[2])
return is_clean and 2 or 1`);

/**
 * An account that is removed and created again under its name is another account: each has an id of its own,
 * its incarnation. The keys of both have the same names, so `P:{a}:incarnation` names the owner. It goes from
 * `open <former>` to `closed <next>`, in one step with the removal of all keys that writers check before they
 * write. Then the other keys are removed, while no process can add to them, and `open <next>` lets the next
 * incarnation begin. Each step is taken only from the value that was read, and no value occurs twice. Any
 * number of processes may therefore do this at once, or continue after one that stopped. One string per
 * account.
 */
export function createIncarnations(redis: RedisClient, keys: Keys) {
  // 'left' when keys of a former account may remain; null: the value is no longer the expected one.
  async function close(account: string, expected: string, next: string): Promise<'left' | 'clean' | null> {
    const key = keys.account(account);
    const checked = [key.polling, key.subscriptions, key.tokens];
    const others = fixedKeys(key).filter((one) => !checked.includes(one));
    const all = [key.incarnation, ...checked, ...others];
    const reply = await closeScript.run(redis, all, [expected, closed(next), checked.length]);
    if (reply === 0) return null;
    return reply === 2 ? 'clean' : 'left';
  }

  async function step(
    account: string,
    expected: string,
    next: string,
    { gone = [], forMs = '' }: { gone?: readonly string[]; forMs?: number | '' } = {},
  ): Promise<boolean> {
    const { incarnation } = keys.account(account);
    return (await stepScript.run(redis, [incarnation, ...gone], [expected, next, forMs])) === 1;
  }

  const read = async (account: string) => (await redis.get(keys.account(account).incarnation)) ?? '';

  // After closing no process writes to the other keys, so one scan finds all of them.
  async function removeAll(account: string, value: string): Promise<boolean> {
    const { base, incarnation } = keys.account(account);
    for await (const found of scanKeys(redis, `${escapeGlob(base)}:*`)) {
      const gone = found.keys.filter((key) => key !== incarnation);
      if (!(await step(account, value, value, { gone }))) return false;
    }
    return true;
  }

  return {
    /**
     * Empties the account's keys for the incarnation `next`, unless that is done. `isCurrent` says whether
     * `next` is still the one to come. False if it is not, or if the keys now belong to another incarnation:
     * those are left alone. Scans all keys in Redis only if a former account may have left some.
     */
    async empty(account: string, next: string, isCurrent: () => Promise<boolean>): Promise<boolean> {
      for (;;) {
        const found = await read(account);
        if (found === opened(next)) return true;
        if (found !== closed(next)) {
          if (!(await isCurrent())) return false;
          const done = await close(account, found, next);
          if (done === 'clean') return true;
          if (done === null) continue;
        }
        if (await removeAll(account, closed(next))) return true;
      }
    },
    /** Lets the incarnation write, once the keys are empty. Safe to repeat. */
    async open(account: string, next: string): Promise<void> {
      await step(account, closed(next), opened(next));
    },
    /** The incarnation that may write to the keys; '' if they do not name one, null if they are closed. */
    async current(account: string): Promise<string | null> {
      const found = await read(account);
      if (found.startsWith('closed ')) return null;
      return found.startsWith('open ') ? found.slice('open '.length) : '';
    },
    /** Lets the mark of a removed account expire after a day: all work on the account has ended by then. */
    async forget(account: string, next: string): Promise<void> {
      await step(account, closed(next), closed(next), { forMs: forgottenAfterMs });
    },
  };
}

// The keys that every account has under the same names, without the incarnation.
function fixedKeys(key: AccountKeys): string[] {
  const texts = Object.values<unknown>({ ...key }).filter((value) => typeof value === 'string');
  return texts.filter((text) => text !== key.base && text !== key.incarnation);
}

const opened = (incarnation: string) => `open ${incarnation}`;
const closed = (next: string) => `closed ${next}`;
