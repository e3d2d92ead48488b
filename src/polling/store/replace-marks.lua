-- Replaces marks of an account's polling that are still as they were read, and appends an operational event
-- to its log in the same step: so each occurrence is reported once.
--
-- KEYS  1 head  2 events  3 bodies  4 polling
-- ARGV  1 recorded at (ms)  2 event id ('' = no event)  3 event type  4 body  5 number of marks that are
--       compared, then the names and values of these, and of those that are written
-- Reply the event's position in the log, 0 without one, or nil when a mark is not as it was read; then
--       nothing is written
-- @include ../../events/log.lua
local head, events, bodies, polling = unpack(KEYS)
local written = 6 + 2 * ARGV[5]

-- A mark without a field is false, or empty.
local function as_missing(value) return value and value ~= 'false' and value or '' end

for i = 6, written - 1, 2 do
  if as_missing(redis.call('HGET', polling, ARGV[i])) ~= as_missing(ARGV[i + 1]) then return nil end
end
local position = 0
if ARGV[2] ~= '' then
  position = append_event(head, events, bodies, ARGV[2], ARGV[3], '', '', '', ARGV[1], ARGV[4])
end
redis.call('HSET', polling, unpack(ARGV, written))
return position
