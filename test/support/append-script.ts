import { readFileSync } from 'node:fs';
import { defineScript } from '../../src/redis/scripts.ts';

const logLua = readFileSync(new URL('../../src/events/log.lua', import.meta.url), 'utf8');

/**
 * Appends events of filings as commit-changes.lua does, without a snapshot. KEYS head, events, bodies, filing-events; ARGV six values for each
 * event: id, type, filing, state, recorded at (ms), body. Replies with the last position.
 */
export const appendScript = defineScript(`${logLua}
  local position
  for i = 1, #ARGV, 6 do
    position = append_event(KEYS[1], KEYS[2], KEYS[3], unpack(ARGV, i, i + 5))
    local earlier = redis.call('HGET', KEYS[4], ARGV[i + 2])
    redis.call('HSET', KEYS[4], ARGV[i + 2], (earlier and earlier .. ',' or '') .. position)
  end
  return position`);
