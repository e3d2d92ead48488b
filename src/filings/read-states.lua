-- Reads the states of many filings of one account.
--
-- KEYS  1 filings
-- ARGV  their ids, each ended by a newline
-- Reply: their states in one string, each ended by a newline; nothing before it where a filing was never
--       seen, a blank where its state is empty.
local ids, count = {}, 0
for id in string.gmatch(ARGV[1], '[^\n]+') do
  count = count + 1
  ids[count] = id
end
local states = redis.call('HMGET', KEYS[1], unpack(ids))
for i = 1, count do states[i] = states[i] == '' and ' ' or states[i] or '' end
return table.concat(states, '\n') .. '\n'
