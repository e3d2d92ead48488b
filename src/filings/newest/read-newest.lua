-- Reads a stretch of the filings of one status in one step, the newest or the oldest in it first, with their
-- states.
--
-- KEYS   1 newest  2 index  3 filings
-- ARGV   1 status  2 where to begin, as a bound of ZRANGEBYLEX ('' = with the first)  3 maximum number of
--        filings  4 length of a rank  5 'newest' or 'oldest'  6 '1' = members alone
-- Reply  members and states ('' = none) in turn, or the members alone, or nil: the order is not whole
local newest, index, filings = unpack(KEYS)
local status, from, order = ARGV[1], ARGV[2], ARGV[5]
if not redis.call('ZSCORE', newest, '') then return nil end
-- One filing is missing or too many: another program has written the index alone.
if redis.call('ZCARD', newest) - 1 ~= redis.call('ZCARD', index) then return nil end
local first, last = '[' .. status .. '\0', '(' .. status .. '\1'
local members
if order == 'oldest' then
  members = redis.call('ZREVRANGEBYLEX', newest, from ~= '' and from or last, first, 'LIMIT', 0, ARGV[3])
else
  members = redis.call('ZRANGEBYLEX', newest, from ~= '' and from or first, last, 'LIMIT', 0, ARGV[3])
end
if ARGV[6] == '1' then return members end
local found = {}
for _, member in ipairs(members) do
  local id = string.sub(member, #status + tonumber(ARGV[4]) + 3)
  found[#found + 1] = member
  found[#found + 1] = redis.call('HGET', filings, id) or ''
end
return found
