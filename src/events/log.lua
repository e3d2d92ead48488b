-- Functions on an account's log, for the scripts that include this file.
--
-- The head is '<position> <timeline>'. A timeline identifies the entries up to a position. It is four hashes
-- over the ids of all entries: up to the position itself, and up to the last multiples of 32, 1024 and 32768
-- that are not beyond it. The holder of a position and its timeline can find out how far the log is still the
-- one it knew, also after Redis was set back and other entries have these positions. Entries older than
-- timelines have none: their hash counts as the one of the empty log.
local hash_length = 12
local steps = { 1, 32, 1024, 32768 }
local empty_hash = string.rep('0', hash_length)
-- Bytes of an entry besides its body, with what points at it.
local entry_bytes = 512
local empty_timeline = string.rep(empty_hash, #steps)

local function hash_of(timeline, i) return string.sub(timeline, (i - 1) * hash_length + 1, i * hash_length) end

-- Position and timeline of the newest entry; 0 and those of the empty log before the first.
local function read_head(head)
  local position, timeline = string.match(redis.call('GET', head) or '0', '^(%d+) ?(%x*)$')
  return tonumber(position), timeline ~= '' and timeline or empty_timeline
end

-- Position of the oldest entry in the log; nil when it is empty.
local function oldest_position(events)
  local oldest = redis.call('XRANGE', events, '-', '+', 'COUNT', 1)[1]
  return oldest and tonumber(string.match(oldest[1], '^%d+'))
end

-- The timeline of a position; '' if its entry was trimmed, nil beyond the head.
local function timeline_at(head, events, position)
  if position == 0 then return empty_timeline end
  local newest, timeline = read_head(head)
  if position > newest then return nil end
  if position == newest then return timeline end
  local id = string.format('%.0f-0', position)
  local entry = redis.call('XRANGE', events, id, id)[1]
  if not entry then return '' end
  return entry[2][11] == 'timeline' and entry[2][12] or empty_timeline
end

-- Whether the log is, up to a position, the one of this timeline. Entries that were trimmed or have no
-- timeline count as the same.
local function is_same_log(head, events, position, timeline, i)
  local now = timeline_at(head, events, position)
  return now ~= nil and (now == '' or timeline == '' or hash_of(now, 1) == hash_of(timeline, i or 1))
end

-- The newest position that the log shares with the log of a checkpoint: the checkpoint's own, unless Redis
-- was set back.
local function common_position(head, events, position, timeline)
  if is_same_log(head, events, position, timeline) then return position end
  local before_oldest = (oldest_position(events) or read_head(head) + 1) - 1
  for i = 2, timeline == '' and 0 or #steps do
    local at = position - position % steps[i]
    if is_same_log(head, events, at, timeline, i) then return math.max(at, before_oldest) end
  end
  return before_oldest
end

-- Appends an event and returns its position. The body is stored apart from the entry, which alone is read by
-- scripts. `total` are the bytes of the log up to the entry, with those of entries that are trimmed since.
local function append_event(head, events, bodies, id, type, filing, state, status, at, body)
  local position, former = read_head(head)
  position = position + 1
  local hashes = { string.sub(redis.sha1hex(hash_of(former, 1) .. id), 1, hash_length) }
  for i = 2, #steps do hashes[i] = position % steps[i] == 0 and hashes[1] or hash_of(former, i) end
  local timeline = table.concat(hashes)
  local newest = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
  local total = (newest and tonumber(newest[2][18]) or 0) + #body + entry_bytes
  redis.call('HSET', bodies, position, body)
  redis.call('XADD', events, position .. '-0', 'id', id, 'type', type, 'filing', filing, 'state', state, 'at', at,
    'timeline', timeline, 'bytes', #body, 'status', status,
    'total', string.format('%.0f', total))
  redis.call('SET', head, position .. ' ' .. timeline)
  return position
end
