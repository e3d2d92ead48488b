-- Finds keys of an account that have a wrong type or value. Reads little, because it runs after each poll.
--
-- KEYS   the keys to check
-- ARGV   1 to 5 places of head, incarnation, log, counts and polling among the keys, then the types of all
--        keys, then the names of the marks of polling that are numbers
-- Reply  places of keys and what is wrong, in turn: the type that was found, or 'garbage'; for polling the
--        names of the wrong fields, separated by blanks
local head, incarnation, log, counts, polling =
  tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local found, fits = {}, {}
local function find(place, problem)
  found[#found + 1] = place
  found[#found + 1] = problem
end

for place = 1, #KEYS do
  local type = redis.call('TYPE', KEYS[place]).ok
  fits[place] = type == ARGV[5 + place]
  if type ~= 'none' and not fits[place] then find(place, type) end
end
local position = 0
if fits[head] then
  position = tonumber(string.match(redis.call('GET', KEYS[head]), '^(%d+) ?%x*$'))
  if not position then find(head, 'garbage') end
end
if fits[log] then
  local newest = redis.call('XREVRANGE', KEYS[log], '+', '-', 'COUNT', 1)[1]
  if newest and position and tonumber(string.match(newest[1], '^%d+')) > position then
    find(fits[head] and log or head, fits[head] and 'garbage' or 'none')
  end
end
if fits[incarnation] and not string.match(redis.call('GET', KEYS[incarnation]), '^%l+ ') then find(incarnation, 'garbage') end
if fits[counts] then
  for _, count in ipairs(redis.call('HVALS', KEYS[counts])) do
    if not string.match(count, '^-?%d+$') then
      find(counts, 'garbage')
      break
    end
  end
end
if fits[polling] then
  local wrong = {}
  local names = { unpack(ARGV, 6 + #KEYS) }
  for i, value in ipairs(redis.call('HMGET', KEYS[polling], unpack(names))) do
    if value and not string.match(value, '^-?%d+%.?%d*$') then wrong[#wrong + 1] = names[i] end
  end
  if #wrong > 0 then find(polling, table.concat(wrong, ' ')) end
end
return found
