-- Reads the states of many filings of one account.
--
-- KEYS   1 filings
-- ARGV   1 their ids, each followed by a newline
-- Reply  their states in one string, each followed by a newline: '' for a filing never seen, a blank for a
--        state that is empty
local ids, count = {}, 0
for id in string.gmatch(ARGV[1], '[^\n]+') do
  count = count + 1
  ids[count] = id
end
local states = redis.call('HMGET', KEYS[1], unpack(ids))
for i = 1, count do states[i] = states[i] == '' and ' ' or states[i] or '' end
return table.concat(states, '\n') .. '\n'
