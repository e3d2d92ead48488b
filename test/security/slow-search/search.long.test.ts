import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { describe as written, type HttpRequest } from './http-request.ts';
import { createMeter } from './measured-process.ts';
import { searchSlow, type Seed } from './search.ts';

const get: HttpRequest = { method: 'GET', target: '/', headers: [['host', 'a']], body: '' };

test(
  'a slow server in a process of its own is found by its processor time',
  { timeout: 300_000 },
  async () => {
    await using meter = await createMeter();
    const path = fileURLToPath(new URL('planted-server.ts', import.meta.url));
    const child = spawn(process.execPath, [path], {
      env: { ...process.env, ...meter.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      using measured = await meter.costsAt(Number(line.toString()));
      const attack = `gzip;q=0.${'1'.repeat(15_000)} x`;
      const slow: HttpRequest = {
        ...get,
        headers: [
          ['host', 'a'],
          ['accept-encoding', attack],
        ],
      };
      expect(await measured.costOf(slow)).toBeGreaterThan(50);
      expect(Math.min(await measured.costOf(get), await measured.costOf(get))).toBeLessThan(50);
      // Begun nearby: finding the header from nothing takes minutes.
      const near: Seed = {
        operation: 'GET /',
        request: { ...get, headers: [...get.headers, ['accept-encoding', 'gzip;q=0.111 x']] },
      };
      const search = { seed: 1, executions: 30_000, slowMs: 50 };
      const { findings } = await searchSlow([near], ['1'], measured.costOf, search);
      expect(findings.map(({ operation }) => operation)).toEqual(['GET /']);
      expect(written(findings[0]?.request ?? get)).toMatch(/accept-encoding: .*× \d+/);
    } finally {
      child.kill('SIGKILL');
    }
  },
);
