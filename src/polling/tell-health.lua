-- Appends one operational event to an account's log, once per occurrence: the flags that say what has been told are
-- compared and written in the same step.
--
-- KEYS  1 head  2 events  3 polling
-- ARGV  1 generation  2 authFailed before  3 staleReported before  4 authFailed after  5 staleReported after
--       6 recorded at (ms)  7 event id  8 event type  9 body
-- Reply the event's position in the log, or 0 when the marks are of another generation or the flags are not as before.
local head, events, polling = unpack(KEYS)
local marks = redis.call('HMGET', polling, 'generation', 'authFailed', 'staleReported')
if marks[1] ~= ARGV[1] then return 0 end
if (marks[2] or 'false') ~= ARGV[2] or (marks[3] or 'false') ~= ARGV[3] then return 0 end
local position = redis.call('INCR', head)
redis.call('XADD', events, position .. '-0', 'id', ARGV[7], 'type', ARGV[8], 'filing', '', 'state', '',
  'at', ARGV[6], 'body', ARGV[9])
redis.call('HSET', polling, 'authFailed', ARGV[4], 'staleReported', ARGV[5], 'toldAt', ARGV[6])
return position
