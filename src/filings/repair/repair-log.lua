-- Repairs an account's log where half a transaction was carried out. The head becomes that of the newest
-- entry, entries whose bodies belong to other events are removed, and the filings of a stretch stand in the
-- indexes according to their states. Their order by age is dropped: the next question for it makes it anew.
--
-- KEYS   1 head  2 events  3 bodies  4 filing-events  5 filings  6 index  7 counts  8 newest
-- ARGV   1 the head as it was found  2 first and  3 last position of the stretch
--        4 statuses without an index, separated by newlines  5 number of entries that go
--        then the positions of these, then four values for each filing: id, its state as it was found
--        ('' = none), its status in the index ('' = in none), its positions in the stretch, separated by
--        commas
-- Reply  { the head's position, 1 where the counts are those of the index, otherwise 0 }; nil, with nothing
--        written, when the log has moved on meanwhile.
local head, events, bodies, of_filing, filings, index, counts = unpack(KEYS, 1, 7)
local found = redis.call('GET', head) or '0'
if found ~= ARGV[1] then return nil end
redis.call('UNLINK', KEYS[8])
local first, last = tonumber(ARGV[2]), tonumber(ARGV[3])
local position = tonumber(string.match(found, '^%d+'))

local newest = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
local newest_position = newest and tonumber(string.match(newest[1], '^%d+')) or 0
if newest_position >= position and newest and newest[2][11] == 'timeline' then
  local repaired = string.format('%.0f %s', newest_position, newest[2][12])
  if repaired ~= found then redis.call('SET', head, repaired) end
  position = newest_position
end

local unindexed = {}
for status in string.gmatch(ARGV[4], '[^\n]+') do unindexed[status] = true end

local at = 6
for i = at, at + tonumber(ARGV[5]) - 1 do
  redis.call('XDEL', events, ARGV[i] .. '-0')
  redis.call('HDEL', bodies, ARGV[i])
  at = i + 1
end

local function index_as(id, own)
  for _, status in ipairs(redis.call('HKEYS', counts)) do
    if status ~= own then redis.call('ZREM', index, status .. '\0' .. id) end
  end
  if own ~= '' and not unindexed[own] then redis.call('ZADD', index, 0, own .. '\0' .. id) end
end

local function list_as(id, own)
  local listed, before, after = redis.call('HGET', of_filing, id) or '', {}, {}
  for text in string.gmatch(listed, '%d+') do
    local p = tonumber(text)
    if p < first then before[#before + 1] = text elseif p > last then after[#after + 1] = text end
  end
  if own ~= '' then before[#before + 1] = own end
  for _, text in ipairs(after) do before[#before + 1] = text end
  local list = table.concat(before, ',')
  if list == '' then redis.call('HDEL', of_filing, id)
  elseif list ~= listed then redis.call('HSET', of_filing, id, list) end
end

local statuses = {}
for _, status in ipairs(redis.call('HKEYS', counts)) do statuses[status] = true end
for i = at, #ARGV, 4 do
  if ARGV[i + 2] ~= '' then statuses[ARGV[i + 2]] = true end
  if (redis.call('HGET', filings, ARGV[i]) or '') == ARGV[i + 1] then index_as(ARGV[i], ARGV[i + 2]) end
  list_as(ARGV[i], ARGV[i + 3])
end

-- Each filing stands in the index, unless its status has none.
local fit = 1
for status in pairs(statuses) do
  if not unindexed[status] then
    local listed = redis.call('ZLEXCOUNT', index, '[' .. status .. '\0', '(' .. status .. '\1')
    if listed ~= tonumber(redis.call('HGET', counts, status) or 0) then fit = 0 end
  end
end
return { position, fit }
