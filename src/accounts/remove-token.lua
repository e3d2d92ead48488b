-- Removes a token, with all that it made, they made, and so on, or with these left to the token that made it.
--
-- KEYS   1 tokens
-- ARGV   1 id  2 '1' = those that it made stay
-- Reply  number of tokens removed; 0 when there was no such token
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then return 0 end

-- A quote within a text is escaped in JSON, so that no name looks like the field.
local function parent_of(token) return string.match(token, '"parent":"([^"\\]+)"') end

local children = {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local parent = parent_of(all[i + 1])
  if parent then
    children[parent] = children[parent] or {}
    table.insert(children[parent], { all[i], all[i + 1] })
  end
end

if ARGV[2] == '1' then
  local parent = parent_of(text)
  local field = '"parent":' .. (parent and '"' .. parent .. '"' or 'null')
  for _, child in ipairs(children[ARGV[1]] or {}) do
    redis.call('HSET', KEYS[1], child[1], (string.gsub(child[2], '"parent":"[^"\\]+"', field, 1)))
  end
  return redis.call('HDEL', KEYS[1], ARGV[1])
end

local gone = { ARGV[1] }
local n = 1
while gone[n] do
  for _, child in ipairs(children[gone[n]] or {}) do gone[#gone + 1] = child[1] end
  children[gone[n]] = nil
  n = n + 1
end
return redis.call('HDEL', KEYS[1], unpack(gone))
