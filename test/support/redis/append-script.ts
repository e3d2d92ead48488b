import { readFileSync } from 'node:fs';
import type { NewEvent } from '../../../src/events/event.ts';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import type { AccountKeys } from '../../../src/redis/keys.ts';
import { defineScript } from '../../../src/redis/scripts.ts';

const logLua = readFileSync(new URL('../../../src/events/log.lua', import.meta.url), 'utf8');

/**
 * Appends events of filings as commit-changes.lua does, without a snapshot. KEYS head, events, bodies,
 * filing-events; ARGV seven values for each event: id, type, filing, state, status, recorded at (ms), body. Replies
 * with the last position.
 */
export const appendScript = defineScript(`${logLua}
  local position
  for i = 1, #ARGV, 7 do
    position = append_event(KEYS[1], KEYS[2], KEYS[3], unpack(ARGV, i, i + 6))
    if ARGV[i + 2] ~= '' then
      local earlier = redis.call('HGET', KEYS[4], ARGV[i + 2])
      redis.call('HSET', KEYS[4], ARGV[i + 2], (earlier and earlier .. ',' or '') .. position)
    end
  end
  return position`);

/** Appends one event, recorded at a time (ms); returns its position. */
export async function appendEvent(
  redis: RedisClient,
  keys: Pick<AccountKeys, 'head' | 'events' | 'bodies' | 'filingEvents'>,
  { id, type, filingId, state, status, body }: NewEvent,
  at: number,
): Promise<number> {
  const written = [keys.head, keys.events, keys.bodies, keys.filingEvents];
  return Number(await appendScript.run(redis, written, [id, type, filingId, state, status, at, body]));
}

/** A short event of a filing. */
export function paidEvent(filingId: string): NewEvent {
  const type = 'filing.paid';
  const id = `evt_${filingId}`;
  const body = JSON.stringify({ id, type, timestamp: '2026-11-21T10:00:03.120Z', data: { filingId } });
  return { id, type, filingId, state: '', status: 'PAID', body };
}
