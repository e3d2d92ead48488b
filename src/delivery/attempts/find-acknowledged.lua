-- Finds when a subscription acknowledged some events, and snapshots of filings.
--
-- KEYS   1 the stream of attempts
-- ARGV   1 the type of snapshots  then for each, in the order of their times: the start, as XRANGE takes
--        it, maximum number of attempts read from there on, and the id of the event, or the id of the filing
--        of a snapshot as JSON
-- Reply  { id of the last attempt read ('' = there are no others), for each when it was acknowledged ('' =
--        not found) }
--
-- What was read for one is not read again for the next. Only the daemon writes members with numbers and
-- without escapes, so that no text of a response, a header or a filing is taken for one.
local acknowledged = '^{"eventId":"[^"]*","eventType":"[^"]*","filingId":(".-"),"attempt":%d+,'
  .. '"outcome":"delivered","statusCode":[^,]*,"durationMs":[^,]*,.*,"at":(%d+),"replay":'
local wanted, times, last, reply = {}, {}, nil, { '' }
for i = 4, #ARGV, 3 do wanted[ARGV[i]] = true end

local function ms_of(id) return tonumber(string.match(id, '%d+')) end

local function note(text)
  local event, type = string.match(text, '^{"eventId":"([^"]*)","eventType":"([^"]*)"')
  if not wanted[event] and type ~= ARGV[1] then return end
  local filing, at = string.match(text, acknowledged)
  local key = type == ARGV[1] and filing or event
  if at and not times[key] then times[key] = at end
end

for i = 2, #ARGV, 3 do
  local from, left, key = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2]
  if last and last ~= '' and ms_of(from) <= ms_of(last) then from = '(' .. last end
  while last ~= '' and left > 0 and not times[key] do
    local count = math.min(left, 25)
    local entries = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', count)
    for _, entry in ipairs(entries) do note(entry[2][2] or '') end
    last = #entries < count and '' or entries[#entries][1]
    from, left = '(' .. last, left - count
  end
  reply[#reply + 1] = times[key] or ''
end
reply[1] = last or ''
return reply
