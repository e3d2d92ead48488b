import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/monitoring/metrics.ts';

test('gauges of accounts and subscriptions are missing until they are read, not 0', async () => {
  const lines = (await createMetrics().registry.metrics()).split('\n');
  const shown = lines.filter((line) =>
    /^filing_webhooks_(accounts|all_filings|all_subscription_lag|poll_age|series_per_account|subscription_lags|subscriptions|throttled)/.test(
      line,
    ),
  );
  expect(shown).toEqual([]);
});
