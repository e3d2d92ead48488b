import { builtInKeys, type PartnerKey } from './accounts.ts';
import { defaultKey } from './decisions.ts';

type Environment = Readonly<Record<string, string | undefined>>;

// Quotes around a key are those that `docker run --env-file` leaves.
const keyPattern = /^(?!(["']).*\1$)[\x21-\x7e]{1,256}$/;
const ownerPattern = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Reads `SANDBOX_PORT`, `SANDBOX_HOST`, `SANDBOX_KEY` and `SANDBOX_KEYS`; a variable that is empty counts as
 * absent, and port 0 takes any free one. The result is a configuration, or all its problems, none of which
 * repeats the text of a key.
 */
export function parseSandboxConfig(env: Environment) {
  const port = env['SANDBOX_PORT'] || '4010';
  const host = env['SANDBOX_HOST'] || '127.0.0.1';
  const key = env['SANDBOX_KEY'] || defaultKey;
  const further = (env['SANDBOX_KEYS'] || '')
    .split(',')
    .filter((row) => row.trim() !== '')
    .map(parseKeyRow);
  const keys = [...builtInKeys(key), ...further];
  const problems = [
    ...(/^\d{1,5}$/.test(port) && Number(port) <= 65_535
      ? []
      : ['SANDBOX_PORT must be a port from 0 to 65535']),
    ...(/\s/.test(host) ? ['SANDBOX_HOST must be an address or a host name'] : []),
    ...(keyPattern.test(key)
      ? []
      : ['SANDBOX_KEY must be 1 to 256 printable characters without spaces, and not in quotes']),
    ...further.flatMap(keyRowProblems),
    ...duplicateProblems(keys),
  ];
  return problems.length > 0
    ? { ok: false as const, problems }
    : { ok: true as const, config: { host, port: Number(port), keys } };
}

function parseKeyRow(row: string): PartnerKey {
  const at = row.lastIndexOf(':');
  return { key: row.slice(0, Math.max(at, 0)).trim(), owner: row.slice(at + 1).trim() };
}

function keyRowProblems({ key, owner }: PartnerKey, index: number): string[] {
  if (keyPattern.test(key) && ownerPattern.test(owner)) return [];
  return [
    `SANDBOX_KEYS entry ${index + 1} must be key:owner, the owner of 1 to 64 letters, digits, "-" and "_" (entries are separated by commas)`,
  ];
}

function duplicateProblems(keys: readonly PartnerKey[]): string[] {
  const given = keys.filter(({ key }) => key !== '');
  const distinct = new Set(given.map(({ key }) => key));
  return distinct.size === given.length ? [] : ['SANDBOX_KEY and SANDBOX_KEYS must not name a key twice'];
}
