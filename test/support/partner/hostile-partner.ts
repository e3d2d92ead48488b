import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A filing as the test's partner service holds it; any field may be added, or be of a wrong type. */
export type PartnerRow = { readonly id: unknown; readonly status: unknown } & Readonly<
  Record<string, unknown>
>;

/** One request as it came. */
export interface PartnerRequest {
  /** From 1. */
  readonly number: number;
  readonly endpoint: 'filings' | 'filing' | 'me' | 'other';
  /** Of `GET /partner/{id}`, decoded; else empty. */
  readonly id: string;
  readonly offset: number;
  readonly limit: number;
  readonly status: string | null;
  readonly headers: IncomingMessage['headers'];
}

/** A page before it is written; `edit` of a reply may make anything of it. */
export interface RawPage {
  items: unknown;
  total?: unknown;
  offset?: unknown;
  limit?: unknown;
}

/** What to do with a request instead of answering it honestly. Everything left out is honest. */
export interface Misbehaviour {
  /**
   * The answer, or that part of it which comes before the misbehaviour, waits for this. It is decided before.
   */
  readonly after?: Promise<unknown>;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, verbatim. */
  readonly body?: string | Buffer;
  /** Changes the honest page. */
  readonly edit?: (page: RawPage) => unknown;
  /** Replaces a text in the body that would be sent, for JSON that no serializer writes. */
  readonly replace?: readonly [from: string, to: string];
  /** Ends the body after so many bytes and cuts the connection. */
  readonly cutAfter?: number;
  /** Sends one byte per so many milliseconds. */
  readonly dripMs?: number;
  /** Sends this much without end; the body is not JSON. */
  readonly floodBytes?: number;
  readonly destroy?: boolean;
}

/** A partner service over real HTTP that does what a test says. */
export interface HostilePartner extends AsyncDisposable {
  /** With the version segment, as a base address has. */
  readonly baseUrl: string;
  readonly key: string;
  /** The filings in list order, newest first; tests may change it at any time. */
  rows: PartnerRow[];
  readonly requests: PartnerRequest[];
  /** Largest page served; the answer's `limit` says so unless `silentClamp`. */
  clamp: number;
  silentClamp: boolean;
  /** Called for each request, before it is answered. */
  misbehave: (request: PartnerRequest) => Misbehaviour | undefined;
  /** The order in which a list is paged; called for each request. */
  order: (rows: readonly PartnerRow[]) => readonly PartnerRow[];
  /** Changes a filing, or adds it on top. */
  put(id: string, fields: Readonly<Record<string, unknown>>): void;
  remove(id: string): void;
  /** Highest number of requests under way at once. */
  peaks(): { readonly atOnce: number };
}

/** A row with every field of a filing (docs/partner.md#single-filing). */
export function partnerRow(
  id: string,
  status = 'UNPAID',
  fields: Readonly<Record<string, unknown>> = {},
): PartnerRow {
  return {
    id,
    status,
    filingType: 'NEW_BUSINESS',
    userId: 'u1',
    filingStateId: 's1',
    filingState: { id: 's1', name: 'Texas', stateAbbr: 'TX' },
    policyNumber: `P-${id}`,
    insuredsName: 'Acme',
    carriersName: 'Carrier',
    policyEffectiveDate: '2026-01-01T00:00:00.000Z',
    premium: 1200.5,
    userFiles: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    completedAt: status === 'COMPLETED' ? '2026-02-01T00:00:00.000Z' : null,
    rejectionReason: status === 'REJECTED' ? 'no' : null,
    ...fields,
  };
}

