import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uploadBytesMax, uploadUrlLifetimeMs } from '../../../src/sandbox/decisions.ts';
import type { Filing } from '../../../src/sandbox/filings/filing.ts';
import { secondKey, startSandbox } from './sandbox-client.ts';
import type { TestSandbox, UploadTicket } from './sandbox-client.ts';

let sandbox: TestSandbox;
let nowMs = Date.parse('2026-11-21T10:00:00Z');

beforeAll(async () => {
  sandbox = await startSandbox({ now: () => nowMs });
});
afterAll(async () => sandbox[Symbol.asyncDispose]());

const ticketFor = async (body: unknown): Promise<UploadTicket> =>
  (await sandbox.call<UploadTicket>('POST', '/upload-user-file', { body })).body;

describe('Upload ticket', () => {
  it('has the signed URL, the file name as given and a storage path', async () => {
    const ticket = await ticketFor({ fileName: 'Déclaration 1/2026?.pdf'.replace('/', '-') });
    expect(ticket).toEqual({
      uploadUrl: expect.stringContaining(`${sandbox.url}/`),
      fileName: 'Déclaration 1-2026?.pdf',
      storagePath: expect.any(String),
    });
  });

  it.each([
    ['fileName', {}],
    ['fileName', { fileName: '' }],
    ['fileName', { fileName: 7 }],
    ['fileName', { fileName: '../secret.pdf' }],
    ['filingId', { fileName: 'a.pdf', filingId: 7 }],
  ])('a wrong %s is refused: %o', async (field, body) => {
    expect(await sandbox.call('POST', '/upload-user-file', { body })).toMatchObject({
      status: 422,
      body: { code: 'INVALID_INPUT', details: [{ field }] },
    });
  });

  it('without a filing, filingId may be null', async () => {
    const body = { fileName: 'a.pdf', filingId: null };
    expect((await sandbox.call('POST', '/upload-user-file', { body })).status).toBe(200);
  });

  it('an unknown or foreign filingId is not found', async () => {
    const { id } = await sandbox.createFiling();
    const body = { fileName: 'a.pdf', filingId: id };
    const foreign = await sandbox.call('POST', '/upload-user-file', { key: secondKey, body });
    const unknown = await sandbox.call('POST', '/upload-user-file', {
      body: { ...body, filingId: 'f_none' },
    });
    expect([foreign, unknown]).toMatchObject([
      { status: 404, body: { code: 'FILING_NOT_FOUND' } },
      { status: 404, body: { code: 'FILING_NOT_FOUND' } },
    ]);
  });
});

