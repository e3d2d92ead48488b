import { Type } from 'typebox';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { defaultLimits, type ApiLimits } from '../access/limits.ts';
import { tokenOf } from '../access/auth.ts';
import { type Api, defaultTiming, type ApiDeps } from '../deps.ts';
import type { LogEntry } from '../../events/event-log.ts';
import { isSameCheckpoint, logBeginning, type Checkpoint } from '../../events/timeline.ts';
import { typesSeen } from '../access/own-subscriptions.ts';
import { checkpointCursor, decodeCheckpoint } from './json.ts';
import { matchesFilter } from './scan.ts';
import type { EventFilter } from './scan.ts';
import { eventFilters } from './events.ts';
import { createLogFollower } from './log-follower.ts';
import type { FollowedLog } from './log-follower.ts';
import { parseTypes } from '../shared/patterns.ts';
import { Problem } from '../shared/problem.ts';
import { inAccount, oneOf, operation, optional, record } from '../shared/schema.ts';

// Maximum bytes that small events are copied into; a larger one is sent as it is, from memory that all share.
const pieceBytesMax = 16 * 1024;
// Share of the places for streams that one account may have.
const accountShare = 3 / 4;

/** The log of an account's events as Server-Sent Events (WHATWG HTML §9.2). */
export function addStreamRoutes(app: Api, { log, timing, limits }: ApiDeps): void {
  const { followMs, heartbeatMs, streamMs } = { ...defaultTiming, ...timing };
  const { streams, connections } = { ...defaultLimits, ...limits };
  // The other half of the connections is for requests, including health probes.
  const inAll = Math.ceil(connections / 2);
  const toOne = Math.max(1, Math.floor(inAll * accountShare));
  const follower = createLogFollower(log, followMs, { ...streams, toOne, inAll });
  app.addHook('preClose', async () => follower.stop());

  app.get('/events/stream', streamEvents, async (request, reply) => {
    const { params, query, headers } = request;
    const { account } = params;
    // An empty id counts as none (WHATWG HTML §9.2.6).
    const { 'last-event-id': lastId = '' } = headers;
    const cursor =
      lastId === ''
        ? decodeCheckpoint('events', query.cursor)
        : decodeCheckpoint('events', lastId, 'last-event-id');
    const beginning = async () => (query.from === 'earliest' ? logBeginning : log.head(account));
    const after = cursor === null ? await beginning() : await log.commonWith(account, cursor);
    const filter = { types: typesSeen(request, parseTypes(query.types)), filingId: query.filingId ?? null };
    const token = tokenOf(request)?.id ?? null;
    using followed = follower.follow(account, token) ?? tooManyStreams(streams);
    await sendStream(reply, streamMs, (signal) =>
      streamText(followed, after, { filter, heartbeatMs, signal }),
    );
  });
}

/**
 * The text of a stream until following ends or `signal` aborts. It is read on demand, so a slow client delays
 * only itself.
 */
async function* streamText(
  followed: FollowedLog,
  start: Checkpoint,
  { filter, heartbeatMs, signal }: { filter: EventFilter; heartbeatMs: number; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  // The id is the position at which the stream begins: a client that loses the stream before the first event
  // resumes there.
  yield Buffer.from(`retry: 3000\nid: ${checkpointCursor(start)}\n\n`);
  for (let after = start; ;) {
    // Each step continues from the end of the previous one.
    const step = await followed.next(after, heartbeatMs, signal);
    if (step === null || signal.aborted) return;
    const wanted = step.entries.filter((entry) => matchesFilter(filter, entry));
    yield* inPieces([...wanted.map(eventBlock), closing(after, step.position, wanted.at(-1))]);
    after = step.position;
  }
}

// An id without data moves the client's last id past the events that its filter excludes; a comment keeps a
// quiet connection open.
function closing(after: Checkpoint, position: Checkpoint, last: LogEntry | undefined): Buffer {
  if (!isSameCheckpoint(after, position) && last?.position !== position.position)
    return Buffer.from(`id: ${checkpointCursor(position)}\n\n`);
  return Buffer.from(last === undefined ? ': nothing new\n\n' : '');
}

// Few writes for many small events, and no copy of a large one.
function* inPieces(parts: readonly Buffer[]): Generator<Buffer> {
  let piece: Buffer[] = [];
  let bytes = 0;
  for (const part of parts) {
    if (bytes > 0 && bytes + part.length > pieceBytesMax) {
      yield joined(piece);
      [piece, bytes] = [[], 0];
    }
    piece.push(part);
    bytes += part.length;
  }
  yield joined(piece);
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}

// Clients that are up to date share the entries of the follower: each is rendered once for all of them.
const blocks = new WeakMap<LogEntry, Buffer>();

function eventBlock(entry: LogEntry): Buffer {
  const known = blocks.get(entry);
  if (known !== undefined) return known;
  const block = Buffer.from(
    `id: ${checkpointCursor(entry)}\nevent: ${entry.type}\ndata: ${entry.body.toString()}\n\n`,
  );
  blocks.set(entry, block);
  return block;
}

async function sendStream(
  reply: FastifyReply,
  streamMs: number,
  text: (signal: AbortSignal) => AsyncGenerator<Buffer>,
): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  const over = AbortSignal.any([gone.signal, AbortSignal.timeout(streamMs)]);
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no', // nginx would hold events back
  });
  try {
    await pipeline(Readable.from(text(over)), raw);
  } catch (error) {
    // The client or Redis went away; in both cases the client connects again with its last id.
    reply.log.debug({ error: String(error) }, 'stream.broken');
  }
}

function tooManyStreams({ perToken, perAccount }: ApiLimits['streams']): never {
  const detail = `Close some of the event streams, or share one: a token has at most ${perToken} at once, the tokens of an account ${perAccount}.`;
  throw new Problem('too_many_streams', detail, { headers: { 'retry-after': '30' } });
}

const streamQuerySchema = record(
  optional({
    ...eventFilters,
    cursor: Type.String({
      maxLength: 1024,
      description: 'Start after this `resumeCursor`, `nextCursor` or SSE id.',
    }),
    from: oneOf(['now', 'earliest'], {
      default: 'now',
      description: 'Where to start without a cursor: at the next event, or at the oldest in the log.',
    }),
  }),
);

const streamHeaders = Type.Object(
  optional({
    'last-event-id': Type.String({
      maxLength: 1024,
      description: 'The id of the last event that arrived; browsers send it when they reconnect.',
    }),
  }),
);

const eventStream = {
  description:
    'Each event with its type as `event`, a cursor as `id`, and `data` as in the list of events; comments in between.',
  content: { 'text/event-stream': { schema: Type.Unknown() } },
};

const streamEvents = operation({
  exposeHeadRoute: false,
  operationId: 'streamEvents',
  summary: 'Follow events as Server-Sent Events',
  description:
    'Starts with the next event, or after `Last-Event-ID` or `cursor`. The stream ends after a quarter of an hour and when the daemon stops: connect again with the last id.',
  params: inAccount,
  querystring: streamQuerySchema,
  headers: streamHeaders,
  response: { 200: eventStream },
});
