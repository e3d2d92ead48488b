-- Notes when certificates of a subscription end, and when to warn of it next. A key that cannot be read is
-- left to the look for warnings.
--
-- The arguments from `first` on are, for each certificate that has changed, its kind, its end (ms, '' = gone)
-- and the time of the first warning.
local function note_ends(ends, warnings, id, first)
  for i = first, #ARGV, 3 do
    local name = id .. ' ' .. ARGV[i]
    if ARGV[i + 1] == '' then
      redis.pcall('ZREM', ends, name)
      redis.pcall('ZREM', warnings, name)
    else
      redis.pcall('ZADD', ends, ARGV[i + 1], name)
      redis.pcall('ZADD', warnings, ARGV[i + 2], name)
    end
  end
end

-- Forgets the certificates of a subscription that is removed.
local function forget_ends(ends, warnings, id)
  redis.pcall('ZREM', ends, id .. ' cert', id .. ' ca')
  redis.pcall('ZREM', warnings, id .. ' cert', id .. ' ca')
end
