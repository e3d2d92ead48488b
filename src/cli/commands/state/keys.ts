import { apiOptions, readOpenPath } from '../../daemon/api-client.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { atMost, type Command } from '../../command.ts';
import { formatTable } from '../../table.ts';

interface SealingKey {
  readonly key: string;
  readonly secrets: number;
  /** Whether secrets are sealed with it now. */
  readonly first: boolean;
}

/**
 * `keys`: the number of stored secrets that each key of ENCRYPTION_KEY seals. The first one seals; another
 * with none is free. Ends with 1 while a former one is in use.
 */
export const keys: Command = {
  name: 'keys',
  summary: 'show which keys of ENCRYPTION_KEY are in use, and which is free',
  usage: '',
  options: { json: { text: 'JSON instead of a table' }, url: apiOptions.url },
  examples: ['filing-webhooks keys', 'until filing-webhooks keys; do sleep 30; done'],
  async run(input, context) {
    atMost(input, 0);
    const found = readKeys(await readOpenPath('/metrics', input, context));
    if (found.length === 0) {
      throw new CliError('unavailable', 'The metrics at this address do not mention keys: check --url.');
    }
    context.out(input.flag('json') ? JSON.stringify(found, null, 2) : formatTable(columns, found));
    if (!isFormerInUse(found)) return exitCodes.ok;
    context.note('A former key is in use: every minute, its secrets are sealed with the first one.');
    return exitCodes.no;
  },
};

const columns = [
  { heading: 'KEY', text: ({ key }: SealingKey) => key },
  { heading: 'SECRETS', text: ({ secrets }: SealingKey) => secrets },
  { heading: 'STATE', text: stateOf },
];

function stateOf(key: SealingKey): string {
  if (key.first) return 'in use, first';
  return isInUse(key) ? 'in use' : 'free';
}

// A daemon of an earlier version does not say which key is the first one.
function isFormerInUse(found: readonly SealingKey[]): boolean {
  const former = found.filter(({ first }) => !first);
  return former.filter(isInUse).length > (former.length === found.length ? 1 : 0);
}

function isInUse({ secrets }: SealingKey): boolean {
  return secrets > 0;
}

/** The keys in a page of metrics. */
function readKeys(metrics: string): SealingKey[] {
  const lines = metrics.matchAll(/^filing_webhooks_sealed_secrets\{key="([\w-]+)"\} (\d+)$/gm);
  const first = /^filing_webhooks_sealing_key\{key="([\w-]+)"\} 1$/m.exec(metrics)?.[1];
  return [...lines].map(([, key = '', secrets]) => ({ key, secrets: Number(secrets), first: key === first }));
}
