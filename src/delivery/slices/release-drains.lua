-- Gives back drains of a slice that have ended.
--
-- KEYS  1 lock of the slice's job; then for each subscription 2 the deduplication key of its drain and 3 the
--       wake-up that has come meanwhile
-- ARGV  1 id of the slice's job  2 token of the worker that has it
-- Reply numbers of the subscriptions, from 1 on, that were woken meanwhile; nil when the job is another
--       worker's
if redis.call('GET', KEYS[1]) ~= ARGV[2] then return nil end
local woken = {}
for i = 2, #KEYS, 2 do
  if redis.call('GET', KEYS[i]) == ARGV[1] then
    redis.call('DEL', KEYS[i])
    if redis.call('DEL', KEYS[i + 1]) == 1 then woken[#woken + 1] = i / 2 end
  end
end
return woken
