-- Reads a stretch of a stream of attempts or dead letters, and replies with the entries that hold some texts.
--
-- KEYS   1 the stream
-- ARGV   1 '1' = oldest first, '' = newest first  2 start and 3 end, as XRANGE takes them
--        4 maximum number of entries read  5 maximum number of entries in the reply  then texts
-- Reply  { number of entries read, id of the last one ('' = the stretch ends there), alternately id and JSON
--         of each entry that holds all of the texts }
--
-- The JSON of an entry escapes the quotation marks of its values. So a text such as "outcome":"timeout"
-- matches only a member that the daemon wrote.
local command = ARGV[1] == '1' and 'XRANGE' or 'XREVRANGE'
local most, wanted = tonumber(ARGV[4]), tonumber(ARGV[5])
local entries = redis.call(command, KEYS[1], ARGV[2], ARGV[3], 'COUNT', most)
local found, read, last = {}, 0, ''
for _, entry in ipairs(entries) do
  read = read + 1
  last = entry[1]
  local text, holds = entry[2][2] or '', true
  for i = 6, #ARGV do
    if not string.find(text, ARGV[i], 1, true) then
      holds = false
      break
    end
  end
  if holds then
    found[#found + 1], found[#found + 2] = entry[1], text
    if #found == 2 * wanted then break end
  end
end
if read == #entries and #entries < most then last = '' end
return { read, last, unpack(found) }
