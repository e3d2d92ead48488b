import { loadConfig } from '../../../src/config/config.ts';
import type { Environment } from '../../../src/config/environment.ts';
import { variables } from '../../../src/config/variables.ts';

/** Secrets as an operator would make them. */
export const exampleSecrets: Readonly<Record<string, string>> = {
  API_TOKEN: 'a'.repeat(48),
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  REDIS_PASSWORD: 'b'.repeat(48),
  OTEL_EXPORTER_OTLP_HEADERS: 'api-key=c',
};

/** What the daemon would say against this environment: wrong values, and variables that it does not read. */
export function problemsOf(environment: Environment): string[] {
  const loaded = loadConfig(environment);
  // Parts of REDIS_URL.
  const known = new Set([...Object.keys(variables), 'REDIS_PASSWORD', 'REDIS_SCHEME', 'REDIS_HOSTS']);
  const unread = Object.keys(environment).filter((name) => !known.has(name));
  return [
    ...(loaded.ok
      ? loaded.misspelt.map(({ name, meant }) => `${name} looks like ${meant}`)
      : loaded.problems),
    ...unread.map((name) => `${name} is read by nobody`),
  ];
}

/** The roles of a process with this environment. */
export function rolesOf(environment: Environment): string[] {
  return (environment['ROLES'] ?? variables.ROLES.default).split(',');
}
