-- Writes new states of filings of one account and appends their events to its log, in one atomic step.
--
-- KEYS   1 filings  2 details  3 counts  4 head  5 events  6 bodies  7 filing-events  8 polling
--        9 answers  10 triage, then the sorted indexes of filings
-- ARGV   1 the generation of the account's snapshot that the caller decided on
--        2 the newest position of the log that the caller knows  3 its timeline ('' = none)
--        then sixteen values for each filing: id, expected state ('' = never seen), next state, status
--        before ('' = in no count), status after ('' = likewise), details ('' = none, '=' = as they are),
--        event id ('' = no event), event type, state abbreviation, recorded at (ms), body, status that the
--        event reports, '1' = written only together with the filing that follows, the filing that answers it
--        before and after ('' = none), what people noted ('' = nothing, '=' = as it is); and two for each
--        index: the filing's member before and after, without the id ('' = none)
-- Reply  { results, head, its timeline }, or nil: the snapshot is of another generation (it was emptied, or
--        the account was removed meanwhile), or 0: the log is not the one that the caller knows (Redis was
--        set back). Nothing is written after nil or 0.
--        Each filing has one result: the event's position in the log (1 and up), 0 = written without an
--        event, -1 = conflict: the stored state is not the expected one, or that of the filing with which it
--        would be written, -2 = the filing was to be added
--        without an event, but the baseline is complete and leaves out no more filings. Nothing is written
--        for the filing after -1 or -2.
--
-- The baseline leaves out `hidden` filings (a mark of polling); each one that appears later counts it down.
-- Removals are counted in the mark `removals`.
--
-- The event is appended before the state is written. If a write is refused (out of memory), the next poll
-- still sees the change.
-- @include ../../events/log.lua
local filings, details, counts, head, events, bodies, of_filing, polling, answers, triage = unpack(KEYS)
local indexes = { unpack(KEYS, 11) }
if redis.call('HGET', polling, 'generation') ~= ARGV[1] then return nil end
if not is_same_log(head, events, tonumber(ARGV[2]), ARGV[3]) then return 0 end
-- Fails here, with nothing written, if one of these keys has the wrong type.
for _, hash in ipairs({ filings, details, counts, bodies, of_filing, answers, triage }) do
  redis.call('HLEN', hash)
end
for _, index in ipairs(indexes) do redis.call('ZCARD', index) end
redis.call('XLEN', events)
local baselined = redis.call('HGET', polling, 'baselined') == 'true'
local hidden = tonumber(redis.call('HGET', polling, 'hidden') or 0)
local width = 16 + 2 * #indexes

local function counts_as_hidden(i)
  return ARGV[i + 1] == '' and ARGV[i + 6] == '' and ARGV[i + 4] ~= '' and baselined
end

-- The reason not to write a filing, or nil if it is written.
local function refusal(i)
  if (redis.call('HGET', filings, ARGV[i]) or '') ~= ARGV[i + 1] then return -1 end
  if counts_as_hidden(i) and hidden < 1 then return -2 end
  return nil
end

local reply = {}
local refused_pair
for i = 4, #ARGV, width do
  local id, state, before, after = ARGV[i], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local known, event_id, noted = ARGV[i + 5], ARGV[i + 6], ARGV[i + 15]
  local refused = refused_pair or refusal(i)
  refused_pair = nil
  if ARGV[i + 12] == '1' then
    refused = refused or refusal(i + width)
    refused_pair = refused
  end
  if refused then
    reply[#reply + 1] = refused
  else
    if counts_as_hidden(i) then
      hidden = redis.call('HINCRBY', polling, 'hidden', -1)
    end
    -- Runs before anything is written, because it fails if a count is not a number.
    if before ~= after then
      if before ~= '' then redis.call('HINCRBY', counts, before, -1) end
      if after ~= '' then redis.call('HINCRBY', counts, after, 1) end
    end
    local position = 0
    if event_id ~= '' then
      position = append_event(head, events, bodies, event_id, ARGV[i + 7], id, ARGV[i + 8], ARGV[i + 11], ARGV[i + 9],
        ARGV[i + 10])
      local earlier = redis.call('HGET', of_filing, id)
      redis.call('HSET', of_filing, id, (earlier and earlier .. ',' or '') .. position)
    end
    redis.call('HSET', filings, id, state)
    if before ~= '' and after == '' then redis.call('HINCRBY', polling, 'removals', 1) end
    local former_answer, answer = ARGV[i + 13], ARGV[i + 14]
    if former_answer ~= answer then
      if redis.call('HGET', answers, former_answer) == id then redis.call('HDEL', answers, former_answer) end
      if answer ~= '' then redis.call('HSET', answers, answer, id) end
    end
    for n, index in ipairs(indexes) do
      local former, present = ARGV[i + 14 + 2 * n], ARGV[i + 15 + 2 * n]
      if former ~= present then
        if former ~= '' then redis.call('ZREM', index, former .. ' ' .. id) end
        if present ~= '' then redis.call('ZADD', index, 0, present .. ' ' .. id) end
      end
    end
    if known == '' then redis.call('HDEL', details, id)
    elseif known ~= '=' then redis.call('HSET', details, id, known) end
    if noted == '' then redis.call('HDEL', triage, id)
    elseif noted ~= '=' then redis.call('HSET', triage, id, noted) end
    reply[#reply + 1] = position
  end
end
local position, timeline = read_head(head)
return { reply, position, timeline }
