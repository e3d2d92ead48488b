import { heavyBytes } from '../events/body-memo.ts';
import { buildSnapshotEvent, type NewEvent } from '../events/event.ts';
import { orNull } from '../json/or-null.ts';
import { parseExactly } from '../json/parse-exactly.ts';
import { takeTurns } from '../json/turns.ts';
import { withoutPageLinks, type AddPageLink } from '../events/page-link.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import { pairsOf } from '../redis/hash-fields.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';
import type { FilingDetails } from './detection/filing-details.ts';
import { noDueRules, shownDueDate, type ReadDueRules } from './detection/due-dates.ts';
import { decodeState, type FilingState } from './detection/filing-state.ts';

/** A place in a scan of an account's filings, and the server that named it. */
export interface ScanPlace {
  /** `0` at the beginning. */
  readonly at: string;
  readonly server: string;
}

/** The next filings of a scan. */
export interface ScannedFilings {
  /** Without removed ones; the status is empty if the state cannot be read. */
  readonly filings: readonly { readonly id: string; readonly status: string }[];
  /** Number of filings read, removed ones included. */
  readonly read: number;
  /** Null at the end of the scan. */
  readonly next: ScanPlace | null;
  /** Whether the scan began anew, because another server answered than the one that named the place. */
  readonly isAnew: boolean;
}

/** A filing as it is now. */
export interface PresentFiling {
  /** Its snapshot as an event, which is in no log. */
  readonly event: NewEvent;
  /** Position of its last event in the log, 0 if there is none; as of the same moment as `event`. */
  readonly position: number;
}

/** Reads filings as they are now, for subscriptions that begin with them. */
export type PresentFilings = ReturnType<typeof createPresentFilings>;

// Reads what is known of one filing, all of one moment.
//
// KEYS   1 polling  2 filings  3 details  4 filing-events  5 bodies
// ARGV   1 id of the filing
// Reply  { generation, state, details ('' = none), position of its last event in the log (0 = none), the body
//        of its last event that may have the filing ('' = none) }, or nil: the filing was never seen
const readScript = defineScript(`
local state = redis.call('HGET', KEYS[2], ARGV[1])
if not state then return nil end
local positions = redis.call('HGET', KEYS[4], ARGV[1]) or ''
local last, body = string.match(positions, '%d+$'), ''
-- Events without the filing, of notes and of answers, are passed by, a hundred at most.
for _ = 1, 100 do
  local at = string.match(positions, '%d+$')
  body = at and redis.call('HGET', KEYS[5], at) or ''
  local type = string.match(string.sub(body, 1, 200), '"type":"([^"]*)"')
  if type ~= 'filing.noted' and type ~= 'filing.resubmitted' then break end
  positions = string.match(positions, '^(.*),') or ''
end
return {
  redis.call('HGET', KEYS[1], 'generation') or '', state, redis.call('HGET', KEYS[3], ARGV[1]) or '', last or '0',
  body }`);

// Reads the next filings of an account, in no order. A cursor is valid only on the server that returned it:
// another server, or the same one after a restart, orders the filings differently. The scan then starts over.
//
// KEYS   1 filings
// ARGV   1 cursor of the scan ('0' = its beginning)  2 the server that returned it ('' = none)
//        3 approximate number of filings
// Reply  { the next cursor ('0' = the end), the server, then ids and states alternately }
const scanScript = defineScript(`
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
local from = ARGV[2] == server and ARGV[1] or '0'
local reply = redis.call('HSCAN', KEYS[1], from, 'COUNT', ARGV[3])
return { reply[1], server, reply[2] }`);

/** The filings in Redis; an event carries at most `filingBytesMax` bytes of a filing. */
export function createPresentFilings(
  redis: RedisClient,
  keys: Keys,
  filingBytesMax: number,
  addPageLink: AddPageLink = withoutPageLinks,
  readDueRules: ReadDueRules = noDueRules,
) {
  return {
    /**
     * Reads on in a scan. Each filing that is there during the whole scan comes at least once, some may come
     * twice.
     */
    async scan(account: string, place: ScanPlace | null, count: number): Promise<ScannedFilings> {
      const key = keys.account(account).filings;
      const args = [place?.at ?? '0', place?.server ?? '', count];
      const [at, server, flat] = (await scanScript.run(redis, [key], args)) as [string, string, string[]];
      const filings = pairsOf(flat).flatMap(([id, text]) => {
        const state = stateOf(text);
        return state?.removed === true ? [] : [{ id, status: state?.status ?? '' }];
      });
      return {
        filings,
        read: flat.length / 2,
        next: at === '0' ? null : { at, server },
        isAnew: place !== null && place.server !== server,
      };
    },
    /**
     * Null if the filing is removed or was never seen, and if its state cannot be read: the next poll of it
     * then leads to an event.
     */
    async read(account: string, subscription: string, filingId: string): Promise<PresentFiling | null> {
      const { polling, filings, details, filingEvents, bodies } = keys.account(account);
      const known = [polling, filings, details, filingEvents, bodies];
      const [reply, rules] = await Promise.all([
        readScript.run(redis, known, [filingId]),
        readDueRules(account),
      ]);
      if (reply === null) return null;
      const [generation, text, kept, position, body] = reply as [string, string, string, string, string];
      const state = stateOf(text);
      if (state === null || state.removed) return null;
      // Many are read at once, and a heavy one takes milliseconds to parse.
      if (body.length >= heavyBytes) await takeTurns().next();
      const snapshot = {
        account,
        generation,
        subscription,
        filingId,
        state,
        details: detailsOf(kept),
        document: documentOf(body, state),
        ...shownDueDate(rules, state.effective),
      };
      const event = addPageLink(account, buildSnapshotEvent(snapshot, filingBytesMax));
      return { event, position: Number(position) };
    },
  };
}

// Null if it cannot be read; the next poll sets it aside.
function stateOf(text: string): FilingState | null {
  return orNull(() => decodeState(text));
}

function detailsOf(text: string): FilingDetails | null {
  return orNull(() => JSON.parse(text) as FilingDetails);
}

// The filing as an event carried it, or null if that event shows another state.
function documentOf(
  body: string,
  { status, completedAt, rejectionReason }: FilingState,
): Readonly<Record<string, unknown>> | null {
  const event = orNull(() => parseExactly(body)) as { data?: Readonly<Record<string, unknown>> } | null;
  const data = event?.data;
  const isOfState =
    data?.['status'] === status &&
    data['completedAt'] === completedAt &&
    data['rejectionReason'] === rejectionReason;
  return isOfState ? ((data['filing'] ?? null) as Readonly<Record<string, unknown>> | null) : null;
}
