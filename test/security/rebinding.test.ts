import { beforeAll, describe, expect, test } from 'vitest';
import { canIsolate, runIsolated, unlessIsolated } from '../support/connections/isolated-network.ts';
import type { RebindingReport } from './rebinding-network.ts';

describe.skipIf(!canIsolate)(
  `a daemon whose resolver gives names other addresses than before${unlessIsolated}`,
  () => {
    let report: RebindingReport;

    beforeAll(() => {
      report = runIsolated(new URL('rebinding-network.ts', import.meta.url)) as RebindingReport;
    }, 60_000);

    test('calls them while they lead to public addresses', () => {
      expect(report.before).toEqual(['delivered', 'delivered']);
    });

    test('calls them no more by a test, a delivery, a retry, a replay or after enabling once they lead inside', () => {
      expect(report.after).toEqual(['blocked_address']);
    });

    test('registers none that leads inside, alone or behind a public address, and says the same of each', () => {
      expect(report.refused).toEqual([
        expect.stringMatching(/^422 \[\{"path":"url","message":"is refused: /),
      ]);
    });

    test('is led inside by nothing, be it a redirect, a proxy of the environment or a connection that was kept', () => {
      expect(report.redirected).toBe('redirect');
      expect(report.canaries).toEqual([]);
      expect(report.unguarded).toEqual(['169.254.169.254']);
    });
  },
);
