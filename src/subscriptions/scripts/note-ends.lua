-- Notes when certificates of a subscription end, and when to warn of it first: 30 days before. One that ends
-- when the former one did is not warned of again. A key that cannot be read is left to the look for warnings.
--
-- The arguments from `first` on are kinds of certificates with their ends (ms, '' = gone).
local function note_ends(ends, warnings, id, first)
  for i = first, #ARGV, 2 do
    local name, at = id .. ' ' .. ARGV[i], ARGV[i + 1]
    if at == '' then
      redis.pcall('ZREM', ends, name)
      redis.pcall('ZREM', warnings, name)
    elseif redis.pcall('ZSCORE', ends, name) ~= at then
      redis.pcall('ZADD', ends, at, name)
      redis.pcall('ZADD', warnings, at - 30 * 86400000, name)
    end
  end
end

-- Forgets the certificates of a subscription that is removed.
local function forget_ends(ends, warnings, id)
  redis.pcall('ZREM', ends, id .. ' cert', id .. ' ca')
  redis.pcall('ZREM', warnings, id .. ' cert', id .. ' ca')
end
