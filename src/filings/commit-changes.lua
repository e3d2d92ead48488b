-- Writes new states of filings of one account and appends their events to its log, in one atomic step.
--
-- KEYS  1 filings  2 index  3 details  4 counts  5 head  6 events  7 filing-events  8 polling
-- ARGV  the generation of the account's snapshot that the caller decided on, then for each filing eleven values:
--       id, expected state ('' = unknown), next state, status before ('' = in no index), status after ('' = likewise),
--       details ('' = none), event id ('' = no event), event type, state abbreviation, recorded at (ms), body
-- Reply for each filing: the event's position in the log (1 and up), 0 = written without an event,
--       -1 = conflict: the stored state is not the expected one and nothing was written for this filing,
--       -2 = the filing was to be taken in silently, but the baseline is complete and has left out no more filings than have come
--            to light since (`hidden` of the marks, counted down here): nothing was written for this filing.
--       Removals are counted in `removals` of the marks.
--       Nil instead of a list: the snapshot is of another generation (emptied, or the account was removed meanwhile);
--       nothing was written at all.
--
-- The event is appended before the state is written: should a write be refused (out of memory), then the change is
-- still to be seen by the next poll.
local filings, index, details, counts, head, events, of_filing, polling = unpack(KEYS)
if redis.call('HGET', polling, 'generation') ~= ARGV[1] then return nil end
local baselined = redis.call('HGET', polling, 'baselined') == 'true'
local hidden = tonumber(redis.call('HGET', polling, 'hidden') or 0)
local reply = {}
for i = 2, #ARGV, 11 do
  local id, expected, state, before, after = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local known, event_id = ARGV[i + 5], ARGV[i + 6]
  if (redis.call('HGET', filings, id) or '') ~= expected then
    reply[#reply + 1] = -1
  elseif expected == '' and event_id == '' and baselined and hidden < 1 then
    reply[#reply + 1] = -2
  else
    if expected == '' and event_id == '' and baselined then
      hidden = redis.call('HINCRBY', polling, 'hidden', -1)
    end
    local position = 0
    if event_id ~= '' then
      position = redis.call('INCR', head)
      redis.call('XADD', events, position .. '-0', 'id', event_id, 'type', ARGV[i + 7], 'filing', id,
        'state', ARGV[i + 8], 'at', ARGV[i + 9], 'body', ARGV[i + 10])
      local earlier = redis.call('HGET', of_filing, id)
      redis.call('HSET', of_filing, id, (earlier and earlier .. ',' or '') .. position)
    end
    redis.call('HSET', filings, id, state)
    if before ~= after then
      if before ~= '' then
        redis.call('HINCRBY', counts, before, -1)
        redis.call('ZREM', index, before .. '\0' .. id)
        if after == '' then redis.call('HINCRBY', polling, 'removals', 1) end
      end
      if after ~= '' then
        redis.call('HINCRBY', counts, after, 1)
        if after ~= 'COMPLETED' then redis.call('ZADD', index, 0, after .. '\0' .. id) end
      end
    end
    if known ~= '' then redis.call('HSET', details, id, known) else redis.call('HDEL', details, id) end
    reply[#reply + 1] = position
  end
end
return reply
