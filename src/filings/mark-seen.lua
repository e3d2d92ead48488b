-- Marks a filing that is REJECTED as seen.
--
-- KEYS   1 seen  2 filings  3 incarnation  4 quota  5 subscriptions  6 registrations  7 tokens
-- ARGV   1 filing  2 by and 3 note (JSON)  4 at (ms)  5 maximum number of marks  6 maximum bytes of an
--        account
-- Reply  'marked', 'gone' when the account is removed, 'not_rejected', 'full', or 'quota <bytes stored>' when
--        the account would store too much; nothing is written but after 'marked'. A few marks of filings that
--        have moved on go each time.
-- @include ../redis/quota/quota.lua
local seen, filings = KEYS[1], KEYS[2]
if string.match(redis.call('GET', KEYS[3]) or '', '^closed ') then return 'gone' end

-- The number of the latest event of a filing that is REJECTED; nil for others.
local function rejected_sequence(id)
  local is_read, state = pcall(cjson.decode, redis.call('HGET', filings, id) or '')
  if not is_read or type(state) ~= 'table' or state[2] ~= 'R' or state[9] == 1 then return nil end
  return tonumber(state[5])
end

-- Removes those of a number of marks, drawn at random, that belong to no rejection of now.
local function drop_void(count)
  local drawn = redis.call('HRANDFIELD', seen, count, 'WITHVALUES')
  for i = 1, #drawn, 2 do
    local is_read, mark = pcall(cjson.decode, drawn[i + 1])
    local sequence = rejected_sequence(drawn[i])
    local stands = is_read and type(mark) == 'table' and sequence ~= nil and mark.sequence == sequence
    if not stands then redis.call('HDEL', seen, drawn[i]) end
  end
end

local sequence = rejected_sequence(ARGV[1])
if not sequence then return 'not_rejected' end
drop_void(10)
if redis.call('HEXISTS', seen, ARGV[1]) == 0 then
  if redis.call('HLEN', seen) >= tonumber(ARGV[5]) then drop_void(1000) end
  if redis.call('HLEN', seen) >= tonumber(ARGV[5]) then return 'full' end
  local stored = stored_bytes(KEYS[4], KEYS[5], KEYS[6], KEYS[7])
  if stored + seen_bytes > tonumber(ARGV[6]) then return 'quota ' .. string.format('%d', stored) end
end
redis.call('HSET', seen, ARGV[1], string.format('{"by":%s,"note":%s,"at":%s,"sequence":%d}', ARGV[2], ARGV[3], ARGV[4], sequence))
return 'marked'
