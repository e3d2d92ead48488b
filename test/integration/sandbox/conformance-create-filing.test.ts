import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Filing } from '../../../src/sandbox/filings/filing.ts';
import { filingTypes, paymentMethods } from '../../../src/sandbox/filings/filing.ts';
import { secondKey, startSandbox } from './sandbox-client.ts';
import type { FilingInput, TestSandbox, UploadTicket } from './sandbox-client.ts';

let sandbox: TestSandbox;
let valid: FilingInput;

beforeAll(async () => {
  sandbox = await startSandbox();
  valid = await sandbox.filingBody();
});
afterAll(async () => sandbox[Symbol.asyncDispose]());

const create = async (body: unknown, key?: string) =>
  sandbox.call<Filing>('POST', '/create-filing', { body, ...(key === undefined ? {} : { key }) });
const refusedFields = async (body: unknown): Promise<unknown> => {
  const answer = await sandbox.call('POST', '/create-filing', { body });
  expect(answer).toMatchObject({ status: 422, body: { code: 'INVALID_INPUT' } });
  return answer.body.details?.map(({ field }) => field);
};

describe('The returned filing', () => {
  it('is UNPAID, with the fields of a filing', async () => {
    const texas = await sandbox.state('TX');
    const { status, body } = await create(valid);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.any(String),
      filingType: 'NEW_BUSINESS',
      userId: 'default',
      filingStateId: texas.id,
      policyNumber: 'SL-100',
      insuredsName: 'Lakeshore Hotel LLC',
      carriersName: 'Ironbark Indemnity',
      premium: 1234.5,
      status: 'UNPAID',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      completedAt: null,
      rejectionReason: null,
    });
  });

  it('carries only a summary of the filing state, without rates', async () => {
    const { body } = await create(valid);
    expect(body.filingState).toEqual({ id: body.filingStateId, name: 'Texas', stateAbbr: 'TX' });
  });

  it('carries policyEffectiveDate as an ISO 8601 timestamp', async () => {
    expect((await create(valid)).body.policyEffectiveDate).toBe('2026-02-28T00:00:00.000Z');
  });

  it('carries the uploaded files as userFiles', async () => {
    const { body } = await create(valid);
    expect(body.userFiles).toEqual(
      valid.files.map((file) => ({
        ...file,
        id: expect.any(String),
        createdAt: body.createdAt,
        updatedAt: body.createdAt,
      })),
    );
  });

  it('does not carry the price', async () => {
    const { status, body } = await create(valid);
    expect([status, body.status]).toEqual([200, 'UNPAID']);
    for (const field of ['total', 'tax', 'filingFee']) expect(body).not.toHaveProperty(field);
  });

  it('echoes the optional fields, null where they were not given', async () => {
    const given = {
      policyFee: 10,
      inspectionFee: 20.5,
      carriersFee: 0,
      lgtValue: 3,
      fmtValue: 4,
      declaredPaymentMethod: 'WIRE',
      userNotes: 'Please hurry',
    };
    expect((await create({ ...valid, ...given })).body).toMatchObject(given);
    expect((await create(valid)).body).toMatchObject({
      policyFee: null,
      userNotes: null,
      endorsementNumber: null,
    });
  });

  it('null in a field that may be left out is as good as leaving it out', async () => {
    const nulls = {
      endorsementNumber: null,
      endorsementEffectiveDate: null,
      policyFee: null,
      inspectionFee: null,
      carriersFee: null,
      lgtValue: null,
      fmtValue: null,
      declaredPaymentMethod: null,
      userNotes: null,
    };
    const { status, body } = await create({ ...valid, ...nulls });
    expect(status).toBe(200);
    expect(body).toMatchObject(nulls);
  });

  it('is a real record: it is tracked by its id from then on', async () => {
    const { body } = await create(valid);
    expect((await sandbox.call<Filing>('GET', `/${body.id}`)).body).toEqual(body);
  });
});

describe('Enumerations', () => {
  it.each(filingTypes)('filing type %s is accepted with the documents of its pair', async (filingType) => {
    const { status, body } = await create(await sandbox.filingBody(filingType, 'NY'));
    expect(status).toBe(200);
    const texts = await sandbox.state('NY');
    const documents = filingType.startsWith('NEW') ? texts.filesNb : texts.filesEd;
    expect(body.userFiles.map(({ name }) => name)).toEqual(documents.map(({ name }) => name));
  });

  it.each(paymentMethods)('payment method %s is accepted', async (declaredPaymentMethod) => {
    expect((await create({ ...valid, declaredPaymentMethod })).status).toBe(200);
  });
});

