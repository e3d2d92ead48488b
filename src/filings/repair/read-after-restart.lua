-- Reads the data needed to find a torn log after a start of the server, or on another server. Half a
-- transaction may have been carried out behind the head at the start of the former run, or behind the newest
-- entry where the log was not checked in the run before.
--
-- KEYS   1 checked  2 polling  3 head  4 events
-- ARGV   1 the generation of the account's snapshot  2 number of entries to read on each side of a place
-- Reply  { run of the server, head at the start of the former run (-1 = not known), 1 where the file of that
--        run was rewritten and otherwise 0, head as stored, the newest entry if any, the entries around those
--        places (oldest first) };
--        nil when the run is the one of the last check, or the snapshot is of another generation.
local checked, polling, head, events = unpack(KEYS)
local around = tonumber(ARGV[2])
if redis.call('HGET', polling, 'generation') ~= ARGV[1] then return nil end

local function info(section)
  local reply = redis.pcall('INFO', section)
  return type(reply) == 'string' and reply or ''
end

-- Whether the server's append-only file holds nothing from before its start but what the server loaded.
local function is_whole()
  local text = info('persistence')
  local function field(name) return tonumber(string.match(text, name .. ':(%d+)')) end
  if field('aof_enabled') == 0 then return true end
  local rewrites = field('aof_rewrites')
  if not rewrites or field('aof_rewrite_in_progress') ~= 0 then return false end
  if string.find(text, 'aof_last_bgrewrite_status:err', 1, true) then return false end
  return rewrites > 0 or field('aof_base_size') == 0
end

local run = string.match(info('server'), 'run_id:(%w+)') or ''
local known_run, known_at, state = string.match(redis.call('GET', checked) or '', '^(%w*) (%d+) (%a+)$')
if known_run == run then
  if state == 'open' and is_whole() then redis.call('SET', checked, run .. ' ' .. known_at .. ' whole') end
  return nil
end
local former = tonumber(known_at or '-1')
local newest = redis.call('XREVRANGE', events, '+', '-', 'COUNT', around)
local entries, last = {}, 0
if state == 'open' then
  entries = redis.call('XRANGE', events, string.format('%.0f-0', math.max(0, former - around) + 1), '+', 'COUNT', 2 * around)
  if #entries > 0 then last = tonumber(string.match(entries[#entries][1], '^%d+')) end
end
for i = #newest, 1, -1 do
  if tonumber(string.match(newest[i][1], '^%d+')) > last then entries[#entries + 1] = newest[i] end
end
return { run, former, state == 'whole' and 1 or 0, redis.call('GET', head) or '0', { newest[1] }, entries }
