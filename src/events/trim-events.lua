-- Drops the oldest entries of an account's log and what points at them, up to a number of entries.
--
-- KEYS  1 events  2 filing-events
-- ARGV  1 entries recorded before this time go (ms)  2 how many at the most
-- Reply how many went.
--
-- Entries are looked at oldest first up to the first that stays.
local events, of_filing = KEYS[1], KEYS[2]
local before, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local gone, last = 0, 0
for _, entry in ipairs(redis.call('XRANGE', events, '-', '+', 'COUNT', most)) do
  local fields = entry[2]
  if tonumber(fields[10]) >= before then break end
  gone, last = gone + 1, tonumber(string.match(entry[1], '^%d+'))
  local filing = fields[6]
  local positions = filing ~= '' and redis.call('HGET', of_filing, filing)
  if positions then
    -- A filing's positions ascend: this one and any before it stand in front.
    local left = positions
    while left ~= '' and tonumber(string.match(left, '^%d+')) <= last do
      left = string.match(left, '^%d+,?(.*)$')
    end
    if left == '' then redis.call('HDEL', of_filing, filing)
    elseif left ~= positions then redis.call('HSET', of_filing, filing, left) end
  end
end
if gone > 0 then redis.call('XTRIM', events, 'MINID', string.format('%.0f-0', last + 1)) end
return gone
