import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startPrivateRedis } from '../support/redis/test-redis.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a script by npm, until it logs a line with `url`; a signal to `child` reaches npm alone. */
async function runScript(script: string, environment: Readonly<Record<string, string>>) {
  const child = spawn('npm', ['run', '--silent', script], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, pid } = JSON.parse(line) as { url?: string; pid: number };
    if (url !== undefined) return { child, exited, url, pid };
  }
  throw new Error(`npm run ${script} ended without a URL`);
}

/** Ends what a failed test would leave running. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

test.each(['start', 'sandbox'])(
  'SIGTERM to `npm run %s` reaches the program, which exits 0',
  async (script) => {
    await using redis = await startPrivateRedis();
    const { child, exited, url, pid } = await runScript(script, {
      REDIS_URL: redis.url,
      PORT: '0',
      SANDBOX_PORT: '0',
      API_TOKEN: 'operator-token-of-the-npm-test',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    });
    try {
      child.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    } finally {
      kill(pid);
    }
  },
);
