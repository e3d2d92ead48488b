import { describe, expect, it } from 'vitest';
import type { RequestCounts } from '../../../src/sandbox/server/request-counter.ts';
import { startSandbox } from './sandbox-client.ts';

describe('GET /_sandbox/requests', () => {
  it('counts requests by endpoint, account and status, and starts anew on DELETE', async () => {
    await using sandbox = await startSandbox();
    await sandbox.createFiling();
    await sandbox.call('GET', '/filings');
    await sandbox.call('GET', '/filings?limit=0');
    await sandbox.call('GET', '/f_none');
    await sandbox.call('GET', '/me', { key: null });
    await sandbox.call('GET', '/no/such/path');
    const { body } = await sandbox.control<RequestCounts>('GET', '/requests');
    expect(body).toMatchObject({
      total: 9,
      endpoints: {
        'filing-states': 1,
        'upload-user-file': 1,
        storage: 1,
        'create-filing': 1,
        filings: 2,
        filing: 1,
        me: 1,
        unknown: 1,
      },
      owners: { default: 7 },
      statuses: { '200': 5, '400': 1, '401': 1, '404': 2 },
    });
    expect((await sandbox.control('DELETE', '/requests')).status).toBe(204);
    expect((await sandbox.control('GET', '/requests')).body).toMatchObject({
      total: 0,
      endpoints: {},
      owners: {},
    });
  });

  it('knows how many requests were in flight at once', async () => {
    await using sandbox = await startSandbox();
    await sandbox.control('PUT', '/faults', { latencyMs: 100 });
    await Promise.all([1, 2, 3].map(async () => sandbox.call('GET', '/me')));
    expect((await sandbox.control('GET', '/requests')).body).toMatchObject({ inFlightMax: 3 });
  });
});
