import { beforeAll, describe, expect, test } from 'vitest';
import type { CanaryReport } from './canary-network.ts';
import { canIsolate, runIsolated, unlessIsolated } from '../support/connections/isolated-network.ts';

describe.skipIf(!canIsolate)(`where every address of the world is a canary${unlessIsolated}`, () => {
  let report: CanaryReport;

  beforeAll(() => {
    report = runIsolated(new URL('canary-network.ts', import.meta.url)) as CanaryReport;
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
