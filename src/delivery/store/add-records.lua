-- Functions that add attempts and dead letters to a subscription's streams, for the scripts that include
-- this file. `kept` bounds what an account keeps of them: `oldest`, the oldest stream id; `bytes`, a third of
-- them for dead letters; `subscriptions`, whose number divides them; and `marks`, the key of polling that
-- notes when records were dropped.
--
-- If a stream takes more than its subscription's equal share of the bytes, the oldest records go, but for
-- `least` of them, and a mark says when. A stream is measured whenever it has grown by up to a fourth of its
-- share.
local function add_records(key, name, records, first, last, part, least, mark, kept)
  if last < first then return end
  local id
  for i = first, last do
    if i == first then id = redis.call('XADD', key, 'MINID', '~', kept.oldest, '*', name, records[i])
    else id = redis.call('XADD', key, '*', name, records[i]) end
  end
  if not kept.count then kept.count = redis.call('HLEN', kept.subscriptions) end
  local share = kept.bytes * part / kept.count
  local length, step = redis.call('XLEN', key), math.max(1, math.min(256, math.floor(share / 16384)))
  if length <= least or length % step >= last - first + 1 then return end
  local bytes = redis.pcall('MEMORY', 'USAGE', key, 'SAMPLES', 0)
  -- A server without the command counts a KiB for each record: no settle fails for it.
  if type(bytes) ~= 'number' then bytes = length * 1024 end
  if bytes <= share then return end
  if redis.call('XTRIM', key, 'MAXLEN', '~', math.max(least, math.floor(length * share / bytes))) > 0 then
    redis.pcall('HSET', kept.marks, mark, string.match(id, '^%d+'))
  end
end

local function add_attempts(key, records, first, last, kept)
  add_records(key, 'a', records, first, last, 2 / 3, 1, 'attemptsDroppedAt', kept)
end

local function add_letters(key, records, kept)
  add_records(key, 'd', records, 1, #records, 1 / 3, 100, 'deadLettersDroppedAt', kept)
end
