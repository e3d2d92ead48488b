-- Appends one operational event to an account's log.
--
-- KEYS  1 head  2 events
-- ARGV  event id, type, recorded at (ms), body
-- Reply the event's position in the log.
local position = redis.call('INCR', KEYS[1])
redis.call('XADD', KEYS[2], position .. '-0', 'id', ARGV[1], 'type', ARGV[2], 'filing', '', 'state', '',
  'at', ARGV[3], 'body', ARGV[4])
return position
