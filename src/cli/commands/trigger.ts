import type { FilingEventType } from '../../events/event-types.ts';
import { meant } from '../../words/near-name.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { onlyArgument, write, type Command } from '../command.ts';
import { createSandboxControl, type CallSandbox, type SandboxFiling } from '../daemon/sandbox-control.ts';

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
