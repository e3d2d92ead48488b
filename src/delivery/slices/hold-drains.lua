-- Takes the drains of a slice's subscriptions, as if each had a job of its own that is under way: a wake-up
-- that comes meanwhile finds the slice's job under the deduplication key.
--
-- KEYS  1 deduplication key of the slice  2 lock of its job  3… deduplication keys of the drains
-- ARGV  1 id of the slice's job  2 token of the worker that asks
-- Reply numbers of the subscriptions, from 1 on, that another job has; all of them when this job has
--       passed to another worker, which may have ended it
--
local has_passed = redis.call('GET', KEYS[2]) ~= ARGV[2]
-- From now on another job for the same slice may wait: one whose subscription hangs must not hold the others.
if not has_passed and redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
local others = {}
for i = 3, #KEYS do
  if has_passed or not redis.call('SET', KEYS[i], ARGV[1], 'NX') and redis.call('GET', KEYS[i]) ~= ARGV[1] then
    others[#others + 1] = i - 2
  end
end
return others