describe('Required fields and their types', () => {
  it.each([
    'filingType',
    'filingStateId',
    'policyNumber',
    'insuredsName',
    'carriersName',
    'policyEffectiveDate',
    'premium',
    'files',
  ])('%s is required', async (field) => {
    expect(await refusedFields({ ...valid, [field]: undefined })).toEqual([field]);
  });

  it.each([
    ['filingType', 'RENEWAL'],
    ['filingStateId', 'TX'],
    ['policyNumber', 100],
    ['policyNumber', '  '],
    ['insuredsName', ''],
    ['insuredsName', 'x'.repeat(256)],
    ['carriersName', null],
    ['policyEffectiveDate', '02/28/2026'],
    ['policyEffectiveDate', '2026-02-29'],
    ['policyEffectiveDate', '2026-02-28T00:00:00Z'],
    ['premium', '1234.50'],
    ['premium', -0.01],
    ['files', {}],
    ['endorsementNumber', 3],
    ['endorsementEffectiveDate', 'soon'],
    ['policyFee', '10'],
    ['inspectionFee', -1],
    ['carriersFee', true],
    ['lgtValue', []],
    ['fmtValue', 2e9],
    ['declaredPaymentMethod', 'CASH'],
    ['userNotes', 5],
    ['userNotes', 'x'.repeat(5001)],
  ])('%s may not be %o', async (field, value) => {
    const endorsement = field.startsWith('endorsement')
      ? await sandbox.filingBody('ENDORSEMENT_ADDITIONAL')
      : valid;
    expect(await refusedFields({ ...endorsement, [field]: value })).toEqual([field]);
  });

  it('all wrong fields are named at once', async () => {
    expect(await refusedFields({ ...valid, premium: 'x', policyNumber: '' })).toEqual([
      'policyNumber',
      'premium',
    ]);
  });
});

describe('Rules', () => {
  it('a partner can file only in its enabled states', async () => {
    const refused = await create(await sandbox.filingBody('NEW_BUSINESS', 'CA'), secondKey);
    expect(refused).toMatchObject({ status: 403, body: { code: 'STATE_NOT_ENABLED' } });
  });

  it('every document that the filing type requires must be among the files', async () => {
    const body = await sandbox.filingBody('NEW_BUSINESS', 'CA');
    expect(await refusedFields({ ...body, files: body.files.slice(1) })).toEqual(['files']);
    expect(await refusedFields({ ...body, files: [] })).toEqual(['files', 'files', 'files']);
  });

  it('the documents of the other pair do not count', async () => {
    const body = await sandbox.filingBody('ENDORSEMENT_ADDITIONAL');
    expect(await refusedFields({ ...body, filingType: 'NEW_BUSINESS' })).toEqual(['files', 'files.0.name']);
  });

  it('filePath must be a path at which the bytes were stored', async () => {
    const { body: ticket } = await sandbox.call<UploadTicket>('POST', '/upload-user-file', {
      body: { fileName: 'never-sent.pdf' },
    });
    const [file] = valid.files;
    for (const filePath of [ticket.storagePath, 'uploads/elsewhere.pdf']) {
      // oxlint-disable-next-line no-await-in-loop -- two cases, one after the other
      const fields = await refusedFields({ ...valid, files: [{ ...file, filePath }] });
      expect(fields).toEqual(['files.0.filePath']);
    }
  });

  it('fileName must be the one of the upload ticket', async () => {
    const files = valid.files.map((file) => ({ ...file, fileName: 'other.pdf' }));
    expect(await refusedFields({ ...valid, files })).toEqual(['files.0.fileName']);
  });

  it('a file that was uploaded by another account does not count', async () => {
    const foreign = await create(valid, secondKey);
    expect(foreign).toMatchObject({ status: 422, body: { details: [{ field: 'files.0.filePath' }] } });
  });

  it('a file that was uploaded to an existing filing is not for a new one', async () => {
    const { body: filing } = await create(valid);
    const ticket = await sandbox.call<UploadTicket>('POST', '/upload-user-file', {
      body: { fileName: 'a.pdf', filingId: filing.id },
    });
    await sandbox.put(ticket.body.uploadUrl, 'bytes');
    const files = [{ ...valid.files[0], fileName: 'a.pdf', filePath: ticket.body.storagePath }];
    expect(await refusedFields({ ...valid, files })).toEqual(['files.0.filePath']);
  });

  it('the same stored file cannot be given twice', async () => {
    expect(await refusedFields({ ...valid, files: [...valid.files, ...valid.files] })).toEqual([
      'files.1.filePath',
    ]);
  });

  it('endorsement fields are for endorsement filings, where both are optional', async () => {
    const given = { endorsementNumber: '3', endorsementEffectiveDate: '2026-03-01' };
    const endorsement = await sandbox.filingBody('ENDORSEMENT_RETURN');
    expect((await create(endorsement)).status).toBe(200);
    expect((await create({ ...endorsement, ...given })).body).toMatchObject({
      endorsementNumber: '3',
      endorsementEffectiveDate: '2026-03-01T00:00:00.000Z',
    });
    expect(await refusedFields({ ...valid, ...given })).toEqual(Object.keys(given));
  });
});
