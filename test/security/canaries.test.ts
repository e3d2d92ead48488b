import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CanaryReport } from './canary-network.ts';

const canIsolate = spawnSync('unshare', ['-rn', 'ip', 'link']).status === 0;

// In a network of its own every address of the world leads to this machine, and whatever is dialled meets a canary.
const isolated = [
  'ip link set lo up',
  'ip route add local 0.0.0.0/0 dev lo',
  'ip -6 route add local ::/0 dev lo',
  'exec "$0" "$1"',
].join(' && ');

describe.skipIf(!canIsolate)('where every address of the world is a canary', () => {
  let report: CanaryReport;

  beforeAll(() => {
    const script = fileURLToPath(new URL('canary-network.ts', import.meta.url));
    const { stdout, stderr } = spawnSync('unshare', ['-rn', 'sh', '-c', isolated, process.execPath, script], {
      encoding: 'utf8',
    });
    if (stdout === '') throw new Error(stderr);
    report = JSON.parse(stdout) as CanaryReport;
  }, 60_000);

  test('the canaries sing: internal, metadata and carrier addresses can be reached by whoever dials them', () => {
    expect(report.dialled).toBeGreaterThan(20);
    expect(report.singing).toBe(report.dialled);
  });

  test('public addresses are called, by name and by address', () => {
    expect(report.permitted).toEqual({ hits: 3, outcomes: ['delivered', 'delivered', 'delivered'] });
  });

  test('no URL of the corpus reaches one', () => {
    expect(report.corpus.urls).toBeGreaterThan(300);
    expect(report.corpus).toEqual({ urls: report.corpus.urls, hits: 0, outcomes: ['blocked_address'] });
  });

  test('no name that leads to a refused address reaches one, alone or behind a public one', () => {
    expect(report.names.urls).toBeGreaterThan(40);
    expect(report.names).toEqual({ urls: report.names.urls, hits: 0, outcomes: ['blocked_address'] });
  });

  test('a connection that was left open takes nothing to where the name leads by now', () => {
    expect(report.rebound).toEqual({ toOthers: 0 });
  });
});
