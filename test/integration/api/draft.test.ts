import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FilingState } from '../../../src/sandbox/filings/filing-states.ts';
import { createApiFixture, accountInput, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../sandbox/sandbox-client.ts';

const redis = testRedis();
let api: ApiFixture;
let sandbox: TestSandbox;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  sandbox = await startSandbox();
});

afterAll(async () => {
  await api.app.close();
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
});

interface Draft {
  readonly requirements: string | null;
  readonly documents: readonly { readonly name: string; readonly isPresent: boolean }[];
  readonly body: Record<string, unknown> & {
    readonly files: readonly {
      readonly name: string;
      readonly fileName: string;
      readonly filePath: string;
    }[];
  };
  readonly unknown: readonly string[];
}

/** A rejected filing of the service that an account of this name has seen. */
async function rejected(account: string, id: string, fields: object = {}): Promise<string> {
  const path = `/v1/accounts/${account}`;
  await api.ok('PUT', path, { ...accountInput, baseUrl: `${sandbox.url}/v1` });
  await sandbox.control('PUT', `/filings/${id}`, {
    status: 'REJECTED',
    rejectionReason: 'No seal',
    ...fields,
  });
  await api.putFilings(account, [{ id, status: 'REJECTED' }]);
  return `${path}/filings/${id}/draft`;
}

const requests = async () =>
  (await sandbox.control<{ endpoints: Record<string, number> }>('GET', '/requests')).body.endpoints;

test('a draft says what is required, present and missing, and its body is accepted with new files', async () => {
  const state: FilingState = await sandbox.state('CA');
  const [first, ...others] = state.filesNb.map(({ name }) => name);
  const path = await rejected('draft', 'f_1', {
    filingType: 'NEW_BUSINESS',
    filingStateId: state.id,
    filingState: { id: state.id, name: state.name, stateAbbr: 'CA' },
    policyNumber: 'SL-1',
    insuredsName: 'Acme',
    carriersName: 'Lloyd',
    policyEffectiveDate: '2026-10-01T00:00:00.000Z',
    premium: 1200.5,
    policyFee: 35,
    // The service takes it of endorsements only.
    endorsementNumber: '7',
    userFiles: [{ name: first, fileName: 'old.pdf', filePath: 'uploads/old' }],
  });
  const draft = (await api.ok('GET', path)) as unknown as Draft;
  expect(draft).toMatchObject({
    filingId: 'f_1',
    status: 'REJECTED',
    rejectionReason: 'No seal',
    requirements: expect.stringMatching(/^1\. [^]*^\d\. File within 60 days of the effective date\.$/m),
    documents: [
      { name: first, isPresent: true, fileName: 'old.pdf' },
      ...others.map((name) => ({ name, isPresent: false, fileName: null })),
    ],
    unknown: [],
    otherFiles: [],
    body: { policyEffectiveDate: '2026-10-01', premium: 1200.5, policyFee: 35 },
  });
  expect(draft.requirements).not.toContain('<');
  // As it is, it names no file that was uploaded.
  expect((await sandbox.call('POST', '/create-filing', { body: draft.body })).status).not.toBe(200);
  const files = await sandbox.uploadAll(state, 'NEW_BUSINESS');
  const body = { ...draft.body, files: draft.body.files.map((file, i) => ({ ...file, ...files[i] })) };
  expect(body.files.map(({ name }) => name)).toEqual(draft.documents.map(({ name }) => name));
  const filed = await sandbox.call<{ status: string; policyNumber: string }>('POST', '/create-filing', {
    body,
  });
  expect(filed).toMatchObject({ status: 200, body: { status: 'UNPAID', policyNumber: 'SL-1' } });
});

test('the service is asked for the filing each time, for the rules of a state once, and for nothing else', async () => {
  const path = await rejected('once', 'f_2');
  await sandbox.control('DELETE', '/requests');
  await api.ok('GET', path);
  await sandbox.control('PUT', '/filings/f_2', { status: 'PENDING' });
  expect(await api.ok('GET', path)).toMatchObject({ status: 'PENDING' });
  expect(await requests()).toEqual({ filing: 2, 'filing-states': 1 });
});

test('what the service does not return is null in the body, and named', async () => {
  const path = await rejected('lacks', 'f_3', {
    carriersName: null,
    filingType: 'SOMETHING',
    filingState: null,
  });
  expect(await api.ok('GET', path)).toMatchObject({
    requirements: null,
    documents: [],
    unknown: ['carriersName'],
    body: { carriersName: null },
  });
});

test('a filing that is not known here is not asked for, and a service that fails is said to fail', async () => {
  const path = await rejected('fails', 'f_4');
  await sandbox.control('DELETE', '/requests');
  const unknown = await api.call('GET', path.replace('f_4', 'f_other'));
  expect(unknown.body).toMatchObject({ code: 'filing_not_found' });
  expect(await requests()).toEqual({});
  await sandbox.control('PUT', '/faults', { errorRate: 1 });
  const failed = await api.call('GET', path);
  await sandbox.control('PUT', '/faults', {});
  expect(failed).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  expect(failed.body).toMatchObject({ code: 'partner_unavailable' });
  await sandbox.control('DELETE', '/filings/f_4');
  expect((await api.call('GET', path)).body).toMatchObject({ code: 'filing_not_found' });
});
