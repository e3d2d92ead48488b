-- Begins a look for subscriptions that wait for a drain.
--
-- KEYS   1 lagging  2 head  3 subscriptions
-- ARGV   1 now (ms)  2 maximum age of the last look at all of them (ms)  3 id of this look
--       4 '1' = look at all of them in any case
-- Reply  nil when the account has no subscriptions, or { '1' or '0', mark, ids }: with '1' those of which
--        something may be due, which is true until a mark is removed; with '0' all of them
--
-- The sorted set has for each subscription that waits the time of the next look at it; and the mark of the
-- last look at all of them, `=<number> <head>`, under minus the time of that look. A look at all that is
-- under way has left `+<id>` in its place. The mark is true as long as there are no events and no
-- subscriptions but those of then. Scripts that give a subscription work in another way remove the whole set.
local count, now = redis.call('HLEN', KEYS[3]), tonumber(ARGV[1])
if count == 0 then
  redis.call('UNLINK', KEYS[1])
  return nil
end
local mark = '=' .. count .. ' ' .. (redis.call('GET', KEYS[2]) or '0')
local last = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(0', 'WITHSCORES', 'LIMIT', 0, 1)
local looked_at = -(tonumber(last[2]) or 0)
local is_true = last[1] and looked_at <= now and looked_at > now - ARGV[2]
if is_true and last[1] == mark and ARGV[4] ~= '1' then
  return { '1', mark, redis.call('ZRANGEBYSCORE', KEYS[1], 0, now) }
end
-- Times of a look that was long ago, or by a clock that was ahead, are not believed.
if is_true and string.sub(last[1], 1, 1) == '=' and ARGV[4] ~= '1' then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(0')
else redis.call('UNLINK', KEYS[1]) end
redis.call('ZADD', KEYS[1], -1, '+' .. ARGV[3])
return { '0', mark, redis.call('HKEYS', KEYS[3]) }
