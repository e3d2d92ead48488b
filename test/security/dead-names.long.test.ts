import { beforeAll, describe, expect, test } from 'vitest';
import type { DeadNamesReport } from './dead-names-network.ts';
import { canIsolate, runIsolated, unlessIsolated } from '../support/connections/isolated-network.ts';

describe.skipIf(!canIsolate)(
  `an account with a hundred names whose name server is dead${unlessIsolated}`,
  () => {
    let report: DeadNamesReport;

    beforeAll(() => {
      report = runIsolated(new URL('dead-names-network.ts', import.meta.url)) as DeadNamesReport;
    }, 120_000);

    test('has nothing looked up by bodies that are refused anyway', () => {
      expect(report.refused).toEqual({ asked: 0, statuses: [422] });
    });

    test('may register them, and finds among its attempts that the names do not resolve', () => {
      expect(report.registered).toEqual([201]);
      expect(report.dead).toEqual(['dns_error']);
    });

    test('keeps no callback of another account waiting, although each needs a lookup of its own', () => {
      expect(report.neighbour).toEqual(['delivered']);
      expect(report.deadEndedBefore).toBe(false);
    });

    test('keeps no poll of another account waiting', () => {
      expect(report.polled).toBe(true);
    });
  },
);
