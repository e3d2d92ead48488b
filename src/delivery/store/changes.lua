-- Functions on the list of an account's latest changes, for the scripts that include this file.
--
-- Each change of a subscription adds `<version> <subscription id>` at the front; the version of the first
-- one is that of the account's settings. The list forgets the oldest changes, so that a reader whose
-- version is no longer in it reads all subscriptions.
local function note_change(changes, version, id)
  redis.call('LPUSH', changes, version .. ' ' .. id)
  redis.call('LTRIM', changes, 0, 99)
end

-- The version of the settings, '' before the first change, and the ids changed since a version: nil when
-- that is not known.
local function changes_since(changes, known)
  local first = redis.call('LINDEX', changes, 0)
  local version = first and string.match(first, '^%S+') or ''
  if version == known then return version, {} end
  if known == '' then return version, nil end
  local ids = {}
  for _, change in ipairs(redis.call('LRANGE', changes, 0, -1)) do
    local at, id = string.match(change, '^(%S+) (.*)$')
    if at == known then return version, ids end
    ids[#ids + 1] = id
  end
  return version, nil
end
