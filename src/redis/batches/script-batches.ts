import { readFileSync } from 'node:fs';
import type { RedisClient } from '../connection/open-client.ts';
import { untilReplicated } from '../connection/wait-replicas.ts';
import { defineScript } from '../scripts.ts';

type Argument = string | number;

/** A reply in a batch of calls of one script. */
export interface BatchedReply {
  readonly reply: unknown;
  /** Reply of another call of the batch, by its number from 1 on; null when it failed. */
  readonly of: (call: number) => unknown;
}

/** A script whose calls for one group are sent together. */
export interface ScriptBatches {
  /**
   * Adds a call to the batch of a group, whose keys all share a hash slot; all calls have as many keys. The
   * batch is sent within this turn of the event loop, or at once when it is full. A call that fails because
   * of the value of a key, or in the script's own code, fails alone. Every other failure is that of the whole
   * batch. `lines` are texts without line breaks, such as JSON, for which that is cheaper than as arguments.
   */
  run(
    group: string,
    keys: readonly string[],
    args: readonly Argument[],
    lines?: readonly string[],
  ): Promise<BatchedReply>;
}

export interface ScriptBatchOptions {
  readonly redis: RedisClient;
  /** The call resolves when enough replicas have its writes (`committing`). */
  readonly commits?: boolean;
  /** Bulk strings of the replies are Buffers. */
  readonly buffers?: boolean;
  /** Number of keys, the first ones, that all calls of a group have in common; none without it. */
  readonly shared?: number;
}

interface Call {
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
  readonly lines: readonly string[];
  readonly resolve: (reply: BatchedReply) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch {
  readonly calls: Call[];
  weight: number;
}

// Maximum number of calls, and of their arguments, in a batch: Redis serves no other client for about three
// milliseconds.
const callsMax = 50;
const argumentsMax = 5_000;

/**
 * Batches of a script from its file. The script is the body of a function: besides its own `KEYS` and `ARGV`
 * it finds the list `LINES` and the table `batch`, with the number of its call in `call`, whatever earlier
 * calls of the batch have left there. Each included file is read once for a batch.
 */
export function createScriptBatches(
  file: URL,
  { redis, commits = false, buffers = false, shared = 0 }: ScriptBatchOptions,
): ScriptBatches {
  const script = defineScript(batchScript(file));
  const groups = new Map<string, Batch>();

  async function send({ calls }: Batch): Promise<void> {
    const keys: string[] = [];
    const args: Argument[] = [shared, (calls[0]?.keys.length ?? 0) - shared];
    for (const call of calls) {
      for (let i = keys.length === 0 ? 0 : shared; i < call.keys.length; i += 1)
        keys.push(call.keys[i] ?? '');
      args.push(callText(call));
    }
    try {
      const replies = (await script[buffers ? 'runBuffer' : 'run'](redis, keys, args)) as unknown[][];
      if (commits) await untilReplicated(redis, keys[0] ?? '');
      const of = (call: number) => replies[call - 1]?.[1] ?? null;
      for (const [i, { keys: own, resolve, reject }] of calls.entries()) {
        const [succeeded, reply = null] = replies[i] ?? [0, 'no reply'];
        if (succeeded === 1) resolve({ reply, of });
        else reject(replyError(String(reply), own));
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }

  function flush(group: string, batch: Batch): void {
    if (groups.get(group) === batch) groups.delete(group);
    else return;
    void send(batch);
  }

  return {
    run: (group, keys, args, lines = []) =>
      new Promise((resolve, reject) => {
        let batch = groups.get(group);
        if (batch !== undefined && batch.weight + args.length + lines.length > argumentsMax) {
          flush(group, batch);
          batch = undefined;
        }
        if (batch === undefined) {
          const begun: Batch = { calls: [], weight: 0 };
          groups.set(group, begun);
          setImmediate(flush, group, begun);
          batch = begun;
        }
        batch.calls.push({ keys, args, lines, resolve, reject });
        batch.weight += args.length + lines.length;
        if (batch.calls.length >= callsMax) flush(group, batch);
      }),
  };
}

// One argument for a call: ioredis makes a few objects of each. Redis's parser takes no half of a surrogate
// pair, and would make other texts of numbers. JSON has no line breaks.
function callText({ args, lines }: Call): string {
  const text = JSON.stringify(
    args.map((value) => (typeof value === 'number' ? String(value) : value.toWellFormed())),
  );
  return lines.length === 0 ? text : `${text}\n${lines.join('\n')}`;
}

// As ioredis makes them, with the keys of the call that failed.
function replyError(message: string, keys: readonly string[]): Error {
  const command = { name: 'evalsha', args: ['', String(keys.length), ...keys] };
  return Object.assign(new Error(message), { name: 'ReplyError', command });
}

function batchScript(file: URL): string {
  const included: string[] = [];
  const include = (_: string, name: string) => {
    included.push(readFileSync(new URL(name, file), 'utf8'));
    return '';
  };
  const body = readFileSync(file, 'utf8').replaceAll(/^-- @include (\S+)$/gm, include);
  return `${included.join('\n')}
local function carry_out(KEYS, ARGV, LINES, batch)
${body}
end
-- Of the server and not of a key: all that comes after would fail in the same way.
local of_server = { 'OOM ', 'READONLY ', 'LOADING ', 'MISCONF ', 'CLUSTERDOWN ', 'TRYAGAIN ', 'MASTERDOWN ',
  'NOREPLICAS ', 'NOAUTH ', 'NOPERM ', 'BUSY ', 'MOVED ', 'ASK ' }
-- The keys of the batch are those that all calls have in common, then the others of each call.
local shared, own = tonumber(ARGV[1]), tonumber(ARGV[2])
local function call(number, batch)
  local keys = { unpack(KEYS, 1, shared) }
  for i = 1, own do keys[shared + i] = KEYS[shared + (number - 1) * own + i] end
  local text = ARGV[number + 2]
  local stop = string.find(text, '\\n', 1, true)
  local args, lines = cjson.decode(stop and string.sub(text, 1, stop - 1) or text), {}
  while stop do
    local next_stop = string.find(text, '\\n', stop + 1, true)
    lines[#lines + 1] = string.sub(text, stop + 1, (next_stop or 0) - 1)
    stop = next_stop
  end
  return carry_out(keys, args, lines, batch)
end
local replies, batch = {}, {}
for i = 1, #ARGV - 2 do
  batch.call = i
  local succeeded, reply = pcall(call, i, batch)
  if succeeded then
    replies[i] = { 1, reply }
  else
    local text = type(reply) == 'table' and reply.err or tostring(reply)
    for _, word in ipairs(of_server) do
      if string.find(text, word, 1, true) then error(reply) end
    end
    replies[i] = { 0, text }
  end
end
return replies`;
}
