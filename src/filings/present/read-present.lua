-- Reads what is known of one filing, all of one moment.
--
-- KEYS   1 polling  2 filings  3 details  4 filing-events  5 bodies
-- ARGV   1 id of the filing
-- Reply  { generation, state, details ('' = none), position of its last event in the log (0 = none), the body
--        of that event ('' = none) }, or nil: the filing was never seen
local state = redis.call('HGET', KEYS[2], ARGV[1])
if not state then return nil end
local last = string.match(redis.call('HGET', KEYS[4], ARGV[1]) or '', '%d+$')
return {
  redis.call('HGET', KEYS[1], 'generation') or '', state, redis.call('HGET', KEYS[3], ARGV[1]) or '', last or '0',
  last and redis.call('HGET', KEYS[5], last) or '' }
