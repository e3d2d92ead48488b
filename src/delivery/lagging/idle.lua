-- Functions on the delivery states of subscriptions, for the scripts that include this file.

-- The fields that say whether anything waits; `is_idle` knows their places.
local fields = { 'enabled', 'cursor', 'timeline', 'version', 'settledAt', 'blocked', 'done', 'parked', 'nextAttemptAt',
  'pausedUntil', 'release', 'replaying' }

-- Whether nothing waits in an enabled subscription, unless it wants events beyond its cursor.
local function is_idle(state, now)
  for i = 7, 12 do
    local value = state[i]
    if value and value ~= '0' and value ~= '' then return false end
  end
  return not state[6] and (tonumber(state[5] or '0') or math.huge) <= now
end
