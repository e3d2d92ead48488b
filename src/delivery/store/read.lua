-- Reads on in the log of an account, with all that was changed since, at one moment.
--
-- KEYS  1 delivery  2 head  3 events  4 bodies  5 changes
-- ARGV  1 epoch  2 the newest position that the deliverer knows  3 its timeline  4 version of the settings
-- that
--       it knows  5 entries wanted  6 bytes of bodies wanted  7 the position after which they are
-- Reply { 1, head, its timeline, version of the settings, ids of the subscriptions changed since (nil = not
--         known), entries as JSON, the bodies of as many as fit };
--       { 0 } when another deliverer has begun, or the account is gone;
--       { -1 } when the log is not the one that the deliverer knows: Redis was set back
-- @include ../../events/log.lua
-- @include changes.lua
local known = tonumber(ARGV[2])
if not is_same_log(KEYS[2], KEYS[3], known, ARGV[3]) then return { -1 } end
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return { 0 } end
local head, timeline = read_head(KEYS[2])
local version, changed = changes_since(KEYS[5], ARGV[4])
local entries, bodies, bytes = '[]', {}, 0
if head > tonumber(ARGV[7]) and ARGV[5] ~= '0' then
  local found = redis.call('XRANGE', KEYS[3], string.format('(%.0f-0', ARGV[7]), '+', 'COUNT', ARGV[5])
  if #found > 0 then entries = cjson.encode(found) end
  for i, entry in ipairs(found) do
    local fields = entry[2]
    bytes = bytes + (fields[11] == 'timeline' and tonumber(fields[14]) or 0)
    if i > 1 and bytes > tonumber(ARGV[6]) then break end
    bodies[i] = redis.call('HGET', KEYS[4], string.match(entry[1], '^%d+')) or ''
  end
end
return { 1, head, timeline, version, changed or false, entries, bodies }
