-- Removes the oldest entries of an account's log, their bodies and what points at them, up to a number of
-- entries and of bytes: those that were kept long enough, and those that the log has no room for. A mark of
-- polling says when the latter last went.
--
-- KEYS   1 events  2 bodies  3 filing-events  4 polling
-- ARGV   1 entries recorded before this time go (ms)  2 maximum number of entries
--        3 bytes of bodies after which the removal ends  4 maximum bytes of the log
-- Reply  { number of entries removed, number of those for want of room }. The first does not show whether
--        more are to go (the bytes may have ended the removal): call again until it is 0.
--
-- Entries are read oldest first, up to the first that stays. While nothing is to be removed, only that entry
-- is read.
local events, bodies, of_filing = KEYS[1], KEYS[2], KEYS[3]
local before, most, bytes_left = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local gone, last, dropped = 0, 0, 0
local newest = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
local total, bytes_max = newest and tonumber(newest[2][18]) or 0, tonumber(ARGV[4])

local function forget(entry)
  local fields = entry[2]
  last = tonumber(string.match(entry[1], '^%d+'))
  gone = gone + 1
  bytes_left = bytes_left - (fields[11] == 'timeline' and tonumber(fields[14]) or #fields[12])
  redis.call('HDEL', bodies, last)
  local filing = fields[6]
  local positions = filing ~= '' and redis.call('HGET', of_filing, filing)
  if not positions then return end
  -- A filing's positions ascend: this one and any before it stand in front.
  local left = positions
  while left ~= '' and tonumber(string.match(left, '^%d+')) <= last do
    left = string.match(left, '^%d+,?(.*)$')
  end
  if left == '' then redis.call('HDEL', of_filing, filing)
  elseif left ~= positions then redis.call('HSET', of_filing, filing, left) end
end

local count = 1
while gone < most and bytes_left > 0 do
  local entries = redis.call('XRANGE', events, last == 0 and '-' or string.format('(%.0f-0', last), '+', 'COUNT', count)
  if #entries == 0 then break end
  local ended = false
  for _, entry in ipairs(entries) do
    local is_old = tonumber(entry[2][10]) < before
    ended = bytes_left <= 0 or not is_old and total - (tonumber(entry[2][18]) or 0) < bytes_max
    if ended then break end
    if not is_old then dropped = dropped + 1 end
    forget(entry)
  end
  if ended then break end
  -- Entries written before bodies lay apart carry theirs, so they are asked for a few at a time.
  count = math.min(20, most - gone)
end
if gone > 0 then redis.call('XTRIM', events, 'MINID', string.format('%.0f-0', last + 1)) end
if dropped > 0 then redis.pcall('HSET', KEYS[4], 'eventsDroppedAt', redis.call('TIME')[1] .. '000') end
return { gone, dropped }
