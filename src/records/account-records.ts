import type { AccountStore } from '../accounts/account-store.ts';
import { numericMarks } from '../polling/store/marks.ts';
import type { PollingStore } from '../polling/store/polling-store.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript, loadScript } from '../redis/scripts.ts';
import { replaceUnreadable, setAside } from '../redis/set-aside.ts';
import { isUnreadable, type Remedy, type UnreadableRecordError } from '../redis/unreadable-record.ts';
import { rebuildMadeBy } from '../subscriptions/store/made-by.ts';
import { accountKeyKinds } from './key-kinds.ts';
import { rebuildFilingEvents, rebuildIndex, type RebuildDeps } from './rebuild-account.ts';
import type { UnreadableReports } from './unreadable-reports.ts';

/** Finds keys of accounts that have a wrong type or value, and repairs them. */
export interface AccountRecords {
  /**
   * Checks the keys of an account. A wrong key is renamed where it may begin anew, or rebuilt from the
   * others. Each finding is reported. `failures` are errors of other work since the last look; those without
   * a cause among the findings are reported themselves. Returns the number of repaired keys.
   */
  look(account: string, failures?: readonly UnreadableRecordError[]): Promise<number>;
  /**
   * Does the same, and writes the findings since the last call into the marks of polling, for the account's
   * health.
   */
  lookAndReport(account: string, failures: readonly UnreadableRecordError[]): Promise<void>;
}

export interface AccountRecordsDeps extends RebuildDeps {
  readonly keys: Keys;
  readonly accounts: Pick<AccountStore, 'get'>;
  readonly polling: Pick<PollingStore, 'noteUnreadable'>;
  readonly reports: UnreadableReports;
}

type KeyName = keyof typeof accountKeyKinds;

const names = Object.keys(accountKeyKinds) as KeyName[];
const placeOf = (name: KeyName) => names.indexOf(name) + 1;
// Maximum number of findings that the health of an account shows.
const sentencesMax = 10;

// KEYS   1 head  2 log
// Reply  1, or 0 where the log is empty
const headFromLog = defineScript(`
local newest = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if not newest then return 0 end
local timeline = newest[2][11] == 'timeline' and newest[2][12] or string.rep('0', 48)
redis.call('SET', KEYS[1], string.match(newest[1], '^%d+') .. ' ' .. timeline)
return 1`);

// Removes entries beyond the head: the daemon did not write them, and no event can be appended before they
// are gone.
//
// KEYS   1 head  2 log  3 notes
// Reply  1
const dropForeign = defineScript(`
local position = string.match(redis.call('GET', KEYS[1]) or '0', '^%d+')
for _, entry in ipairs(redis.call('XRANGE', KEYS[2], '(' .. position .. '-0', '+')) do
  redis.call('XADD', KEYS[3], 'MAXLEN', 1000, '*', 'key', KEYS[2], 'entry', entry[1], unpack(entry[2]))
  redis.call('XDEL', KEYS[2], entry[1])
end
redis.call('XSETID', KEYS[2], position .. '-0')
return 1`);