describe('Signed PUT', () => {
  it('takes raw bytes with application/octet-stream and without PartnerKey; a 2xx means success', async () => {
    const { uploadUrl } = await ticketFor({ fileName: 'a.pdf' });
    expect((await sandbox.put(uploadUrl, 'bytes')).status).toBe(200);
  });

  it.each(['application/pdf', 'application/json', 'application/octet-stream; charset=utf-8', ''])(
    'content type %o is rejected with 403 and leaves the URL usable',
    async (contentType) => {
      const { uploadUrl } = await ticketFor({ fileName: 'a.pdf' });
      const refused = await sandbox.put(uploadUrl, '{}', contentType);
      expect(refused).toMatchObject({ status: 403, body: { code: 'UPLOAD_CONTENT_TYPE' } });
      expect((await sandbox.put(uploadUrl, 'bytes')).status).toBe(200);
    },
  );

  it('is single: a second PUT is refused', async () => {
    const { uploadUrl } = await ticketFor({ fileName: 'a.pdf' });
    await sandbox.put(uploadUrl, 'bytes');
    const again = await sandbox.put(uploadUrl, 'bytes');
    expect(again).toMatchObject({ status: 403, body: { code: 'UPLOAD_URL_USED' } });
  });

  it('expires', async () => {
    const { uploadUrl } = await ticketFor({ fileName: 'a.pdf' });
    nowMs += uploadUrlLifetimeMs;
    const late = await sandbox.put(uploadUrl, 'bytes');
    expect(late).toMatchObject({ status: 403, body: { code: 'UPLOAD_URL_EXPIRED' } });
  });

  it('expires at once, or later, as the control interface has it', async () => {
    const before = await ticketFor({ fileName: 'a.pdf' });
    const short = await sandbox.control('PUT', '/uploads', { lifetimeMs: 0 });
    expect(short).toMatchObject({ status: 200, body: { lifetimeMs: 0 } });
    const { uploadUrl } = await ticketFor({ fileName: 'a.pdf' });
    expect(await sandbox.put(uploadUrl, 'bytes')).toMatchObject({
      status: 403,
      body: { code: 'UPLOAD_URL_EXPIRED' },
    });
    expect((await sandbox.put(before.uploadUrl, 'bytes')).status).toBe(200);
    await sandbox.control('PUT', '/uploads', {});
    const after = await ticketFor({ fileName: 'a.pdf' });
    expect((await sandbox.control('GET', '/uploads')).body).toEqual({ lifetimeMs: uploadUrlLifetimeMs });
    expect((await sandbox.put(after.uploadUrl, 'bytes')).status).toBe(200);
  });

  it.each([-1, uploadUrlLifetimeMs + 1, 1.5, '0'])('%j is no lifetime', async (lifetimeMs) => {
    expect(await sandbox.control('PUT', '/uploads', { lifetimeMs })).toMatchObject({
      status: 422,
      body: { details: [{ field: 'lifetimeMs' }] },
    });
  });

  it('needs the signature of exactly this path and time', async () => {
    const { uploadUrl } = await ticketFor({ fileName: 'a.pdf' });
    const other = await ticketFor({ fileName: 'b.pdf' });
    const forged = [
      uploadUrl.replace('signature=', 'signature=0'),
      uploadUrl.replace(/expires=\d+/, `expires=${nowMs + 10 * uploadUrlLifetimeMs}`),
      uploadUrl.replace(/uploads\/[^?]+/, other.storagePath),
      uploadUrl.replace(/signature=\w+/, 'signature='),
    ];
    const answers = await Promise.all(forged.map(async (url) => sandbox.put(url, 'bytes')));
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 403, body: { code: 'UPLOAD_URL_INVALID' } });
  });

  it('refuses more bytes than a file may have', async () => {
    const { uploadUrl } = await ticketFor({ fileName: 'a.pdf' });
    const tooLarge = await sandbox.put(uploadUrl, 'x'.repeat(uploadBytesMax + 1));
    expect(tooLarge).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
  });
});

const uploadTo = async (id: string): Promise<Filing> => {
  const { uploadUrl } = await ticketFor({ fileName: 'Corrected page.pdf', filingId: id });
  await sandbox.put(uploadUrl, 'bytes');
  return (await sandbox.call<Filing>('GET', `/${id}`)).body;
};

describe('Upload to an existing filing', () => {
  it('a COMPLETED filing becomes PENDING once the bytes were put, and its completedAt is gone', async () => {
    const { id } = await sandbox.createFiling();
    await sandbox.control('PUT', `/filings/${id}`, { status: 'COMPLETED' });
    const { uploadUrl } = await ticketFor({ fileName: 'a.pdf', filingId: id });
    const before = await sandbox.call<Filing>('GET', `/${id}`);
    expect(before.body).toMatchObject({ status: 'COMPLETED', completedAt: expect.any(String) });
    await sandbox.put(uploadUrl, 'bytes');
    const after = await sandbox.call<Filing>('GET', `/${id}`);
    expect(after.body).toMatchObject({ status: 'PENDING', completedAt: null });
  });

  it.each(['UNPAID', 'PAID', 'PENDING', 'REJECTED'])('a filing that is %s stays so', async (status) => {
    const { id } = await sandbox.createFiling();
    await sandbox.control('PUT', `/filings/${id}`, { status });
    expect((await uploadTo(id)).status).toBe(status);
  });

  it('attaches the file', async () => {
    const { id, userFiles } = await sandbox.createFiling();
    const { userFiles: after } = await uploadTo(id);
    expect(after).toHaveLength(userFiles.length + 1);
    expect(after.at(-1)).toEqual({
      id: expect.any(String),
      name: 'Corrected page.pdf',
      fileName: 'Corrected page.pdf',
      filePath: expect.any(String),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });
});
