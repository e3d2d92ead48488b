-- Part of other scripts: the lists of accounts beside their records, in the same slot.

-- Where one of the lists is of another type than it should be, all of them are made anew.
local function drop_misfits(names, unsound, rejecting)
  for key, own in pairs({ [names] = 'zset', [unsound] = 'zset', [rejecting] = 'hash' }) do
    local found = redis.call('TYPE', key).ok
    if found ~= 'none' and found ~= own then redis.call('UNLINK', names, unsound, rejecting) end
  end
end

-- An account is unsound until it was looked at.
local function list_account(names, unsound, account)
  redis.call('ZADD', names, 0, account)
  redis.call('ZADD', unsound, 'NX', 0, account)
end

local function unlist_account(names, unsound, rejecting, account)
  redis.call('ZREM', names, account)
  redis.call('ZREM', unsound, account)
  redis.call('HDEL', rejecting, account)
end
