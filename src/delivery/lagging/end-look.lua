-- Remembers what a look has found, unless something has changed meanwhile.
--
-- KEYS   1 lagging
-- ARGV   1 the member that stands for the look: its `+<id>`, or the mark that it found
--       2 the mark that stands from now on ('' = as it is)  3 now (ms), then id and time of the next look
--       ('' = nothing waits) in turn
-- Reply  1, or 0 with nothing written
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
for i = 4, #ARGV, 2 do
  if ARGV[i + 1] == '' then redis.call('ZREM', KEYS[1], ARGV[i]) else redis.call('ZADD', KEYS[1], ARGV[i + 1], ARGV[i]) end
end
if ARGV[2] ~= '' then
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('ZADD', KEYS[1], -ARGV[3], ARGV[2])
end
return 1
