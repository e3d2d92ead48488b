-- Reads entries of an account's log without their bodies.
--
-- KEYS  1 events
-- ARGV  position after which to begin, entries at most
-- Reply position, type, filing, state and recorded at (ms) of each, in one list.
local outline = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1] .. '-0', '+', 'COUNT', ARGV[2])) do
  local fields, n = entry[2], #outline
  outline[n + 1] = string.match(entry[1], '^%d+')
  outline[n + 2], outline[n + 3], outline[n + 4], outline[n + 5] = fields[4], fields[6], fields[8], fields[10]
end
return outline