/** Starts one on loopback. */
export async function startHostilePartner(rows: readonly PartnerRow[] = []): Promise<HostilePartner> {
  const key = 'test-partner-key-0123456789';
  let atOnce = 0;
  let atOnceMax = 0;

  const server = createServer((request, response) => {
    atOnce += 1;
    atOnceMax = Math.max(atOnceMax, atOnce);
    response.once('close', () => {
      atOnce -= 1;
    });
    response.on('error', () => {});
    answer(partner, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const partner: HostilePartner = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    key,
    rows: [...rows],
    requests: [],
    clamp: 100,
    silentClamp: false,
    misbehave: () => undefined,
    order: (all) => all,
    put(id, fields) {
      const at = partner.rows.findIndex((row) => row.id === id);
      const row = partner.rows[at];
      if (row === undefined) partner.rows.unshift(partnerRow(id, 'UNPAID', fields));
      else partner.rows[at] = { ...row, ...fields };
    },
    remove(id) {
      partner.rows = partner.rows.filter((row) => row.id !== id);
    },
    peaks: () => ({ atOnce: atOnceMax }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return partner;
}

async function answer(
  partner: HostilePartner,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = understand(incoming, partner.requests.length + 1);
  partner.requests.push(request);
  const odd = partner.misbehave(request) ?? {};
  const honest = honestAnswer(partner, request, odd);
  await odd.after;
  if (odd.destroy === true) return void response.destroy();
  const [from, to] = odd.replace ?? ['', ''];
  const body = Buffer.from(odd.body ?? (from === '' ? honest.body : honest.body.replace(from, () => to)));
  const cut = odd.cutAfter === undefined ? {} : { 'content-length': String(body.length) };
  response.writeHead(odd.status ?? honest.status, {
    'content-type': 'application/json',
    ...cut,
    ...odd.headers,
  });
  if (odd.cutAfter !== undefined) {
    response.write(body.subarray(0, odd.cutAfter), () => response.destroy());
  } else if (odd.dripMs !== undefined) {
    for (let at = 0; at < body.length && !response.destroyed; at += 1) {
      response.write(body.subarray(at, at + 1));
      // Slowness is the point.
      await delay(odd.dripMs);
    }
    response.end();
  } else if (odd.floodBytes === undefined) {
    response.end(body);
  } else {
    const chunk = Buffer.alloc(65_536, ' ');
    const closed = once(response, 'close');
    for (let sent = 0; sent < odd.floodBytes && !response.destroyed; sent += chunk.length) {
      if (!response.write(chunk)) await Promise.race([drained(response), closed]);
    }
    response.end();
  }
}

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    response.once('drain', resolve);
  });
}

function understand(incoming: IncomingMessage, number: number): PartnerRequest {
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  const path = url.pathname.replace(/^\/v1\/partner\//, '');
  const known = incoming.method === 'GET' && path !== url.pathname && !path.includes('/');
  const endpoint = !known ? 'other' : path === 'filings' || path === 'me' ? path : 'filing';
  return {
    number,
    endpoint,
    id: endpoint === 'filing' ? decodeURIComponent(path) : '',
    offset: Number(url.searchParams.get('offset') ?? 0),
    limit: Number(url.searchParams.get('limit') ?? 20),
    status: url.searchParams.get('status'),
    headers: incoming.headers,
  };
}

function honestAnswer(
  partner: HostilePartner,
  request: PartnerRequest,
  { edit }: Misbehaviour,
): { status: number; body: string } {
  if (request.headers['partnerkey'] !== partner.key) return { status: 401, body: '{"error":"key"}' };
  switch (request.endpoint) {
    case 'filings': {
      const page = honestPage(partner, request);
      return { status: 200, body: JSON.stringify(edit?.(page) ?? page) };
    }
    case 'filing': {
      const row = partner.rows.find(({ id }) => id === request.id);
      return row === undefined
        ? { status: 404, body: '{"error":"none"}' }
        : { status: 200, body: JSON.stringify(row) };
    }
    case 'me':
      return { status: 200, body: '{"email":"a@example.test","enabledStates":["TX"]}' };
    case 'other':
      return { status: 404, body: '{"error":"path"}' };
  }
}

function honestPage(partner: HostilePartner, { offset, limit, status }: PartnerRequest): RawPage {
  const matching = partner.rows.filter((row) => status === null || row.status === status);
  const applied = Math.min(limit, partner.clamp);
  return {
    items: partner.order(matching).slice(offset, offset + applied),
    total: matching.length,
    offset,
    limit: partner.silentClamp ? limit : applied,
  };
}