/** Checks and repairs the keys in Redis. */
export function createAccountRecords(deps: AccountRecordsDeps): AccountRecords {
  const { redis, keys, reports } = deps;
  const lookScript = loadScript(new URL('look-at-account.lua', import.meta.url));
  const special = (['head', 'incarnation', 'events', 'counts', 'polling'] as const).map(placeOf);
  const types = names.map((name) => accountKeyKinds[name].type);

  async function find(account: string): Promise<{ name: KeyName; problem: string }[]> {
    const key = keys.account(account);
    const wanted = names.map((name) => key[name]);
    const reply = await lookScript.run(redis, wanted, [...special, ...types, ...numericMarks]);
    const found: { name: KeyName; problem: string }[] = [];
    const flat = reply as (number | string)[];
    for (let i = 0; i < flat.length; i += 2) {
      const name = names[Number(flat[i]) - 1];
      if (name !== undefined) found.push({ name, problem: String(flat[i + 1]) });
    }
    // The head comes first, because other keys are rebuilt from it.
    return found.toSorted((a, b) => Number(b.name === 'head') - Number(a.name === 'head'));
  }

  async function repair(account: string, name: KeyName, problem: string): Promise<Remedy> {
    const key = keys.account(account);
    const { type } = accountKeyKinds[name];
    // The key has the right type, but a value that the daemon did not write.
    const isGarbage = !redisTypes.has(problem);
    const aside = () => setAside(redis, key, key[name], isGarbage ? '' : type);
    switch (name) {
      case 'head':
        await aside();
        return (await headFromLog.run(redis, [key.head, key.events], [])) === 1 ? 'rebuilt' : 'stands';
      case 'events':
        if (!isGarbage) return 'stands';
        await dropForeign.run(redis, [key.head, key.events, key.unreadable], []);
        return 'set_aside';
      case 'incarnation': {
        await aside();
        const { incarnation = '' } = (await deps.accounts.get(account)) ?? {};
        if (incarnation !== '') await redis.setnx(key.incarnation, `open ${incarnation}`);
        return 'rebuilt';
      }
      case 'index':
      case 'counts':
        await rebuildIndex(deps, account, key);
        return 'rebuilt';
      case 'filingEvents':
        await rebuildFilingEvents(deps, account, key);
        return 'rebuilt';
      case 'byMaker':
        await aside();
        await rebuildMadeBy(redis, keys, account);
        return 'rebuilt';
      case 'polling':
        if (!isGarbage) await aside();
        else for (const field of problem.split(' ')) await dropField(account, key.polling, field);
        return 'set_aside';
      case 'newest':
      case 'byAge':
      case 'filings':
      case 'details':
      case 'seen':
      case 'countHistory':
      case 'bodies':
      case 'missing':
      case 'lease':
      case 'tokens':
      case 'sessions':
      case 'unreadable':
      case 'subscriptions':
      case 'settingsVersion':
      case 'resting':
      case 'lagging':
      case 'certificates':
      case 'certificateWarnings':
      case 'registrations':
      case 'quota':
        if (accountKeyKinds[name].remedy === 'stand') return 'stands';
        await aside();
        return 'set_aside';
    }
  }

  async function dropField(account: string, key: string, field: string): Promise<void> {
    const held = await redis.hgetBuffer(key, field);
    if (held !== null)
      await replaceUnreadable(redis, keys.account(account), { key, field, held, value: null });
  }

  async function repairOrStand(account: string, name: KeyName, problem: string): Promise<Remedy> {
    try {
      return await repair(account, name, problem);
    } catch (error) {
      // The key from which it would be rebuilt cannot be read either.
      if (isUnreadable(error) || isWrongType(error)) return 'stands';
      throw error;
    }
  }

  async function look(account: string, failures: readonly UnreadableRecordError[] = []): Promise<number> {
    const found = await find(account);
    let repaired = 0;
    for (const { name, problem } of found) {
      const remedy = await repairOrStand(account, name, problem);
      if (remedy !== 'stands') repaired += 1;
      const { kind, type, todo } = accountKeyKinds[name];
      const what = redisTypes.has(problem)
        ? `it is a ${problem}, not a ${type}`
        : `it holds what is not ours`;
      const reason = remedy === 'stands' && todo !== '' ? `${what}; ${todo}` : what;
      reports.note({ account, kind, key: keys.account(account)[name], field: null, reason, remedy });
    }
    if (found.length === 0) for (const error of failures) reports.note(unexplained(account, error));
    return repaired;
  }

  return {
    look,
    async lookAndReport(account, failures) {
      await look(account, failures);
      const sentences = reports.collect(account);
      const more = sentences.length > sentencesMax ? [`and ${sentences.length - sentencesMax} more`] : [];
      await deps.polling.noteUnreadable(account, [...sentences.slice(0, sentencesMax), ...more].join('. '));
    },
  };
}

const redisTypes: ReadonlySet<string> = new Set(['none', 'string', 'list', 'set', 'zset', 'hash', 'stream']);

function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.includes('WRONGTYPE');
}

function unexplained(account: string, error: UnreadableRecordError) {
  const [key, field] = 'key' in error ? [error.key, error.field] : ['unknown', null];
  return { account, kind: 'other', key, field, reason: error.message, remedy: 'stands' as const };
}
