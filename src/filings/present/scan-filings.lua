-- Reads the next filings of an account, in no order: their ids with their states.
--
-- KEYS   1 filings
-- ARGV   1 where the scan stands ('0' = at its beginning)  2 the server on which it came there ('' = none)
--        3 approximate number of filings
-- Reply  { where the scan stands now ('0' = at its end), the server, id and state in turn }
--
-- A place in a scan means something only to the server that named it: another server, and the same one after
-- a
-- start, order the filings otherwise. The scan then begins anew.
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
local from = ARGV[2] == server and ARGV[1] or '0'
local reply = redis.call('HSCAN', KEYS[1], from, 'COUNT', ARGV[3])
return { reply[1], server, reply[2] }
