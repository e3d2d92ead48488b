import { describe, expect, it } from 'vitest';
import type { Filing } from '../../../src/sandbox/filings/filing.ts';
import type { ListBody } from '../../../src/sandbox/lists/list-page.ts';
import type { SimulationState } from '../../../src/sandbox/simulation/simulation.ts';
import { secondKey, startSandbox } from './sandbox-client.ts';
import type { TestSandbox } from './sandbox-client.ts';

const allFilings = async (sandbox: TestSandbox): Promise<readonly Filing[]> =>
  (await sandbox.control<ListBody>('GET', '/filings?limit=100')).body.items;

describe('PUT /_sandbox/simulation', () => {
  it('filings are born and move through their lives by themselves', async () => {
    await using sandbox = await startSandbox();
    const life = {
      enabled: true,
      intervalMs: 10,
      createRate: 1,
      changesPerTick: 5,
      rejectRate: 0.5,
      seed: 3,
    };
    expect((await sandbox.control('PUT', '/simulation', { ...life, filingsMax: 40 })).status).toBe(200);
    const reached = async (): Promise<string[]> => {
      const statuses = (await allFilings(sandbox)).map(({ status }) => status);
      return [...new Set(statuses)]
        .filter((status) => status === 'COMPLETED' || status === 'REJECTED')
        .toSorted();
    };
    await expect.poll(reached, { timeout: 10_000 }).toEqual(['COMPLETED', 'REJECTED']);
    for (const { status, completedAt, rejectionReason } of await allFilings(sandbox)) {
      expect(completedAt !== null).toBe(status === 'COMPLETED');
      expect(rejectionReason !== null).toBe(status === 'REJECTED');
    }
  });

  it('completed filings are sometimes reopened', async () => {
    await using sandbox = await startSandbox();
    await sandbox.control('PUT', '/filings/f_1', { status: 'COMPLETED' });
    await sandbox.control('PUT', '/simulation', {
      enabled: true,
      intervalMs: 10,
      changesPerTick: 0,
      reopenRate: 1,
      createRate: 0,
    });
    const status = async (): Promise<string> => (await sandbox.call<Filing>('GET', '/f_1')).body.status;
    await expect.poll(status).toBe('PENDING');
  });

  it('lives in one account', async () => {
    await using sandbox = await startSandbox();
    await sandbox.control('PUT', '/simulation', {
      enabled: true,
      intervalMs: 10,
      createRate: 1,
      owner: 'second',
    });
    const total = async (key: string) =>
      (await sandbox.call<ListBody>('GET', '/filings', { key })).body.total;
    await expect.poll(async () => total(secondKey)).toBeGreaterThan(1);
    expect(await total('sandbox-key')).toBe(0);
  });

  it('stops, shows what it has done, and starts counting anew', async () => {
    await using sandbox = await startSandbox();
    const state = async () => (await sandbox.control<SimulationState>('GET', '/simulation')).body;
    expect(await state()).toMatchObject({ enabled: false, intervalMs: 1000, ticks: 0, owner: 'default' });
    await sandbox.control('PUT', '/simulation', { enabled: true, intervalMs: 10 });
    await expect.poll(async () => (await state()).ticks).toBeGreaterThan(2);
    await sandbox.control('PUT', '/simulation', { enabled: false });
    const stopped = await allFilings(sandbox);
    expect(await state()).toMatchObject({ enabled: false, ticks: 0 });
    expect(await allFilings(sandbox)).toEqual(stopped);
  });

  it.each([
    ['enabled', {}],
    ['enabled', { enabled: 'yes' }],
    ['intervalMs', { enabled: true, intervalMs: 1 }],
    ['changesPerTick', { enabled: true, changesPerTick: -1 }],
    ['createRate', { enabled: true, createRate: 2 }],
    ['rejectRate', { enabled: true, rejectRate: 'often' }],
    ['reopenRate', { enabled: true, reopenRate: -0.1 }],
    ['filingsMax', { enabled: true, filingsMax: 0 }],
    ['owner', { enabled: true, owner: '' }],
    ['seed', { enabled: true, seed: 0.5 }],
    ['interval', { enabled: true, interval: 5 }],
  ])('refuses a wrong %s: %o', async (field, body) => {
    await using sandbox = await startSandbox();
    expect(await sandbox.control('PUT', '/simulation', body)).toMatchObject({
      status: 422,
      body: { details: [{ field }] },
    });
  });
});
