import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createEventLog } from '../../../../src/events/event-log.ts';
import { createPollingStore } from '../../../../src/polling/store/polling-store.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { UnreadableRecordError } from '../../../../src/redis/unreadable-record.ts';
import { storedAccount } from '../../../support/redis/stored-account.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
let accounts = 0;
let account: string;
let reported: string[];

beforeEach(() => {
  account = `a${(accounts += 1)}`;
  reported = [];
});

afterAll(() => redis.cleanup());

const polling = createPollingStore(client, keys, (of, { message }, remedy) => {
  reported.push(`${of}: ${message}; ${remedy}`);
});

const stored = () => storedAccount(client, keys.account(account));

describe('an account that is opened for a poll', () => {
  test('sets marks aside that cannot be read, and keeps the others', async () => {
    const key = keys.account(account).polling;
    const { generation } = await polling.begin(account, '');
    await stored().setPolling({ requestsTotal: 'garbage', hidden: '3' });
    expect(await polling.begin(account, '')).toMatchObject({ generation, hidden: 3, requestsTotal: 0 });
    expect(reported).toEqual([
      `${account}: the record ${key} → requestsTotal cannot be read: it is garbage or was cut short; set_aside`,
    ]);
    expect(await stored().setAside()).toEqual([['key', key, 'field', 'requestsTotal', 'value', 'garbage']]);
    await polling.write(account, generation, { lastPollAt: 1 }, 2);
    expect(await polling.read(account)).toMatchObject({ requestsTotal: 2 });
  });

  test('sets entries of the log aside that stand beyond its head', async () => {
    const { events } = keys.account(account);
    await stored().setHead(1);
    for (const id of ['1-0', '2-0', '1790000000000-5']) await stored().addEntry(id, `evt ${id}`);
    await polling.begin(account, '');
    expect(reported).toEqual([
      `${account}: the record ${events} cannot be read: it has entries beyond its head; set_aside`,
    ]);
    expect((await createEventLog(client, keys).outlineAfter(account, 0, 9)).length).toBe(1);
    expect(await stored().setAside()).toEqual([
      ['key', events, 'entry', '2-0', 'id', 'evt 2-0'],
      ['key', events, 'entry', '1790000000000-5', 'id', 'evt 1790000000000-5'],
    ]);
    expect(await stored().addEntry('2-0', 'the next one')).toBe('2-0');
    await polling.begin(account, '');
    expect(reported.length).toBe(2);
  });

  test('keeps a log without a head, and names the head', async () => {
    const { head } = keys.account(account);
    await stored().addEntry('1-0', 'evt_1');
    await expect(polling.begin(account, '')).rejects.toThrow(new UnreadableRecordError(head, null).message);
    expect(await stored().events()).toBe(1);
  });

  test('is not taken for a removed one where its incarnation is garbage', async () => {
    const { incarnation } = keys.account(account);
    await stored().setIncarnation('garbage');
    await expect(polling.begin(account, 'i')).rejects.toThrow(`the record ${incarnation} cannot be read`);
  });
});
