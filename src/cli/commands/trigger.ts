import type { FilingEventType } from '../../events/event-types.ts';
import { meant } from '../../words/near-name.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { baseUrlFrom, onlyArgument, write, type Command, type Context, type Input } from '../command.ts';
import { jsonHeaders } from '../api-client.ts';

/**
 * The change of a filing that leads to an event: its new status, and the statuses it may have before, the
 * likeliest first.
 */
interface Change {
  readonly status: string;
  readonly from: readonly string[];
}

/** Types that the command does not offer. */
type NotTriggered =
  | 'filing.status_changed'
  | 'filing.restored'
  | 'filing.snapshot'
  | 'filing.stalled'
  | 'filing.due'
  | 'filing.resubmitted';

/** By event type; null = the filing is removed. */
const changes: Readonly<Record<Exclude<FilingEventType, NotTriggered>, Change | null>> = {
  'filing.created': { status: 'UNPAID', from: [] },
  'filing.unpaid': { status: 'UNPAID', from: ['PAID', 'PENDING', 'REJECTED', 'COMPLETED'] },
  'filing.paid': { status: 'PAID', from: ['UNPAID', 'PENDING', 'REJECTED', 'COMPLETED'] },
  'filing.pending': { status: 'PENDING', from: ['PAID', 'UNPAID', 'REJECTED'] },
  'filing.completed': { status: 'COMPLETED', from: ['PENDING', 'PAID', 'UNPAID', 'REJECTED'] },
  'filing.rejected': { status: 'REJECTED', from: ['PENDING', 'PAID', 'UNPAID', 'COMPLETED'] },
  'filing.reopened': { status: 'PENDING', from: ['COMPLETED'] },
  'filing.removed': null,
};

const typesText = `These can be triggered: ${Object.keys(changes).join(', ')}`;

/**
 * `trigger`: changes a filing of the sandbox so that an event follows. Reports the change at once; the event
 * comes with the next poll.
 */
export const trigger: Command = {
  name: 'trigger',
  summary: 'change a filing of the sandbox so that an event follows',
  usage: 'TYPE',
  options: {
    filing: {
      value: 'ID',
      text: 'this filing; default: one with a fitting status, or a new one for filing.created',
    },
    reason: { value: 'TEXT', text: 'the rejection reason' },
    sandbox: {
      value: 'URL',
      text: 'where the sandbox listens (SANDBOX_URL; default: http://127.0.0.1:4010)',
    },
    json: { text: 'what was done as a JSON object' },
  },
  examples: [
    'filing-webhooks trigger filing.rejected --reason "The declarations page is missing."',
    'filing-webhooks trigger filing.completed --filing f_123',
  ],
  async run(input, context) {
    if (input.positionals.length === 0) throw new CliError('usage', `TYPE is missing. ${typesText}.`);
    const given = onlyArgument(input, 'TYPE');
    const type = given.startsWith('filing.') ? given : `filing.${given.toLowerCase()}`;
    const change = new Map(Object.entries(changes)).get(type);
    if (change === undefined)
      throw new CliError(
        'usage',
        `${given} cannot be triggered${meant(type, Object.keys(changes)) || '.'} ${typesText}.`,
      );
    const reason = input.text('reason');
    if (reason !== null && change?.status !== 'REJECTED')
      throw new CliError('usage', `${type} has no reason: --reason is for filing.rejected.`);
    const call = createSandboxControl(input, context);
    const before = await chooseFiling(call, input.text('filing'), type, change);
    if (change === null) await call('DELETE', `/${encodeURIComponent(before.id)}`);
    else
      await call('PUT', `/${encodeURIComponent(before.id)}`, {
        status: change.status,
        ...(reason === null ? {} : { rejectionReason: reason }),
      });
    const done = { type, filingId: before.id, from: before.status, to: change?.status ?? null };
    const when = change === null ? 'The second poll from now reports it.' : 'The next poll sees it.';
    const line = `${done.filingId}: ${done.from ?? 'new'} → ${done.to ?? 'removed'}. ${when}`;
    write(input, context, done, line);
    return exitCodes.ok;
  },
};

