-- Writes new states of filings of one account and appends their events to its log, in one atomic step.
--
-- KEYS  1 filings  2 index  3 details  4 counts  5 head  6 events  7 bodies  8 filing-events  9 polling
-- ARGV  the generation of the account's snapshot that the caller decided on, the newest position of the log
--       that the caller knows and its
--       timeline ('' = none), then for each filing eleven values:
--       id, expected state ('' = unknown), next state, status before ('' = in no index), status after ('' =
--       likewise),
--       details ('' = none, '=' = as they are), event id ('' = no event), event type, state abbreviation,
--       recorded at (ms), body
-- Reply { results, head, its timeline }. A result for each filing: the event's position in the log (1 and
--       up), 0 = written without an event,
--       -1 = conflict: the stored state is not the expected one and nothing was written for this filing,
--       -2 = the filing was to be taken in silently, but the baseline is complete and has left out no more
--       filings than have come
--            to light since (`hidden` of the marks, counted down here): nothing was written for this filing.
--       Removals are counted in `removals` of the marks.
--       Nil instead of a list: the snapshot is of another generation (emptied, or the account was removed
--       meanwhile);
--       nothing was written at all. 0: so it is because the log is not the one that the caller knows, Redis
--       was set back.
--
-- The event is appended before the state is written: should a write be refused (out of memory), then the
-- change is
-- still to be seen by the next poll.
-- @include ../../events/log.lua
local filings, index, details, counts, head, events, bodies, of_filing, polling = unpack(KEYS)
if redis.call('HGET', polling, 'generation') ~= ARGV[1] then return nil end
if not is_same_log(head, events, tonumber(ARGV[2]), ARGV[3]) then return 0 end
-- Fails here, with nothing written, where one of these keys is of another type than it should be.
for _, hash in ipairs({ filings, details, counts, bodies, of_filing }) do redis.call('HLEN', hash) end
redis.call('ZCARD', index)
redis.call('XLEN', events)
local baselined = redis.call('HGET', polling, 'baselined') == 'true'
local hidden = tonumber(redis.call('HGET', polling, 'hidden') or 0)
local reply = {}
for i = 4, #ARGV, 11 do
  local id, expected, state, before, after = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local known, event_id = ARGV[i + 5], ARGV[i + 6]
  local counts_as_hidden = expected == '' and event_id == '' and after ~= '' and baselined
  if (redis.call('HGET', filings, id) or '') ~= expected then
    reply[#reply + 1] = -1
  elseif counts_as_hidden and hidden < 1 then
    reply[#reply + 1] = -2
  else
    if counts_as_hidden then
      hidden = redis.call('HINCRBY', polling, 'hidden', -1)
    end
    -- Before anything is written: it fails where a count is not a number.
    if before ~= after then
      if before ~= '' then redis.call('HINCRBY', counts, before, -1) end
      if after ~= '' then redis.call('HINCRBY', counts, after, 1) end
    end
    local position = 0
    if event_id ~= '' then
      position = append_event(head, events, bodies, event_id, ARGV[i + 7], id, ARGV[i + 8], ARGV[i + 9], ARGV[i + 10])
      local earlier = redis.call('HGET', of_filing, id)
      redis.call('HSET', of_filing, id, (earlier and earlier .. ',' or '') .. position)
    end
    redis.call('HSET', filings, id, state)
    if before ~= after then
      if before ~= '' then
        redis.call('ZREM', index, before .. '\0' .. id)
        if after == '' then redis.call('HINCRBY', polling, 'removals', 1) end
      end
      if after ~= '' and after ~= 'COMPLETED' then redis.call('ZADD', index, 0, after .. '\0' .. id) end
    end
    if known == '' then redis.call('HDEL', details, id)
    elseif known ~= '=' then redis.call('HSET', details, id, known) end
    reply[#reply + 1] = position
  end
end
local position, timeline = read_head(head)
return { reply, position, timeline }