async function chooseFiling(
  call: CallSandbox,
  id: string | null,
  type: string,
  change: Change | null,
): Promise<{ id: string; status: string | null }> {
  if (id !== null) {
    const [found = null] = await call('GET', `/${encodeURIComponent(id)}`);
    checkGiven(id, found, type, change);
    return found ?? { id, status: null };
  }
  if (type === 'filing.created') return { id: `f_${Date.now().toString(36)}`, status: null };
  for (const status of change?.from ?? ['PENDING', 'PAID', 'UNPAID', 'REJECTED', 'COMPLETED']) {
    // The first status that any filing has.
    const [found] = await call('GET', `?status=${status}&limit=1`);
    if (found !== undefined) return found;
  }
  throw new CliError(
    'no',
    `The sandbox has no filing for ${type}: make one with filing-webhooks trigger filing.created, and give the daemon a poll to see it.`,
  );
}

function checkGiven(id: string, found: SandboxFiling | null, type: string, change: Change | null): void {
  if (found === null && type !== 'filing.created')
    throw new CliError('no', `The sandbox has no filing ${id}: leave --filing out to have one chosen.`);
  if (found !== null && change !== null && !change.from.includes(found.status))
    throw new CliError(
      'no',
      `${id} is ${found.status}, and ${type} cannot follow: leave --filing out to have one chosen.`,
    );
}

/** A filing of a sandbox, as far as commands need it. */
interface SandboxFiling {
  readonly id: string;
  readonly status: string;
}

/**
 * Calls the control interface of a sandbox (docs/sandbox.md) and resolves to the filings in the answer: none
 * after DELETE, or if there is no such filing. Paths are relative to `/_sandbox/filings`. Rejects with a
 * CliError, also if something other than a sandbox answers.
 */
type CallSandbox = (method: string, path: string, body?: unknown) => Promise<readonly SandboxFiling[]>;

// Milliseconds that a request may take.
const requestMs = 30_000;
// The codes by which a sandbox refuses what a command asks of it.
const refusals = /^(?:INVALID|MALFORMED|BODY|FILING)_[A-Z_]+$/;

/** Calls the sandbox that the options or the environment name, options first. */
function createSandboxControl(input: Input, { env, signal }: Context): CallSandbox {
  const given =
    input.text('sandbox') ?? (env['SANDBOX_URL'] || `http://127.0.0.1:${env['SANDBOX_PORT'] || 4010}`);
  const url = baseUrlFrom(given, '--sandbox (or SANDBOX_URL)');
  return async (method, path, body) => {
    const response = await fetch(`${url}/_sandbox/filings${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: jsonHeaders }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
    }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw new CliError(
        'unavailable',
        `No sandbox answers at ${url}: start it with npm run sandbox, or name its address with --sandbox.`,
      );
    });
    if (response.status === 204 && method === 'DELETE') return [];
    const answer = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    const { code, items = [answer] } = answer ?? {};
    if (code === 'FILING_NOT_FOUND' && method === 'GET') return [];
    if (response.ok && Array.isArray(items) && items.every(isFiling)) return items;
    if (typeof code === 'string' && refusals.test(code))
      throw new CliError('no', `The sandbox answered ${response.status}: ${JSON.stringify(answer)}`);
    const isDaemon = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
    throw new CliError(
      'unavailable',
      `${url} is ${isDaemon ? 'a filing-webhooks daemon and no sandbox' : 'no sandbox'}: name where npm run sandbox listens, without a path, e.g. --sandbox http://127.0.0.1:4010.`,
    );
  };
}

function isFiling(value: unknown): value is SandboxFiling {
  const { id, status } = (value ?? {}) as Partial<SandboxFiling>;
  return typeof id === 'string' && typeof status === 'string';
}
